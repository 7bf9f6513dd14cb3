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
    int status = 200; // HTTP's
    std::string body; // JSON; {"error": SENTENCE} when the status is not 200
};

// Which gang is meant: the one of a Pod, NAME or NAMESPACE/NAME, or of a job.
struct StoryKey {
    std::string pod;
    JobId job = 0; // 0: by its Pod
};

class ExplainPage {
  public:
    // Code::not_found, conflict (several Pods have that name) or busy (the
    // owner thread does not answer).
    using AskOwner = std::function<Result<Story>(const StoryKey &)>;

    ExplainPage(AskOwner ask_owner, Slurm &slurm)
        : ask_owner_(std::move(ask_owner)), slurm_(slurm)
    {
    }

    // One of them is given, the other is empty. 400 for anything else, 404 for
    // what is not known, 503 when who knows does not answer.
    WebReply answer(const std::string &pod, const std::string &job);

  private:
    Result<JobDetails> load(JobId id);
    WebReply answer_past(JobId id);

    // A slurmctld that is away must not take all threads of the web server.
    static constexpr int most_loads = 2;

    AskOwner ask_owner_;
    Slurm &slurm_;
    std::counting_semaphore<most_loads> loads_{most_loads};
};

} // namespace bridge
