// SPDX-License-Identifier: GPL-2.0-or-later
// A gang: the Pods that share one Slurm job. A lone Pod is a gang of one. Pods
// that declare that they belong together (agent/objects/gang_key.h) are a
// grouped gang, of any size. A value; the owner thread keeps the current one
// and hands copies to workers.
#pragma once

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
    std::vector<PodPtr> pods; // existing Pods, in rank order

    // The last known state of its job. stale: it may have changed, so it is
    // read again before anything is done.
    std::optional<Job> job;
    bool stale = false;
    // slurmctld was unreachable since the job was read: after a crash it may
    // have restored the job from a time before its allocation.
    bool unheard = false;
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
    // For a grouped gang: its job has nodes, but some Pods have been missing
    // for longer than BindTimeout; and RejoinGrace, in which a failed Pod may
    // be recreated, is over.
    bool short_overdue = false;
    bool rejoin_over = false;
    // It is complete only by Pods that have succeeded, and more may be about to
    // come: their Job may have others to run.
    bool may_refill = false;
    // How the first failed Pod (in rank order) ended while the job ran; for a
    // lone Pod, how it ended in any case. That Pod may be gone since.
    std::optional<End> failure;
    std::string failed_pod; // uid of that Pod
    // It could not be bound within BindTimeout.
    bool bind_overdue = false;
    // Pods that were told to end have not done so in time.
    bool end_overdue = false;
    // The longest time that a container gets from TERM to KILL once the job has
    // ended.
    std::chrono::seconds max_grace{max_grace_period};
    // The longest grace period that a Pod may have and still get a job. A
    // kubelet grants it in full if it stops the Pod already when the job ends.
    std::chrono::seconds allowed_grace{max_grace_period};
    // An administrator has set the Slurm node of its Pods DOWN.
    bool node_down = false;
    // Why the Node of its Pods counts as lost; empty: it does not.
    std::string lost_node_reason;
    // The Nodes that its Pods may run on, and those among them that they
    // prefer, if any node has such a feature now.
    PredicatePtr predicate;
    PredicatePtr preferred;
    // What its volumes need; nothing: not read, or outdated.
    std::optional<VolumeNeeds> volumes;
    // What its ResourceClaims need; null: it has none, or they are not known
    // yet.
    GangDevicesPtr devices;
    // For a grouped gang, by Pod (uid): the only Slurm node of the job where
    // the Pod can use the devices that it has already.
    std::map<std::string, std::string> devices_at;
    // A Pod of another job that uses, or is about to use, devices that the job
    // of this gang counts (its name); empty: there is none. The job must not
    // end before it.
    std::string counts_for;
    // Why no job counts devices that its running Pods use by a claim of another
    // job any more, as a clause; empty: one does, or that is not known.
    std::string uncounted_reason;
    // Why no job can be requested, or start, anywhere now; empty: it can.
    std::string nowhere;
    // Why its Pods may not run on the Node of its allocation; empty: they may.
    std::string misplaced_reason;
    // The gang is known only by its job, and no list has its Pods. Kubernetes
    // is asked for them before that job is ended.
    bool unseen = false;
    // batch: its Pod was created for a batch job. batch_gone: that job is gone
    // and never had a node.
    bool batch = false;
    bool batch_gone = false;
    // Some Pods of its multi-node batch job are in this gang, others already
    // have jobs of their own. start_failure_reason: why a kubelet has not
    // started its Pod for too long.
    bool batch_scattered = false;
    std::string start_failure_reason;
    // The agent raised the generation to this; the watch may not have shown it
    // yet.
    std::uint32_t least_generation = 0;
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
