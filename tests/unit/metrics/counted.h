// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes and jobs as slurmctld would show them, for tests of numbers.
#pragma once

#include "common/slurm/census.h"

#include <chrono>
#include <cstdint>
#include <slurm/slurm.h>
#include <string>

namespace bridge {

inline CountedNode counted_node(const std::string &name,
                                std::uint32_t state = NODE_STATE_IDLE)
{
    CountedNode node;
    node.name = name;
    node.state = state;
    node.cpus = node.usable_cpus = 64;
    node.memory = node.usable_memory = MebiBytes{256000};
    return node;
}

inline std::chrono::sys_seconds at(std::int64_t seconds)
{
    return std::chrono::sys_seconds(std::chrono::seconds(seconds));
}

inline CountedJob pending_job(JobId id, const char *reason = "Priority")
{
    CountedJob job;
    job.id = id;
    job.state = JOB_PENDING;
    job.partition = "main";
    job.qos = "normal";
    job.reason = reason;
    job.eligible = at(1000);
    return job;
}

inline CountedJob running_job(JobId id, std::int64_t start)
{
    CountedJob job = pending_job(id, "None");
    job.state = JOB_RUNNING;
    job.start = at(start);
    job.cpus = 4;
    job.nodes = 1;
    job.tres = "cpu=4,mem=2G,node=1,billing=4,gres/gpu=2,gres/gpu:a100=2";
    return job;
}

inline CountedJob ended_job(JobId id, std::int64_t start, std::int64_t end,
                            std::uint32_t state = JOB_COMPLETE)
{
    CountedJob job = pending_job(id, "None");
    job.state = state;
    job.start = at(start);
    job.end = at(end);
    job.ran = job.end - job.start;
    return job;
}

} // namespace bridge
