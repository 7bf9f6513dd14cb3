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

// libslurm does not change the texts of the request.
char *unchanged(const char *text)
{
    return const_cast<char *>(text);
}

} // namespace

Result<std::string> make_login()
{
    if (!has_slurm_conf())
        return fail(Code::denied, "there is no slurm.conf on this host");
    std::string secret = make_login_secret();
    if (secret.empty())
        return fail(Code::internal, "cannot read random numbers");
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
    // A response would say when the job could start. No header declares the
    // function that frees it, and this process ends soon.
    will_run_response_msg_t *response = nullptr;
    int rc = slurm_job_will_run2(&job, &response);
    int error = errno;
    if (rc != SLURM_SUCCESS && error == SLURM_NO_CHANGE_IN_DATA)
        return secret;
    if (rc == SLURM_SUCCESS) // the plugin is missing or too old
        return fail(Code::denied, "slurmctld's job_submit/k8s does not say who "
                                  "you are");
    return fail(Code::denied, std::string("slurmctld does not say who you "
                                          "are: ") +
                                  slurm_strerror(error));
}

} // namespace bridge
