#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with gangs of 2 to 64 Pods, equal and unequal: 5,000 random operations.
CHAOS_OPS and CHAOS_SEEDS ("4,5") in the environment say otherwise. What each run
did is in the sandbox's log directory, gangs-SEED.log."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import chaos_log
from tap import case, run

OPERATIONS = int(os.environ.get("CHAOS_OPS", "5000"))
SEEDS = os.environ.get("CHAOS_SEEDS", "1").split(",")


def with_seed(seed):
    def operations():
        chaos_log.carry_out("gangs", seed, OPERATIONS, gangs=True)

    operations.__name__ = f"seed_{seed}"
    operations.__doc__ = f"{OPERATIONS} operations with gangs, seed {seed}"
    return case(operations)


for each in SEEDS:
    with_seed(each)

run(before_each=bed.clean, after_failure=bed.last_words)
