// SPDX-License-Identifier: GPL-2.0-or-later
// The status of a PodGroup of scheduler-plugins: what that project's controller
// would make of its Pods, and whether anybody but us writes it. Pure; knows
// nothing of Slurm.
//
//   phase        of these the last that holds
//   -----------  ---------------------------------------------------------------
//   Pending      always
//   Scheduling   minMember Pods exist; so for all that follow
//   Running      so many run or have succeeded
//   Failed       some have failed, and so many run or are over; it stays
//   Finished     so many have succeeded; it stays
#pragma once

#include "common/base/json.h"

#include <cstdint>
#include <string>

namespace bridge {

// Its Pods, by phase; pods: all that exist.
struct PodGroupCounts {
    std::uint32_t pods = 0;
    std::uint32_t running = 0;
    std::uint32_t succeeded = 0;
    std::uint32_t failed = 0;
};

struct PodGroupStatus {
    std::string phase; // empty: it has none
    std::uint32_t running = 0;
    std::uint32_t succeeded = 0;
    std::uint32_t failed = 0;
    bool started = false;    // has a scheduleStartTime
    std::string occupied_by; // "default/train": what owns its Pods

    bool operator==(const PodGroupStatus &) const = default;
};

// others: somebody but us has written it, or has left no name.
enum class StatusWriter : std::uint8_t { nobody, us, others };

// From the object's JSON; a field that is missing or of a wrong type is empty.
PodGroupStatus pod_group_status_from(const Json &object);
StatusWriter status_writer_of(const Json &object);

// What follows last; owner: "default/train", or "" where the Pods have none.
// The same where there is nothing to say.
PodGroupStatus next_status(const PodGroupStatus &last, std::uint32_t minimum,
                           const PodGroupCounts &counts,
                           const std::string &owner);

} // namespace bridge
