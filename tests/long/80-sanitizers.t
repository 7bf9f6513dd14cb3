#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every test under ASan and UBSan, then under TSan; each in a sandbox of its own beside $SANDBOX. SANITIZERS ("thread") chooses.
#
# The programs and the unit tests are built with the sanitizer. The plugins are not: slurmctld, which loads them, would have to
# be built with it too; their code, but for the entry points, is linked into the unit tests and sanitized there. A report is an
# error wherever it stands: in the unit tests' output or in a daemon's log. Without optimisation, since that and a sanitizer make
# a build three times longer.
set -uo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${SANDBOX:?the sandbox beside which two more are made}"
lists=(${SANITIZERS:-address,undefined thread})
scripts=("$@")
export TSAN_OPTIONS="suppressions=$top/tests/long/tsan.supp second_deadlock_stack=1 ${TSAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
export TESTS_LIMIT=${TESTS_LIMIT:-14400}                               # seconds for each list: the build alone takes up to one hour

number=0 failed=0
result() {
    number=$((number + 1))
    if [[ $1 == ok ]]; then echo "ok $number - $2"; else failed=1; echo "not ok $number - $2"; fi
}

echo "1..$((2 * ${#lists[@]}))"
port=$((${SANDBOX_PORT:-22000} + 32))
for list in "${lists[@]}"; do
    box=$SANDBOX-${list%%,*}
    mkdir -p "$box/log"
    rm -f "$box"{,-[0-9]}/log/*.log                                  # reports of an older run
    SANDBOX=$box SANDBOX_PORT=$port SANDBOX_CONFIGURE="--enable-fault-points --enable-sanitizers=$list CXXFLAGS=-O0" "$top/tests/run" "${scripts[@]}" \
        > "$box/tests.log" 2>&1 && said=ok || said=not
    result $said "the tests under -fsanitize=$list"
    [[ $said == ok ]] || tail -n 60 "$box/tests.log" | sed 's/^/# /'
    reports=$(grep -hE 'ERROR: (Address|Leak)Sanitizer|runtime error:|WARNING: ThreadSanitizer' "$box"{,-[0-9]}/log/*.{log,tap} 2> /dev/null)
    [[ $reports ]] && said=not || said=ok
    result $said "no report of -fsanitize=$list"
    [[ $said == ok ]] || sort <<< "$reports" | uniq -c | head -n 40 | sed 's/^/# /'
    port=$((port + 32))
done
exit $failed
