#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with ordinary jobs and Pods on one node, and Nodes that come and go: 30
minutes of it. CHAOS_SECONDS and CHAOS_SEEDS ("4,5") in the environment say
otherwise. What each run did is in the sandbox's log directory, mixed-SEED.log."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import chaos
import hybrid
from tap import case, check, run

SECONDS = int(os.environ.get("CHAOS_SECONDS", "1800"))
SEEDS = os.environ.get("CHAOS_SEEDS", "1").split(",")


def with_seed(seed):
    def operations():
        path = bed.SANDBOX / "log" / f"mixed-{seed}.log"
        began = time.monotonic()
        with open(path, "w", buffering=1) as log:
            def say(text):
                print(f"{time.monotonic() - began:8.1f} {text}", file=log)
                if "settled" in text or "VIOLATION" in text:
                    print(f"# {text}", flush=True)  # a sign of life

            made = chaos.Chaos(int(seed), say, mixed=True)
            found = made.run(10 ** 6, SECONDS)
        counts = ", ".join(f"{kind} {count}" for kind, count in
                           made.counts.most_common())
        print(f"# {made.number} operations: {counts}")
        check(made.counts["job"] and made.counts["apply"], "nothing was mixed")
        check(not found, f"{len(found)} violations, replay with: tests/chaos "
              f"--mixed --ops {found[0][0]} --seed {seed}; the first: "
              f"{found[0][1]}" if found else "")

    operations.__name__ = f"seed_{seed}"
    operations.__doc__ = f"{SECONDS} s of jobs and Pods with seed {seed}"
    return case(operations)


for each in SEEDS:
    with_seed(each)

with hybrid.hybrid_nodes():
    run(before_each=bed.clean, after_failure=bed.last_words)
