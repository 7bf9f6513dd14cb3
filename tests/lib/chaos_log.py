# SPDX-License-Identifier: GPL-2.0-or-later
"""A long chaos run as a case: what it does goes into the sandbox's log directory,
signs of life onto the screen."""
import os
import time

import bed
import chaos
from tap import case, check, run

SIGNS = ("settled", "left out", "VIOLATION")


def carry_out(name, seed, operations, seconds=None, **kinds):
    """So many operations, or as many as go into the seconds, of the kinds that
    chaos.Chaos has; violations fail the case. Returns the run."""
    began = time.monotonic()
    with open(bed.SANDBOX / "log" / f"{name}-{seed}.log", "w",
              buffering=1) as log:
        def say(text):
            print(f"{time.monotonic() - began:8.1f} {text}", file=log)
            if any(sign in text for sign in SIGNS):
                print(f"# {text}", flush=True)

        made = chaos.Chaos(int(seed), say, **kinds)
        found = made.run(operations, seconds)
    options = "".join(f"--{kind} " for kind, on in kinds.items() if on)
    check(not found, f"{len(found)} violations, replay with: tests/chaos "
          f"{options}--ops {found[0][0]} --seed {seed}; the first: "
          f"{found[0][1]}" if found else "")
    return made


def run_seeds(name, operations, seeds, words="", **kinds):
    """The program: a case for each seed ("1,2"). CHAOS_OPS and CHAOS_SEEDS in the
    environment say otherwise than operations and seeds."""
    count = int(os.environ.get("CHAOS_OPS", operations))

    def add(seed):
        def seed_case():
            carry_out(name, seed, count, **kinds)

        seed_case.__name__ = f"seed_{seed}"
        seed_case.__doc__ = f"{count} operations {words}with seed {seed}"
        case(seed_case)

    for seed in os.environ.get("CHAOS_SEEDS", seeds).split(","):
        add(seed)
    run(before_each=bed.clean, after_failure=bed.last_words)
