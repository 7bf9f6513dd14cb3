// SPDX-License-Identifier: GPL-2.0-or-later
// What can be done to a node in Slurm, as values.
#pragma once

#include "common/contract/names.h"
#include "common/slurm/api.h"

#include <string>
#include <variant>

namespace bridge {

using names::drain_mark;

struct CreateNode {
    NodeDescription node;
};
struct SetFeatures {
    std::string node;
    std::string features; // comma separated, as the next
    std::string active;   // of these
};
struct SetExtra {
    std::string node;
    std::string extra;
};
struct SetTopology {
    std::string node;
    std::string topology;
};
struct DrainNode {
    std::string node;
    std::string reason; // begins with drain_mark
};
struct ResumeNode { // only what carries our mark
    std::string node;
};
using NodeStep = std::variant<CreateNode, SetExtra, SetFeatures, SetTopology,
                              DrainNode, ResumeNode>;

} // namespace bridge
