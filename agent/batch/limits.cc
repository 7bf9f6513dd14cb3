// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/limits.h"

#include "common/base/text.h"

#include <cstdint>
#include <limits>
#include <string_view>

namespace bridge {

namespace {

constexpr std::string_view prefix = "SLURM_RLIMIT_";
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

struct Limit {
    std::string_view name; // name in slurm.conf
    const char *option;    // option of ulimit
    std::uint64_t unit;    // bytes per unit of ulimit, or 1
};

// When bash is called as sh, which it is in some images, its units are 512
// bytes. NPROC is missing because its letter differs between shells.
constexpr Limit limits[] = {
    {"CPU", "-t", 1},      {"FSIZE", "-f", 512},    {"DATA", "-d", 1024},
    {"STACK", "-s", 1024}, {"CORE", "-c", 512},     {"RSS", "-m", 1024},
    {"NOFILE", "-n", 1},   {"MEMLOCK", "-l", 1024}, {"AS", "-v", 1024},
};

std::string line_of(const Limit &limit, std::string_view value)
{
    bool asked = value.starts_with('U'); // requested by --propagate
    if (asked)
        value.remove_prefix(1);
    auto number = whole_number<std::uint64_t>(value);
    if (!number)
        return {};
    std::string wanted = *number == unlimited
                             ? std::string("unlimited")
                             : std::to_string(*number / limit.unit);
    std::string set = std::string("ulimit -S ") + limit.option + " ";
    std::string text = "  " + set + wanted + " 2> /dev/null || ";
    if (!asked) // a limit that is too high becomes the hard limit
        return text + set + "\"$(ulimit -H " + limit.option +
               ")\" 2> /dev/null\n";
    return text +
           "\n    printf '%s\\n' 'slurmk8s: error: cannot propagate "
           "RLIMIT_" +
           std::string(limit.name) + " from submit host' >&2\n";
}

} // namespace

std::string set_limits(const BatchScript &script)
{
    std::string text;
    for (std::string_view entry : script.environment) {
        if (!entry.starts_with(prefix))
            continue;
        entry.remove_prefix(prefix.size());
        std::string_view name = next_part(entry, '=');
        for (const Limit &limit : limits)
            if (limit.name == name)
                text += line_of(limit, entry);
    }
    return text;
}

} // namespace bridge
