#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's memory follows what exists: on 1,000 nodes with 1,000 living Pods it is
small, and as small when 50,000 Pods have come and gone beside these. NODES, LIVING,
PODS and BURST in the environment are other numbers."""
import os
import pathlib
import re
import statistics
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP / "tests/lib"), str(TOP / "tests/bench")]
import beside

beside.up("1.36", "--nodes", "1", "--no-real-node", "--no-kube-scheduler")

import agent_conf
import bed
import kube
import kwok_nodes
import metrics
from tap import case, check, equal, run, wait_for

NODES, LIVING, PODS, BURST = (int(os.environ.get(name, number)) for name, number in (
    ("NODES", 1000), ("LIVING", 1000), ("PODS", 50000), ("BURST", 2500)))
CPUS = 16
AT_REST = 150      # MiB
GROWTH = 1.2       # of that at the begin, after all Pods
NOISE = 1.05       # from half of the Pods to all of them
SETTLES = 20       # seconds: memory is given back within some five
LOOKS = 35         # a second apart: longer than from one list of jobs to the next
_client = kube.Client(os.environ)
_sizes = []        # MiB: with the living Pods, then after each burst


def size():
    """What the agent has in memory once it has settled, in MiB: between two lists of
    jobs, which need as much as slurmctld remembers jobs."""
    time.sleep(SETTLES)
    looks = []
    for _ in range(LOOKS):
        looks.append(size_now())
        time.sleep(1)
    print(f"# from {min(looks):.1f} to {max(looks):.1f} MiB", flush=True)
    return min(looks)


def size_now():
    pid = bed.ctl("pid", "slurmk8sd").strip()
    text = bed.inside("cat", f"/proc/{pid}/status")
    return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) / 1024


def pods(prefix, count, runs=None):
    """That many Pods, bound."""
    made = [_client.pod(f"{prefix}-{number}", "slurm", run=runs)
            for number in range(count)]
    _client.watch.expect("bound", made)
    _client.refresh()
    _client.create_all(made)
    _client.watch.wait(600)
    return made


def known_to_slurm():
    return len(bed.run("scontrol", "-o", "show", "nodes").splitlines())


@case
def at_rest():
    """with all nodes and living Pods it has at most AT_REST MiB"""
    # With the defaults, which list jobs each 30 seconds instead of each 5.
    agent_conf.edit(lambda text: re.sub(
        "(?m)^(Reason|Metrics)Interval=.*\n", "", text))
    before = known_to_slurm()
    _client.call_all([("POST", "/api/v1/nodes", kwok_nodes.node(f"many{number}", CPUS))
                      for number in range(NODES)])
    wait_for("Slurm's nodes", lambda: known_to_slurm() == before + NODES, 300, 1)
    pods("living", LIVING)
    _sizes.append(size())
    print(f"# {_sizes[0]:.1f} MiB with {NODES} nodes and {LIVING} Pods", flush=True)
    check(_sizes[0] <= AT_REST, f"{_sizes[0]:.1f} MiB")


def burst(number):
    """Pods that come, run for a moment and are deleted."""
    began = time.monotonic()
    made = pods(f"burst-{number}", BURST, runs="100ms")
    _client.watch.expect("finished", made)
    _client.watch.wait(600)
    _client.watch.expect("gone", made)
    _client.call_all([("DELETE", f"{kube.PODS}/{pod.name}") for pod in made])
    _client.watch.wait(600)
    for pod in made:
        del _client.watch.pods[pod.name]
    took = time.monotonic() - began
    _sizes.append(size())
    print(f"# {(number + 1) * BURST} Pods gone: {_sizes[-1]:.1f} MiB, "
          f"{jobs():.0f} jobs in slurmctld, {took:.0f} s", flush=True)


def jobs():
    """How many slurmctld knows: an ended one for MinJobAge more, at least."""
    return metrics.get(metrics.page(), "slurm_jobs")


@case
def after_many():
    """it is as small when many Pods have come and gone, and does not grow with them"""
    bursts = PODS // BURST
    for number in range(bursts):
        burst(number)
    equal(len(_sizes), bursts + 1, "sizes")
    part = max(1, bursts // 5)
    half, all_of = (statistics.median(_sizes[end - part:end]) for end in
                    ((len(_sizes) + part) // 2 + 1, len(_sizes)))
    print(f"# {_sizes[0]:.1f} MiB before, {half:.1f} after half of them, "
          f"{all_of:.1f} after all", flush=True)
    check(all_of <= half * NOISE, f"{all_of:.1f} MiB, {half:.1f} after half of them")
    # Gone are they when slurmctld has forgotten their jobs, too.
    wait_for("slurmctld to forget the jobs", lambda: jobs() <= LIVING, 900, 5)
    rest = size()
    print(f"# {rest:.1f} MiB when slurmctld has forgotten the jobs", flush=True)
    check(rest <= _sizes[0] * GROWTH, f"{rest:.1f} MiB, {_sizes[0]:.1f} before")


run(after_failure=bed.last_words)
