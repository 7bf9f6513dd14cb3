// SPDX-License-Identifier: GPL-2.0-or-later
// The calls to slurmctld with which NodeSets follow the queue, one RPC each.
// Codes and threads are those of api.h. Tests replace SlurmQueue by a fake.
#pragma once

#include "common/base/result.h"
#include "common/slurm/job_queue.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// Slurm nodes for slurmd that is to come: they differ in nothing but their
// names.
struct FutureNodes {
    std::vector<std::string> names;
    std::string conf;    // as slurmd --conf has it, without Feature
    std::string feature; // a word

    bool operator==(const FutureNodes &) const = default;
};
// Their NodeAddr (RFC 5737: nobody has it).
inline constexpr char no_address[] = "192.0.2.1";

// Since when nodes have no job, or since when their slurmd runs, if that is
// later. Of a node with jobs it says nothing.
using IdleTimes = std::map<std::string, std::chrono::sys_seconds>;

class SlurmQueue {
  public:
    virtual ~SlurmQueue() = default;

    // Returns the jobs that wait for nodes, and the nodes that jobs have, or
    // nothing if no job has changed since that queue was read.
    virtual Result<std::optional<JobQueue>>
    load_queue_since(std::int64_t as_of) = 0;

    virtual Result<IdleTimes> load_idle_times() = 0;

    // Creates nodes to which slurmd may come, with the address no_address.
    // slurmctld takes them for powered down: jobs may be allocated there and
    // wait for slurmd, unless somebody sets them DOWN. After an error some of
    // them may exist.
    virtual Result<> create_future_nodes(const FutureNodes &nodes) = 0;
};

// SlurmApi must exist: it has read slurm.conf.
class SlurmQueueApi : public SlurmQueue {
  public:
    Result<std::optional<JobQueue>>
    load_queue_since(std::int64_t as_of) override;
    Result<IdleTimes> load_idle_times() override;
    Result<> create_future_nodes(const FutureNodes &nodes) override;
};

} // namespace bridge
