// SPDX-License-Identifier: GPL-2.0-or-later
// A Slurm job as a value: what we ask slurmctld for, and what it says about a
// job. Knows neither libslurm nor Kubernetes.
#pragma once

#include "common/base/units.h"
#include "common/contract/job_ref.h"
#include "common/slurm/job_gres.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

inline constexpr std::uint32_t highest_priority = 0xfffffffd; // below NO_VAL

// What the admin_comment of our jobs says, which only SlurmUser can write:
// whose job it is. Small, since it is packed into every job listing.
struct GangTag {
    std::string gang; // "ns/name", for people
    std::string uid;  // of the gang: see agent/gang/gang.h
    std::uint32_t generation = 0;
    // Of a grouped gang: the uid of the first of the Pods that it was asked
    // for. Others that take the same name later have nothing to do with it.
    std::string first = {};
    // The uid of the object that said its size; empty: its Pods did.
    std::string group = {};
    // Of a batch job: the name of its script's file. Its Pod has yet to be made
    // where there is no uid.
    std::string script = {};
    // Of a component of a heterogeneous job: how many that was asked for with.
    std::uint32_t components = 0;

    bool operator==(const GangTag &) const = default;
};

std::string encode(const GangTag &tag);

// Nothing for the admin_comment of a job that is not ours.
std::optional<GangTag> decode_gang_tag(const std::string &admin_comment);

// Who else may be on the nodes of a job.
enum class Sharing { all, nobody, same_user, same_mcs_label };

// An external job: slurmctld allocates and accounts, and launches nothing.
struct JobDescription {
    std::string name;
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    // Of each of these, empty is Slurm's default.
    std::string account;
    std::string qos;
    std::string wckey;
    std::string partition;
    std::string reservation;
    std::string licenses;
    std::string dependency;
    std::string mcs_label;
    std::string comment;
    std::string gres; // on each node, as slurmctld has it: "gres/NAME:2"
    std::string gres_per_task; // likewise
    std::string
        features; // constraints of its nodes: see common/contract/constraints.h
    std::string prefer; // features of the nodes that are tried first
    std::uint32_t tasks = 1;
    std::uint16_t cpus_per_task = 1;
    std::uint32_t min_nodes = 1;
    std::uint32_t max_nodes = 1;
    MebiBytes memory_per_node;               // with one node at most, else
    MebiBytes memory_per_cpu;                // this one; the other is 0
    std::optional<std::uint32_t> time_limit; // minutes, 0: unlimited; none:
                                             // the partition's
    std::chrono::sys_seconds begin{};        // not before; epoch: at once
    std::chrono::sys_seconds deadline{};     // ends by then; epoch: none
    std::optional<std::uint32_t> priority;   // none: Slurm reckons it; 0: held
    std::int32_t nice = 0;
    Sharing sharing = Sharing::all;
    bool contiguous = false;
    std::optional<std::uint32_t> switches;             // leaf switches at most
    std::optional<std::chrono::seconds> switches_wait; // for so many
    std::uint16_t segment = 0; // nodes of one block together; 0: any
    // A component for each size of Pods: yes, no, or as k8s.conf says.
    std::optional<bool> heterogeneous;
    GangTag tag;

    bool operator==(const JobDescription &) const = default;
};

enum class JobState {
    pending,
    configuring, // allocated, a prolog is held
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
    unknown, // a state that we do not know: nothing is concluded from it
};

// As squeue prints it, such as "PENDING".
const char *state_name(JobState state);

inline bool is_allocated(JobState state)
{
    return state == JobState::configuring || state == JobState::running ||
           state == JobState::suspended;
}

// Slurm says positively that the job is over.
inline bool is_ended(JobState state)
{
    return state != JobState::pending && !is_allocated(state) &&
           state != JobState::unknown;
}

struct Job {
    JobRef ref;
    GangTag tag;
    JobState state = JobState::unknown;
    std::string reason; // why it is pending, in Slurm's word: "Priority"
    std::uint32_t priority = 0;                // in the queue; 0: held
    std::chrono::sys_seconds expected_start{}; // epoch: not known
    std::vector<std::string> nodes;            // allocated, in Slurm's order
    std::uint32_t cpus = 0;                    // allocated, on all nodes
    std::vector<std::uint32_t> cpus_on;        // on each; empty: not read
    std::uint32_t tasks = 1;                   // as asked
    std::uint16_t cpus_per_task = 1;           // likewise
    MebiBytes memory_per_node;                 // one of the two, as asked
    MebiBytes memory_per_cpu;
    bool devices = false;      // it was given GRES
    bool exclusive = false;    // it has all that its nodes have
    std::string gres_per_node; // as asked
    std::string gres_per_task; // likewise
    bool gres_read = false;    // what follows is all that Slurm tells
    // On each node.
    std::vector<std::vector<JobGres>> gres_on;
    // Likewise: its CPUs by Slurm's numbers, where a core is one CPU. None: not
    // told.
    std::vector<std::vector<std::uint32_t>> cpu_ids_on;
    std::string features; // constraints, while it is pending
    bool prefers = false; // it was asked for with a preference
    // Of a heterogeneous one: what Slurm has of each component, the leader
    // first, whose id it goes by. What is above is then of all together:
    // het_job.h.
    std::vector<Job> components;
};

// What else Slurm says about a job, in its own words: for people only.
struct JobDetails {
    Job job;
    std::string reason_details; // "ReqNodeNotAvail, UnavailableNodes:kn1"
    std::string user;           // by name, or by number
    std::string account;
    std::string partition;
    std::string qos;
    std::string reservation;
    std::string requested; // TRES: "cpu=2,mem=64M,node=1,billing=2"
    std::string allocated; // likewise; empty while pending
    std::string features;
    std::optional<std::uint32_t> time_limit; // minutes; none: unlimited
    std::chrono::sys_seconds submitted{};    // epoch: not known, as below
    std::chrono::sys_seconds started{};
    std::chrono::sys_seconds ended{};
};

// One line of the bulk state load, which carries no SLUID: only a hint.
struct JobStateHint {
    JobId id = 0;
    JobState state = JobState::unknown;
};

} // namespace bridge
