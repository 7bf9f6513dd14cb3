#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that an autoscaler may make: Slurm has them before they exist, Pods that
fit only there wait in its queue and are Unschedulable, as those that would not
start on any Node are not, and the Node that comes takes the Pod."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import batch
import bed
import node_moves as nodes
from tap import case, check, equal, never, run, wait_for

POOL = "pool.example.com/name"
LINES = (f"NodePool=pot Nodes=2 CPUs=20 RealMemory=20000 Labels={POOL}=pot "
         "Partitions=kwok\nResizeDelay=2\nReasonInterval=3\n")
NODE, OTHER_NODE = "bought-1", "bought-2"


def with_pool(text):
    kept = [line for line in text.splitlines()
            if not line.startswith(("ResizeDelay", "ReasonInterval"))]
    return "\n".join(kept) + "\n" + LINES


def state(name):
    """Of a node in Slurm; None if there is none."""
    return (nodes.in_slurm(name) or {}).get("state")


def reason(name):
    return bed.condition(name).get("reason")


def wait_reason(name, wanted):
    wait_for(f"Pod {name} to be {wanted}", lambda: reason(name) == wanted, 20)


def fresh():
    batch.clear("alice")
    nodes.delete(NODE)
    nodes.delete(OTHER_NODE)
    wait_for("no node of the pool to be there", lambda: all(
        "DOWN" in (state(name) or []) for name in ("pot-1", "pot-2")), 60)


def after_each():
    nodes.delete(OTHER_NODE)
    nodes.delete(NODE)
    bed.clean()
    bed.nothing_left()


@case
def shown_before_they_exist():
    """sinfo shows the Nodes that may come; a Pod that fits only there has a job,
    waits and is Unschedulable; the Node that comes takes it"""
    for name in ("pot-1", "pot-2"):
        wait_for(f"node {name}", lambda: "DOWN" in (state(name) or []), 20)
    check("pot-[1-2]" in bed.run("sinfo", "-h", "-t", "down", "-o", "%N"),
          "sinfo shows them")
    check("no Node yet" in bed.run("sinfo", "-R", "-h", "-o", "%E %N"),
          "with the reason")

    bed.create(bed.pod("wide", cpu="18", annotations={"sandbox/run": "1h"}))
    bed.wait_job("wide", "PENDING")
    wait_reason("wide", "Unschedulable")
    bed.wait_words("wide", "ReqNodeNotAvail")
    never("it starts where no Node is", lambda: bed.node_of("wide"), 5)

    nodes.make(NODE, cpus=20, **{POOL: "pot"})
    equal(bed.land("wide"), NODE, "its Node")
    marks = bed.get("wide")["metadata"]["annotations"]
    equal(marks.get("karpenter.sh/do-not-disrupt"), "true", "for Karpenter")
    equal(marks.get("cluster-autoscaler.kubernetes.io/safe-to-evict"), "false",
          "for cluster-autoscaler")
    wait_for("one potential node to go", lambda: state("pot-2") is None, 30)
    check("DOWN" in state("pot-1"), "the other stays")

    bed.end("wide")
    bed.wait_ended("wide", "COMPLETED", "0:0")
    nodes.delete(NODE)
    wait_for("it to be a potential node again",
             lambda: "DOWN" in (state("pot-2") or []), 60)


@case
def more_than_any_could_hold():
    """a Pod that neither a Node nor the pool could hold is told so, and has no
    job; sbatch refuses the same"""
    bed.create(bed.pod("huge", cpu="40"))
    bed.wait_words("huge", "No node is large enough", "cpu=40", "with cpu=20")
    never("a job", lambda: bed.job_of("huge"), 5)
    said = bed.run("sbatch", "--external", "-p", "kwok", "-n", "40", "-N", "1",
                   user="slurm", check=False)
    check("node configuration is not available" in said, said)
    said = bed.run("sbatch", "--external", "-p", "kwok", "-n", "18", "-N", "1",
                   user="slurm")
    check("Submitted" in said, said)
    bed.run("scancel", said.split()[-1])


@case
def what_would_not_start():
    """Pods whose jobs are held, depend on others or begin later are not
    Unschedulable, although no Node has room for them"""
    asked = {"held": {"slurmk8s/priority": "0"},
             "later": {"slurmk8s/begin": "now+1hour"}}
    bed.create(bed.pod("first", cpu="18"))
    bed.wait_job("first", "PENDING")
    job = bed.job_of("first")["job_id"]
    asked["depends"] = {"slurmk8s/dependency": f"afterok:{job}"}
    for name, wish in asked.items():
        bed.create(bed.pod(name, cpu="18", annotations=wish))
    wait_reason("first", "Unschedulable")
    wait_for("Pod held to say so",
             lambda: (reason("held") or "").startswith("JobHeld"), 20)
    wait_reason("later", "BeginTime")
    wait_reason("depends", "Dependency")
    bed.create(bed.pod("behind", cpu="18"))
    wait_reason("behind", "Unschedulable")


def asking():
    """The Pods that stand for Nodes which batch jobs wait for, by name without the
    hash at its end."""
    return {pod["metadata"]["name"].rsplit("-", 1)[0]: pod for pod in bed.pods(batch.NS)
            if pod["spec"]["schedulerName"] == "slurmk8s-waits"}


@case
def batch_jobs_ask():
    """a batch job has a Pod for each Node that it waits for, which nobody starts; it
    goes when the job has nodes, is held or is cancelled"""
    job = batch.submit("-N2", "-n2", "-c18", "--time=10")
    names = [f"slurm-waits-{job}-0-{node}" for node in (0, 1)]
    wait_for("its two Pods", lambda: sorted(asking()) == names, 20)
    wait_for("them to be Unschedulable", lambda: all(
        one.get("reason") == "Unschedulable" for pod in asking().values()
        for one in pod["status"].get("conditions", [{}])))
    pod = asking()[names[0]]
    equal(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"], "18",
          "CPUs of its share")
    equal(pod["spec"]["nodeSelector"], {POOL: "pot"}, "its pool")
    check("podAntiAffinity" in pod["spec"]["affinity"], "one on each Node")

    bed.run("scontrol", "hold", str(job))
    wait_for("none, while it is held", lambda: not asking(), 20)
    bed.run("scontrol", "release", str(job))
    wait_for("them to be back", lambda: sorted(asking()) == names, 20)

    for node in (NODE, OTHER_NODE):
        nodes.make(node, cpus=20, **{POOL: "pot"})
    wait_for(f"job {job} to run", lambda:
             batch.job(job)["job_state"] == ["RUNNING"], 60)
    wait_for("no Pod to ask any more", lambda: not asking(), 5)
    equal(sorted(pod["spec"]["nodeName"] for pod in batch.pods_of(job)),
          [NODE, OTHER_NODE], "the Nodes of its own")
    bed.run("scancel", str(job))
    batch.clear("alice")


@case
def batch_jobs_that_do_not_ask():
    """a batch job that begins later asks for none; of an array as many tasks ask as may
    run at once, until it is cancelled"""
    later = batch.submit("-n1", "-c18", "--begin=now+1hour", "--time=10")
    array = batch.submit("-n1", "-c18", "--array=1-3%2", "--time=10")
    names = [f"slurm-waits-{array}-{task}-0" for task in (0, 1)]
    wait_for("two of its tasks to ask", lambda: sorted(asking()) == names, 20)
    never("another asks", lambda: sorted(asking()) != names, 10)
    bed.run("scancel", str(array))
    wait_for("none to ask", lambda: not asking(), 20)
    bed.run("scancel", str(later))
    batch.clear("alice")


@case
def resumed_by_hand():
    """a potential node that somebody resumes starts no Pod, and is DOWN again"""
    bed.create(bed.pod("wide", cpu="18"))
    bed.wait_job("wide", "PENDING")
    bed.run("scontrol", "update", "NodeName=pot-1", "State=RESUME")
    wait_for("it to be DOWN again", lambda: "DOWN" in state("pot-1"), 20)
    wait_reason("wide", "Unschedulable")
    never("it is bound", lambda: bed.node_of("wide"), 5)


agent_conf.edit(with_pool, lambda: wait_for(
    "potential nodes to be gone", lambda: state("pot-1") is None, 90))
run(before_each=fresh, after_each=after_each, after_failure=bed.last_words)
