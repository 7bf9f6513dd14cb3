#!/bin/sh
# Runs when leaves.sh has failed and hello.sh has not.
env | grep '^SLURM_JOB_DEPENDENCY' | sed 's/^/env /'
