// SPDX-License-Identifier: GPL-2.0-or-later
// Jobs for the tests of Gate.
#pragma once

#include "plugins/prep/gate.h"

#include <ranges>
#include <string>
#include <vector>

namespace bridge {

// Hostlists of tests are plain lists: "n1,n2".
inline std::vector<std::string> split(const std::string &hostlist)
{
    std::vector<std::string> nodes;
    for (auto part : std::views::split(hostlist, ','))
        if (!part.empty())
            nodes.emplace_back(part.begin(), part.end());
    return nodes;
}

inline JobFacts ours(JobId id, const std::string &nodes)
{
    return {{id, Sluid{100 + id}}, nodes, true};
}

inline JobFacts ordinary(JobId id, const std::string &nodes)
{
    return {{id, Sluid{100 + id}}, nodes, false};
}

using Due = std::vector<Release>;

} // namespace bridge
