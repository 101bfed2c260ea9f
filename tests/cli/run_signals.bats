# SPDX-License-Identifier: MIT
# memcg run: signals and job control.
load helpers

# A failed test leaves no command behind, and so no program.
teardown() {
	kill -KILL $(jobs -pr) $(jobs -ps) 2>/dev/null || :
}

# The program says when it is ready; then the signal goes to memcg alone.
send() {
	cat >wait.sh <<-'END'
		for name in HUP INT QUIT TERM USR1 USR2 WINCH; do
			trap "echo $name; exit 7" $name
		done
		echo ready
		while :; do sleep 0.05; done
	END
	coproc { exec env --default-signal $memcg run -- sh wait.sh; } # what we ignore, dash cannot trap
	pid=$COPROC_PID
	read -r line <&"${COPROC[0]}"
	[ "$line" = ready ]
	exec {from_program}<&"${COPROC[0]}" # bash closes its own when the process ends
	kill -"$1" "$pid"
	read -r line <&$from_program
	exec {from_program}<&-
	status=0
	wait "$pid" || status=$?
}

@test "signals sent to memcg reach the program" {
	for name in HUP TERM USR1 USR2 WINCH; do
		send $name
		echo "$name: $line, $status"
		[ "$line" = $name ] && [ $status -eq 7 ]
	done
}

# A program that says what it gets: signal, and the value that was queued with it.
listener() {
	cat >listener.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/types.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			sigset_t all;
			siginfo_t info;
			if (argc == 4) /* PID SIGNAL VALUE */
				return sigqueue(atoi(argv[1]), atoi(argv[2]), (union sigval){ .sival_int = atoi(argv[3]) });
			sigfillset(&all);
			sigprocmask(SIG_BLOCK, &all, NULL);
			setvbuf(stdout, NULL, _IOLBF, 0);
			printf("%d\n", (int)getpid());
			while (sigwaitinfo(&all, &info) > 0)
				printf("%d %d\n", info.si_signo, info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
		}
	END
	cc -w -D_GNU_SOURCE -o listener listener.c
	coproc { exec $memcg run -- ./listener; }
	pid=$COPROC_PID
	exec {from_program}<&"${COPROC[0]}"
	read -r -t 60 program <&$from_program
}

# True within a minute.
soon() {
	for _ in {1..600}; do
		"$@" && return
		sleep 0.1
	done
	false
}

# Gone, or nobody has taken its exit status yet.
is_gone() {
	[[ ! -e /proc/$1 || $(cat "/proc/$1/stat" 2>/dev/null) =~ \)\ Z ]]
}

is_stopped() {
	[[ $(ps -o stat= "$1") = T* ]]
}

goes_on() {
	[[ $(ps -o stat= "$1") = [RSD]* ]]
}

is_named() {
	[ "$(ps -o comm= "$1")" = "$2" ]
}

# Signals 32 and 33, which nobody can reset but the kernel's own call, may be ignored from before.
is_ignored() {
	(($((16#$(sed -n 's/^SigIgn:\t//p' /proc/self/status))) >> ($1 - 1) & 1))
}

@test "every signal that can be is sent on, and a queued one with its value" {
	listener
	for signal in {1..64}; do
		case $signal in 9 | 19 | 32 | 33) continue ;; esac
		kill -$signal $pid
		read -r -t 60 line <&$from_program
		echo "$signal: $line"
		[ "$line" = "$signal 0" ]
	done
	for signal in 10 34 64; do
		./listener $pid $signal $((signal + 1000))
		read -r -t 60 line <&$from_program
		[ "$line" = "$signal $((signal + 1000))" ]
	done
	kill -KILL $program
	status=0
	wait $pid || status=$?
	[ $status -eq 137 ]
}

@test "a program does not outlive the command, whatever kills that" {
	for signal in 9 32 33; do
		is_ignored $signal && continue
		listener
		kill -$signal $pid
		soon is_gone $program
		wait $pid || :
	done
}

@test "a continuation that overtakes the news of a stop is not lost" {
	set -m # a group of its own: in one that nobody in the session watches nothing stops
	$memcg run -- sh -c 'echo $$ >pid; exec sleep 1000' &
	pid=$!
	soon test -s pid
	program=$(cat pid)
	soon is_named $program sleep
	kill -STOP $pid
	soon is_stopped $pid
	kill -TSTP $program
	soon is_stopped $program
	kill -CONT $pid
	soon goes_on $program
	goes_on $pid
	kill -TERM $pid
	status=0
	wait $pid || status=$?
	[ $status -eq 143 ]
}

@test "what is left to the command as the nearest reaper does not pile up" {
	cat >reaper.py <<-END
		import ctypes, os, sys
		ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
		os.execv(sys.argv[1], sys.argv[1:])
	END
	ends_with 0 $python reaper.py $memcg run -- sh -c '
		(sleep 0.1 &)
		sleep 1
		ps -o stat= --ppid $PPID | grep -c "^Z" || :'
	[ "$(cat out)" = 0 ]
}

@test "an alarm that was set before the command reaches the program" {
	status=0
	$python -c 'import os, signal, sys; signal.alarm(1); os.execv(sys.argv[1], sys.argv[1:])' \
		$memcg run -- sleep 100 || status=$?
	[ $status -eq 142 ]
}

@test "a program killed by a forwarded signal" {
	$memcg run -- sleep 30 &
	sleep 0.3
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ $status -eq 143 ]
}

@test "what is ignored stays ignored, masks and SIGCHLD are the caller's" {
	ends_with 0 sh -c "trap '' HUP CHLD; exec $memcg run -- grep -E '^Sig(Blk|Ign)' /proc/self/status"
	sh -c "trap '' HUP CHLD; exec grep -E '^Sig(Blk|Ign)' /proc/self/status" >want
	cmp out want
}

@test "a program that a signal killed: the command ends by the same one, and dumps no core" {
	ulimit -c unlimited 2>/dev/null || :
	cat >died.py <<-END
		import os, subprocess, sys
		ignored = int(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('SigIgn')), 16)
		for sig in 1, 2, 6, 9, 11, 13, 15, 24, 31, 32, 34, 64:
		    if sig == 32 and ignored >> 31 & 1: continue
		    run = subprocess.Popen([sys.argv[1], 'run', '--', 'env', '--default-signal', 'sh', '-c',
		                            'ulimit -c 0; kill -%d \$\$' % sig], stderr=subprocess.DEVNULL)
		    status = os.waitpid(run.pid, 0)[1]
		    print(sig, os.WIFSIGNALED(status) and os.WTERMSIG(status), os.WCOREDUMP(status))
		    if status != sig: sys.exit(1)
	END
	ends_with 0 $python died.py $memcg
	cat out
}

@test "an init, which no signal of its own kills, ends with 128 and the signal's number" {
	unshare --pid --fork --mount-proc true || skip 'no namespaces'
	for sig in 15 9 6; do
		status=0
		unshare --pid --fork --mount-proc $memcg run -- sh -c "kill -$sig \$\$" || status=$?
		[ $status -eq $((128 + sig)) ]
	done
}

# A terminal: the program is in the foreground group with memcg.
on_terminal() {
	$python -c 'import os; os.openpty()' 2>/dev/null || skip "no /dev/pts"
	cat >terminal.py <<-'END'
		import os, pty, select, signal, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp(sys.argv[2], sys.argv[2:])
		seen = b""
		def until(text, seconds=15):
		    global seen
		    end = time.time() + seconds
		    while text not in seen and time.time() < end:
		        if select.select([fd], [], [], 0.1)[0]:
		            try: seen += os.read(fd, 1000)
		            except OSError: return
		until(b"ready")
		exec(sys.argv[1])
		until(b"\0never", 3)
		status = os.waitpid(pid, 0)[1]
		print(seen.decode().replace("\r", ""), end="")
		sys.exit(os.waitstatus_to_exitcode(status))
	END
	$python terminal.py "$@" >out
}

@test "control-C reaches the program once" {
	status=0
	on_terminal 'os.write(fd, b"\x03")' $memcg run -- $python -c '
import signal, sys, time
count = 0
def on_int(*args):
    global count
    count += 1
signal.signal(signal.SIGINT, on_int)
print("ready", flush=True)
end = time.time() + 1
while time.time() < end: time.sleep(0.05)
print("count", count)
sys.exit(9)' || status=$?
	cat out
	[ $status -eq 9 ]
	grep -q 'count 1$' out
}

@test "control-C ends a loop of the shell around the command" {
	status=0
	on_terminal 'os.write(fd, b"\x03")' bash --norc -c "
for i in 1 2 3; do
	$memcg run -- sh -c 'echo ready; sleep 3'
done
echo survived" || status=$?
	cat out
	grep -q ready out
	[ "$(grep -c ready out)" -eq 1 ]
	[ "$(grep -c survived out)" -eq 0 ]
	[ $status -ne 0 ]
}

@test "the end of the terminal reaches the program of a session leader" {
	cat >hangup.sh <<-END
		trap 'echo hangup >hung; exit' HUP
		echo ready
		while :; do sleep 0.05; done
	END
	status=0
	on_terminal 'os.close(fd); until = lambda *args: None; seen = b""' env --default-signal $memcg run -- sh hangup.sh || status=$?
	[ $status -eq 0 ]
	[ -s hung ]
}

@test "control-Z stops the job, and it goes on" {
	status=0
	on_terminal '
os.write(fd, b"go\n"); until(b"started"); time.sleep(0.3)
os.write(fd, b"\x1a"); until(b"Stopped")
os.write(fd, b"fg\n"); until(b"finished")
os.write(fd, b"exit 5\n")' bash --norc -i -c "
PS1='$ '
set -m
echo ready
read line
$memcg run -- sh -c 'echo started; sleep 1; echo finished'
jobs
read line
\$line
read line
\$line" || status=$?
	cat out
	grep -q Stopped out
	grep -q finished out
	[ $status -eq 5 ]
}
