#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Pod whose object is deleted by force: its kubelet still stops its containers,
so that its node counts as in use for the rest of its grace period, and ten
seconds."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, run, wait_for

ALL_CPUS = "16"  # of one kwok node
GRACE = 10
WORDS = "waits until containers of ended jobs stop there"


def fill_the_nodes(**spec):
    for i in range(4):
        bed.create(bed.pod(f"filler-{i}", cpu=ALL_CPUS, **spec))
    for i in range(4):
        bed.wait_phase(f"filler-{i}", "Running")
        bed.wait_job(f"filler-{i}", "RUNNING")


@case
def vanished():
    """its job is CANCELLED at once, but the next Pod waits there, says so, and runs
    in the end"""
    fill_the_nodes(terminationGracePeriodSeconds=GRACE)
    node = bed.node_of("filler-2")

    bed.delete("filler-2", grace=0)
    bed.wait_gone("filler-2")
    bed.wait_ended("filler-2", "CANCELLED")
    bed.create(bed.pod("next", cpu=ALL_CPUS))

    bed.wait_words("next", WORDS)
    equal(bed.metric("pods_vanished"), 1, "the metric")
    bed.wait_phase("next", "Running", 60)
    equal(bed.node_of("next"), node, "the Node of the next")
    equal(bed.metric("pods_vanished"), 0, "the metric in the end")


@case
def small_beside():
    """what fits beside such a Pod starts at once"""
    fill_the_nodes(terminationGracePeriodSeconds=600)
    bed.delete("filler-1")
    bed.wait_gone("filler-1")
    bed.create(bed.pod("half", cpu="8", terminationGracePeriodSeconds=GRACE))
    bed.wait_phase("half", "Running")
    node = bed.node_of("half")

    bed.delete("half", grace=0)
    bed.wait_gone("half")
    bed.create(bed.pod("large", cpu="9"))
    bed.create(bed.pod("small", cpu="7"))

    bed.wait_words("large", WORDS)
    bed.wait_phase("small", "Running")
    equal(bed.node_of("small"), node, "the Node of the small one")
    bed.wait_phase("large", "Running", 60)


@case
def stopped():
    """a Pod that its kubelet has ended leaves nothing behind: the next one does not
    wait for the rest of its grace"""
    fill_the_nodes(terminationGracePeriodSeconds=600)
    bed.delete("filler-3")
    bed.wait_gone("filler-3")

    bed.create(bed.pod("next", cpu=ALL_CPUS))

    bed.wait_phase("next", "Running")
    check(WORDS not in bed.condition("next").get("message", ""), "it waited")


@case
def agent_restarted():
    """an agent that is started anew does not know of such a Pod: what it can know
    is in Kubernetes, and that is gone"""
    fill_the_nodes(terminationGracePeriodSeconds=600)
    bed.delete("filler-0", grace=0)
    bed.wait_gone("filler-0")
    bed.wait_ended("filler-0", "CANCELLED")
    bed.create(bed.pod("next", cpu=ALL_CPUS))
    bed.wait_words("next", WORDS)

    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")

    bed.wait_phase("next", "Running", 60)


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
