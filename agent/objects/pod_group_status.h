// SPDX-License-Identifier: GPL-2.0-or-later
// The status of a PodGroup of scheduler-plugins: what that project's controller
// would derive from its Pods, and whether anyone else writes it. Pure; knows
// nothing of Slurm.
//
//   phase        is the last of these whose condition holds
//   -----------  -----------------------------------------------------------
//   Pending      always
//   Scheduling   minMember Pods exist (required for all that follow, too)
//   Running      that many Pods run or have succeeded
//   Failed       some have failed, and that many run or have ended; final
//   Finished     that many have succeeded; final
#pragma once

#include "common/base/json.h"

#include <cstdint>
#include <string>

namespace bridge {

// Number of its Pods by phase; pods counts all that exist.
struct PodGroupCounts {
    std::uint32_t pods = 0;
    std::uint32_t running = 0;
    std::uint32_t succeeded = 0;
    std::uint32_t failed = 0;
};

struct PodGroupStatus {
    std::string phase; // empty if the object has none
    std::uint32_t running = 0;
    std::uint32_t succeeded = 0;
    std::uint32_t failed = 0;
    bool started = false;    // has a scheduleStartTime
    std::string occupied_by; // "default/train": the owner of its Pods

    bool operator==(const PodGroupStatus &) const = default;
};

// others: someone other than the agent has written the status, or its writer is
// not recorded.
enum class StatusWriter : std::uint8_t { nobody, us, others };

// Reads the JSON of the object. A field that is missing or has the wrong type
// is read as empty.
PodGroupStatus pod_group_status_from(const Json &object);
StatusWriter status_writer_of(const Json &object);

// Returns the status that follows last, which is last itself if nothing
// changes. owner: "default/train", or "" if the Pods have no owner.
PodGroupStatus next_status(const PodGroupStatus &last, std::uint32_t minimum,
                           const PodGroupCounts &counts,
                           const std::string &owner);

} // namespace bridge
