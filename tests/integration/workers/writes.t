#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the agent writes on the Pods of NodeSets, through an API server that harms
some of the writes: the other Pods do not wait for these. WORKERS is how many Pods
there are."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import fault_proxy
import through_proxy
from played_workers import (
    NAMESPACE, REGISTERED, annotate, begin, create_pod, path, wait_condition)
from tap import case, check, run, wait_for

WORKERS = int(os.environ.get("WORKERS", "100"))
through_proxy.begin()
begin()
proxy = through_proxy.proxy


def writes_on(name):
    return lambda r: r.writes and r.resource == path(name) + "/status"


def told():
    """How many Pods carry what the agent says."""
    return sum(any(c["type"] == REGISTERED for c in
                   p["status"].get("conditions", []))
               for p in bed.pods(NAMESPACE))


@case
def one_hangs():
    """a write that hangs, again and again: another Pod is told at once"""
    create_pod("w-0")
    create_pod("w-1")
    wait_condition("w-1", REGISTERED, "False")
    proxy.set(fault_proxy.slow(30, when=writes_on("w-0")))
    annotate("w-0", values={"slurmk8s/worker-request": "drain 1"})
    for number in range(5):
        began = time.monotonic()
        annotate("w-1", values={"slurmk8s/worker-request": f"drain {number + 1}"})
        wait_condition("w-1", "slurmk8s/Drained", "False", "NotRegistered")
        annotate("w-1", values={"slurmk8s/worker-request": None})
        wait_condition("w-1", "slurmk8s/Drained", "False", "NotRequested")
        took = time.monotonic() - began
        check(took < 5, f"it took {took:.1f} s")
    proxy.clear()


@case
def one_fails():
    """a write that is refused: it is tried again with pauses, and the others go on"""
    fault = fault_proxy.answer(500, when=writes_on("w-0"))
    proxy.set(fault)
    annotate("w-0", values={"slurmk8s/worker-request": "drain 2"})
    wait_for("it to be tried", lambda: fault.hits)
    before, began = fault.hits, time.monotonic()
    annotate("w-1", values={"slurmk8s/worker-request": "drain 9"})
    wait_condition("w-1", "slurmk8s/Drained", "False", "NotRegistered", 3)
    while time.monotonic() - began < 10:
        time.sleep(0.1)
    tries = fault.hits - before
    check(0 < tries <= 10, f"{tries} tries in 10 s")
    proxy.clear()
    wait_condition("w-0", "slurmk8s/Drained", "False", "NotRegistered", 40)


@case
def many():
    """all Pods are told within seconds of the agent's start, though writes on one of
    them hang"""
    bed.ctl("kill", "slurmk8sd")
    nodes = [n["metadata"]["name"] for n in
             bed.api("GET", "/api/v1/nodes")["items"]
             if n["metadata"]["name"].startswith("kn")]
    for number in range(2, WORKERS):
        create_pod(f"w-{number}", node=nodes[number % len(nodes)])
    wait_for("all Pods to have addresses", lambda: all(
        p["status"].get("podIP") for p in bed.pods(NAMESPACE)), 300)
    proxy.set(fault_proxy.slow(30, when=writes_on("w-2")))
    before = told()
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent to serve", bed.serves)
    began = time.monotonic()
    wait_for("the others to be told", lambda: told() >= WORKERS - 1, 60, 0.5)
    print(f"# {WORKERS - before} Pods in {time.monotonic() - began:.1f} s")
    proxy.clear()
    wait_for("the last one to be told", lambda: told() == WORKERS, 60)


def after_failure():
    proxy.clear()
    bed.ctl("start", "slurmk8sd")
    return bed.log("slurmk8sd")


run(after_failure=after_failure)
