// SPDX-License-Identifier: GPL-2.0-or-later
// A gang: the Pods that share one Slurm job. A lone Pod is a gang of one; those
// that say that they belong together (agent/objects/gang_key.h) are a grouped
// one, of whatever size. A value; the owner thread keeps the current one and
// hands copies to workers.
#pragma once

#include "agent/gres/gang_devices.h"
#include "agent/objects/objects.h"
#include "common/slurm/job.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// How a job ended, or would, as wait(2) says it.
struct End {
    int status = 0;
    std::string why; // in Kubernetes' words, when it is no plain exit

    bool operator==(const End &) const = default;
};

// Where a Pod goes.
struct Seat {
    std::string pod = {};  // uid
    std::string node = {}; // Kubernetes'
    std::string slurm_node = {};
    std::uint32_t rank = 0; // among its gang

    bool operator==(const Seat &) const = default;
};

struct Gang {
    std::string uid; // of the lone Pod, or of the Pods' GangKey
    ObjectKey key;   // of the lone Pod, or how people call the gang
    bool grouped = false;
    std::size_t size = 1;    // Pods that it has when it is complete
    std::size_t minimum = 1; // Pods that must exist before a job is asked for
    std::string objection;   // why its Pods cannot be a gang; empty: they can
    // Of one whose size an object says (agent/objects/group_spec.h): which, by
    // uid; that there is none; and whether more Pods than that may exist, of
    // which each gets a job of its own once the gang runs.
    std::string group_uid;
    std::string lacks_group; // words; empty: nothing
    bool elastic = false;
    std::vector<PodPtr> pods; // those that exist, in rank order

    // What we know of its job. stale: something hinted that this is no longer
    // the truth, so it is read again before anything is done.
    std::optional<Job> job;
    bool stale = false;
    // slurmctld went away since its job was read: if it crashed, it may be back
    // with a job that it has yet to allocate.
    bool unheard = false;
    // A submit whose outcome we do not know: look before submitting again.
    bool submit_uncertain = false;
    // slurmctld holds this hook of the job until we say so.
    bool prolog_held = false;
    bool epilog_held = false;
    // Our binding of these (uids) succeeded, or may have: the watch has not
    // shown it yet.
    std::map<std::string, Seat> assumed_bound;
    std::map<std::string, Seat> maybe_bound;
    // Of a grouped one: its job has nodes, and some of its Pods are missing for
    // longer than BindTimeout; and the time in which a Pod that has failed may
    // be made again (RejoinGrace) is over.
    bool short_overdue = false;
    bool rejoin_over = false;
    // How the first of its Pods that failed ended, in rank order, while its job
    // ran, or a lone Pod, well or not: that Pod may be gone since.
    std::optional<End> failure;
    std::string failed_pod; // its uid
    // It could not be bound for as long as BindTimeout allows.
    bool bind_overdue = false;
    // Pods that were told to end have had time enough to do so.
    bool end_overdue = false;
    // An administrator has set the Slurm node under its Pods DOWN.
    bool node_down = false;
    // Why the Node under its Pods counts as lost; empty: it does not.
    std::string node_lost;
    // Which Nodes its Pods may run on, and on which of these they would rather,
    // if any has such a feature now.
    PredicatePtr predicate;
    PredicatePtr preferred;
    // What its volumes need; nothing: not read, or no longer believed.
    std::optional<VolumeNeeds> volumes;
    // What its ResourceClaims need; null: it has none, or they are not known
    // yet.
    GangDevicesPtr devices;
    // Of a grouped one: the Slurm node of its job where alone that Pod (uid)
    // can use the devices that it has got already.
    std::map<std::string, std::string> devices_at;
    // Why no job can be asked for, or can start, anywhere now; empty: it can.
    std::string nowhere;
    // Why the Node of its allocation is not one of those; empty: it is.
    std::string misplaced;
    // Known by its job alone: Kubernetes is asked before that is ended.
    bool unseen = false;
    // Its Pod was made for a batch job; that is gone, and never had a node; why
    // a kubelet has not started it for too long.
    bool batch = false;
    bool batch_gone = false;
    // It has several nodes; some of its Pods live here, others have jobs of
    // their own by now.
    bool batch_scattered = false;
    std::string cannot_start;
    // We raised the generation to this; the watch may not have shown it yet.
    std::uint32_t least_generation = 0;
};

// Raised before the agent itself replaces a job, so that after a restart its
// own cancels are told from a user's.
std::uint32_t generation_of(const Pod &pod);
std::uint32_t generation_of(const Gang &gang); // the highest known

// The Pod that speaks for all where they must agree, or are alike: the first
// one that waits, else that is not over. Only for a gang with Pods.
const Pod &lead_of(const Gang &gang);

// Some job of ours bound this Pod: which one.
std::optional<JobRef> binder_of(const Pod &pod);

// That job, or a component of it, bound this Pod.
bool bound_by(const Pod &pod, const Job &job);

// slurmctld crashed, is back at a state before it had allocated the job that
// put the living Pod where it is, and has allocated it again, on other nodes.
bool placed_elsewhere(const Gang &gang, const Pod &pod);

// The gang's current job was asked for after its living Pods had lost theirs,
// to account for them where they are.
bool adopts(const Gang &gang);

// The Pod has been told to end, by whomever, and will do so by itself.
bool told_to_end(const Pod &pod);

// Containers of this Pod may live on a node because of the gang's current job:
// another job of the gang says nothing about it.
bool lives_by_job(const Gang &gang, const Pod &pod);

} // namespace bridge
