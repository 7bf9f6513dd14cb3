// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/srun_options.h"

namespace bridge {

const char *const srun_help =
    "Usage: srun [OPTIONS...] COMMAND [ARGUMENTS...]\n"
    "\n"
    "Starts COMMAND as the tasks of a step, in the Pods of this job.\n"
    "\n"
    "  -c, --cpus-per-task=N       CPUs of each task\n"
    "      --cpu-bind=none         there is no binding to CPUs\n"
    "  -D, --chdir=DIRECTORY       the tasks' working directory\n"
    "  -e, --error=FILE            for stderr; as --output where not given\n"
    "  -E, --preserve-env          SLURM_NNODES, SLURM_NTASKS stay as they are\n"
    "      --export=LIST           variables, NAME or NAME=VALUE, ALL, NONE\n"
    "      --het-group=N           component N of a heterogeneous job, not 0\n"
    "  -i, --input=FILE            for stdin; all, none or a task's number\n"
    "  -J, --job-name=NAME         the step's\n"
    "  -k, --no-kill               other tasks go on when a node fails\n"
    "  -K, --kill-on-bad-exit[=0]  end all tasks when one fails\n"
    "  -l, --label                 each line has its task's number\n"
    "  -m, --distribution=WAY      block, cyclic, plane=SIZE\n"
    "      --mpi=none              there is no PMI\n"
    "  -n, --ntasks=N              tasks\n"
    "      --ntasks-per-node=N     tasks on each node\n"
    "  -N, --nodes=MIN[-MAX]       nodes\n"
    "      --open-mode=append      or truncate\n"
    "  -o, --output=FILE           for stdout; with %t, %n, %N for each task\n"
    "  -O, --overcommit            more tasks than CPUs\n"
    "  -Q, --quiet                 no messages but errors\n"
    "      --quit-on-interrupt     one Ctrl-C is enough\n"
    "  -r, --relative=N            begin at node N of the job\n"
    "  -u, --unbuffered            output also without a line's end\n"
    "  -v, --verbose               says what is done\n"
    "  -w, --nodelist=NODES        these nodes\n"
    "  -W, --wait=SECONDS          end all so long after the first task's end\n"
    "  -x, --exclude=NODES         not these nodes\n"
    "  -X, --disable-status        Ctrl-C goes to the tasks at once\n"
    "\n"
    "--exact, --exclusive, --immediate, --overlap, --oversubscribe, --threads\n"
    "and --whole are taken and change nothing: steps never wait for each other.\n";

} // namespace bridge
