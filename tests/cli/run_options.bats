# SPDX-License-Identifier: MIT
# memcg run: options, sizes, programs that cannot be run, exit codes.
load helpers

@test "help and version go to stdout and succeed" {
	for args in --help -h help 'run --help' 'run -h'; do
		ends_with 0 $memcg $args
		grep -q '^Usage: memcg' out
		[ ! -s err ]
	done
	ends_with 0 $memcg --version
	grep -qE '^memcg [0-9]+\.[0-9]+\.[0-9]+$' out
}

@test "help that cannot be written fails" {
	[ -c /dev/full ] || skip
	status=0
	$memcg --help >/dev/full 2>err || status=$?
	[ $status -eq 125 ]
}

@test "every subcommand is in the manual page" {
	page=$SOURCE_ROOT/man/memcg.1
	for command in $($memcg --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
		grep -q "^\.S[sh] .*$command" "$page"
		for option in $($memcg "$command" --help | grep -o -- ' --[a-z-]*' | sort -u); do
			grep -q "^\.It.* Fl \(Fl \|-\)${option#--}" "$page"
		done
	done
}

@test "wrong commands and options: one line, 125" {
	fails_with 125 $memcg
	fails_with 125 $memcg nonsense
	fails_with 125 $memcg run
	fails_with 125 $memcg run --
	fails_with 125 $memcg run --max
	fails_with 125 $memcg run --nonsense true
	fails_with 125 $memcg run -x true
	fails_with 125 $memcg run --report xml true
	fails_with 125 $memcg run --report= true
	fails_with 125 $memcg run --by-thread-name=yes true
	fails_with 125 $memcg run --max $'1M\n2M' true
}

# says WORDS COMMAND...: refused with these words, before the program runs.
says() {
	local words=$1
	shift
	fails_with 125 "$@"
	[ "$(cat err)" = "memcg: $words" ]
}

@test "what is wrong with an option is said the same way for each" {
	for option in max high report; do
		says "run: --$option needs a value" $memcg run --$option
	done
	for option in help by-thread-name; do
		for value in '' 1 yes; do
			says "run: --$option takes no value" $memcg run --$option=$value echo no
		done
	done
	for option in max high; do
		says "run: --$option: '' is not a size" $memcg run --$option= echo no
		says "run: --$option: '' is not a size" $memcg run --$option '' echo no
		says "run: --$option: '10MB' is not a size" $memcg run --$option 10MB echo no
		says "run: --$option is given twice" $memcg run --$option 1G --$option=1G echo no
	done
	says "run: --report: '' is neither text nor json" $memcg run --report= echo no
	says "run: --report: 'xml' is neither text nor json" $memcg run --report xml echo no
	says 'run: --report is given twice' $memcg run --report text --report text echo no
	says 'run: --by-thread-name is given twice' $memcg run --by-thread-name --max 1G --by-thread-name echo no
	says "run: option '-x' is not known; see memcg run --help" $memcg run -x echo no
	says "run: option '-x' is not known; see memcg run --help" $memcg run -xh echo no
	says "run: option '--nonsense=1' is not known; see memcg run --help" $memcg run --nonsense=1 echo no
	says 'run: no program given; see memcg run --help' $memcg run --max 1G
	says "option '--help=1' is not known; see memcg --help" $memcg --help=1
	says "option '--version=1' is not known; see memcg --help" $memcg --version=1
	says "command 'nonsense' is not known; see memcg --help" $memcg nonsense
	says "command '' is not known; see memcg --help" $memcg ''
}

@test "one rule for sizes: what the command takes the library takes, and refuses what it refuses" {
	long=$(printf '%062dG' 1)
	[ ${#long} -eq 63 ]
	ends_with 0 $memcg run --max $long --high $long --report json -- true
	report '.groups[0].max == 1073741824 and .groups[0].high == 1073741824'
	for size in "0$long" "$(printf '%0200d' 1)" "$(printf '%04000d' 1)" K 16E 99999999999999999999 0b1 0x xx -1; do
		fails_with 125 $memcg run --max "$size" true
		fails_with 125 $memcg run --high "$size" true
		for name in MAX HIGH; do
			ends_with 125 env LD_PRELOAD=$preload MEMCG_RUN_$name="$size" $(type -P true)
			[ "$(cat err)" = "libmemcg-malloc: MEMCG_RUN_$name: Invalid argument" ]
		done
	done
	MEMCG_RUN_MAX= ends_with 0 $memcg run true # empty is not given
}

@test "wrong sizes: one line, 125" {
	for size in '' ' ' -1 +1 1.0 1xx xx 10MB 1KK K M 0x 08 1e6 ' 1M' '1M ' '1 M' Max maxx 16E 99999999999999999999; do
		fails_with 125 $memcg run --max "$size" true
		fails_with 125 $memcg run --high "$size" true
	done
}

@test "sizes as memory.max has them" {
	while read -r size bytes; do
		ends_with 0 $memcg run --max $size --report json true
		report ".groups[0].max == $bytes"
	done <<-END
		max "max"
		64M 67108864
		64m 67108864
		0x4000000 67108864
		0400000000 67108864
		0x10000k 67108864
		1G 1073741824
		1t 1099511627776
		2P 2251799813685248
		1E 1152921504606846976
		67108865 67108864
		15E "max"
	END
}

@test "--high is the root's memory.high" {
	ends_with 0 $memcg run --high 1G --report json true
	report '.groups[0].high == 1073741824'
}

@test "the exit status is the program's" {
	ends_with 0 $memcg run true
	ends_with 1 $memcg run false
	ends_with 42 $memcg run -- sh -c 'exit 42'
	ends_with 143 $memcg run -- sh -c 'kill -TERM $$'
	ends_with 137 $memcg run -- sh -c 'kill -KILL $$'
	ends_with 134 $memcg run -- sh -c 'kill -ABRT $$'
}

@test "options end at the program" {
	ends_with 0 $memcg run --max 64M echo --max 1 --help
	[ "$(cat out)" = '--max 1 --help' ]
	ends_with 0 $memcg run --max=64M -- echo -- x
	[ "$(cat out)" = '-- x' ]
}

@test "a program that is not there: 127" {
	fails_with 127 $memcg run nonsense-program
	fails_with 127 $memcg run ./nonsense
	fails_with 127 $memcg run /nonsense/nonsense
	fails_with 127 $memcg run ''
	printf '#!/nonsense/interpreter\n' >script
	chmod +x script
	fails_with 127 $memcg run ./script
}

@test "a program that cannot be executed: 126" {
	echo >plain
	fails_with 126 $memcg run ./plain
	mkdir dir
	fails_with 126 $memcg run ./dir
	printf '#!\n' >empty
	printf '#!%s\n' "$PWD/loop" >loop
	head -c 60 /bin/true >cut
	chmod +x empty loop cut
	fails_with 126 $memcg run ./empty
	fails_with 126 $memcg run ./loop
	fails_with 126 $memcg run ./cut
}

@test "static programs and scripts of static interpreters: 126" {
	echo 'int main(void) { return 0; }' >static.c
	cc -static -o static static.c || skip 'no static C library'
	fails_with 126 $memcg run ./static
	grep -q static err
	printf '#!%s\n' "$PWD/static" >script
	chmod +x script
	fails_with 126 $memcg run ./script
}

@test "another word size or machine: 126" {
	cp "$(type -P true)" narrow
	cp narrow foreign
	printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc status=none
	printf '\377\376' | dd of=foreign bs=1 seek=18 conv=notrunc status=none
	fails_with 126 $memcg run ./narrow
	fails_with 126 $memcg run ./foreign
	grep -q machine err
}

@test "setuid and setgid programs of others: 126; our own run" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root to make one'
	cp "$(type -P true)" other
	cp other group
	cp other own
	chown 65534 other && chmod u+s other
	chgrp 65534 group && chmod g+s group
	chmod u+s own
	findmnt -n -o OPTIONS --target . | grep -q nosuid && skip 'nosuid'
	fails_with 126 $memcg run ./other
	grep -q setuid err
	fails_with 126 $memcg run ./group
	grep -q setgid err
	ends_with 0 $memcg run ./own
}

@test "scripts run, with and without an interpreter line" {
	printf '#!/bin/sh\necho "script $1"\n' >script
	printf 'echo "plain $1"\n' >plain
	: >nothing
	chmod +x script plain nothing
	ends_with 0 $memcg run ./script x
	[ "$(cat out)" = 'script x' ]
	ends_with 0 $memcg run ./plain y
	[ "$(cat out)" = 'plain y' ]
	ends_with 0 $memcg run ./nothing
	PATH=:$PATH ends_with 0 $memcg run script z
	[ "$(cat out)" = 'script z' ]
}

@test "LD_PRELOAD is kept, and the environment goes on to children" {
	LD_PRELOAD=libm.so.6 ends_with 0 $memcg run --max 1G sh -c 'echo $LD_PRELOAD; env echo $MEMCG_RUN_MAX'
	grep -q "^$preload:libm.so.6$" out || grep -q 'libmemcg-malloc.so:libm.so.6$' out
	grep -q '^1G$' out
}

@test "a run within a run keeps what it does not set" {
	ends_with 0 $memcg run --max 1G --report json -- $memcg run --report json -- true
	[ "$(grep -c '"program":"true"' err)" -eq 1 ]
	[ "$(grep -c '"program":"memcg"' err)" -eq 1 ]
	[ "$(jq -c '.groups[0].max' err | uniq)" = 1073741824 ]
	ends_with 0 $memcg run --max 1G -- $memcg run --max 1M --report json -- true
	report '.groups[0].max == 1048576'
}

@test "an empty environment, and few descriptors" {
	ends_with 3 env -i $memcg run --max 64M --report json -- sh -c 'exit 3'
	report '.groups[0].max == 67108864'
	ends_with 3 sh -c "ulimit -n 8; exec $memcg run --report json -- sh -c 'exit 3'"
	report .pid
	# A program that is given no environment is not confined, and does not report.
	ends_with 0 $memcg run --max 4M --report json -- env -i $python -c 'import os
os.execve("/bin/sh", ["sh", "-c", "echo ${MEMCG_RUN_MAX-none}"], {})'
	[ "$(cat out)" = none ] && [ ! -s err ]
}

@test "the library is found beside a moved command, or one line says where not" {
	mkdir -p moved/bin moved/lib 'a blank/bin' 'a blank/lib'
	for place in moved 'a blank'; do
		cp $memcg "$place/bin/memcg"
		cp "$BUILD_LIB"/libmemcg-malloc.so "$BUILD_LIB"/libmemcg.so.0 "$place/lib"
	done
	ends_with 0 moved/bin/memcg run --report json -- true
	report .pid
	fails_with 125 'a blank/bin/memcg' run -- true
	grep -q blank err
}
