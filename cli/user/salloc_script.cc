// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/salloc_script.h"

#include "common/contract/batch_names.h"

#include <format>

namespace bridge {

namespace {

// The script leaves its environment in a file, and the shell its process id.
// Each is first written under another name, so that the other side never reads
// a partial file.
constexpr char script[] = R"(#!/bin/sh
# Made by slurmk8s salloc: waits for its shell, and ends with that.
trap 'exit 143' TERM
SLURMK8S_DIRECTORY=$(pwd)
export SLURMK8S_DIRECTORY
export -p > {0}/salloc.new
mv {0}/salloc.new {0}/salloc.env
left=300
until [ -s {0}/salloc.pid ]; do
    [ "$left" -gt 0 ] || {{ echo "no shell was started in 300 s" >&2; exit 1; }}
    left=$((left - 1))
    sleep 1 & wait "$!"
done
pid=$(cat {0}/salloc.pid)
while kill -0 "$pid" 2>/dev/null; do
    sleep 1 & wait "$!"
done
)";

constexpr char command_text[] = R"(left=60
until [ -e {0}/salloc.env ]; do
    [ "$left" -gt 0 ] || {{ echo "the job left no environment" >&2; exit 1; }}
    left=$((left - 1))
    sleep 1
done
. {0}/salloc.env
cd "$SLURMK8S_DIRECTORY" && unset SLURMK8S_DIRECTORY
export TERM="$0"
echo "$$" > {0}/salloc.pid.new
mv {0}/salloc.pid.new {0}/salloc.pid
[ "$#" -eq 0 ] || exec "$@"
bash=$(command -v bash) && exec "$bash"
exec /bin/sh
)";

} // namespace

std::string salloc_script()
{
    return std::format(script, names::batch_pipes_mount);
}

std::vector<std::string> salloc_command(const std::vector<std::string> &command,
                                        std::string_view terminal)
{
    std::vector<std::string> words = {
        "/bin/sh", "-c", std::format(command_text, names::batch_pipes_mount),
        std::string(terminal.empty() ? "dumb" : terminal)};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

} // namespace bridge
