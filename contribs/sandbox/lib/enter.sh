# shellcheck shell=bash
# The way into a sandbox that is up: for `exec`, and for the commands of setup/commands, which tests call thousands of times.

# enter PID CMD…: becomes CMD inside the sandbox of that PID 1, as ../exec says.
enter() {
    local pid=$1 cwd=$PWD user=${SANDBOX_USER:-root}; shift
    local inside=(nsenter --target "$pid" --mount --pid --ipc --uts --root)
    export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
    export no_proxy=127.0.0.1,localhost${no_proxy:+,$no_proxy}
    export CCACHE_DIR=$SANDBOX_CACHE/ccache CCACHE_NOHASHDIR=yes CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=yes
    if [[ $user != root ]]; then
        export HOME=/home/$user USER=$user LOGNAME=$user
        inside+=(setpriv "--reuid=$user" "--regid=$user" --init-groups --inh-caps=-all)
    else
        export HOME=/root USER=root LOGNAME=root
    fi
    # shellcheck disable=SC2016
    exec "${inside[@]}" sh -c 'cd "$0" 2> /dev/null || cd /; exec "$@"' "$cwd" "$@"
}
