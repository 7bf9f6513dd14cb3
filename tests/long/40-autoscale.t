#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A NodeSet that follows Slurm's queue, in a sandbox of `up --operator`: jobs wait
for workers that do not exist, Pods with slurmd come for them on two real kubelets,
and go when they are idle. Nobody scales, drains or resumes. Nothing is played."""
import pathlib
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "0", "--operator")

import bed
import real_workers
import slurmctld
from real_workers import (
    NAMESPACE, SETS, annotate, node, pods, replicas, sbatch, scale, state_of)
from slurmd_pods import PARTITION
from tap import case, check, equal, last_case, run, wait_for

operator = None
IDLE = 20  # seconds


def said(kind):
    found = bed.api("GET", f"{SETS}/w").get("status", {}).get("conditions", [])
    return next(((one["status"], one["message"]) for one in found
                 if one["type"] == kind), None)


def names():
    """Of the Slurm nodes of the partition."""
    return sorted(bed.run("sinfo", "-hN", "-p", PARTITION, "-o", "%N").split())


def is_waiting(name):
    """A node to which no slurmd has come yet."""
    one = node(name)  # which may be made anew just now
    return one is not None and "DOWN" in one["state"] and \
        one["reason"] == f"slurm-operator: NodeSet {NAMESPACE}/w has not started it yet"


def all_wait():
    return not pods() and names() == ["w-0", "w-1"] and \
        all(is_waiting(name) for name in names())


def refused(*words):
    """What sbatch says to a job that fits nowhere."""
    text = bed.run("sbatch", "-D", "/tmp", "-o", "none", "-p", PARTITION, *words,
                   "--wrap", "true", user="alice", check=False)
    check("Submitted" not in text, f"sbatch {' '.join(words)}: {text}")
    return text


@case
def potential_nodes():
    """sinfo shows the workers that there may be, DOWN with a reason, and none of them
    is started"""
    global operator
    operator = real_workers.begin()
    real_workers.make_set(replicas=0)
    annotate(autoscale="0-2", scale_down_after=f"{IDLE}s")
    wait_for("the nodes", all_wait, 60)
    wait_for("the condition", lambda: (said("Autoscaled") or "")[0] == "True")
    equal(replicas(), 0, "replicas")
    equal(node("w-0")["cpus"], 1, "CPUs of a node that is not there")


@case
def what_fits_nowhere():
    """a job that no worker could run is refused at submit, in Slurm's words"""
    refused("-N3")
    refused("-N1", "-c2")
    refused("-N1", "--mem=100G")
    refused("-N1", "-C", "nothing")


@case
def what_starts_none():
    """a job that is held, one that depends on it and one that begins later start no
    worker"""
    held = sbatch("true", "--hold")
    others = [sbatch("true", f"--dependency=afterok:{held}"),
              sbatch("true", "--begin=now+1hour"),
              sbatch("true", "-N2", "--hold")]
    until = time.monotonic() + 15
    while time.monotonic() < until:
        equal((replicas(), pods()), (0, {}), "replicas and Pods")
        time.sleep(0.5)
    for job in (held, *others):
        bed.run("scancel", str(job))


@case
def from_none_to_two_and_back():
    """a job of two nodes waits, two Pods come, it runs on both, and they go again"""
    began = time.monotonic()
    job = sbatch("srun hostname; sleep 3; exit 6", "-N2", "-n2")
    wait_for("two replicas", lambda: replicas() == 2, 10)
    print(f"# two replicas {time.monotonic() - began:.1f} s after sbatch")
    wait_for("the job to end", lambda: state_of(job) == ["FAILED"], 120)
    print(f"# the job has ended {time.monotonic() - began:.1f} s after sbatch")
    equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 6,
          "exit code of the job")
    equal(bed.jobs()[job]["restart_cnt"], 0, "restarts of the job")
    ended = time.monotonic()
    check(len(pods()) == 2, "a worker goes before it has been idle for long")
    wait_for("both to go, and wait again", all_wait, 120)
    idle = time.monotonic() - ended
    check(idle > IDLE - 2, f"the workers have gone after {idle:.0f} s")
    print(f"# all is as before {idle:.1f} s after the job's end")


@case
def kills_in_between():
    """the operator and the agent are killed after the job was submitted, and while
    its workers come: it runs all the same, and nothing is left"""
    job = sbatch("srun hostname; sleep 3", "-N2", "-n2")
    operator.stop("KILL")
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    wait_for("two replicas", lambda: replicas() == 2, 60)
    operator.start()
    wait_for("Pods", lambda: len(pods()) == 2, 60)
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    wait_for("the job to end", lambda: state_of(job) == ["COMPLETED"], 180)
    equal(bed.jobs()[job]["restart_cnt"], 0, "restarts of the job")
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    operator.stop("KILL")
    operator.start()
    wait_for("both to go, and wait again", all_wait, 180)


@case
def slurmctld_restarts():
    """and reconfigures: the nodes wait on, and so do jobs; a crash that brings back
    what was there before is made good"""
    slurmctld.restart()  # perhaps with the records of workers that have gone
    wait_for("slurmctld to answer", slurmctld.is_up)
    wait_for("the nodes", all_wait, 30)
    job = sbatch("true", "-N2", "-n2", "--hold")
    slurmctld.save()
    slurmctld.restart()
    wait_for("slurmctld to answer", slurmctld.is_up)
    check(all_wait(), "the nodes are others")
    equal(state_of(job), ["PENDING"], "state of the job")
    bed.run("scancel", str(job))


@case
def by_hand():
    """what somebody else scales is taken back, and the range holds; a mistake in the
    annotation is told, and nothing is scaled then"""
    scale(9)
    wait_for("replicas to be taken back", lambda: replicas() == 0, 10)
    wait_for("the nodes", all_wait, 60)
    annotate(autoscale="2")
    wait_for("the condition", lambda: (said("Autoscaled") or "")[0] == "False")
    check("0-32" in said("Autoscaled")[1], said("Autoscaled")[1])
    scale(1)
    wait_for("a Pod", lambda: list(pods()) == ["w-0"])
    wait_for("the node of the other to go", lambda: "w-1" not in names())
    annotate(autoscale="0-2")
    wait_for("it to go again", all_wait, 120)


@case
def named():
    """a job that names the second worker brings both, since they come in their order;
    its record stays as long as slurmctld remembers the job, and takes the next
    job"""
    with slurmctld.changed_conf(lambda conf: conf + "\nMinJobAge=20\n", how="stop"):
        wait_for("slurmctld to answer", slurmctld.is_up)
        for words in (("-w", "w-1"), ("-N2", "-n2")):
            job = sbatch("exit 6", *words)
            wait_for("the job to end", lambda: state_of(job) == ["FAILED"], 120)
            equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 6,
                  "exit code of the job")
            wait_for("the workers to go", lambda: not pods(), 120)
        wait_for("the nodes", all_wait, 200)


@case
def the_set_goes():
    """with the NodeSet the nodes of all its workers go"""
    real_workers.delete_set()
    wait_for("the nodes to be gone", lambda: names() == [], 60)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(real_workers.end(operator), 0, "its exit status")


run(after_failure=lambda: real_workers.last_words(operator))
