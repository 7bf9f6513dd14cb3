// SPDX-License-Identifier: GPL-2.0-or-later
// The steps that can be taken on a Slurm node, as values.
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
    std::string features; // comma separated, as is `active`
    std::string active;   // the active ones of these
};
// The node does not exist: no job starts there. It comes before SetFeatures, as
// in the list below.
struct DownNode {
    std::string node;
    std::string reason; // begins with drain_mark
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
struct ResumeNode { // only for drains that carry our mark
    std::string node;
};
using NodeStep = std::variant<CreateNode, DownNode, SetExtra, SetFeatures,
                              SetTopology, DrainNode, ResumeNode>;

} // namespace bridge
