// SPDX-License-Identifier: GPL-2.0-or-later
// A gang: the Pods that share one Slurm job. A lone Pod is a gang of one. Pods
// that declare that they belong together (agent/objects/gang_key.h) are a
// grouped gang, of any size. A value; the owner thread keeps the current one
// and hands copies to workers.
#pragma once

#include "agent/gang/gang_facts.h"
#include "agent/gres/gang_devices.h"
#include "agent/objects/objects.h"
#include "common/slurm/job.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

// How a job ended, or would end, as wait(2) reports it.
struct End {
    int status = 0;
    std::string reason; // Kubernetes' reason, unless it is a plain exit

    bool operator==(const End &) const = default;
};

// The place of a Pod.
struct Seat {
    std::string pod = {};  // uid
    std::string node = {}; // Kubernetes' name
    std::string slurm_node = {};
    std::uint32_t rank = 0; // index in its gang

    bool operator==(const Seat &) const = default;
};

struct Gang {
    // --- what is known

    std::string uid; // of the lone Pod, or of the GangKey
    ObjectKey key;   // of the lone Pod, or the name of the gang
    bool grouped = false;
    std::size_t size = 1;     // Pods of the complete gang
    std::size_t minimum = 1;  // Pods that must exist before a job is requested
    std::string unfit_reason; // why its Pods cannot be a gang; empty: they can
    // For a gang whose size an object states (agent/objects/group_spec.h): the
    // uid of the object, a message if there is none, and whether more Pods than
    // its size may exist; each of those gets its own job once the gang runs.
    std::string group_uid;
    std::string no_group_reason; // message; empty: it exists
    bool elastic = false;
    // Existing Pods, in rank order. Of a gang in a GangStore, only that changes
    // them.
    std::vector<PodPtr> pods;

    // The last known state of its job. stale: it may have changed, so it is
    // read again before anything is done.
    std::optional<Job> job;
    bool stale = false;
    // The outcome of a submit is unknown: look for the job before submitting
    // again.
    bool submit_uncertain = false;
    // slurmctld holds this hook of the job until the agent releases it.
    bool prolog_held = false;
    bool epilog_held = false;
    // Bindings (by uid) that succeeded, or may have succeeded, but that the
    // watch has not shown yet.
    std::map<std::string, Seat> assumed_bound;
    std::map<std::string, Seat> maybe_bound;
    // How the first failed Pod (in rank order) ended while the job ran; for a
    // lone Pod, how it ended in any case. That Pod may be gone since.
    std::optional<End> failure;
    std::string failed_pod; // uid of that Pod
    // It could not be bound within BindTimeout.
    bool bind_overdue = false;
    // An administrator has set the Slurm node of its Pods DOWN.
    bool node_down = false;
    // What its volumes need; nothing: not read, or outdated.
    std::optional<VolumeNeeds> volumes;
    // The gang is known only by its job, and no list has its Pods. Kubernetes
    // is asked for them before that job is ended.
    bool unseen = false;
    // The agent raised the generation to this; the watch may not have shown it
    // yet.
    std::uint32_t least_generation = 0;

    // --- what follows from that and from the rest: the structs of
    // gang_facts.h, those of agent/gres/gang_devices.h, and what one value says

    // slurmctld was unreachable since the job was read: after a crash it may
    // have restored the job from a time before its allocation.
    bool unheard = false;
    bool batch = false; // its Pod was created for a batch job
    BatchFacts of_batch;
    TimeFacts times;
    GraceFacts grace;
    // Why the Node of its Pods counts as lost; empty: it does not.
    std::string lost_node_reason;
    PlacementFacts placement;
    // What its ResourceClaims need; null: it has none, or they are not known
    // yet.
    GangDevicesPtr devices;
    CountingFacts claims;
};

// The generation of a Pod. The agent raises it before it replaces a job, so
// that after a restart its own cancels can be told from a user's.
std::uint32_t generation_of(const Pod &pod);
std::uint32_t generation_of(const Gang &gang); // the highest known

// Returns the Pod that represents the gang where all Pods must agree: the first
// waiting one, else the first that has not ended. Requires at least one Pod.
const Pod &lead_of(const Gang &gang);

// Returns the job of ours that bound this Pod, or nothing.
std::optional<JobRef> binder_of(const Pod &pod);

// Whether this job, or a component of it, bound the Pod.
bool bound_by(const Pod &pod, const Job &job);

// Whether slurmctld crashed, restored a state before it had allocated the Pod's
// job, and has now allocated the job on other nodes than the Pod's.
bool placed_elsewhere(const Gang &gang, const Pod &pod);

// Whether the current job was submitted after running Pods had lost theirs, to
// account for them where they are.
bool adopts(const Gang &gang);

// Whether the Pod has been told to end, by anyone, and will do so by itself.
bool told_to_end(const Pod &pod);

// Whether containers of this Pod may run on a node because of the gang's
// current job; another job of the gang does not count.
bool lives_by_job(const Gang &gang, const Pod &pod);

} // namespace bridge
