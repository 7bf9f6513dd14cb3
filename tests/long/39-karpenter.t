#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that are bought for Slurm's queue, and go when they are empty: the real
Karpenter with its provider for kwok, in a sandbox of its own beside $SANDBOX. Its
one other node is full, so that Karpenter cannot count on that."""
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside
import sandbox_cache
from tap import skip_all

missing = sandbox_cache.built("cache_karpenter")[1]
if missing:
    skip_all("Karpenter cannot be built here: " + missing)
# Slurm keeps a node for this long after its Node.
os.environ["SANDBOX_K8S_CONF_EXTRA"] = "ResizeDelay=2"
beside.up("1.36", "--nodes", "1", "--cpus", "2", "--memory", "4000",
          "--no-real-node", "--karpenter", name="karpenter")

import bed
import karpenter
from karpenter import CPUS, DO_NOT_DISRUPT, Purchases
from tap import case, check, equal, never, run, wait_for

EACH = 2  # CPUs of a Pod


def fresh():
    bed.clean()
    karpenter.purge()
    karpenter.pool()
    bed.create(bed.pod("full", cpu="2"))
    bed.wait_job("full", "RUNNING")


def waiting(count, **options):
    """The names of so many Pods for which there is no node yet."""
    names = [f"p{i}" for i in range(count)]
    for name in names:
        bed.create(karpenter.pod(name, cpu=str(EACH), **options))
    return names


def running(names, seconds=90):
    """The Node of each, once all run."""
    def all_run():
        there = {p["metadata"]["name"]: p for p in bed.pods()}
        return all(there[n]["status"].get("phase") == "Running" for n in names) and {
            n: there[n]["spec"]["nodeName"] for n in names}
    return wait_for(f"{len(names)} Pods to run", all_run, seconds)


def names_of(items):
    return sorted(item["metadata"]["name"] for item in items)


@case
def buys():
    """20 lone Pods of 2 CPUs buy 5 nodes of 8 from none, on which Slurm places
    them; nothing more is bought"""
    bought = Purchases()
    names = waiting(20)
    where = running(names)
    wanted = 20 * EACH // CPUS
    count = karpenter.settled("the number of NodeClaims", bought.count)
    check(wanted <= count <= wanted + 1, f"{count} nodes were bought, not {wanted}")
    equal(sorted(set(where.values()) - set(names_of(karpenter.nodes()))), [],
          "Nodes of Pods that Karpenter has not made")
    for name, slurms in karpenter.slurm_nodes().items():
        on_it = list(where.values()).count(name)
        equal(slurms["alloc_cpus"], EACH * on_it, f"CPUs of {name} in use")


@case
def goes():
    """a node goes when its Pods have ended, out of Slurm as well; one with a Pod
    stays"""
    names = waiting(8)
    where = running(names)
    kept = where[names[0]]
    bed.end(*[name for name in names if where[name] != kept])
    wait_for("the one node", lambda: names_of(karpenter.nodes()) == [kept] and
             list(karpenter.slurm_nodes()) == [kept], 90)
    never(f"{kept} goes", lambda: not karpenter.usable(), 5)
    equal({n for n in names if where[n] == kept and
           bed.phase_is(n, "Running")}, {n for n in names if where[n] == kept},
          "Pods that run on")
    bed.end(*[name for name in names if where[name] == kept])
    karpenter.wait_none()


@case
def late():
    """a node that takes 20 s to appear is bought once"""
    karpenter.pool(starts_after="20s")
    bought = Purchases()
    running(waiting(4))
    equal(karpenter.settled("the number of NodeClaims", bought.count), 1,
          "nodes bought")


@case
def protected():
    """a node with a Pod that must not be disrupted stays when it is underutilised"""
    karpenter.pool(consolidate_after="Never")
    names = waiting(4)
    other = running(names)[names[0]]
    bed.create(karpenter.pod("kept", annotations={DO_NOT_DISRUPT: "true"}))
    node = running(["kept"])["kept"]
    check(node != other, "one node has all Pods")
    bed.end(*names[:2])
    karpenter.pool(consolidate_after="0s", policy="WhenEmptyOrUnderutilized")
    wait_for("the other node to go", lambda: names_of(karpenter.nodes()) == [node], 90)
    check(bed.phase_is("kept", "Running"), "the Pod does not run on")


@case
def leaves():
    """a NodeClaim is deleted under a Pod: Slurm drains the node, starts the next Pod
    on another, which is bought, and the job ends with the Pod"""
    karpenter.pool(consolidate_after="Never")
    bed.create(karpenter.pod("slow", annotations={"sandbox/stop": "8s"},
                             terminationGracePeriodSeconds=20))
    node = running(["slow"])["slow"]
    karpenter.let_go(node)
    wait_for("the drain", lambda: "DRAIN" in (slurms := karpenter.slurm_nodes().get(
        node, {"state": []}))["state"] and slurms["reason"].startswith(
            "slurmk8sd: the Node is being deleted"))
    bed.create(karpenter.pod("next"))
    check(running(["next"])["next"] != node, "a Pod was bound to a node that goes")
    bed.wait_gone("slow", 60)
    bed.wait_ended("slow", "FAILED")


run(before_each=fresh, after_each=bed.nothing_left, after_failure=karpenter.last_words)
