#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos: 20,000 random operations, with each of three seeds.
CHAOS_OPS and CHAOS_SEEDS ("4,5") in the environment say otherwise. What each run
did is in the sandbox's log directory, chaos-SEED.log."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import chaos_log

chaos_log.run_seeds("chaos", 20000, "1,2,3")
