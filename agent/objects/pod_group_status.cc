// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_group_status.h"

#include "common/contract/names.h"

#include <algorithm>
#include <limits>

namespace bridge {

namespace {

constexpr char pending[] = "Pending";

std::uint32_t count_in(const Json &status, const char *name)
{
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(status.integer(name).value_or(0), 0,
                                 std::numeric_limits<std::int32_t>::max()));
}

bool stays(const std::string &phase)
{
    return phase == "Finished" || phase == "Failed";
}

std::string phase_of(std::uint32_t minimum, const PodGroupCounts &counts)
{
    std::uint32_t good = counts.running + counts.succeeded;
    if (counts.pods < minimum)
        return pending;
    if (counts.succeeded >= minimum)
        return "Finished";
    if (counts.failed != 0 && good + counts.failed >= minimum)
        return "Failed";
    return good >= minimum ? "Running" : "Scheduling";
}

} // namespace

PodGroupStatus pod_group_status_from(const Json &object)
{
    Json status = object.at("status");
    PodGroupStatus read;
    read.phase = status.text("phase");
    read.running = count_in(status, "running");
    read.succeeded = count_in(status, "succeeded");
    read.failed = count_in(status, "failed");
    read.started = !status.text("scheduleStartTime").empty();
    read.occupied_by = status.text("occupiedBy");
    return read;
}

// The API server takes a writer's name from its User-Agent.
StatusWriter status_writer_of(const Json &object)
{
    bool ours = false;
    for (const Json &fields : object.items("metadata/managedFields")) {
        if (fields.text("subresource") != "status")
            continue;
        if (fields.text("manager") != names::manager)
            return StatusWriter::others;
        ours = true;
    }
    if (ours)
        return StatusWriter::us;
    return object.text("status/phase").empty() ? StatusWriter::nobody
                                               : StatusWriter::others;
}

PodGroupStatus next_status(const PodGroupStatus &last, std::uint32_t minimum,
                           const PodGroupCounts &counts,
                           const std::string &owner)
{
    if (stays(last.phase))
        return last;
    PodGroupStatus next = last;
    next.phase = phase_of(minimum, counts);
    next.running = counts.running;
    next.succeeded = counts.succeeded;
    next.failed = counts.failed;
    bool waited = last.phase.empty() || last.phase == pending;
    if (waited && next.phase != pending) {
        next.started = true;
        if (!owner.empty())
            next.occupied_by = owner;
    }
    return next;
}

} // namespace bridge
