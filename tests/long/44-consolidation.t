#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods and batch jobs that start at random while Karpenter removes what is empty: the
real Karpenter with its provider for kwok, in a sandbox of its own beside $SANDBOX.
ROUNDS in the environment says how many times 15 s, the time for which Karpenter looks
at a node before it removes it (100); SEED is that of the random numbers."""
import os
import pathlib
import random
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import karpenter_sandbox

karpenter_sandbox.up()

import batch
import bed
import karpenter
from karpenter import DO_NOT_DISRUPT
from tap import case, check, equal, run, wait_for

ROUNDS = int(os.environ.get("ROUNDS", "100"))
SEED = int(os.environ.get("SEED", str(time.time_ns() % 100000)))
ROUND = 15  # seconds
MOST_MARKED = 5  # seconds that a node may be marked after its last job

chance = random.Random(SEED)
pods = []          # names of all
ended = set()      # of those that have ended
jobs = {}          # of sbatch: how long each is to run, by JobId
ran = {}           # on which nodes such a job runs, and since when
ends = set()       # those whose script has ended
lost = []          # sentences
marked_since = {}  # by node: since when it is empty and still marked
longest = 0.0      # that a node was
removed = set()    # Nodes that were seen, and are gone
seen = set()


def begin():
    """What one round starts, at random within its time: (offset, what). Many rounds
    start little or nothing, so that nodes become empty."""
    kinds = chance.choices(["pod", "job", "pods"], [4, 4, 2],
                           k=chance.choice((0, 0, 1, 1, 3)))
    return sorted((chance.uniform(0, ROUND), kind) for kind in kinds)


def start(kind):
    if kind == "job":
        nodes = chance.choice((1, 1, 2))
        job = batch.submit(f"-N{nodes}", f"-n{nodes}", f"-c{chance.choice((2, 4, 8))}",
                           "--no-requeue", "--time=10", partition=karpenter.PARTITION)
        jobs[job] = chance.uniform(1, 12)
        return
    for _ in range(chance.randint(3, 8) if kind == "pods" else 1):
        name = f"p{len(pods)}"
        pods.append(name)
        bed.create(karpenter.pod(name, cpu=str(chance.choice((2, 4, 8))), annotations={
            "sandbox/run": f"{chance.randint(1, 12)}s"}))


def look():
    """One look at everything: ends jobs that have run long enough, and sees what is
    lost and how long marks stay."""
    global longest
    listed = bed.jobs()
    nodes = {n["metadata"]["name"]: n for n in karpenter.nodes()}
    removed.update(seen - set(nodes))
    seen.update(nodes)
    busy = set()
    for job in listed.values():
        if {"RUNNING", "COMPLETING", "CONFIGURING"} & set(job["job_state"]):
            busy.update(bed.run("scontrol", "show", "hostnames", job["nodes"]).split())
    now = time.monotonic()
    for number, length in list(jobs.items()):
        look_at_job(listed[number], length, nodes, now)
    look_at_pods()
    for name, node in nodes.items():
        marked = DO_NOT_DISRUPT in node["metadata"].get("annotations", {})
        if not marked or name in busy:
            marked_since.pop(name, None)
        else:
            since = marked_since.setdefault(name, now)
            longest = max(longest, now - since)


def look_at_job(job, length, nodes, now):
    number, state = job["job_id"], set(job["job_state"])
    if "COMPLETED" in state:
        del jobs[number]
    elif not state & {"PENDING", "RUNNING", "CONFIGURING"}:
        lost.append(f"job {number} is {job['job_state']}")
        del jobs[number]
    elif state == {"RUNNING"}:
        where, since = ran.setdefault(number, (job["nodes"], now))
        if where != job["nodes"]:
            lost.append(f"job {number} was moved from {where}")
        placed = [pod["spec"].get("nodeName") for pod in batch.pods_of(number)]
        if all(placed) and not set(placed) <= set(nodes) and \
                "RUNNING" in bed.jobs()[number]["job_state"]:
            lost.append(f"job {number} has lost one of its nodes {where}")
        if now - since > length and number not in ends:
            ends.add(number)
            batch.end(batch.pod_of(number))


def look_at_pods():
    """A Pod that has ended may be gone, with its Node."""
    phases = {pod["metadata"]["name"]: pod["status"].get("phase")
              for pod in bed.pods()}
    for name in pods:
        phase = phases.get(name)
        if name in ended:
            continue
        if phase in (None, "Failed"):
            lost.append(f"Pod {name} is {phase or 'gone'}")
        if phase in (None, "Failed", "Succeeded"):
            ended.add(name)


@case
def rounds():
    """in ROUNDS rounds no Pod and no batch job loses a node, while nodes come and go"""
    print(f"# seed {SEED}", flush=True)
    for number in range(ROUNDS):
        began, due = time.monotonic(), begin()
        while time.monotonic() - began < ROUND:
            while due and time.monotonic() - began >= due[0][0]:
                start(due.pop(0)[1])
            look()
            time.sleep(0.2)
        if number % 10 == 9:
            print(f"# {number + 1} rounds: {len(pods)} Pods, {len(ran)} jobs, "
                  f"{len(removed)} nodes removed, {len(lost)} lost", flush=True)
    equal(lost, [], "what was lost")

    def over():
        look()
        return not jobs and len(ended) == len(pods)
    wait_for("everything to end", over, 240)
    equal(lost, [], "what was lost")
    states = bed.run("sacct", "-nXP", "-S", "now-1day", "--format=State").split("\n")
    equal([s for s in states if s.startswith(("NODE_FAIL", "REQUEUED", "BOOT"))], [],
          "jobs that lost a node")


@case
def marks_go():
    """a node without jobs is free for removal in time, and all nodes go"""
    print(f"# a node was marked for {longest:.1f} s at most after its last job",
          flush=True)
    # The program looks each 0.2 s, and then asks four servers.
    check(longest <= MOST_MARKED + 2, f"a node was marked for {longest:.1f} s")
    check(removed or ROUNDS < 5, "no node was removed meanwhile: that shows nothing")
    karpenter.wait_none()


def once():
    """What all cases have in common."""
    if pods:
        return
    batch.clear("alice")
    karpenter.purge()
    karpenter.pool(consolidate_after="1s")
    bed.create(bed.pod("full", cpu="2", annotations={"sandbox/run": "10000h"}))
    bed.wait_job("full", "RUNNING")


run(before_each=once, after_failure=karpenter.last_words)
