// SPDX-License-Identifier: GPL-2.0-or-later
// The SPANK plugin k8s: the options --k8s-… of sbatch. It runs in the user's
// own sbatch, so its checks are a convenience, not a protection: job_submit/k8s
// repeats all of them. plugstack.conf loads it with "optional spank_k8s.so".
#include "common/contract/batch_names.h"
#include "common/contract/batch_options.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
#include <slurm/slurm_errno.h>
#include <slurm/slurm_version.h>
#include <slurm/spank.h>
}

extern "C" {

// In C++, SPANK_PLUGIN() would leave these symbols hidden.
extern const char plugin_name[] = "k8s";
extern const char plugin_type[] = "spank";
extern const unsigned int plugin_version = SLURM_VERSION_NUMBER;
extern const unsigned int spank_plugin_version = 1;
}

namespace bridge {

namespace {

// --k8s-no-burst was given.
bool no_burst = false;

// Checked values from the command line and the script, by option.
std::array<std::vector<std::string>, batch_options.size()> values;

int record_option(int which, const char *value, int) noexcept
try {
    const BatchOption &option = batch_options[static_cast<std::size_t>(which)];
    if (std::string reason = option.unfit_reason(value ? value : "");
        !reason.empty()) {
        slurm_error("--%s must %s", option.name, reason.c_str());
        return ESPANK_BAD_ARG;
    }
    auto &given = values[static_cast<std::size_t>(which)];
    if (!option.often)
        given.clear(); // as with sbatch's own options, the last one counts
    if (given.size() == max_batch_repeats) {
        slurm_error("--%s was given too often", option.name);
        return ESPANK_BAD_ARG;
    }
    given.emplace_back(value);
    return ESPANK_SUCCESS;
} catch (const std::exception &) { // out of memory
    return ESPANK_ERROR;
}

int record_no_burst(int, const char *, int) noexcept
{
    no_burst = true;
    return ESPANK_SUCCESS;
}

bool is_salloc()
{
    return std::string_view(program_invocation_short_name) == "salloc";
}

// Variables for sbatch begin with SBATCH_, those for salloc with SALLOC_.
const char *from_environment(const BatchOption &option)
{
    std::string name =
        std::string(is_salloc() ? "SALLOC_" : "SBATCH_") + option.variable;
    const char *value = std::getenv(name.c_str());
    return value && *value ? value : nullptr;
}

// scrontab would accept the options and submit a job for slurmd: it never calls
// slurm_spank_init_post_opt().
bool passes_options_on()
{
    std::string_view program = program_invocation_short_name;
    return program == "sbatch" || program == "salloc";
}

// Returns the values of an option. Values from the environment count only if
// the option is not given; slurmctld checks them.
std::vector<std::string> values_of(std::size_t which)
{
    const BatchOption &option = batch_options[which];
    std::vector<std::string> given = values[which];
    const char *variable = from_environment(option);
    if (!given.empty() || !variable)
        return given;
    if (!option.often)
        return {variable};
    for (std::string_view lines = variable; !lines.empty();) {
        std::size_t end = lines.find('\n');
        if (std::string_view line = lines.substr(0, end); !line.empty())
            given.emplace_back(line);
        lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
    }
    return given;
}

bool hand_over(spank_t spank, const std::string &name, const std::string &value)
{
    return spank_job_control_setenv(spank, name.c_str(), value.c_str(), 1) ==
           ESPANK_SUCCESS;
}

bool wants_no_burst()
{
    const char *variable = std::getenv(
        (std::string("SBATCH_") + names::no_burst_variable).c_str());
    return no_burst || (variable && *variable && !is_salloc());
}

bool hand_over_all(spank_t spank)
{
    if (wants_no_burst() && !hand_over(spank, names::no_burst_variable, "yes"))
        return false;
    for (std::size_t which = 0; which < batch_options.size(); which++) {
        const BatchOption &option = batch_options[which];
        std::size_t count = 0;
        for (const std::string &value : values_of(which)) {
            std::string name = option.variable;
            if (option.often)
                name += "_" + std::to_string(count++);
            if (!hand_over(spank, name, value))
                return false;
        }
    }
    return true;
}

// An allocation without a script has nothing to run in a Pod.
bool asks_salloc_for_pod()
{
    for (std::size_t which = 0; which < batch_options.size(); which++)
        if (is_salloc() && !values_of(which).empty())
            return true;
    return false;
}

// spank.h's structure has non-const pointers to text that is never changed.
char *unchanged(const char *text)
{
    return const_cast<char *>(text);
}

} // namespace

} // namespace bridge

extern "C" {

int slurm_spank_init(spank_t spank, int, char **)
{
    if (spank_context() != S_CTX_ALLOCATOR || !bridge::passes_options_on())
        return ESPANK_SUCCESS;
    for (std::size_t which = 0; which < bridge::batch_options.size(); which++) {
        const bridge::BatchOption &option = bridge::batch_options[which];
        spank_option said = {
            bridge::unchanged(option.name), bridge::unchanged(option.argument),
            bridge::unchanged(option.help), 1,
            static_cast<int>(which),        bridge::record_option};
        if (int rc = spank_option_register(spank, &said); rc != ESPANK_SUCCESS)
            return rc;
    }
    spank_option alone = {
        bridge::unchanged("k8s-no-burst"),
        nullptr,
        bridge::unchanged("start the job in no partition but its own, "
                          "whatever the site adds (SBATCH_K8S_NO_BURST)"),
        0,
        0,
        bridge::record_no_burst};
    return spank_option_register(spank, &alone);
}

// Passes the options to slurmctld, which checks them. An error returned from
// here would stop nothing: sbatch ignores errors of optional plugins, and would
// submit a job for slurmd. So a failure ends the program.
int slurm_spank_init_post_opt(spank_t spank, int, char **)
try {
    if (spank_context() != S_CTX_ALLOCATOR)
        return ESPANK_SUCCESS;
    if (bridge::asks_salloc_for_pod()) {
        slurm_error("salloc cannot start Pods. For a shell in a Pod, use "
                    "slurmk8s salloc --k8s-image=IMAGE with the options of "
                    "sbatch");
        std::exit(EXIT_FAILURE);
    }
    if (bridge::hand_over_all(spank))
        return ESPANK_SUCCESS;
    slurm_error("spank/k8s: cannot pass the options --k8s-… to slurmctld");
    std::exit(EXIT_FAILURE);
} catch (const std::exception &) { // out of memory
    std::exit(EXIT_FAILURE);
}
}
