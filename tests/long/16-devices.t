#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with Nodes of 8 devices: 10,000 random operations, among them Pods with
ResourceClaims of 1 to 8 devices, own and shared, with extended resources, with
shares of devices, CPU devices and resources of device plugins, and in gangs, some
of which are preempted, and drivers that restart, publish anew and lose devices.
CHAOS_OPS and CHAOS_SEEDS ("4,5") in the environment say otherwise. What each run
did is in the sandbox's log directory, devices-SEED.log."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import chaos_log

chaos_log.run_seeds("devices", 10000, "1", "with devices, ", devices=True,
                    parts=True)
