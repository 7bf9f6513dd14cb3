// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/warning.h"

#include "common/contract/batch_names.h"

#include <format>

namespace bridge {

namespace {

// The watched process may end at any time, and may be the container's main
// process; so nobody waits for the process that watches it. Like slurmctld,
// this sends SIGCONT first. Signals to all processes of the script must not end
// it.
constexpr char pattern[] = R"(warn() {{
  (
    (
      trap '' HUP INT QUIT USR1 USR2 TERM
      while kill -0 "$1"; do
        k8s_ends=
        read -r k8s_ends < {0}/{1}
        case $k8s_ends in
        '' | *[!0-9]*) k8s_left=5 ;;
        *) k8s_left=$((k8s_ends - {2} - $(date +%s))) ;;
        esac
        if [ "$k8s_left" -le 0 ]; then
          kill -CONT "$1"
          kill -{3} "$1"
          exit
        fi
        [ "$k8s_left" -lt 5 ] || k8s_left=5
        sleep "$k8s_left" || exit
      done
    ) &
  ) < /dev/null > /dev/null 2>&1 8>&- 9>&-
}}
command -v date > /dev/null && command -v sleep > /dev/null ||
  printf '%s\n' \
    'slurmk8s: the image lacks date or sleep: --signal has no effect' >&2
)";

} // namespace

std::string ends_text(std::chrono::sys_seconds ends)
{
    return std::to_string(ends.time_since_epoch().count());
}

std::string warn_function(const BatchScript &script)
{
    if (!has_warning(script))
        return "warn() { :; }\n";
    return std::format(pattern, names::batch_ends_mount, names::batch_ends_file,
                       script.signal_seconds, script.signal);
}

} // namespace bridge
