// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of GRES, and the text with which they are requested from Slurm. Pure.
#pragma once

#include <cstdint>
#include <format>
#include <map>
#include <string>
#include <utility>

namespace bridge {

// By GRES and type; the type may be empty.
using GresSums = std::map<std::pair<std::string, std::string>, std::int64_t>;

// Returns the form that slurmctld uses: "gres/gpu:a100:2,gres/nic:1". "" if
// there are none.
inline std::string text_of(const GresSums &sums)
{
    std::string text;
    for (const auto &[kind, count] : sums)
        text +=
            std::format("{}gres/{}{}{}:{}", text.empty() ? "" : ",", kind.first,
                        kind.second.empty() ? "" : ":", kind.second, count);
    return text;
}

} // namespace bridge
