# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox's nodes of a real kubelet: real1, and real2 for tests that need two.
Pods on both reach each other by Pod IP."""
import contextlib

import bed
import node_moves as nodes
from tap import Skip, skip_all, wait_for

FIRST, SECOND = "real1", "real2"
PARTITION = "real"  # of both


def why_missing():
    """Why there is none; "": there is one."""
    if FIRST in bed.run("sinfo", "-hN", "-o", "%N").split():
        return ""
    return "this sandbox has no real node"


def need_one():
    """Skips the case where there is none."""
    if why := why_missing():
        raise Skip(why)


def all_need_one():
    """Skips the script likewise."""
    if why := why_missing():
        skip_all(why)


@contextlib.contextmanager
def both():
    """While it lasts there are two, each with the CPUs of the machine. It takes
    some seconds, unless `up --real-nodes 2` has made them."""
    need_one()
    there = nodes.usable(SECOND)
    if not there:
        bed.ctl("start", "node2")  # with containerd and kubelet
    try:
        wait_for(f"Slurm to have {SECOND}", lambda: nodes.usable(SECOND))
        yield
    finally:
        if not there:
            away()


def away():
    """Its containers first, as long as there is a kubelet to end them."""
    for pod in bed.pods():
        if pod["spec"].get("nodeName") == SECOND:
            bed.delete(pod["metadata"]["name"], grace=1)
    wait_for(f"the Pods of {SECOND} to be gone", lambda: not [
        p for p in bed.pods() if p["spec"].get("nodeName") == SECOND])
    bed.ctl("stop", "node2")
    nodes.delete(SECOND)
    wait_for(f"{SECOND} to be drained", lambda: not nodes.usable(SECOND))
    bed.run("scontrol", "delete", f"nodename={SECOND}")  # not after ResizeDelay
