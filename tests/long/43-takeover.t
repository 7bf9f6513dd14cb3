#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Control goes to the second slurmctld, back, to it once more and back again, with
ordinary jobs in every state: once with our plugins, and Pods in every state beside
them, and once without any plugin of ours in slurm.conf. The ordinary jobs end
alike: none is killed, run twice, requeued or lost, and no node is drained, that
Slurm alone would leave alone.

Adds a second controller and nodes with slurmd and kubelet to the sandbox, and
takes them away again."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import faults
import hybrid
import slurmctld
from tap import case, check, equal, run, wait_for
from two_controllers import (agents_die, both, drained, fail_over, first_serves,
                             give_back, last_words, serves, with_state_kept)

OURS = ("JobSubmitPlugins=", "PrEpPlugins=", "BurstBufferType=",
        "NodeFeaturesPlugins=")
SLURM = ("slurmctld", "slurmctld2", "slurmd", "slurmd-kwok", "slurmd-hybrid")
GO = "/tmp/takeover-go"  # a job that waits for GO-NAME ends with 3 then
STARTED = "/tmp/takeover-started"  # STARTED-NAME has a line for each start

# How each ends, how often it was requeued, and its exit code: what Slurm alone
# does, as the case below sees, too.
EXPECTED = {
    # running all of the time, and then cancelled by the test
    "runs": ("CANCELLED", 0, 0), "runs-natively": ("CANCELLED", 0, 0),
    # running, and ended, cancelled or out of time under the second slurmctld
    "ends": ("FAILED", 0, 3), "cancelled": ("CANCELLED", 0, 0),
    "timeout": ("TIMEOUT", 0, 0),
    # in the queue: held, for later, for another job, for resources
    "held": ("CANCELLED", 0, 0), "later": ("CANCELLED", 0, 0),
    "depends": ("COMPLETED", 0, 0), "full": ("CANCELLED", 0, 0),
    # submitted under the second slurmctld, where our gate holds their prologs
    "gated": ("FAILED", 0, 3), "gated-cancelled": ("CANCELLED", 0, 0),
    # submitted between both takeovers, and ended under the second one
    "between": ("FAILED", 0, 3),
    # submitted at the second takeover
    "late": ("FAILED", 0, 3)}
IN_QUEUE = ("held", "later", "full")
# Cancelled while our gate holds its prolog; Slurm alone has started it by then.
AS_IT_COMES = ("gated-cancelled",)


class Jobs:
    """The ordinary jobs of one sequence, by name."""

    def __init__(self):
        self.ids, self.seen = {}, {}

    def submit(self, name, *options, cpus=1, script=None, **where):
        bed.inside("rm", "-f", f"{GO}-{name}")
        waits = f"while [ ! -e {GO}-{name} ]; do sleep 0.2; done; exit 3"
        self.ids[name] = hybrid.sbatch(
            cpus, *options, script=f"echo >> {STARTED}-{name}; {script or waits}",
            **where)

    def look(self):
        """slurmctld forgets jobs some minutes after their end."""
        jobs = bed.jobs()
        for name, job in self.ids.items():
            if job in jobs:
                self.seen[name] = jobs[job]

    def state(self, name):
        self.look()
        return self.seen[name]["job_state"]

    def wait(self, name, state, seconds=90):
        wait_for(f"job {name} to be {state}",
                 lambda: self.state(name) == [state], seconds)

    def wait_there(self, name):
        """Until it has a node, whether its prolog is held or not."""
        wait_for(f"job {name} to have a node",
                 lambda: "RUNNING" in self.state(name), 90)

    def go(self, name):
        bed.inside("touch", f"{GO}-{name}")

    def cancel(self, *names):
        bed.run("scancel", *(str(self.ids[name]) for name in names))

    def starts(self):
        """How often each was started, of those that were at all."""
        said = bed.inside("sh", "-c", f"wc -l {STARTED}-*")
        return {name: int(count) for count, name in
                re.findall(f"(\\d+) {STARTED}-(\\S+)", said)}

    def outcome(self):
        self.look()
        return {name: (" ".join(job["job_state"]), job["restart_cnt"],
                       job["exit_code"]["return_code"]["number"])
                for name, job in self.seen.items()}


class Pods:
    """In every state, on the node of the ordinary jobs."""

    def __init__(self):
        bed.create(hybrid.pod("lives", 1))
        bed.create(hybrid.pod("ends", 1))
        bed.create(hybrid.pod("stops", 1, terminationGracePeriodSeconds=600,
                              annotations={"sandbox/stop": "10m"}))
        for name in ("lives", "ends", "stops"):
            bed.wait_phase(name, "Running")
            bed.wait_job(name, "RUNNING")
        bed.run("scontrol", "update", "PartitionName=low", "State=DOWN")
        bed.create(bed.pod("waits", annotations={bed.PARTITION: "low"}))
        self.waiting = bed.wait_job("waits", "PENDING")["job_id"]
        self.living = slurmctld.Running("lives")
        bed.delete("stops")

    def allocate_one(self):
        """The agent dies when it is about to bind this one: its prolog is held."""
        agents_die()
        fault = faults.Fault("bind:before")
        bed.create(hybrid.pod("allocated", 1))
        fault.wait_dead(60)

    def end_some(self):
        bed.end("ends")
        bed.play("stops", stop="1ms")

    def check(self):
        self.living.keeps_its_job()
        bed.wait_phase("allocated", "Running", 60)
        bed.wait_job("allocated", "RUNNING", 60)
        bed.wait_ended("ends", "COMPLETED", "0:0", 60)
        bed.wait_ended("stops", "CANCELLED", seconds=60)
        check(bed.get("stops") is None, "the deleted Pod is gone")
        bed.run("scontrol", "update", "PartitionName=low", "State=UP")
        bed.wait_phase("waits", "Running", 60)
        equal(bed.job_of("waits")["job_id"], self.waiting, "job of waits")
        for name in ("lives", "ends", "stops", "waits", "allocated"):
            equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


def before(jobs):
    jobs.submit("runs", partition=hybrid.PARTITION)
    jobs.submit("runs-natively", cpus=2, partition="native")
    for name in ("ends", "cancelled"):
        jobs.submit(name)
    jobs.submit("timeout", "--time=1")
    for name in ("runs", "runs-natively", "ends", "cancelled", "timeout"):
        jobs.wait(name, "RUNNING")
    jobs.submit("held", "--hold")
    jobs.submit("later", "--begin=now+1hour")
    jobs.submit("depends", f"--dependency=afterany:{jobs.ids['ends']}",
                script="true")
    jobs.submit("full", cpus=2, partition="native")
    for name in ("held", "later", "depends", "full"):
        jobs.wait(name, "PENDING")


def sequence(with_ours):
    """What becomes of the ordinary jobs, and which nodes are drained."""
    jobs = Jobs()
    before(jobs)
    pods = Pods() if with_ours else None
    if pods:
        pods.allocate_one()

    fail_over()
    for name in ("gated", "gated-cancelled"):
        jobs.submit(name)
        jobs.wait_there(name)
    jobs.go("ends")
    jobs.cancel("cancelled", "gated-cancelled")
    if pods:
        pods.end_some()
    jobs.wait("ends", "FAILED")
    jobs.wait("cancelled", "CANCELLED")

    give_back()
    if with_ours:
        serves("ctl", "slurmk8sd")
    jobs.wait("gated", "RUNNING")
    jobs.wait("gated-cancelled", "CANCELLED")
    jobs.wait("depends", "COMPLETED")
    jobs.submit("between")
    jobs.wait("between", "RUNNING")
    jobs.wait("timeout", "TIMEOUT", 150)

    fail_over()
    jobs.submit("late")
    jobs.wait_there("late")
    jobs.go("between")
    jobs.wait("between", "FAILED")
    if with_ours:
        serves("ctl2", "slurmk8sd2")
    jobs.wait("late", "RUNNING")

    give_back()
    if with_ours:
        serves("ctl", "slurmk8sd")
    for name in ("runs", "runs-natively", "gated", "late"):
        jobs.wait(name, "RUNNING")
    for name in IN_QUEUE:
        jobs.wait(name, "PENDING")
    if pods:
        pods.check()
    for name in ("gated", "late"):
        jobs.go(name)
        jobs.wait(name, "FAILED")
    jobs.cancel(*IN_QUEUE, "runs", "runs-natively")
    for name in ("runs", "runs-natively", *IN_QUEUE):
        jobs.wait(name, "CANCELLED")
    started_once(jobs)
    return jobs.outcome(), drained()


def started_once(jobs):
    starts = jobs.starts()
    print(f"# starts: {starts}", flush=True)
    once = set(jobs.ids) - set(IN_QUEUE)
    for name in jobs.ids:
        wanted = (0, 1) if name in AS_IT_COMES else (int(name in once),)
        check(starts.get(name, 0) in wanted,
              f"{name} was started {starts.get(name, 0)} times")


def told(outcome):
    for name, (state, restarts, code) in sorted(outcome.items()):
        print(f"# {name}: {state}, requeued {restarts} times, exit {code}",
              flush=True)


@case
def with_our_plugins():
    """beside Pods in every state, which live, end and start as they would"""
    outcome, nodes = with_state_kept(lambda: sequence(True), tidy)
    told(outcome)
    equal(outcome, EXPECTED, "the ordinary jobs")
    equal(nodes, [], "drained nodes")


@case
def without_our_plugins():
    """the same sequence of Slurm alone: every ordinary job ends alike"""
    agents_die()
    bed.clean()
    text = bed.inside("cat", slurmctld.CONF)
    bed.inside("sh", "-c", f"cat > {slurmctld.CONF}", stdin="".join(
        line for line in text.splitlines(True) if not line.startswith(OURS)))
    try:
        restart_slurm()
        shown = bed.run("scontrol", "show", "config")
        check("k8s" not in "".join(line for line in shown.splitlines(True)
                                   if "Plugins" in line or "Burst" in line),
              "no plugin of ours is loaded")
        outcome, nodes = with_state_kept(lambda: sequence(False), forget_jobs)
    finally:
        bed.inside("sh", "-c", f"cat > {slurmctld.CONF}", stdin=text)
        restart_slurm()
    told(outcome)
    equal(outcome, EXPECTED, "the ordinary jobs")
    equal(nodes, [], "drained nodes")


def restart_slurm():
    for daemon in SLURM:
        if daemon.startswith("slurmctld") or faults.alive(daemon):
            bed.ctl("restart", daemon)
    wait_for("slurmctld to be back", lambda: "ctl is UP" in bed.run(
        "scontrol", "ping", check=False), 60)
    wait_for("the nodes to be there", lambda: not {
        "DOWN", "UNKNOWN", "NOT_RESPONDING"} & {
        word for node in json.loads(bed.run(
            "scontrol", "show", "nodes", "--json"))["nodes"]
        if node["name"] in (hybrid.NODE, "native1") for word in node["state"]},
        60)


def before_each():
    first_serves()
    bed.run("scancel", "--user=alice", check=False)
    bed.clean()


def forget_jobs():
    bed.run("scancel", "--user=alice", check=False)
    wait_for("all jobs to end", bed.no_job_left, 60)
    bed.inside("sh", "-c", f"rm -f {GO}-* {STARTED}-*")


def after_each():
    bed.run("scontrol", "update", "PartitionName=low", "State=UP")
    bed.run("scancel", "--user=alice", check=False)
    bed.inside("sh", "-c", f"rm -f {GO}-* {STARTED}-*")
    if not faults.alive():
        bed.ctl("start", "slurmk8sd")
    serves("ctl", "slurmk8sd")
    bed.clean()
    bed.nothing_left()


def tidy():
    after_each()
    before_each()


with both():
    run(before_each=before_each, after_each=after_each,
        after_failure=last_words)
