// SPDX-License-Identifier: GPL-2.0-or-later
// How many of each GRES, and the text by which Slurm is asked for them. Pure.
#pragma once

#include <cstdint>
#include <format>
#include <map>
#include <string>
#include <utility>

namespace bridge {

// By GRES and type, which may be empty.
using GresSums = std::map<std::pair<std::string, std::string>, std::int64_t>;

// As slurmctld has it: "gres/gpu:a100:2,gres/nic:1". "": nothing.
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
