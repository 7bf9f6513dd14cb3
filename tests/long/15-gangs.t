#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with gangs of 2 to 64 Pods, equal and unequal: 5,000 random operations.
CHAOS_OPS and CHAOS_SEEDS ("4,5") in the environment say otherwise. What each run
did is in the sandbox's log directory, gangs-SEED.log."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import chaos_log

chaos_log.run_seeds("gangs", 5000, "1", "with gangs, ", gangs=True)
