// SPDX-License-Identifier: GPL-2.0-or-later
// A Slurm job as a value: what we request from slurmctld, and what it reports
// about a job. Knows neither libslurm nor Kubernetes.
#pragma once

#include "common/base/units.h"
#include "common/contract/job_ref.h"
#include "common/slurm/job_gres.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

struct WaitingJob; // job_queue.h

inline constexpr std::uint32_t highest_priority = 0xfffffffd; // below NO_VAL
// Slurm computes the priority; a job that was held is released (INFINITE).
inline constexpr std::uint32_t computed_priority = 0xffffffff;

// The contents of the admin_comment of our jobs, which only SlurmUser can
// write: it tells to which gang a job belongs. It is small because it is part
// of every job listing.
struct GangTag {
    std::string gang; // "ns/name", for people
    std::string uid;  // of the gang: see agent/gang/gang.h
    std::uint32_t generation = 0;
    // Grouped gangs: the uid of the first of the Pods for which the job was
    // requested. Pods that later use the same gang name have nothing to do with
    // it.
    std::string first = {};
    // The uid of the object that defined the size of the gang; empty: its Pods
    // did.
    std::string group = {};
    // Batch jobs: the name of the script file. If uid is empty, the Pod has not
    // been made yet.
    std::string script = {};
    // Components of heterogeneous jobs: the number of components requested.
    std::uint32_t components = 0;
    // The users' ResourceClaims, by name, whose devices the job counts also for
    // Pods of other jobs: see agent/gres/claim_sharing.h.
    std::vector<std::string> claims = {};

    bool operator==(const GangTag &) const = default;
};

std::string encode(const GangTag &tag);

// Returns nothing if the admin_comment is not that of a job of ours.
std::optional<GangTag> decode_gang_tag(const std::string &admin_comment);

// Who else may use the nodes of a job.
enum class Sharing { all, nobody, same_user, same_mcs_label };

// A request for an external job: slurmctld allocates and accounts, but launches
// nothing.
struct JobDescription {
    std::string name;
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    // Empty means Slurm's default for each of these.
    std::string account;
    std::string qos;
    std::string wckey;
    std::string partition;
    std::string reservation;
    std::string licenses;
    std::string dependency;
    std::string mcs_label;
    std::string comment;
    std::string gres;          // per node, as slurmctld has it: "gres/NAME:2"
    std::string gres_per_task; // same form
    std::string features;      // constraints: see common/contract/constraints.h
    std::string prefer;        // features of preferred nodes
    std::uint32_t tasks = 1;
    std::uint16_t cpus_per_task = 1;
    std::uint32_t min_nodes = 1;
    std::uint32_t max_nodes = 1;
    MebiBytes memory_per_node; // for a job of at most one node; otherwise
    MebiBytes memory_per_cpu;  // this one; the other is 0
    std::optional<std::uint32_t> time_limit; // minutes, 0: unlimited; nothing:
                                             // partition's
    std::chrono::sys_seconds begin{};        // earliest start; epoch: at once
    std::chrono::sys_seconds deadline{};     // latest end; epoch: none
    std::optional<std::uint32_t> priority;   // nothing: computed by Slurm; 0:
                                             // held
    std::int32_t nice = 0;
    Sharing sharing = Sharing::all;
    bool contiguous = false;
    std::optional<std::uint32_t> switches; // maximum of leaf switches
    std::optional<std::chrono::seconds> switches_wait; // how long to wait for
                                                       // them
    std::uint16_t segment = 0; // nodes in one block; 0: any
    // A component for each size of Pod: yes, no, or (nothing) as in k8s.conf.
    std::optional<bool> heterogeneous;
    GangTag tag;

    bool operator==(const JobDescription &) const = default;
};

enum class JobState {
    pending,
    configuring, // allocated, but a prolog is held
    running,
    suspended,
    completed,
    cancelled,
    failed,
    timeout,
    node_fail,
    preempted,
    boot_fail,
    deadline,
    out_of_memory,
    unknown, // not known to us: conclude nothing from it
};

// Returns the name that squeue prints, such as "PENDING".
const char *state_name(JobState state);

inline bool is_allocated(JobState state)
{
    return state == JobState::configuring || state == JobState::running ||
           state == JobState::suspended;
}

// Tells whether Slurm has positively reported the end of the job.
inline bool is_ended(JobState state)
{
    return state != JobState::pending && !is_allocated(state) &&
           state != JobState::unknown;
}

struct Job {
    JobRef ref;
    GangTag tag;
    JobState state = JobState::unknown;
    std::string reason; // why it is pending, as squeue has it: "Priority"
    std::uint32_t priority = 0; // in the queue; 0: held
    // More nodes would let it start; only lists of all jobs say so.
    bool wants_nodes = false;
    // What it asks for then, if it is one of sbatch without Pods.
    std::shared_ptr<const WaitingJob> waiting = {};
    std::chrono::sys_seconds expected_start{}; // epoch: not known
    std::vector<std::string> nodes;            // allocated, in Slurm's order
    std::uint32_t cpus = 0;                    // allocated, on all nodes
    std::vector<std::uint32_t> cpus_on;        // on each node; empty: not read
    std::uint32_t tasks = 1;                   // as requested
    std::uint16_t cpus_per_task = 1;           // as requested
    MebiBytes memory_per_node;                 // one of the two, as requested
    MebiBytes memory_per_cpu;
    std::string partition; // while it is pending, there may be several
    // It was suspended before, and resumed.
    bool resumed = false;
    bool devices = false;      // GRES are allocated
    bool exclusive = false;    // has all resources of its nodes
    std::string gres_per_node; // as requested
    std::string gres_per_task; // as requested
    bool gres_read = false;    // gres_on and cpu_ids_on were loaded
    // On each node.
    std::vector<std::vector<JobGres>> gres_on;
    // On each node: CPU numbers as Slurm counts them, if a core is one CPU.
    // Empty if not known.
    std::vector<std::vector<std::uint32_t>> cpu_ids_on;
    std::string features; // constraints, while it is pending
    bool prefers = false; // was submitted with --prefer or the like
    // Heterogeneous jobs: Slurm's jobs for the components, leader first. ref is
    // the leader's, and the other members above describe all components
    // together: het_job.h.
    std::vector<Job> components;
};

// A job of sbatch whose Pods are not made yet.
inline bool lacks_pods(const Job &job)
{
    return job.tag.uid.empty() && !job.tag.script.empty();
}

// More facts about a job, in Slurm's own words; only shown to people.
struct JobDetails {
    Job job;
    std::string reason_details; // "ReqNodeNotAvail, UnavailableNodes:kn1"
    std::string user;           // name or number
    std::string account;
    std::string partition;
    std::string qos;
    std::string reservation;
    std::string requested; // TRES: "cpu=2,mem=64M,node=1,billing=2"
    std::string allocated; // same form; empty while pending
    std::string features;
    std::optional<std::uint32_t> time_limit; // minutes; nothing: unlimited
    std::chrono::sys_seconds submitted{};    // epoch: not known, as below
    std::chrono::sys_seconds started{};
    std::chrono::sys_seconds ended{};
};

// An entry of the bulk list of states. It has no SLUID, so it is only a hint.
struct JobStateHint {
    JobId id = 0;
    JobState state = JobState::unknown;
};

} // namespace bridge
