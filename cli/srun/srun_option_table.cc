// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/srun_option_table.h"

#include <algorithm>

namespace bridge {

namespace {

using enum SrunOption;
constexpr auto no = SrunArgument::none;
constexpr auto needed = SrunArgument::needed;
constexpr auto may_be = SrunArgument::may_be;

constexpr char all_of_pod[] =
    "each task has all resources of its Pod: request them from sbatch";
constexpr char no_such_step[] = "steps in Pods do not support it";
constexpr char no_allocation[] = "srun only starts steps of the job that it is "
                                 "called in: give this option to sbatch";
constexpr char no_binding[] =
    "tasks are not bound to CPUs, each may use all of its Pod";

// In alphabetical order.
constexpr SrunOptionEntry options[] = {
    {"account", 'A', needed, refused, no_allocation},
    {"async", 0, no, refused, no_such_step},
    {"bcast", 0, may_be, refused, no_such_step},
    {"chdir", 'D', needed, chdir},
    {"constraint", 'C', needed, refused, no_allocation},
    {"container", 0, needed, refused, no_such_step},
    {"cores-per-socket", 0, needed, refused, no_binding},
    {"cpu-bind", 0, needed, cpu_bind},
    {"cpu-freq", 0, needed, refused, no_such_step},
    {"cpus-per-gpu", 0, needed, refused, all_of_pod},
    {"cpus-per-task", 'c', needed, cpus_per_task},
    {"disable-status", 'X', no, disable_status},
    {"distribution", 'm', needed, distribution},
    {"epilog", 0, needed, refused, no_such_step},
    {"error", 'e', needed, error},
    {"exact", 0, no, ignored},
    {"exclude", 'x', needed, exclude},
    {"exclusive", 0, may_be, ignored},
    {"export", 0, needed, exported},
    {"extra-node-info", 'B', needed, refused, no_binding},
    {"gpu-bind", 0, needed, refused, all_of_pod},
    {"gpus", 'G', needed, refused, all_of_pod},
    {"gpus-per-node", 0, needed, refused, all_of_pod},
    {"gpus-per-socket", 0, needed, refused, all_of_pod},
    {"gpus-per-task", 0, needed, refused, all_of_pod},
    {"gres", 0, needed, refused, all_of_pod},
    {"help", 'h', no, help},
    {"het-group", 0, needed, het_group},
    {"hint", 0, needed, refused, no_binding},
    {"ignore-signals", 0, needed, refused, no_such_step},
    {"immediate", 'I', may_be, ignored},
    {"input", 'i', needed, input},
    {"job-name", 'J', needed, job_name},
    {"jobid", 0, needed, job_id},
    {"kill-on-bad-exit", 'K', may_be, kill_on_bad_exit},
    {"label", 'l', no, label},
    {"mem", 0, needed, refused, all_of_pod},
    {"mem-bind", 0, needed, refused, no_binding},
    {"mem-per-cpu", 0, needed, refused, all_of_pod},
    {"mem-per-gpu", 0, needed, refused, all_of_pod},
    {"mpi", 0, needed, mpi},
    {"multi-prog", 0, no, refused, no_such_step},
    {"network", 0, needed, refused, no_such_step},
    {"no-allocate", 'Z', no, refused, no_allocation},
    {"no-kill", 'k', may_be, no_kill},
    {"nodelist", 'w', needed, nodelist},
    {"nodes", 'N', needed, nodes},
    {"ntasks", 'n', needed, ntasks},
    {"ntasks-per-core", 0, needed, refused, no_binding},
    {"ntasks-per-gpu", 0, needed, refused, all_of_pod},
    {"ntasks-per-node", 0, needed, ntasks_per_node},
    {"ntasks-per-socket", 0, needed, refused, no_binding},
    {"open-mode", 0, needed, open_mode},
    {"output", 'o', needed, output},
    {"overcommit", 'O', no, overcommit},
    {"overlap", 0, no, ignored},
    {"oversubscribe", 's', no, ignored},
    {"partition", 'p', needed, refused, no_allocation},
    {"preserve-env", 'E', no, preserve_env},
    {"prolog", 0, needed, refused, no_such_step},
    {"propagate", 0, may_be, refused, "the container runtime sets the limits"},
    {"pty", 0, may_be, refused,
     "there is no terminal: use \"slurmk8s attach JOBID\""},
    {"qos", 'q', needed, refused, no_allocation},
    {"quiet", 'Q', no, quiet},
    {"quit-on-interrupt", 0, no, quit_on_interrupt},
    {"relative", 'r', needed, relative},
    {"reservation", 0, needed, refused, no_allocation},
    {"resv-ports", 0, may_be, refused, no_such_step},
    {"signal", 0, needed, refused, no_such_step},
    {"sockets-per-node", 0, needed, refused, no_binding},
    {"task-epilog", 0, needed, refused, no_such_step},
    {"task-prolog", 0, needed, refused, no_such_step},
    {"threads", 'T', needed, ignored},
    {"threads-per-core", 0, needed, refused, no_binding},
    {"time", 't', needed, refused,
     "steps have no time limit of their own: timeout(1) gives a program one"},
    {"tres-bind", 0, needed, refused, no_binding},
    {"tres-per-task", 0, needed, refused, all_of_pod},
    {"unbuffered", 'u', no, unbuffered},
    {"usage", 0, no, help},
    {"verbose", 'v', no, verbose},
    {"version", 'V', no, version},
    {"wait", 'W', needed, wait},
    {"wait-for-children", 0, no, refused, no_such_step},
    {"whole", 0, no, ignored},
    {"x11", 0, may_be, refused, no_such_step},
};

constexpr SrunVariable variables[] = {
    {"SLURM_CPUS_PER_TASK", "cpus-per-task"},
    {"SLURM_DEBUG", "verbose"},
    {"SLURM_DISABLE_STATUS", "disable-status"},
    {"SLURM_DISTRIBUTION", "distribution"},
    {"SLURM_EXPORT_ENV", "export"},
    {"SRUN_EXPORT_ENV", "export"},
    {"SLURM_JOB_NUM_NODES", "nodes"},
    {"SLURM_KILL_BAD_EXIT", "kill-on-bad-exit"},
    {"SLURM_LABELIO", "label"},
    {"SLURM_MPI_TYPE", "mpi"},
    {"SLURM_NO_KILL", "no-kill"},
    {"SLURM_NPROCS", "ntasks"},
    {"SLURM_NTASKS", "ntasks"},
    {"SLURM_NTASKS_PER_NODE", "ntasks-per-node"},
    {"SLURM_OPEN_MODE", "open-mode"},
    {"SLURM_OVERCOMMIT", "overcommit"},
    {"SLURM_REMOTE_CWD", "chdir"},
    {"SLURM_STDERRMODE", "error"},
    {"SLURM_STDINMODE", "input"},
    {"SLURM_STDOUTMODE", "output"},
    {"SLURM_UNBUFFEREDIO", "unbuffered"},
    {"SLURM_WAIT", "wait"},
    {"SLURM_WORKING_DIR", "chdir"},
    {"SRUN_ERROR", "error"},
    {"SRUN_INPUT", "input"},
    {"SRUN_OUTPUT", "output"},
};

} // namespace

const SrunOptionEntry *find_long_option(std::string_view name)
{
    auto exact = std::ranges::find(options, name, &SrunOptionEntry::name);
    if (exact != std::end(options))
        return &*exact;
    // getopt_long() accepts abbreviations, too.
    auto begins = [&](const SrunOptionEntry &entry) {
        return !name.empty() && entry.name.starts_with(name);
    };
    auto found = std::ranges::find_if(options, begins);
    return std::ranges::count_if(options, begins) == 1 ? &*found : nullptr;
}

const SrunOptionEntry *find_short_option(char letter)
{
    auto found = std::ranges::find(options, letter, &SrunOptionEntry::letter);
    return letter == 0 || found == std::end(options) ? nullptr : &*found;
}

std::span<const SrunVariable> srun_variables()
{
    return variables;
}

} // namespace bridge
