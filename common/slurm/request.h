// SPDX-License-Identifier: GPL-2.0-or-later
// A JobDescription as the message that asks slurmctld for the job. For the
// files that include slurm.h.
#pragma once

#include "common/slurm/job.h"

#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

// The message borrows its texts from the description, which must live as long,
// and from the other members, so that a request is neither copied nor moved.
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
