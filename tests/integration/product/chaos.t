#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos: random operations, as tests/chaos does them; 20,000 of them with three
seeds are in tests/long. What it has done is in the log of this script."""
import collections
import itertools
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import chaos
import chaos_devices
import chaos_parts
import chaos_plan
import chaos_watch
from tap import case, check, equal, run

OPERATIONS, SEED = 200, 1


def words(seed, count):
    return [str(op) for op in itertools.islice(chaos_plan.plan(seed), count)]


@case
def from_the_seed_alone():
    """the same seed gives the same operations, and fewer are their beginning"""
    equal(words(7, 600)[:300], words(7, 300), "seed 7")
    check(words(7, 300) != words(8, 300), "seed 8 is another")


@case
def observer_sees():
    """the watch sees an overcommitted Node, a second binding, a Pod that starts
    again, and ends that nobody caused"""
    said = []
    causes = collections.defaultdict(set)
    watch = chaos_watch.Observer({"kn1": {"cpu": 4, "memory": 2 ** 30}}, causes,
                                 said.append)

    def pod(name, cpu="3", node="kn1", phase="Running", began="now", **meta):
        body = bed.pod(name, cpu=cpu, nodeName=node)
        body["metadata"] |= {"uid": name, **meta}
        return body | {"status": {"phase": phase, "startTime": began}}

    def hears(words):
        check(any(words in line for line in said), f"{words}: {said}")
        said.clear()

    watch.changed(pod("a"))
    watch.changed(pod("small", cpu="1"))
    equal(said, [], "what fits")
    watch.changed(pod("b"))
    hears("Pod b: bound to kn1, where live Pods then ask for 7 cpu of 4")
    watch.changed(pod("a", node="kn2"))
    hears("Pod a: bound twice: kn1, then kn2")
    watch.changed(pod("small", cpu="1", began="later"))
    hears("Pod small: started twice")
    watch.changed(pod("b", phase="Failed"))
    hears("Pod b: it is Failed, and nobody did that (known: nothing)")
    watch.changed(pod("b"))
    hears("Pod b: it lives again")
    watch.changed(pod("c", cpu="0", deletionTimestamp="now"))
    hears("Pod c: it is being deleted, and nobody did that")
    causes["d"].add(chaos_watch.OWN)
    watch.changed(pod("d", cpu="0", phase="Succeeded"))
    equal(said, [], "its own end")
    causes["e"].add(chaos_watch.OWN)
    watch.changed(pod("e", cpu="0"))
    watch.listed([])
    hears("Pod e: it was removed, and nobody did that (known: own end)")


@case
def claims_seen():
    """the watch sees a CPU in two claims, shares of a device beyond what it has, and
    Pods with more of a device plugin than there is"""
    said = []
    watch = chaos_devices.ClaimObserver(said.append, chaos_parts.LIMITS)

    def claim(name, *results):
        return {"metadata": {"name": name, "uid": name}, "status": {
            "allocation": {"devices": {"results": [
                {"pool": "kn1", **result} for result in results]}}}}

    def share(device, memory):
        return {"driver": chaos_parts.DRIVER, "device": device, "shareID": "x",
                "consumedCapacity": {"memory": memory}}

    def hears(words):
        equal(len(said), 1, f"what is said of {words}: {said}")
        check(words in said.pop(), words)

    cpu = {"driver": "dra.cpu", "device": "cpudev003"}
    watch.changed(claim("a", cpu, share("s0", "30Gi")))
    watch.changed(claim("a", cpu, share("s0", "30Gi")))  # the same again
    watch.changed(claim("b", share("s0", "10Gi"), share("s1", "40Gi")))
    equal(said, [], "what fits")
    watch.changed(claim("c", cpu))
    hears("ResourceClaim c: kn1/cpudev003 is in a, too")
    watch.changed(claim("c", share("s0", "1Gi")))
    hears("ResourceClaim c: of kn1/s0 claims have more than")
    watch.deleted(claim("a"))
    watch.changed(claim("c", share("s0", "30Gi")))
    equal(said, [], "what fits again")
    watch.listed([claim("d", share("s1", "39Gi"), share("s1", "2Gi"))])
    hears("ResourceClaim d: of kn1/s1 claims have more than")

    pods = chaos_watch.Observer(
        {"kn1": {"cpu": 4, "memory": 2 ** 30,
                 chaos_parts.NIC: chaos_plan.NICS_OF_NODE}},
        collections.defaultdict(set), said.append)
    for name, count in (("x", chaos_plan.NICS_OF_NODE), ("y", 1)):
        equal(said, [], "what a device plugin has")
        body = bed.pod(name, cpu="1", nodeName="kn1")
        chaos_devices.ask(body, count, chaos_parts.NIC)
        body["metadata"]["uid"] = name
        pods.changed(body | {"status": {"phase": "Running"}})
    hears(f"live Pods then ask for 7 {chaos_parts.NIC} of 6")


@case
def two_hundred():
    """200 random operations: no violation, meanwhile and at rest"""
    began = time.monotonic()

    def say(text):
        print(f"# {time.monotonic() - began:6.1f} {text}", flush=True)

    found = chaos.Chaos(SEED, say).run(OPERATIONS)
    check(not found, f"replay with: tests/chaos --ops {OPERATIONS} --seed "
          f"{SEED}\n" + "\n".join(f"op {n}: {words}" for n, words in found))


run(before_each=bed.clean, after_failure=bed.last_words)
