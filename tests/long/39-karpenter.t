#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that are bought for Slurm's queue, and go when they are empty: the real
Karpenter with its provider for kwok, in a sandbox of its own beside $SANDBOX. Its
one other node is full, so that Karpenter cannot count on that. QUIET in the
environment says for how many seconds jobs that would not start must buy nothing
(300)."""
import contextlib
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import karpenter_sandbox

karpenter_sandbox.up()

import batch
import bed
import karpenter
import slurmctld
from asking import sacctmgr
from karpenter import CPUS, DO_NOT_DISRUPT, Purchases
from tap import case, check, equal, never, run, wait_for

EACH = 2  # CPUs of a Pod
POOL_NODES = 30
QOS, ENFORCED = "never", "\nAccountingStorageEnforce=associations,limits,qos\n"
QUIET = int(os.environ.get("QUIET", "300"))


def fresh():
    batch.clear("alice")
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
def buys_for_many():
    """sinfo shows 30 nodes before there is one; 100 lone Pods buy the 25 that Slurm
    needs for them, one more at most"""
    wait_for("all potential nodes", lambda:
             len(karpenter.potential_nodes()) == POOL_NODES)
    bought = Purchases()
    names = waiting(100)
    running(names, 300)
    wanted = 100 * EACH // CPUS
    count = karpenter.settled("the number of NodeClaims", bought.count)
    print(f"# 100 Pods bought {count} nodes", flush=True)
    check(wanted <= count <= wanted + 1, f"{count} nodes were bought, not {wanted}")
    wait_for("the potential nodes that are left", lambda:
             len(karpenter.potential_nodes()) == POOL_NODES - count)


def member(number, size):
    body = karpenter.pod(f"g{number}", cpu="4",
                         annotations={"slurmk8s/gang-size": str(size)})
    body["metadata"]["labels"] = {"slurmk8s/gang": "g"}
    bed.create(body)


@case
def gang():
    """a gang buys nothing while a Pod of it is missing, then the nodes of all"""
    size = 8
    bought = Purchases()
    for number in range(size - 1):
        member(number, size)
    never("a purchase", bought.count, 25)
    member(size - 1, size)
    running([f"g{number}" for number in range(size)], 120)
    count = karpenter.settled("the number of NodeClaims", bought.count)
    check(size * 4 // CPUS <= count <= size * 4 // CPUS + 1,
          f"{count} nodes were bought")


@case
def batch_jobs():
    """a batch job of 4 nodes with a task on each buys 4 nodes and starts there; an
    array of 8 tasks that each fill half a node buys 4"""
    for options in (("-N4", "-n4", "--ntasks-per-node=1", "-c2"),
                    ("-n1", "-c4", "--array=0-7")):
        bought = Purchases()
        job = batch.submit(*options, "--time=10", partition=karpenter.PARTITION)
        places = wait_for(f"job {job} to run on 4 nodes", lambda: len(on := {
            pod["spec"].get("nodeName") for pod in bed.pods(batch.NS)}) == 4 and
            None not in on and on, 180)
        count = karpenter.settled("the number of NodeClaims", bought.count)
        print(f"# {' '.join(options)}: {count} nodes were bought", flush=True)
        check(4 <= count <= 5, f"{count} nodes were bought, not 4")
        check(places <= set(names_of(karpenter.nodes())), places)
        batch.clear("alice")
        karpenter.purge()
        karpenter.pool()


@contextlib.contextmanager
def with_limit(user):
    """A QOS whose jobs never start, which the user may choose."""
    for words in (("add", "qos", QOS), ("modify", "qos", QOS, "set", "GrpJobs=0"),
                  ("modify", "user", user, "set", f"qos+={QOS}")):
        sacctmgr(*words)
    with slurmctld.changed_conf(lambda conf: conf + ENFORCED, how="stop"):
        yield
    for words in (("modify", "user", user, "set", f"qos-={QOS}"),
                  ("delete", "qos", QOS)):
        sacctmgr(*words)


@case
def would_not_start():
    """jobs that are held, depend on others, begin later or are over a limit of their
    QOS buy nothing for QUIET seconds; a job that the pool could never hold is refused
    with a sentence, and buys nothing"""
    job = bed.job_of("full")
    names = ("held", "later", "depends", "limited")
    with with_limit(job["user_name"]):
        bought = Purchases()
        for name, wish in zip(names, (
                {"slurmk8s/priority": "0"}, {"slurmk8s/begin": "now+1hour"},
                {"slurmk8s/dependency": f"afterok:{job['job_id']}"},
                {"slurmk8s/qos": QOS})):
            bed.create(karpenter.pod(name, annotations=wish))
        batch.submit("-n1", "--hold", partition=karpenter.PARTITION)
        bed.create(karpenter.pod("huge", cpu="12"))
        bed.wait_words("huge", "No node is large enough", "cpu=12", "with cpu=8")
        for name in names:
            bed.wait_job(name, "PENDING")
        wait_for("the limit to be the reason", lambda: "QOS" in
                 bed.job_of("limited")["state_reason"])
        never("a purchase", bought.count, QUIET)
        for name in names:
            bed.delete(name, grace=1)
        batch.clear("alice")


@case
def without_pods():
    """a node with a job that has no Pod stays while the job runs, and goes when it
    has ended; the mark is gone 5 s after the job, by NodeInterval"""
    name = waiting(1)[0]
    node = running([name])[name]
    job = int(bed.run("sbatch", "--parsable", "--external", "--ntasks=1",
                      f"--partition={karpenter.PARTITION}", "--time=60",
                      user="slurm").strip().splitlines()[-1])
    wait_for(f"job {job} to run", lambda:
             "RUNNING" in bed.jobs()[job]["job_state"])
    equal(bed.jobs()[job]["nodes"], node, "its node")

    def marks():
        found = karpenter.node(node)["metadata"].get("annotations", {})
        return found.get(DO_NOT_DISRUPT)
    wait_for("the mark", lambda: marks() == "true", 10)
    bed.end(name)
    never("its node goes", lambda: not karpenter.node(node), 60)
    bed.run("scancel", str(job))
    wait_for("the mark to go", lambda: not marks(), 10)
    karpenter.wait_none()


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
    """a node with a Pod that Slurm has bound stays when it is underutilised: the
    binding has marked the Pod"""
    karpenter.pool(consolidate_after="Never")
    names = waiting(4)
    other = running(names)[names[0]]
    bed.create(karpenter.pod("kept"))
    node = running(["kept"])["kept"]
    check(node != other, "one node has all Pods")
    bed.end(*names)
    karpenter.pool(consolidate_after="0s", policy="WhenEmptyOrUnderutilized")
    wait_for("the other node to go", lambda: names_of(karpenter.nodes()) == [node], 90)
    never("its node goes", lambda: names_of(karpenter.nodes()) != [node], 45)
    check(bed.phase_is("kept", "Running"), "the Pod does not run on")
    equal(bed.get("kept")["metadata"]["annotations"].get(DO_NOT_DISRUPT), "true",
          "the mark of the binding")


@case
def leaves():
    """a NodeClaim is deleted under a Pod: Slurm drains the node, starts the next Pod
    on another, which is bought, and the first runs to its end"""
    karpenter.pool(consolidate_after="Never")
    bed.create(karpenter.pod("slow"))
    node = running(["slow"])["slow"]
    karpenter.let_go(node)
    wait_for("the drain", lambda: "DRAIN" in (slurms := karpenter.slurm_nodes().get(
        node, {"state": []}))["state"] and slurms["reason"].startswith("slurmk8sd: "))
    bed.create(karpenter.pod("next"))
    check(running(["next"])["next"] != node, "a Pod was bound to a node that goes")
    never("slow is ended", lambda: not bed.phase_is("slow", "Running"), 20)
    bed.end("slow")
    bed.wait_ended("slow", "COMPLETED", "0:0")
    wait_for("its node to go", lambda: not karpenter.node(node), 90)


run(before_each=fresh, after_each=bed.nothing_left, after_failure=karpenter.last_words)
