// SPDX-License-Identifier: GPL-2.0-or-later
// The page /explain: asks the owner thread and Slurm about one Pod or job.
// Called on the threads of the web server; a call blocks on both.
#pragma once

#include "agent/owner/explain.h"
#include "common/slurm/api.h"

#include <functional>
#include <semaphore>
#include <string>

namespace bridge {

struct WebReply {
    int status = 200; // HTTP status
    std::string body; // JSON; {"error": MESSAGE} unless the status is 200
};

// Which gang is meant: that of a Pod (NAME or NAMESPACE/NAME) or that of a job.
struct StoryKey {
    std::string pod;
    JobId job = 0; // 0: look for the Pod
};

class ExplainPage {
  public:
    // Code::not_found, Code::conflict (several Pods have that name) or
    // Code::busy (the owner thread does not answer).
    using AskOwner = std::function<Result<Story>(const StoryKey &)>;

    ExplainPage(AskOwner ask_owner, Slurm &slurm)
        : ask_owner_(std::move(ask_owner)), slurm_(slurm)
    {
    }

    // Exactly one of the two arguments must not be empty. The status is 400 for
    // a malformed request, 404 for an unknown Pod or job, 409 for a name that
    // several Pods have, and 503 when the owner thread or Slurm does not
    // answer.
    WebReply answer(const std::string &pod, const std::string &job);

  private:
    Result<JobDetails> load(JobId id);
    WebReply answer_past(JobId id);

    // Limits the threads of the web server that wait for a slurmctld that does
    // not answer.
    static constexpr int most_loads = 2;

    AskOwner ask_owner_;
    Slurm &slurm_;
    std::counting_semaphore<most_loads> loads_{most_loads};
};

} // namespace bridge
