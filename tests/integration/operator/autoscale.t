#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""NodeSets that follow the queue, as far as the operator goes: it tells the agent
which workers there may be, keeps to the range, and says what is wrong with the
annotations. The replicas are set by hand; tests/long/40-autoscale.t has an agent
and slurmd."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import node_sets
from node_sets import Frame, Place
from tap import case, check, equal, last_case, run, wait_for

NODES = [f"auto{i}" for i in range(3)]
place = Place("autoscale", NODES)
frame = Frame(NODES, place)
POTENTIAL = "slurmk8s/potential-workers"


@last_case
def ends():
    """the operator ends by a signal"""
    equal(frame.end(), 0, "exit status of the operator")


def annotate(value):
    bed.api("PATCH", place.path("nodesets", "w"), {"metadata": {"annotations": {
        "slurmk8s/autoscale": value}}}, node_sets.MERGE)


def potential():
    text = bed.api("GET", place.path("nodesets", "w"))["metadata"].get(
        "annotations", {}).get(POTENTIAL)
    return json.loads(text) if text else None


@case
def range_holds():
    """the agent is told what workers there may be; no replicas lead beyond the range"""
    place.controller()
    place.node_set(replicas=0)
    annotate("1-2")
    place.wait_pods("w-0")
    place.wait_condition("Autoscaled", "True", "between 1 and 2")
    equal(potential(), {"least": 1, "most": 2, "idleSeconds": 300, "prefix": "w-",
                        "digits": 0, "conf":
                        "CPUs=2 RealMemory=1000 Port=6818 Feature=w"},
          "what the agent is told")
    place.scale(3)
    place.wait_pods("w-0", "w-1")


@case
def mistakes():
    """a mistake in the annotation is told, and ends it; without one nothing is said"""
    place.controller()
    place.node_set(replicas=3)
    annotate("0-2")
    place.wait_condition("Autoscaled", "True")
    annotate("many")
    place.wait_condition("Autoscaled", "False", "0-32")
    wait_for("the agent to be told", lambda: potential() is None)
    place.wait_pods("w-0", "w-1", "w-2")
    annotate(None)
    wait_for("the condition to go", lambda: not place.condition("Autoscaled"))
    check(place.condition("Accepted"), "the other conditions are gone, too")


run(before_each=frame.before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
