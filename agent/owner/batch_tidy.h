// SPDX-License-Identifier: GPL-2.0-or-later
// Deletes what batch jobs leave behind: the Secret and the script of each Pod
// that is over, and script files that no job names any more. What fails is
// tried again. Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/batch_caches.h"
#include "agent/owner/context.h"
#include "agent/owner/errands.h"

#include <map>
#include <set>
#include <string>

namespace bridge {

class BatchTidy {
  public:
    BatchTidy(Context &context, const Errands &errands, const GangStore &gangs,
              BatchCaches &caches)
        : context_(context), errands_(errands), gangs_(gangs), caches_(caches)
    {
    }

    // The gang's Pods are over or do not exist, and the job has ended.
    void clean_up(const Gang &gang);

    // When what failed is tried again, and that.
    Clock::time_point retry_due() const;
    void retry();

    // Deletes the files of jobs that are gone, by a complete list of jobs.
    void sweep(ScriptSweep::Named named);

    // The Pod is gone, and its Secret with it.
    void forget(const std::string &pod) { cleaned_up_.erase(pod); }

  private:
    void clean_up(const PodPtr &pod);

    Context &context_;
    const Errands &errands_;
    const GangStore &gangs_;
    BatchCaches &caches_;
    std::set<std::string> cleaned_up_;     // uids of Pods
    std::map<std::string, PodPtr> failed_; // by uid
    Clock::time_point retry_due_{};
    // Scripts of array jobs whose Secrets are not deleted yet, by Pod uid.
    std::map<std::string, std::string> in_use_;
};

} // namespace bridge
