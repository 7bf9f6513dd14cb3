// SPDX-License-Identifier: GPL-2.0-or-later
// The SPANK plugin k8s: the option --k8s-image of sbatch. It runs in the user's
// own sbatch, so it is a convenience and no guard: job_submit/k8s looks at
// everything again. plugstack.conf loads it with "optional spank_k8s.so".
#include "common/batch_names.h"
#include "common/batch_script.h"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

extern "C" {
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/spank.h>
}

extern "C" {

// SPANK_PLUGIN() would leave them hidden in C++.
extern const char plugin_name[] = "k8s";
extern const char plugin_type[] = "spank";
extern const unsigned int plugin_version = SLURM_VERSION_NUMBER;
extern const unsigned int spank_plugin_version = 1;
}

namespace bridge {

namespace {

std::string image; // of the command line or the script, checked

int take_image(int, const char *value, int) noexcept
try {
    if (std::string why = objection_to_image(value); !why.empty()) {
        slurm_error("--k8s-image must %s", why.c_str());
        return ESPANK_BAD_ARG;
    }
    image = value;
    return ESPANK_SUCCESS;
} catch (const std::exception &) { // no memory
    return ESPANK_ERROR;
}

// sbatch's own are SBATCH_…, salloc's SALLOC_….
const char *variable_name()
{
    bool salloc = std::string_view(program_invocation_short_name) == "salloc";
    return salloc ? "SALLOC_K8S_IMAGE" : "SBATCH_K8S_IMAGE";
}

// scrontab would take the option, and submit a job for slurmd: it never calls
// slurm_spank_init_post_opt().
bool passes_options_on()
{
    std::string_view program = program_invocation_short_name;
    return program == "sbatch" || program == "salloc";
}

spank_option image_option = {
    const_cast<char *>("k8s-image"),
    const_cast<char *>("image"),
    const_cast<char *>("run the job in a Kubernetes Pod with this container "
                       "image (SBATCH_K8S_IMAGE)"),
    1, 0, take_image};

} // namespace

} // namespace bridge

extern "C" {

int slurm_spank_init(spank_t spank, int, char **)
{
    if (spank_context() != S_CTX_ALLOCATOR || !bridge::passes_options_on())
        return ESPANK_SUCCESS;
    return spank_option_register(spank, &bridge::image_option);
}

// slurmctld is told, and refuses what is none. From here an error would stop
// nothing: sbatch passes over those of optional plugins, and would submit a job
// for slurmd.
int slurm_spank_init_post_opt(spank_t spank, int, char **)
try {
    if (spank_context() != S_CTX_ALLOCATOR)
        return ESPANK_SUCCESS;
    std::string image = bridge::image;
    const char *variable = std::getenv(bridge::variable_name());
    if (image.empty() && variable)
        image = variable;
    if (image.empty())
        return ESPANK_SUCCESS;
    if (spank_job_control_setenv(spank, bridge::names::spank_image,
                                 image.c_str(), 1) == ESPANK_SUCCESS)
        return ESPANK_SUCCESS;
    slurm_error("spank/k8s: --k8s-image could not be passed on");
    std::exit(EXIT_FAILURE);
} catch (const std::exception &) { // no memory
    std::exit(EXIT_FAILURE);
}
}
