#!/bin/sh
# Tasks that srun starts on the job's own node.
srun --label sh -c 'echo "task $SLURM_PROCID of $SLURM_NTASKS"' | sort
srun sh -c 'exit $SLURM_PROCID'
echo "srun said $?"
srun -n1 sh -c 'kill -USR1 $$'
echo "srun said $?"
srun -o 'task-%t-of-step-%s.txt' sh -c 'echo "by $SLURM_LOCALID"'
srun -N2 true
echo "srun said $?"
srun -n1 env | grep -E '^SLURM(_(JOB_NODELIST|JOB_NUM_NODES|NTASKS|NPROCS|PROCID|LOCALID|NODEID|GTIDS|TASKS_PER_NODE|CPUS_ON_NODE|STEP_(ID|NODELIST|NUM_NODES|NUM_TASKS|TASKS_PER_NODE))|D_NODENAME)=' |
    sort | sed 's/^/env /'
