#!/bin/sh
env | grep '^SLURM_ARRAY' | sort | sed 's/^/env /'
exit "$SLURM_ARRAY_TASK_ID"
