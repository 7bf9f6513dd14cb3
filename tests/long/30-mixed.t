#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with ordinary jobs and Pods on one node, and Nodes that come and go: 30
minutes of it. CHAOS_SECONDS and CHAOS_SEEDS ("4,5") in the environment say
otherwise. What each run did is in the sandbox's log directory, mixed-SEED.log."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import chaos_log
import hybrid
from tap import case, check, run

SECONDS = int(os.environ.get("CHAOS_SECONDS", "1800"))
SEEDS = os.environ.get("CHAOS_SEEDS", "1").split(",")


def with_seed(seed):
    def operations():
        made = chaos_log.carry_out("mixed", seed, 10 ** 6, SECONDS, mixed=True)
        counts = ", ".join(f"{kind} {count}" for kind, count in
                           made.counts.most_common())
        print(f"# {made.number} operations: {counts}")
        check(made.counts["job"] and made.counts["apply"], "nothing was mixed")

    operations.__name__ = f"seed_{seed}"
    operations.__doc__ = f"{SECONDS} s of jobs and Pods with seed {seed}"
    return case(operations)


for each in SEEDS:
    with_seed(each)

with hybrid.hybrid_nodes():
    run(before_each=bed.clean, after_failure=bed.last_words)
