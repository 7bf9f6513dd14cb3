// SPDX-License-Identifier: GPL-2.0-or-later
// Points at which a test can kill or stop the agent: before and after each
// write. Only in builds configured with --enable-fault-points; other builds
// contain none of this.
//
//   SLURMK8SD_FAULT=WRITE:before|after[:N[:kill|stop]]
//
// The process kills (default) or stops itself when it reaches the point for the
// Nth time (default: 1). SLURMK8SD_FAULT=list prints all points and exits.
#pragma once

#include "agent/calls/write_gate.h"
#include "config.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

#ifdef ENABLE_FAULT_POINTS

struct FaultPoint {
    Write write{};
    WriteGate::Moment moment{};
    unsigned count = 1; // the visit that counts
    int signal = 0;     // SIGKILL or SIGSTOP

    bool operator==(const FaultPoint &) const = default;
};

// Code::rejected if the text is malformed.
Result<FaultPoint> parse_fault_point(std::string_view text);

// Returns "submit:before", "submit:after", …
std::vector<std::string> all_fault_points();

// Returns the observer that the environment requests; ends the process if the
// request is malformed.
WriteGate::Observer fault_points();

#else

inline WriteGate::Observer fault_points()
{
    return {};
}

#endif

} // namespace bridge
