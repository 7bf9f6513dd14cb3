# shellcheck shell=bash
# The sandbox's PID 1: a process of its own mount, PID, IPC and UTS namespaces that owns every mount and every other process
# of the sandbox. When it is killed, all of them are gone. The network is the host's: sandboxes differ by their ports.

# init_pid: the host's number of a living PID 1; fails when there is none. The file also holds the process' start time, so that
# another process that got the same number later is not taken for it.
init_pid() {
    local pid start
    [[ -s $SANDBOX/init.pid ]] || return 1
    read -r pid start < "$SANDBOX/init.pid"
    [[ -n $start && $(start_time "$pid") == "$start" ]] || return 1
    printf '%s\n' "$pid"
}

# start_time PID: in clock ticks since boot; field 22 of its stat, counted behind the name, which may hold anything.
start_time() {
    local stat
    { read -r stat < "/proc/$1/stat"; } 2> /dev/null || return 1
    read -ra stat <<< "${stat##*) }"
    printf '%s\n' "${stat[19]}"
}

# init_up: starts PID 1 over the Debian root, unless it lives.
init_up() {
    local root images pid starter
    mkdir -p "$SANDBOX"/{log,bin,pki}
    exec 8> "$SANDBOX/.lock"
    flock 8
    if ! init_pid > /dev/null; then
        root=$(cache_debian) images=$(cache_images)
        check_place
        echo "$SANDBOX_PORT" > "$SANDBOX/port"
        # What a sandbox wrote over one Debian root means nothing over another.
        if [[ -e $SANDBOX/debian && $(< "$SANDBOX/debian") != "$root" ]]; then
            say "the Debian root has changed: this sandbox starts anew"
            rm -rf "$SANDBOX"/{root,etcd,build,real-node,real-node2,admin.conf}
        fi
        echo "$root" > "$SANDBOX/debian"
        rm -f "$SANDBOX"/init.{pid,ready}
        mkdir -p "$SANDBOX"/root/{upper,work,merged}
        unshare --mount --pid --ipc --uts --fork --propagation private \
            bash "$HERE/lib/pid1" "$root" "$images/pause" < /dev/null > "$LOG/init.log" 2>&1 8>&- &
        starter=$!
        wait_for 20 "the sandbox's PID 1" init test -e "$SANDBOX/init.ready"
        pid=$(< "/proc/$starter/task/$starter/children")
        pid=${pid% }
        echo "$pid $(start_time "$pid")" > "$SANDBOX/init.pid"
        disown
    fi
    exec 8>&-
}

# check_place: the overlay's upper directory must be on a real file system.
check_place() {
    case $(stat -f -c %T "$SANDBOX") in
        overlayfs | nfs | fuseblk) fail "$SANDBOX is on a file system that cannot carry an overlay: set SANDBOX to another place" ;;
    esac
}

# init_down: kills PID 1 and waits until everything in it is gone.
init_down() {
    local pid
    pid=$(init_pid) || return 0
    kill -KILL "$pid"
    wait_for 20 "the end of the sandbox's processes" - bash -c "! [[ -d /proc/$pid ]]"
    rm -f "$SANDBOX"/init.{pid,ready}
}

# check_ports: nobody else may have this sandbox's ports; asked before its PID 1 starts, when none of them can be its own.
check_ports() {
    local port taken=() ephemeral
    read -r ephemeral _ < /proc/sys/net/ipv4/ip_local_port_range
    ((SANDBOX_PORT + 31 < ephemeral)) ||
        fail "the kernel gives ports from $ephemeral on to any outgoing connection: set SANDBOX_PORT lower than $((ephemeral - 31))"
    for ((port = SANDBOX_PORT; port < SANDBOX_PORT + 32; port++)); do
        if { : < "/dev/tcp/127.0.0.1/$port"; } 2> /dev/null; then taken+=("$port"); fi
    done
    ((${#taken[@]} == 0)) || fail "something listens on port ${taken[*]} already: set SANDBOX_PORT to the first of 32 free ones"
}
