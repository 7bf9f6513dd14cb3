// SPDX-License-Identifier: GPL-2.0-or-later
// The options of srun that exist, and why some of them are refused. Pure
// functions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace bridge {

enum class SrunOption {
    chdir,
    cpu_bind,
    cpus_per_task,
    disable_status,
    distribution,
    error,
    exclude,
    exported,
    help,
    het_group,
    ignored,
    input,
    job_id,
    job_name,
    kill_on_bad_exit,
    label,
    mpi,
    no_kill,
    nodelist,
    nodes,
    ntasks,
    ntasks_per_node,
    open_mode,
    output,
    overcommit,
    preserve_env,
    quiet,
    quit_on_interrupt,
    refused,
    relative,
    unbuffered,
    verbose,
    version,
    wait,
};

enum class SrunArgument { none, needed, may_be };

struct SrunOptionEntry {
    std::string_view name;
    char letter; // 0: none
    SrunArgument argument;
    SrunOption option;
    const char *reason = ""; // why it is refused
};

// Returns null when there is no option of this name, or when it abbreviates
// several.
const SrunOptionEntry *find_long_option(std::string_view name);
const SrunOptionEntry *find_short_option(char letter);

// The variables that srun reads as options, in its order; later ones override
// earlier ones.
struct SrunVariable {
    std::string_view name;
    std::string_view option;
};
std::span<const SrunVariable> srun_variables();

} // namespace bridge
