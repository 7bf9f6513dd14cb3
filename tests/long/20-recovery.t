#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A restart with 1,000 Pods on their nodes: the agent serves again, and writes to
no Pod. How long that takes is measured by tests/bench/run recovery."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import kwok_nodes
from tap import case, equal, never, run, wait_for

PODS, NODES, CPUS = 1000, 4, 256
RESYNC = 15  # ResyncInterval of the sandbox


def names_of_nodes():
    return [f"big{i + 1}" for i in range(NODES)]


def make_nodes():
    for name in names_of_nodes():
        bed.api("POST", "/api/v1/nodes", kwok_nodes.node(name, CPUS))
    wait_for("Slurm to have them", lambda: all(
        name in bed.run("sinfo", "--noheader", "--Node", "--states=IDLE",
                        "--format=%N").split() for name in names_of_nodes()), 60)


def remove_nodes():
    for name in names_of_nodes():
        bed.api("DELETE", f"/api/v1/nodes/{name}", {})
    wait_for("them to be drained", lambda: all(
        name in bed.run("sinfo", "--noheader", "--Node", "--states=DRAINED",
                        "--format=%N").split() for name in names_of_nodes()), 60)
    bed.run("scontrol", "delete", f"NodeName={','.join(names_of_nodes())}")


def versions():
    """The resourceVersion of each Pod: it changes with every write."""
    return {p["metadata"]["name"]: p["metadata"]["resourceVersion"]
            for p in bed.pods()}


def running_jobs():
    return bed.run("squeue", "--noheader", "--states=RUNNING",
                   "--format=%i").split()


def a_thousand_run():
    make_nodes()
    for i in range(PODS):
        bed.create(bed.pod(f"r{i}", cpu="1", memory="16Mi"))
    wait_for("all to run", lambda: all(
        p["status"].get("phase") == "Running" for p in bed.pods()), 300, 1)
    wait_for("all jobs to run", lambda: len(running_jobs()) == PODS, 120, 1)


def not_written(before, jobs):
    """Until after the next resync nothing is written, and every job lives."""
    never("a write to a Pod", lambda: versions() != before, RESYNC + 5)
    equal(sorted(running_jobs()), sorted(jobs), "running jobs")


@case
def restarts():
    """1,000 Pods run: the agent is killed and started, slurmctld is killed and
    started, and no Pod is written to"""
    a_thousand_run()
    try:
        before, jobs = versions(), running_jobs()
        bed.ctl("kill", "slurmk8sd")
        began = time.monotonic()
        bed.ctl("start", "slurmk8sd")
        wait_for("the agent to serve", bed.serves, 60)
        print(f"# serving after {time.monotonic() - began:.2f} s", flush=True)
        not_written(before, jobs)

        bed.run("scontrol", "reconfigure")  # which saves the jobs
        wait_for("slurmctld", lambda: len(running_jobs()) == PODS, 60)
        bed.ctl("kill", "slurmctld")
        bed.ctl("start", "slurmctld")
        not_written(before, jobs)

        bed.create(bed.pod("after", annotations={"sandbox/run": "100ms"}))
        bed.wait_ended("after", "COMPLETED", "0:0")
    finally:
        bed.clean(300)
        remove_nodes()


run(before_each=bed.clean, after_failure=bed.last_words)
