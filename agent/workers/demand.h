// SPDX-License-Identifier: GPL-2.0-or-later
// How many workers each NodeSet should have, by the jobs that wait for nodes. A
// pure function: the same facts give the same answer, and nothing is
// remembered.
//
//   workers of a set        count
//   ----------------------  ------------------------------------------------
//   with jobs               always
//   taken out by others     always: drained, down, reserved; they serve nobody
//   idle, or not there yet  for what waits, each once
//   idle for a short time   always
//
// A job that needs several nodes, or nodes of its own, counts so many; it gets
// all of them or none. Smaller jobs are packed into nodes of the set's size,
// first fit, by their priority. A job of several partitions counts once, in the
// first of its partitions that has a set with room.
#pragma once

#include "agent/workers/worker_set.h"
#include "common/slurm/job_share.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

struct SetFacts {
    const WorkerSet *set = nullptr;   // which follows the queue
    std::optional<NodeCapacity> size; // nothing: slurmctld has no node of it
    std::set<std::string> partitions; // with nodes of it
    std::uint32_t busy = 0;           // workers with jobs
    std::uint32_t blocked = 0;        // that nobody can use
    std::uint32_t fresh = 0;          // idle for less than the set says
    std::uint32_t stale = 0;          // and for longer
};

// jobs: in any order. idle_elsewhere: how many other nodes of a partition have
// no job and could have one.
std::map<ObjectKey, std::uint32_t>
plan_replicas(const std::vector<SetFacts> &sets, std::vector<WaitingJob> jobs,
              const std::map<std::string, std::uint32_t> &idle_elsewhere);

} // namespace bridge
