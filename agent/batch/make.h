// SPDX-License-Identifier: GPL-2.0-or-later
// A batch job gets its Pod, and loses what was kept for it: blocking, on a
// worker, and safe to repeat at whatever point it was cut off. In this order:
//
//   a ConfigMap    srun, once for all jobs of a namespace
//   the Pod        by a name that follows from the job, bound to no node
//   its workers    of a job of several nodes, likewise; owned by that Pod
//   a Service      of such a job, owned by a worker: by which they resolve
//   the Secret     owned by that Pod, so that it goes with it
//   the job's tag  names the Pod's uid: from here on it is a gang like others
//
// Until the tag is written nobody binds a Pod, so no kubelet looks for the
// Secret before it is there.
#pragma once

#include "agent/batch/make_srun.h"
#include "agent/calls/kube_api.h"
#include "agent/gang/batch_mark.h"
#include "common/base/mailbox.h"
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

// The last Pod that the API server took, as it was sent, and by which k8s.conf.
// Safe from several threads.
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
    std::string cluster; // its name
    TakenPod &taken;
    SrunMaps &srun_maps;
    SrunContext srun{};
    // The agent has heard by now which jobs slurmctld has lost.
    bool settled = false;
    // The job has waited long enough with a part of its Pods: where not all can
    // be made it gives back those that are there.
    bool give_back = false;
};

// The job with the tag that it has now: without a uid when it has no node, or
// has ended, and so gets no Pod. Code::not_found: there is no such job;
// rejected: in words for its owner, why it never gets a Pod; denied: the API
// server refuses this Pod, and maybe all; with retry_after when Pods were given
// back. Whatever else goes wrong may have to do with all jobs.
Result<Job> make_batch_pod(JobRef ref, Kube &kube, const BatchContext &context);

// The same, for a job whose Pod was denied for long: rejected where the API
// server would take the last Pod that was made by this k8s.conf, between two
// times that it refuses this one.
Result<Job> make_late_batch_pod(JobRef ref, Kube &kube,
                                const BatchContext &context);

// What is left of a job whose Pod is over: the Secret and then the script's
// file, which an array has until the last of its jobs has ended. Where that is
// not there any more, it has been done.
Result<> tidy_batch_pod(const Pod &pod, Kube &kube, const ScriptDir &scripts);

// A file that no job has named for so long is nobody's: its job was refused
// after the file was written, or a crash lost it.
inline constexpr std::chrono::minutes script_patience{10};

// Removes those, and the files of jobs that have ended. Safe from several
// threads. A file's own time is not asked: another machine's clock may have
// written it.
class ScriptSweep {
  public:
    // By a complete list of jobs, which was asked for then.
    struct Named {
        std::set<std::string> living{};
        std::set<std::string> ended{};
        Clock::time_point asked{};
    };
    Result<> sweep(const ScriptDir &scripts, const Named &named,
                   Clock::time_point now);

  private:
    std::mutex mutex_;
    std::map<std::string, Clock::time_point> unnamed_; // files, since when
};

} // namespace bridge
