#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What goes in an order that nobody planned, a namespace, a Controller, a Node, the
operator itself: in the end nothing is left that is being deleted."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import node_sets
import slinky
from node_sets import Frame, Place
from tap import case, check, equal, last_case, never, run, wait_for

NODES = [f"gone{i}" for i in range(4)]
place = Place("gone", NODES)
frame = Frame(NODES, place)
SOON = 3  # seconds in which a wrong deletion would have happened


@last_case
def ends():
    """the operator ends by a signal"""
    equal(frame.end(), 0, "exit status of the operator")


def two_workers():
    """w-0 is busy, w-1 is not."""
    place.controller()
    place.node_set(replicas=2)
    place.wait_pods("w-0", "w-1")
    place.busy("w-0")


def answer_all():
    """For those that are asked, and have not gone since."""
    for name in place.asked():
        try:
            place.answer(name)
        except (KeyError, bed.ApiError):
            check(name not in place.pods(), f"{name} cannot be answered for")


def nothing_left():
    return not place.pods() and not any(
        bed.api("GET", place.path(plural))["items"]
        for plural in ("nodesets", "controllers"))


@case
def namespace():
    """a namespace that is deleted: all goes at once, nobody is asked"""
    two_workers()
    slinky.delete_namespace(place.namespace)
    slinky.namespace(place.namespace)


@case
def controller_first():
    """an external Controller that is deleted before its NodeSet goes, and takes no
    worker along; those of the NodeSet go when they are drained"""
    two_workers()
    before = place.uids()
    bed.api("DELETE", place.path("controllers", "slurm"), {})
    place.wait_condition("Accepted", "False", "slurm")
    never("a worker that goes", lambda: place.uids() != before, SOON)
    equal(place.asked(), [], "workers that are asked to drain")
    bed.api("DELETE", place.path("nodesets", "w"),
            {"propagationPolicy": "Background"})
    place.wait_asked("w-0", "w-1")
    never("a worker that goes", lambda: place.uids() != before, SOON)
    wait_for("all to be gone", lambda: answer_all() or nothing_left(), 60)


@case
def operator_first():
    """a NodeSet that is deleted while no operator lives: it waits, and goes when one
    is back"""
    two_workers()
    frame.operator.stop()
    bed.api("DELETE", place.path("nodesets", "w"),
            {"propagationPolicy": "Background"})
    bed.api("DELETE", place.path("controllers", "slurm"), {})
    never("a worker that goes", lambda: len(place.pods()) != 2, SOON)
    frame.operator.start().leads()
    place.wait_asked("w-0", "w-1")
    wait_for("all to be gone", lambda: answer_all() or nothing_left(), 60)


@case
def node():
    """the Node of a busy worker that vanishes: the worker comes back elsewhere, the
    other one stays"""
    two_workers()
    before = place.uids()
    lost = place.pods()["w-0"]["spec"]["nodeName"]
    bed.api("DELETE", f"/api/v1/nodes/{lost}", {})
    place.nodes.remove(lost)
    try:
        wait_for("another w-0", lambda: place.uids().get(
            "w-0", before["w-0"]) != before["w-0"], 60)
        found = place.wait_pods("w-0", "w-1")
    finally:
        node_sets.make_nodes(NODES)
        place.nodes = list(NODES)
    check(found["w-0"]["spec"]["nodeName"] != lost, "its Node")
    equal(place.uids()["w-1"], before["w-1"], "w-1")


run(before_each=frame.before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
