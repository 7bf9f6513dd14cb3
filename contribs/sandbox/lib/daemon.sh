# shellcheck shell=bash
# Starting, watching and ending the sandbox's daemons. Runs inside the sandbox, so that all process ids are the sandbox's own.
#
# daemons/NAME says all about one daemon:
#   run           a function that ends in exec: the daemon in the foreground; what it writes goes to $LOG/NAME.log
#   ready         a function: does it serve?
#   ready_within  how many seconds it may take until then (60)
#   inputs        the files that it reads at its start only: when they differ, daemon_start starts it anew
#   stop_signal   what ends it (TERM)
#   enter         a command prefix that puts it into namespaces of its own
#   own_pid_file  where it writes its process id, if that may change while it runs

RUN=/run/sandbox

# daemon_load NAME: its description, in the calling (sub)shell.
daemon_load() {
    [[ -f $HERE/daemons/$1 ]] || fail "no daemon is called $1; there are: $(ls "$HERE/daemons" | tr '\n' ' ')"
    ready_within=60 inputs=() stop_signal=TERM enter=() own_pid_file=
    # shellcheck source=/dev/null
    . "$HERE/daemons/$1"
}

# process_state PID: one letter; fails if there is no such process. A zombie counts as none.
process_state() {
    local stat
    { read -r stat < "/proc/$1/stat"; } 2> /dev/null || return 1
    stat=${stat##*) }
    [[ ${stat%% *} != [ZX] ]] && printf '%s\n' "${stat%% *}"
}

# daemon_pid NAME: its living process; fails when there is none.
daemon_pid() (
    daemon_load "$1"
    for file in "$own_pid_file" "$RUN/$1.pid"; do
        [[ -n $file && -s $file ]] || continue
        read -r pid < "$file"
        process_state "$pid" > /dev/null && echo "$pid" && exit 0
    done
    exit 1
)

# inputs_hash: of the content of each input. A program with its symbols has hundreds of MB, and tests start daemons all the time: what has
# been read is not read again as long as inode, size and times are the same.
inputs_hash() {
    local file seen known hash memo
    mkdir -p "$RUN/hashes"
    for file in "${inputs[@]}"; do
        seen=$(stat -c '%i %s %.9Y %.9Z' -- "$file" 2> /dev/null) || continue
        memo=$RUN/hashes/${file//\//_}
        if [[ -s $memo ]] && { read -r known; read -r hash; } < "$memo" && [[ $known == "$seen" ]]; then :; else
            hash=$(sha256sum < "$file")
            printf '%s\n' "$seen" "$hash" > "$memo.$BASHPID"
            mv "$memo.$BASHPID" "$memo"
        fi
        printf '%s %s\n' "$hash" "$file"
    done
}

# daemon_launch NAME: starts it unless it lives with the inputs it would have now; does not wait.
daemon_launch() (
    daemon_load "$1"
    if daemon_pid "$1" > /dev/null; then
        [[ $(cat "$RUN/$1.inputs") == "$(inputs_hash)" ]] && exit 0
        say "restarting $1: what it reads at its start has changed"
        daemon_stop "$1"
    else
        say "starting $1"
    fi
    mkdir -p "$RUN"
    inputs_hash > "$RUN/$1.inputs"
    rm -f "$RUN/$1.pid"
    cd /
    setsid "${enter[@]}" bash "$HERE/lib/run-daemon" "$1" < /dev/null >> "$LOG/$1.log" 2>&1 &
    wait_for 10 "$1 to start" "$1" test -s "$RUN/$1.pid"
)

# daemon_wait NAME: until it is ready; fails as soon as it is dead.
daemon_wait() (
    daemon_load "$1"
    ready_or_dead() { ready || ! daemon_pid "$NAME"; }
    NAME=$1
    wait_for "$ready_within" "$1 to serve" "$1" ready_or_dead
    daemon_pid "$1" > /dev/null || { log_tail "$1"; fail "$1 has ended"; }
)

daemon_start() { daemon_launch "$1"; daemon_wait "$1"; }

# daemon_signal NAME SIGNAL: sends it; after a deadly one waits for the end.
daemon_signal() {
    local pid
    pid=$(daemon_pid "$1") || fail "$1 does not run"
    kill -s "$2" "$pid"
    [[ $2 != KILL ]] || wait_for 30 "the end of $1" "$1" not process_state "$pid"
}

# daemon_stop NAME: its own stop signal; after 20 seconds SIGKILL.
daemon_stop() {
    local pid signal
    pid=$(daemon_pid "$1") || return 0
    signal=$(daemon_load "$1"; echo "$stop_signal")
    kill -s "$signal" "$pid"
    for ((i = 0; i < 400; i++)); do
        process_state "$pid" > /dev/null || return 0
        sleep 0.05
    done
    say "$1 does not end on SIG$signal: killing it"
    kill -s KILL "$pid" && wait_for 10 "the end of $1" "$1" not process_state "$pid"
}
