#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the agent does for the Pods of NodeSets: it shows the state of their Slurm
nodes, marks those with jobs, drains a node before its Pod is removed and says
when that is done. kwok plays the Pods; the test registers their nodes as slurmd
would, as external ones with the Pods' addresses."""
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import faults
import slurmctld
from played_workers import (
    CORDON, DEADLINE, DRAINED, NAMESPACE, NODES, OURS, PARTITION, PROTECT,
    REGISTERED, REQUEST, annotate, answer_is, begin, condition, job,
    make_partition, make_pod, path, pod, register, request, wait_condition)
from tap import case, check, equal, never, run, wait_for

MARKS = ("karpenter.sh/do-not-disrupt",
         "cluster-autoscaler.kubernetes.io/safe-to-evict")


def node(name):
    return bed.json.loads(bed.run("scontrol", "show", "node", name,
                                  "--json"))["nodes"][0]


def wait_state(name, *words, seconds=10):
    wait_for(f"{name} to be {' '.join(words)}", lambda:
             set(words) <= set(node(name)["state"]), seconds)


def wait_open(name):
    wait_for(f"{name} to be open", lambda:
             not set(node(name)["state"]) & {"DRAIN", "DOWN"}, 10)


def cancel(number):
    bed.run("scancel", str(number))


begin()


@case
def registered():
    """the agent says of a Pod that slurmctld does not know it, and when it does"""
    for name in NODES:
        address = make_pod(name)
        wait_condition(name, REGISTERED, "False", "NotRegistered")
        register(name, address)
        wait_condition(name, REGISTERED, "True")
        wait_condition(name, "SlurmNodeStateIdle", "True")
    make_partition()


@case
def of_another_controller():
    """a Pod of another Controller in the namespace is left to that one's agent"""
    make_pod("x-0", "elsewhere")
    # A Pod that came later is served.
    make_pod("x-1")
    wait_condition("x-1", REGISTERED, "False")
    equal(condition("x-0", REGISTERED)["status"], "", REGISTERED)
    for name in ("x-0", "x-1"):
        bed.delete(name, NAMESPACE, grace=0)


@case
def protected():
    """a node with a job is protected, with the time of the job's end, and not
    any longer than that"""
    number = job("w-0")
    wait_condition("w-0", "SlurmNodeStateMixed", "True")
    wait_for("the label", lambda:
             pod("w-0")["metadata"].get("labels", {}).get(PROTECT) == "true")
    marks = pod("w-0")["metadata"]["annotations"]
    equal([marks.get(name) for name in MARKS], ["true", "false"], "for autoscalers")
    wait_for("the deadline", lambda:
             pod("w-0")["metadata"]["annotations"].get(DEADLINE, "")
             .startswith("20"), 10)
    cancel(number)
    wait_for("no label", lambda:
             PROTECT not in pod("w-0")["metadata"].get("labels", {}), 10)
    check(not set(MARKS) & set(pod("w-0")["metadata"].get("annotations", {})),
          "autoscalers are still told to leave it alone")
    wait_for("no deadline", lambda:
             DEADLINE not in pod("w-0")["metadata"]["annotations"], 10)
    wait_condition("w-0", "SlurmNodeStateMixed", "False")


@case
def cordon_both_ways():
    """a cordon drains the node with a reason of ours, and its end resumes it;
    what an administrator drained shows on the Pod and stays drained"""
    annotate("w-0", values={CORDON: "true"})
    wait_state("w-0", "DRAIN")
    check(node("w-0")["reason"].startswith(OURS), node("w-0")["reason"])
    annotate("w-0", values={CORDON: None})
    wait_open("w-0")

    bed.run("scontrol", "update", "NodeName=w-0", "State=DRAIN",
            "Reason=bad fan", user="slurm")
    wait_for("the Pod to show it", lambda:
             condition("w-0", "SlurmNodeStateDrain")["message"] == "bad fan", 10)
    for value in ("true", None):
        annotate("w-0", values={CORDON: value})
        # A turn after that has drained, or resumed, w-1.
        annotate("w-1", values={CORDON: value})
        wait_for("w-1 to follow", lambda value=value:
                 ("DRAIN" in node("w-1")["state"]) == bool(value), 10)
        equal(node("w-0")["reason"], "bad fan", "the reason")
        check("DRAIN" in node("w-0")["state"], "it was resumed")
    bed.run("scontrol", "update", "NodeName=w-0", "State=RESUME", user="slurm")
    wait_condition("w-0", "SlurmNodeStateDrain", "False")


class Wishes:
    """What people want of one node, from both sides."""

    def __init__(self, name):
        self.name, self.cordoned, self.reason = name, False, None

    def change(self, number):
        if random.choice((True, False)):
            self.cordoned = not self.cordoned
            annotate(self.name,
                     values={CORDON: "true" if self.cordoned else None})
        elif self.reason:
            self.reason = None
            bed.run("scontrol", "update", f"NodeName={self.name}",
                    "State=RESUME", user="slurm")
        else:
            self.reason = f"by hand {number}"
            bed.run("scontrol", "update", f"NodeName={self.name}",
                    "State=DRAIN", f"Reason={self.reason}", user="slurm")

    def come_true(self):
        """The drain of people has their reason, that of a cordon has ours."""
        now = node(self.name)
        if "DRAIN" not in now["state"]:
            return not self.reason and not self.cordoned
        if self.reason:
            return now["reason"] == self.reason
        return self.cordoned and now["reason"].startswith(OURS)

    def shown(self):
        there = condition(self.name, "SlurmNodeStateDrain")
        return there["status"] == "True" if self.reason or self.cordoned \
            else there["status"] != "True"


@case
def cordons_at_random():
    """cordons, drains and resumes from both sides, on both nodes at once: what was
    wanted last is so, and each drain keeps its owner (CORDON_ROUNDS of them)"""
    seed = os.environ.get("CORDON_SEED", str(time.time_ns()))
    random.seed(seed)
    print(f"# CORDON_SEED={seed}")
    nodes, slowest = [Wishes(name) for name in NODES], 0.0
    for number in range(int(os.environ.get("CORDON_ROUNDS", "20")) // len(NODES)):
        for one in nodes:
            one.change(number)
        began = time.monotonic()
        wait_for(f"round {number}", lambda: all(
            one.come_true() and one.shown() for one in nodes), 20)
        slowest = max(slowest, time.monotonic() - began)
    print(f"# the slowest of them took {slowest:.1f} s")
    for one in nodes:
        annotate(one.name, values={CORDON: None})
        bed.run("scontrol", "update", f"NodeName={one.name}", "State=RESUME",
                user="slurm", check=False)
        wait_open(one.name)


@case
def answers():
    """a request drains the node; the answer comes when its job has ended, names
    the Pod and the request, and goes with the request"""
    number = job("w-0")
    request("w-0", "drain", 1)
    wait_condition("w-0", DRAINED, "False", "JobsRunning")
    wait_state("w-0", "DRAIN")
    equal(bed.jobs()[number]["job_state"], ["RUNNING"], "the job")
    cancel(number)
    wait_for("the answer", lambda: answer_is("w-0", 1), 10)
    request("w-0", "drain", 2)
    wait_for("the answer to the next request", lambda: answer_is("w-0", 2), 10)
    request("w-0", "keep", 3)
    wait_condition("w-0", DRAINED, "False", "NotRequested")
    wait_open("w-0")


@case
def resumed_by_hand():
    """somebody resumes the node after the answer, and a job starts there: the
    answer is taken back, the node drained again, the job lives"""
    request("w-0", "drain", 4)
    wait_for("the answer", lambda: answer_is("w-0", 4), 15)
    pending = bed.run("sbatch", "--parsable", "--external", "--ntasks=1",
                      f"--partition={PARTITION}", "--nodelist=w-0", "--time=60",
                      user="slurm").strip().splitlines()[-1]
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")  # or it is faster
    try:
        bed.run("scontrol", "update", "NodeName=w-0", "State=RESUME",
                user="slurm")
        wait_for("the job to run", lambda:
                 "RUNNING" in bed.jobs()[int(pending)]["job_state"])
    finally:
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
    wait_condition("w-0", DRAINED, "False")
    wait_state("w-0", "DRAIN")
    equal(bed.jobs()[int(pending)]["job_state"], ["RUNNING"], "the job")
    cancel(pending)
    wait_for("the answer", lambda: answer_is("w-0", 4), 10)
    request("w-0", "keep", 5)
    wait_open("w-0")


@case
def restarts():
    """after a restart of the agent the answer is taken back if it is not true any
    more; after one of slurmctld the next request is answered with its start"""
    request("w-0", "drain", 4)
    wait_for("the answer", lambda: answer_is("w-0", 4), 15)
    bed.ctl("kill", "slurmk8sd")
    bed.run("scontrol", "update", "NodeName=w-0", "State=RESUME", user="slurm")
    number = job("w-0")
    check(answer_is("w-0", 4), "nobody has taken it back")
    bed.ctl("start", "slurmk8sd")
    wait_condition("w-0", DRAINED, "False", seconds=30)
    cancel(number)
    wait_for("the answer", lambda: answer_is("w-0", 4), 15)
    before = condition("w-0", DRAINED)["message"].split("slurmctld=")[1].split()[0]
    bed.ctl("restart", "slurmctld")
    wait_for("slurmctld to answer",
             lambda: "is UP" in bed.run("scontrol", "ping", check=False))
    make_partition()
    request("w-0", "drain", 5)
    wait_for("the answer", lambda: answer_is("w-0", 5), 30)
    after = condition("w-0", DRAINED)["message"].split("slurmctld=")[1].split()[0]
    check(int(after) > int(before), f"started at {before} and at {after}")
    request("w-0", "keep", 6)
    wait_open("w-0")


@case
def slurmctld_away():
    """without slurmctld nothing is answered; once it is back, with its new start"""
    slurmctld.kill()
    before = bed.log_size("slurmk8sd")
    request("w-0", "drain", 7)
    try:
        wait_for("the agent to miss it", lambda: "workers cannot be served" in
                 bed.log_since("slurmk8sd", before), 60)
        check(not answer_is("w-0", 7), "it is answered")
    finally:
        slurmctld.start()
    wait_for("slurmctld to answer", slurmctld.is_up)
    make_partition()
    wait_for("the answer", lambda: answer_is("w-0", 7), 30)
    request("w-0", "keep", 8)
    wait_open("w-0")


@case
def gone():
    """a Pod that is deleted without having been asked: its node is DOWN at once,
    its job does not wait for SlurmdTimeout, and the node comes back with the next
    Pod of that name"""
    number = job("w-1")
    bed.delete("w-1", NAMESPACE, grace=0)
    wait_state("w-1", "DOWN")
    check(node("w-1")["reason"].startswith(OURS), node("w-1")["reason"])
    wait_for("the job to have left the node", lambda:
             "RUNNING" not in bed.jobs()[number]["job_state"])
    cancel(number)
    register("w-1", make_pod("w-1"))
    wait_open("w-1")
    wait_condition("w-1", REGISTERED, "True")


FORGET = "slurmk8s/forget-node"
PDB = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"


def protect_busy():
    """As the operator does."""
    bed.api("POST", PDB, {
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "busy"}, "spec": {
            "maxUnavailable": 0,
            "selector": {"matchLabels": {PROTECT: "true"}}}})


def evict(name):
    """The status of the answer."""
    try:
        bed.api("POST", path(name) + "/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": name, "namespace": NAMESPACE}})
    except bed.ApiError as error:
        return error.status
    return 201


def start_of(number):
    """Until the job does not wait for its prolog any more."""
    def begun():
        state = bed.jobs()[number]["job_state"]
        return "RUNNING" in state and "CONFIGURING" not in state
    wait_for(f"job {number} to start", begun, 10, 0.02)


def submit(name):
    return int(bed.run("sbatch", "--parsable", "--external", "--ntasks=1",
                       f"--partition={PARTITION}", f"--nodelist={name}",
                       "--time=60", user="slurm").strip().splitlines()[-1])


@case
def held():
    """a job starts when its Pod has the label that the budget selects, and an
    eviction that comes right after its start is refused"""
    protect_busy()
    for _ in range(5):
        wait_for("no label", lambda:
                 PROTECT not in pod("w-0")["metadata"].get("labels", {}), 10)
        number = submit("w-0")
        start_of(number)
        equal(evict("w-0"), 429, "the eviction")
        equal(pod("w-0")["metadata"]["labels"].get(PROTECT), "true", "the label")
        cancel(number)


@case
def held_without_agent():
    """while the agent stands still a job waits for two seconds, and no longer"""
    wait_for("no label", lambda:
             PROTECT not in pod("w-0")["metadata"].get("labels", {}), 10)
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
    try:
        began = time.monotonic()
        number = submit("w-0")
        start_of(number)
        took = time.monotonic() - began
    finally:
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
    check(took > 1.5, f"it waited for {took:.1f} s")
    print(f"# it waited for {took:.1f} s")
    cancel(number)


def leaves_for_good(name, number):
    """As the operator asks, and deletes the Pod."""
    annotate(name, values={REQUEST: f"drain {number}", FORGET: "true"})
    wait_for("the answer", lambda: answer_is(name, number), 15)
    bed.delete(name, NAMESPACE, grace=0)


def has_record(name):
    return f"NodeName={name} " in bed.run("scontrol", "-o", "show", "node", name,
                                          check=False)


@case
def forgotten():
    """the record of a Pod that goes for good is removed: not while slurmctld knows
    a job that names it, and never if an administrator has drained it"""
    come("w-5")  # no job has named it
    pending = submit_held("w-5")
    leaves_for_good("w-5", 1)
    wait_state("w-5", "DOWN")
    never("a node without its record", lambda: not has_record("w-5"), 8)
    bed.run("scontrol", "update", f"JobId={pending}", "ReqNodeList=", user="slurm")
    wait_for("the record to go", lambda: not has_record("w-5"), 20)
    cancel(pending)

    come("w-6")
    cancel(submit_held("w-6"))  # slurmctld remembers it for MinJobAge
    leaves_for_good("w-6", 1)
    wait_state("w-6", "DOWN")
    never("a node without its record", lambda: not has_record("w-6"), 8)
    bed.run("scontrol", "delete", "NodeName=w-6", user="slurm")

    come("w-7")
    bed.run("scontrol", "update", "NodeName=w-7", "State=DRAIN",
            "Reason=bad fan", user="slurm")
    leaves_for_good("w-7", 1)
    wait_state("w-7", "DOWN")
    never("a node without its record", lambda: not has_record("w-7"), 8)
    equal(node("w-7")["reason"], "bad fan", "the reason")
    bed.run("scontrol", "delete", "NodeName=w-7", user="slurm")
    set_partition(*NODES)


def come(name):
    """A node that no job has named yet, in the partition."""
    register(name, make_pod(name))
    wait_condition(name, REGISTERED, "True")
    set_partition(*NODES, name)


def set_partition(*names):
    bed.run("scontrol", "update", f"PartitionName={PARTITION}",
            f"Nodes={','.join(names)}", user="slurm")


def submit_held(name):
    made = bed.run("sbatch", "--parsable", "--external", "--ntasks=1", "--hold",
                   f"--partition={PARTITION}", f"--nodelist={name}", "--time=60",
                   user="slurm")
    return int(made.strip().splitlines()[-1])


@case
def forgotten_later():
    """an agent that was away when the Pod went removes the record when it is back"""
    come("w-8")
    annotate("w-8", values={REQUEST: "drain 1", FORGET: "true"})
    wait_for("the answer", lambda: answer_is("w-8", 1), 15)
    bed.ctl("kill", "slurmk8sd")
    bed.delete("w-8", NAMESPACE, grace=0)
    check(has_record("w-8"), "the record has gone by itself")
    bed.ctl("start", "slurmk8sd")
    wait_for("the record to go", lambda: not has_record("w-8"), 30)
    set_partition(*NODES)


@case
def killed():
    """kill -9 before and after each write for workers: the same end"""
    points = [f"{write}:{side}"
              for write in ("patch_worker", "drain", "resume", "set_down")
              for side in ("before", "after")]
    known = faults.points()
    for point in points:
        check(point in known, f"there is no fault point {point}")
    try:
        for number, point in enumerate(points, 10):
            if faults.alive():
                bed.ctl("kill", "slurmk8sd")
            leads_to(point, number)
            faults.Fault(point).wait_dead()
    finally:
        bed.ctl("start", "slurmk8sd")
    wait_state("w-1", "DOWN", seconds=30)
    request("w-0", "drain", 30)
    wait_for("the answer", lambda: answer_is("w-0", 30), 30)
    request("w-0", "keep", 31)
    wait_open("w-0")


def leads_to(point, number):
    """With the agent dead, makes it do this when it starts."""
    if point.startswith("set_down"):
        # Whoever dies before the node is DOWN forgets that the Pod was there:
        # a Pod that has ended and still exists leads to it again.
        if bed.get("w-1", NAMESPACE)["status"]["phase"] == "Running":
            bed.api("PATCH", path("w-1") + "/status",
                    {"status": {"phase": "Failed"}},
                    "application/merge-patch+json")
    elif point.startswith("resume"):
        request("w-0", "keep", number)
    else:
        # The agent that died writing on the Pod may have drained the node
        # meanwhile: these writes have threads of their own.
        bed.run("scontrol", "update", "NodeName=w-0", "State=RESUME",
                check=False)
        request("w-0", "drain", number)


@case
def suspended():
    """a suspended job counts, though slurmctld shows its node as idle"""
    # The last case with this node: slurmctld asks its slurmd to suspend the job,
    # and there is none.
    number = job("w-0")
    bed.run("scontrol", "suspend", str(number), user="root")
    wait_for("it to be suspended", lambda:
             "SUSPENDED" in bed.jobs()[number]["job_state"])
    request("w-0", "drain", 4)
    wait_condition("w-0", DRAINED, "False", "JobsRunning")
    wait_state("w-0", "DRAIN")
    check(not answer_is("w-0", 4), "it is not answered")
    cancel(number)
    wait_for("the answer", lambda: answer_is("w-0", 4), 10)
    request("w-0", "keep", 5)
    wait_open("w-0")


def after_failure():
    """The next case finds what it would have found: an agent, nodes that are
    open, no jobs."""
    bed.ctl("start", "slurmk8sd")
    bed.run("scancel", "--user=slurm", user="slurm")
    for name in NODES:
        if pod(name):
            annotate(name, values={CORDON: None, REQUEST: None})
        bed.run("scontrol", "update", f"NodeName={name}", "State=RESUME",
                user="slurm", check=False)
    return bed.log("slurmk8sd")


run(after_failure=after_failure)
