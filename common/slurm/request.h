// SPDX-License-Identifier: GPL-2.0-or-later
// Converts a JobDescription to the message with which slurmctld is asked for
// the job. For files that include slurm.h.
#pragma once

#include "common/slurm/job.h"

#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// The message points into the description, which must live as long as the
// request, and into the other members, so a request can neither be copied nor
// moved.
struct SubmitRequest {
    explicit SubmitRequest(const JobDescription &job);
    SubmitRequest(const SubmitRequest &) = delete;

    job_desc_msg_t message;

  private:
    void set_size(const JobDescription &job);
    void set_wishes(const JobDescription &job);
    void set_marks(const JobDescription &job);

    std::string mark_;
    std::string comment_;
    char *spank_env_[1];
};

} // namespace bridge
