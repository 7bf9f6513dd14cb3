# shellcheck shell=bash
# Small helpers: saying, failing, waiting.

# say TEXT: a line of progress on stderr, with the seconds since the command began that the user gave.
export SANDBOX_BEGAN=${SANDBOX_BEGAN:-$EPOCHSECONDS}
say() { printf '[%4ds] %s\n' $((EPOCHSECONDS - SANDBOX_BEGAN)) "$*" >&2; }

# fail TEXT: the end, with a sentence that says why.
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# log_tail NAME: what a daemon said last, for an error message.
log_tail() {
    [[ -s $LOG/$1.log ]] || return 0
    printf -- '--- the end of %s\n' "$LOG/$1.log" >&2
    tail -n 20 "$LOG/$1.log" >&2
}

# wait_for SECONDS WHAT LOG CMD…: until CMD succeeds; else fails, says what it waited for and shows the end of LOG (- for none). The
# seconds are what a quiet machine needs at most: $SANDBOX_PATIENCE times as many are waited.
wait_for() {
    local limit=$(($1 * ${SANDBOX_PATIENCE:-3})) what=$2 log=$3 start=$EPOCHREALTIME; shift 3
    until "$@" > /dev/null 2>&1; do
        if ((10#${EPOCHREALTIME/./} - 10#${start/./} > limit * 1000000)); then
            [[ $log == - ]] || log_tail "$log"
            fail "waited $limit s for $what"
        fi
        sleep 0.05
    done
}

# usage: prints the comment at the top of the calling script, for --help.
usage() { sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"; }

# need_root: namespaces, overlay mounts and cgroups want it.
need_root() { ((EUID == 0)) || fail "must run as root (mounts, namespaces and cgroups are made)"; }

# write FILE: replaces FILE by stdin in one step, and only if it differs, so that "newer than" means "changed".
write() {
    local new=$1.new
    cat > "$new"
    if cmp -s "$new" "$1"; then rm -f "$new"; else mv -f "$new" "$1"; fi
}

# not CMD…: succeeds when CMD fails; for wait_for.
not() { ! "$@"; }
