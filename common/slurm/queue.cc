// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/queue.h"

#include "common/slurm/error.h"
#include "common/slurm/job_record.h"
#include "common/slurm/node_record.h"
#include "common/slurm/states.h"
#include "common/slurm/strings.h"
#include "common/slurm/waiting_job.h"

#include <algorithm>
#include <cerrno>
#include <format>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

// More nodes would let it start. With any other reason slurmctld has not found
// out yet, or it waits for something else.
bool waits_for_nodes(const slurm_job_info_t &info, std::time_t now)
{
    return job_state_of(info.job_state) == JobState::pending &&
           (info.bitflags & EXTERNAL_JOB) == 0 && info.priority != 0 &&
           is_eligible(info, now) &&
           (info.state_reason == WAIT_RESOURCES ||
            info.state_reason == WAIT_PRIORITY ||
            info.state_reason == WAIT_NODE_NOT_AVAIL);
}

} // namespace

Result<std::optional<JobQueue>>
SlurmQueueApi::load_queue_since(std::int64_t as_of)
{
    auto records = load_records_since(as_of, "load the queue");
    if (!records)
        return std::unexpected(records.error());
    if (!*records)
        return std::nullopt;
    const JobInfo &info = **records;
    JobQueue queue{info->last_update, {}, {}};
    const RunningTasks running = running_tasks(*info);
    for (const slurm_job_info_t &job : jobs_in(*info)) {
        if (holds_nodes(job))
            for (std::string &node : expand(job.nodes))
                queue.busy.insert(std::move(node));
        else if (waits_for_nodes(job, info->last_update))
            queue.waiting.push_back(waiting_job(job, running));
    }
    return queue;
}

Result<IdleTimes> SlurmQueueApi::load_idle_times()
{
    auto records = load_node_records(0, 0, "load idle nodes");
    if (!records)
        return std::unexpected(records.error());
    IdleTimes times;
    for_each_node(**records, [&](const node_info_t &node) { // as_of was 0
        times[node.name] =
            time_of(std::max(node.last_busy, node.slurmd_start_time));
    });
    return times;
}

// CLOUD and not FUTURE: a FUTURE node is nobody's to wait for. Such a node is
// POWERED_DOWN until slurmd registers, so that slurmctld does not ping it.
Result<> SlurmQueueApi::create_future_nodes(const FutureNodes &nodes)
{
    std::string names;
    std::string addresses;
    for (const std::string &name : nodes.names) {
        names += (names.empty() ? "" : ",") + name;
        addresses += std::string(addresses.empty() ? "" : ",") + no_address;
    }
    std::string line =
        std::format("NodeName={} NodeAddr={} {} Feature={} State=CLOUD", names,
                    addresses, nodes.conf, nodes.feature);
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.extra = borrow(line); // the whole request, as scontrol sends it
    if (slurm_create_node(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, "create NodeName=" + names);
    return {};
}

} // namespace bridge
