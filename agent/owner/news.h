// SPDX-License-Identifier: GPL-2.0-or-later
// What other threads tell the owner thread about this process itself: whether
// it may act, and which rights it lacks. Values.
#pragma once

#include <map>
#include <string>

namespace bridge {

// What there is to say of the Lease at the moment.
struct LeaseNews {
    std::string standby; // why we do not act, "" when we do
    std::string problem; // what is wrong with the Lease, or ""

    bool operator==(const LeaseNews &) const = default;
};

// Which rights we lack, for logs and /metrics.
struct AccessNews {
    // What we lack and cannot do without, or why we do not know; "": nothing.
    std::string problem;
    // Features that are off, by name: what they lack and how to give it.
    std::map<std::string, std::string> off;

    bool operator==(const AccessNews &) const = default;
};

} // namespace bridge
