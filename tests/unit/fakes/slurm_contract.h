// SPDX-License-Identifier: GPL-2.0-or-later
// What every Slurm must do, the fake and the real one alike.
#pragma once

#include "common/slurm/api.h"

#include <cstdint>
#include <functional>
#include <string>

namespace bridge {

struct SlurmSetup {
    std::string node; // a name that no node has; made, and deleted again
    // A partition of the nodes with that feature; empty: Slurm's default.
    std::string partition{};
    std::string partition_feature = "k8s";
    std::string
        higher{}; // a partition of a higher PriorityTier, if there is one
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    // Lets slurmctld work: until is asked again until it is true, or gives up.
    std::function<bool(const std::function<bool()> &until)> wait{};
};

void slurm_contract(Slurm &slurm, const SlurmSetup &setup);

} // namespace bridge
