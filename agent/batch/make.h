// SPDX-License-Identifier: GPL-2.0-or-later
// Makes the Pods of a batch job, and removes what was kept for them. The
// functions block, run on a worker thread, and are safe to repeat wherever they
// were interrupted. The objects are made in this order:
//
//   a ConfigMap    has srun; one for all jobs of a namespace
//   the Pod        its name follows from the job; not bound to a node
//   its workers    for a job of several nodes, likewise; owned by that Pod
//   a Service      for such a job, owned by a worker: resolves Pods' names
//   the Secret     owned by the Pod, so that it is deleted with it
//   the job's tag  names the Pod's uid; from now on the job is a gang
//
// No Pod is bound before the tag is written, so that no kubelet looks for the
// Secret before it exists.
#pragma once

#include "agent/batch/make_srun.h"
#include "agent/calls/kube_api.h"
#include "agent/gang/batch_mark.h"
#include "common/base/mailbox.h"
#include "common/base/units.h"
#include "common/contract/conf.h"
#include "common/contract/script_dir.h"
#include "common/slurm/api.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace bridge {

// The last Pod that the API server accepted, as it was sent, and the k8s.conf
// it was made from. Safe to use from several threads.
class TakenPod {
  public:
    struct Sent {
        std::shared_ptr<const Conf> conf;
        std::string ns;
        std::string body;
    };
    void set(Sent sent);
    std::optional<Sent> get() const;

  private:
    mutable std::mutex mutex_;
    std::optional<Sent> sent_;
};

struct BatchContext {
    Slurm &slurm;
    std::shared_ptr<const Conf> conf;
    ScriptDir scripts;
    std::string cluster; // the cluster's name
    TakenPod &taken;
    SrunMaps &srun_maps;
    SrunContext srun{};
    std::chrono::seconds allowed_grace{max_grace_period}; // see Gang
    // True once the agent must have heard which jobs slurmctld has lost.
    bool settled = false;
    // True once the script has been missing for so long that slurmctld must
    // have written it.
    bool script_is_late = false;
    // The job has waited long enough with only some of its Pods. If the others
    // cannot be made, the Pods that exist are deleted.
    bool give_back = false;
};

// Makes the Pods of the job, and returns the job with its present tag. The tag
// has no uid when the job has no node or has ended, and so gets no Pod.
// Code::not_found: there is no such job. Code::rejected: the job never gets a
// Pod; the message is for its owner. Code::denied: the API server refuses this
// Pod, and maybe every Pod; retry_after is set when existing Pods were deleted.
// Code::gone: its script is missing, maybe because it is not written yet.
// Code::newer: the job says something that only a later release knows.
// Any other error may affect all jobs.
Result<Job> make_batch_pod(JobRef ref, Kube &kube, const BatchContext &context);

// Like make_batch_pod(), for a job whose Pod has been denied for a long time.
// Code::rejected when the API server refuses this Pod twice but would accept,
// in between, the last Pod that was made from the same k8s.conf.
Result<Job> make_late_batch_pod(JobRef ref, Kube &kube,
                                const BatchContext &context);

// Deletes what is left of a job whose Pod is over: the Secret, and then the
// script's file. The file of a job array is kept until the last of its jobs has
// ended. Does nothing when the file is already gone.
Result<> clean_up_batch_pod(const Pod &pod, Kube &kube,
                            const ScriptDir &scripts);

// A script file that no job has named for this long is stale: its job was
// refused after the file was written, or a crash of slurmctld lost the job.
inline constexpr std::chrono::minutes script_patience{10};

// Removes stale script files and the files of jobs that have ended. Safe to use
// from several threads. The time stamps of the files are ignored, because
// another machine's clock may have set them.
class ScriptSweep {
  public:
    // The script files that a complete list of jobs names, and when that list
    // was requested.
    struct Named {
        std::set<std::string> living{};
        std::set<std::string> ended{};
        Clock::time_point asked{};
    };
    Result<> sweep(const ScriptDir &scripts, const Named &named,
                   Clock::time_point now);

  private:
    std::mutex mutex_;
    // since when no job has named the file
    std::map<std::string, Clock::time_point> unnamed_;
};

} // namespace bridge
