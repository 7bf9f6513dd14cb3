// SPDX-License-Identifier: GPL-2.0-or-later
// Tells a batch job of several nodes where its Pods are: once all have an
// address, the agent writes them onto the script's Pod, where srun reads them
// in a file. Until then, and until the container of a job of one node has
// started, it also checks what the kubelets need for these Pods. Owner thread
// only.
#pragma once

#include "agent/owner/agenda.h"
#include "agent/owner/batch_caches.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace bridge {

class BatchHosts {
  public:
    BatchHosts(const Context &context, const Errands &errands, Agenda &agenda,
               BatchCaches &caches)
        : context_(context), errands_(errands), agenda_(agenda), caches_(caches)
    {
    }

    // For a gang of a batch job that has Pods.
    void update(GangEntry &entry);
    // uid is that of a gang or of a script's Pod.
    void forget(const std::string &uid);

  private:
    // A script that does not know yet where all Pods are.
    struct Untold {
        bool in_flight = false;
        Clock::time_point next{};
        std::chrono::seconds pause{2};
    };

    void ask(const std::string &gang, const PodPtr &script, bool all_run,
             const std::vector<PodPtr> &pods);
    void answered(const std::string &gang, const PodPtr &script, bool all_run,
                  const Result<> &said);

    const Context &context_;
    const Errands &errands_;
    Agenda &agenda_;
    BatchCaches &caches_;
    std::map<std::string, Untold> all_run_;  // by gang uid: all Pods run
    std::map<std::string, Untold> starting_; // by uid of the script's Pod
};

} // namespace bridge
