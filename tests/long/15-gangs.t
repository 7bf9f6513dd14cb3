#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with gangs of 2 to 64 Pods, equal and unequal: 5,000 random operations.
CHAOS_OPS and CHAOS_SEEDS ("4,5") in the environment say otherwise. What each run
did is in the sandbox's log directory, gangs-SEED.log."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import chaos
from tap import case, check, run

OPERATIONS = int(os.environ.get("CHAOS_OPS", "5000"))
SEEDS = os.environ.get("CHAOS_SEEDS", "1").split(",")


def with_seed(seed):
    def operations():
        path = bed.SANDBOX / "log" / f"gangs-{seed}.log"
        began = time.monotonic()
        with open(path, "w", buffering=1) as log:
            def say(text):
                print(f"{time.monotonic() - began:8.1f} {text}", file=log)
                if "settled" in text or "left out" in text:
                    print(f"# {text}", flush=True)  # a sign of life

            found = chaos.Chaos(int(seed), say, gangs=True).run(OPERATIONS)
        check(not found, f"{len(found)} violations, replay with: tests/chaos "
              f"--gangs --ops {found[0][0]} --seed {seed}; the first: "
              f"{found[0][1]}" if found else "")

    operations.__name__ = f"seed_{seed}"
    operations.__doc__ = f"{OPERATIONS} operations with gangs, seed {seed}"
    return case(operations)


for each in SEEDS:
    with_seed(each)

run(before_each=bed.clean, after_failure=bed.last_words)
