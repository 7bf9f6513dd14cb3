#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos: random operations, as tests/chaos does them; 20,000 of them with three
seeds are in tests/long. What it has done is in the log of this script."""
import collections
import itertools
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import chaos
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
def two_hundred():
    """200 random operations: no violation, meanwhile and at rest"""
    began = time.monotonic()

    def say(text):
        print(f"# {time.monotonic() - began:6.1f} {text}", flush=True)

    found = chaos.Chaos(SEED, say).run(OPERATIONS)
    check(not found, f"replay with: tests/chaos --ops {OPERATIONS} --seed "
          f"{SEED}\n" + "\n".join(f"op {n}: {words}" for n, words in found))


run(before_each=bed.clean, after_failure=bed.last_words)
