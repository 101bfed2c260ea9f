# SPDX-License-Identifier: MIT
# memcg run: signals and job control.
load helpers

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
