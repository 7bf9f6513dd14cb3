# SPDX-License-Identifier: GPL-2.0-or-later
"""Fault points: the agent of a test build kills or stops itself before or after
one of its writes (agent/calls/fault_points.h)."""
import os
import subprocess

import bed
from tap import Skip, wait_for

REACHED = "at the fault point"
_VARIABLE = "SLURMK8SD_FAULT"


def points():
    """All of them, as WRITE:before and WRITE:after."""
    said = bed.inside("env", f"{_VARIABLE}=list", "timeout", "60", "slurmk8sd",
                      check=False)
    names = said.split()
    if not names or not all(":" in name for name in names):
        raise Skip("slurmk8sd was built without --enable-fault-points")
    return names


class Fault:
    """The agent, started so that it comes to this point."""

    def __init__(self, point, daemon="slurmk8sd"):
        self.daemon, self.point = daemon, point
        self.size = bed.log_size(daemon)
        # ctl waits until it serves or is dead, and it may do both
        self.start = subprocess.Popen(
            [str(bed.TOP / "contribs/sandbox/ctl"), "start", daemon],
            env={**os.environ, _VARIABLE: point},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_reached(self, seconds=20):
        wait_for(f"the agent to come to {self.point}", lambda: REACHED in
                 bed.log_since(self.daemon, self.size), seconds)

    def wait_dead(self, seconds=20):
        self.wait_reached(seconds)
        wait_for("the agent's end", lambda: not alive(self.daemon))
        self.start.wait()


def alive(daemon="slurmk8sd"):
    return bed.run(str(bed.TOP / "contribs/sandbox/ctl"), "pid", daemon,
                   check=False).strip().isdigit()
