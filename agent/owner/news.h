// SPDX-License-Identifier: GPL-2.0-or-later
// What other threads tell the owner thread about this process itself: whether
// it may act, and which rights it lacks. Values only.
#pragma once

#include <map>
#include <string>

namespace bridge {

// The present state of the Lease.
struct LeaseNews {
    std::string standby; // why this agent does not act; "" if it does
    std::string problem; // what is wrong with the Lease, or ""

    bool operator==(const LeaseNews &) const = default;
};

// The rights that the agent lacks, for logs and /metrics.
struct AccessNews {
    // The missing rights that the agent needs, or why its rights are not known;
    // "" if nothing is missing.
    std::string problem;
    // Features that are off, by name: which rights they lack and how to grant
    // them.
    std::map<std::string, std::string> off;

    bool operator==(const AccessNews &) const = default;
};

} // namespace bridge
