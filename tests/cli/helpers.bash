# SPDX-License-Identifier: MIT
# For the tests of the command: what is built, and what every one of them asks.

memcg=$BUILD_BIN/memcg
preload=$BUILD_LIB/libmemcg-malloc.so
# A shim of a version manager is a script: its interpreter would be confined as well.
python=/usr/bin/python3
[ -x $python ] || python=python3

setup() {
	cd "$BATS_TEST_TMPDIR"
}

# fails_with STATUS COMMAND...: that status, nothing on stdout, one line of ours on stderr.
fails_with() {
	local status=0 want=$1
	shift
	"$@" >out 2>err || status=$?
	echo "status $status, wanted $want: $*"
	cat err
	[ "$status" -eq "$want" ]
	[ ! -s out ]
	[ "$(wc -l <err)" -eq 1 ]
	grep -q '^memcg: ' err
}

# ends_with STATUS COMMAND...: that status; output in out and err.
ends_with() {
	local status=0 want=$1
	shift
	"$@" >out 2>err || status=$?
	echo "status $status, wanted $want: $*"
	head -20 err
	[ "$status" -eq "$want" ]
}

# The JSON report is the last line of stderr.
report() {
	tail -1 err | jq -e "$@"
}

# not COMMAND...: it fails. A plain "!" would not end a test.
not() {
	if "$@"; then
		echo "should have failed: $*"
		return 1
	fi
}
