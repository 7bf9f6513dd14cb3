// SPDX-License-Identifier: GPL-2.0-or-later
// Places at which a test can kill or stop the agent: before and after each
// write. Only in builds of configure --enable-fault-points; in others nothing
// of it is compiled.
//
//   SLURMK8SD_FAULT=WRITE:before|after[:N[:kill|stop]]
//
// The process kills or stops itself the Nth time (the first) that it comes
// there. SLURMK8SD_FAULT=list prints all of them and exits.
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
    unsigned count = 1; // at this visit
    int signal = 0;     // SIGKILL or SIGSTOP

    bool operator==(const FaultPoint &) const = default;
};

// Code::rejected for what is none.
Result<FaultPoint> parse_fault_point(std::string_view text);

// "submit:before", "submit:after", …
std::vector<std::string> all_fault_points();

// What the environment asks for; ends the process when that is nonsense.
WriteGate::Observer fault_points();

#else

inline WriteGate::Observer fault_points()
{
    return {};
}

#endif

} // namespace bridge
