// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/slurm_login.h"

#include "agent/session/login_check.h"
#include "cli/slurm_here.h"

#include <array>
#include <cerrno>
#include <unistd.h>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

// libslurm writes to no text of it.
char *unchanged(const char *text)
{
    return const_cast<char *>(text);
}

} // namespace

Result<std::string> make_login()
{
    if (!has_slurm_conf())
        return fail(Code::denied, "there is no slurm.conf here");
    std::string secret = make_login_secret();
    if (secret.empty())
        return fail(Code::internal, "there are no random numbers");
    std::string entry =
        std::string(names::login_variable) + "=" + login_name_of(secret);
    std::array<char *, 1> entries{entry.data()};

    slurm_init(nullptr);
    job_desc_msg_t job;
    slurm_init_job_desc_msg(&job);
    job.name = unchanged("slurmk8s");
    job.user_id = geteuid();
    job.group_id = getegid();
    job.min_nodes = 1;
    job.spank_job_env = entries.data();
    job.spank_job_env_size = entries.size();
    // An answer would say when that job could start. No header declares what
    // frees it, and we end soon.
    will_run_response_msg_t *response = nullptr;
    int rc = slurm_job_will_run2(&job, &response);
    int error = errno;
    if (rc != SLURM_SUCCESS && error == SLURM_NO_CHANGE_IN_DATA)
        return secret;
    if (rc == SLURM_SUCCESS) // there is no such plugin, or an older one
        return fail(Code::denied, "slurmctld's job_submit/k8s does not say who "
                                  "you are");
    return fail(Code::denied, std::string("slurmctld does not say who you "
                                          "are: ") +
                                  slurm_strerror(error));
}

} // namespace bridge
