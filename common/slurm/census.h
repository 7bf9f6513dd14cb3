// SPDX-License-Identifier: GPL-2.0-or-later
// The calls to slurmctld by which its nodes, partitions and jobs are counted,
// one RPC each. Codes and threads are those of api.h.
#pragma once

#include "common/base/result.h"
#include "common/base/units.h"
#include "common/contract/job_ref.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct CountedNode {
    std::string name;
    std::uint32_t state = 0; // node_state of slurm.h: see state_tests.h
    std::uint32_t cpus = 0;
    std::uint32_t usable_cpus = 0; // without those that are kept from jobs
    std::uint32_t allocated_cpus = 0;
    MebiBytes memory;
    MebiBytes usable_memory; // likewise
    MebiBytes allocated_memory;
    std::optional<MebiBytes> free_memory; // as slurmd has reported it
    std::string gres;                     // "gpu:a100:4(S:0-1)"
    std::string gres_used;                // "gpu:a100:2(IDX:0-1)"
    std::string reason;                   // why it is drained or down
    std::chrono::sys_seconds reason_since{};
    std::uint32_t reason_user = 0; // who has set it
};

struct CountedPartition {
    std::string name;
    std::vector<std::string> nodes;
};

struct NodeCensus {
    std::int64_t as_of = 0; // seconds since the epoch; 0: never
    std::vector<CountedNode> nodes;
};

// Whose job it is.
enum class JobKind {
    native, // has no Pods
    pod,    // stands for a Pod, or for several
    batch,  // runs as Pods: sbatch --k8s-image
    shadow, // holds what Pods of other schedulers use: node_use.h
};

// A job as it is counted. The texts are slurmctld's, and live as long as the
// call.
struct CountedJob {
    JobId id = 0;
    JobKind kind = JobKind::native;
    std::uint32_t state = 0;    // job_state of slurm.h: see state_tests.h
    std::uint32_t tasks = 1;    // of a job array, for which the record stands
    std::string_view partition; // while it is pending, perhaps a list
    std::string_view qos;
    std::string_view account;
    std::uint32_t user = 0;
    std::string_view reason; // why it is pending: "Priority"
    bool held = false;
    std::uint32_t restarts = 0;
    bool had_nodes = false; // it has or had some: it has started
    // While it has nodes.
    std::uint32_t cpus = 0;
    std::uint32_t nodes = 0;
    std::string_view tres; // "cpu=2,mem=4G,node=1,gres/gpu:a100=2"
    // Epoch: not yet.
    std::chrono::sys_seconds eligible{};
    std::chrono::sys_seconds start{};
    // Only if it has ended; ran is without the time in which it was suspended.
    std::chrono::sys_seconds end{};
    std::chrono::seconds ran{};
};

// What slurmctld says of its own work, as sdiag prints it. Times are in
// microseconds. What counts begins anew when slurmctld starts, and at midnight
// UTC.
struct SchedulerCensus {
    std::uint32_t threads = 0;
    std::uint32_t agents = 0;
    std::uint32_t agent_queue = 0;
    std::uint32_t database_queue = 0; // messages to slurmdbd that wait
    std::uint32_t cycles = 0;
    std::uint64_t cycle_sum = 0;
    std::uint32_t cycle_last = 0;
    std::uint32_t cycle_max = 0;
    std::uint32_t queue = 0; // jobs at the last cycle
    std::uint32_t backfill_cycles = 0;
    std::uint64_t backfill_sum = 0;
    std::uint32_t backfill_last = 0;
    std::uint32_t backfill_max = 0;
    std::uint32_t backfill_depth = 0; // jobs that the last cycle looked at
    std::uint32_t backfilled = 0;     // jobs since slurmctld has started
    std::chrono::sys_seconds since{}; // from when on it counts
    struct Rpc {
        std::uint32_t type = 0; // its number in slurm_protocol_defs.h
        std::uint32_t count = 0;
        std::uint64_t time = 0;
    };
    std::vector<Rpc> rpcs;
};

struct CountedReservation {
    std::string name;
    std::uint32_t nodes = 0;
    std::uint32_t cores = 0;
    std::chrono::sys_seconds start{};
    std::chrono::sys_seconds end{};
};

// Those of hierarchical resources have several entries with one name.
struct CountedLicense {
    std::string name;
    std::string nodes; // on which they are; "" if they are not on nodes
    std::uint32_t total = 0;
    std::uint32_t used = 0;
    std::uint32_t reserved = 0;
};

// What an account, or a user in it, may use of the cluster and has used, as
// sshare shows it. Nothing: it has no such number of its own.
struct CountedAssociation {
    std::string account;
    std::string user;      // "": the account itself
    std::string partition; // for which alone it is; "": for all
    // Not if it shares those of its parent, nor of the account root.
    std::optional<double> shares;
    // From 0 to 1: of its parent's, or of all without Fair Tree; likewise
    // usage_effective.
    std::optional<double> shares_norm;
    std::optional<double> usage; // billable TRES × seconds
    std::optional<double> usage_effective;
    std::optional<double> fairshare; // of a user
};

// What slurmctld's configuration says to those who count.
struct CensusConf {
    std::chrono::seconds min_job_age{}; // 0: ended jobs are never forgotten
    // PrivateData has jobs, users, usage or accounts.
    bool people_are_private = false;
    bool reservations_are_private = false;
};

class SlurmCensus {
  public:
    virtual ~SlurmCensus() = default;

    // Nothing if no node has changed since that census. Without FUTURE nodes.
    virtual Result<std::optional<NodeCensus>>
    count_nodes(std::int64_t as_of) = 0;
    virtual Result<std::vector<CountedPartition>> count_partitions() = 0;

    // Shows each job of every user to visit, on this thread. Also if slurmctld
    // says that none has changed: it does not count a reason as a change.
    virtual Result<>
    count_jobs(const std::function<void(const CountedJob &)> &visit) = 0;

    virtual Result<SchedulerCensus> ask_scheduler() = 0;
    virtual Result<CensusConf> ask_conf() = 0;
    virtual Result<std::vector<CountedReservation>> count_reservations() = 0;
    virtual Result<std::vector<CountedLicense>> count_licenses() = 0;
    // Without an accounting database there are none.
    virtual Result<std::vector<CountedAssociation>> count_associations() = 0;
};

// SlurmApi must exist: it has read slurm.conf.
class SlurmCensusApi : public SlurmCensus {
  public:
    Result<std::optional<NodeCensus>> count_nodes(std::int64_t as_of) override;
    Result<std::vector<CountedPartition>> count_partitions() override;
    Result<>
    count_jobs(const std::function<void(const CountedJob &)> &visit) override;
    Result<SchedulerCensus> ask_scheduler() override;
    Result<CensusConf> ask_conf() override;
    Result<std::vector<CountedReservation>> count_reservations() override;
    Result<std::vector<CountedLicense>> count_licenses() override;
    Result<std::vector<CountedAssociation>> count_associations() override;
};

} // namespace bridge
