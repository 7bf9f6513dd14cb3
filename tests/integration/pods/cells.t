#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every way in which Slurm ends, stops or delays a job, against every state that
its Pod can be in: one case for each cell, named EVENT × STATE."""
import functools
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, never, run, wait_for


# ---- the states


def waiting(partition, annotations=None):
    """waiting"""
    bed.run("scontrol", "update", f"PartitionName={partition}", "State=DOWN")
    bed.create(pod(partition, annotations))
    bed.wait_job("p", "PENDING")


def waiting_with_a_time_limit(partition):
    """waiting"""
    waiting(partition, {bed.TIMELIMIT: "5"})


def unstarted(partition):
    """bound, not started"""
    bed.create(pod(partition, {"sandbox/start": "never"}))
    bed.wait_job("p", "RUNNING")
    wait_for("the binding", lambda: bed.get("p")["spec"].get("nodeName"))


def running(partition):
    """running"""
    bed.create(pod(partition))
    bed.wait_phase("p", "Running")
    bed.wait_job("p", "RUNNING")


def stubborn(partition):
    """slow to stop"""  # until stops()
    bed.create(pod(partition, {"sandbox/stop": "10m"},
                   terminationGracePeriodSeconds=600))
    bed.wait_phase("p", "Running")
    bed.wait_job("p", "RUNNING")


def stops():
    """The last container of a slow one does."""
    bed.play("p", stop="1ms")


def finished(partition):
    """finished"""
    bed.create(pod(partition, {"sandbox/run": "50ms"}))
    bed.wait_ended("p", "COMPLETED", "0:0")


def pod(partition, annotations=None, **spec):
    return bed.pod("p", annotations={bed.PARTITION: partition,
                                     **(annotations or {})}, **spec)


# ---- what is seen afterwards


def job_id():
    return str(bed.job_of("p")["job_id"])


def job_ends(state, code=None):
    bed.wait_ended("p", state, code, 60)
    equal(len(bed.jobs_of("p")), 1, "jobs")
    wait_for("sacct to say the same", lambda: bed.run(
        "sacct", "-nPX", "-j", job_id(), "-o", "State").strip()
        .split(" ")[0] == state)


def pod_fails_unbound(reason, state):
    found = bed.wait_phase("p", "Failed")
    equal(found["status"]["reason"], reason, "reason")
    check(f"ended: {state}" in found["status"]["message"],
          found["status"]["message"])
    check(not found["spec"].get("nodeName"), "it was never bound")


def pod_is_deleted():
    bed.wait_gone("p", 60)


def pod_is_stopped(event):
    """The object stays, and says by an Event why its containers were stopped."""
    found = bed.wait_phase("p", "Failed", 60)
    equal(found["status"]["reason"], "DeadlineExceeded", "reason")
    says(found["metadata"]["uid"], event)
    return found


def says(uid, event):
    bed.wait_event(uid, event, f"Slurm job {job_id()} ended")


def disruption(found):
    for condition in found["status"].get("conditions", []):
        if condition["type"] == "DisruptionTarget":
            return condition["reason"]
    return None


def nothing_happens(phase, state):
    """Neither to the Pod nor to its job."""
    before = bed.get("p")["metadata"]["uid"]

    def changed():
        found = bed.get("p")
        return (not found or found["metadata"]["uid"] != before or
                found["metadata"].get("deletionTimestamp") or
                found["status"]["phase"] != phase or
                state not in bed.state_of(bed.job_of("p")))

    never(f"another phase than {phase}, another state than {state}", changed, 1)
    equal(len(bed.jobs_of("p")), 1, "jobs")


# ---- the cells


_shared = None  # the state of the Pod that is there, if a cell left it as it was


def cell(event, state, partition="kwok", harmless=False):
    """A case: the Pod is brought into the state, then the function runs. A
    harmless one leaves the Pod to the next cell of the same state."""
    def body():
        global _shared
        if not harmless or _shared is not state:
            _shared = None
            fresh()
            state(partition)
        body.function()
        _shared = state if harmless else None

    def register(function):
        body.function = function
        body.__name__ = f"{event.replace(' ', '_')}_{state.__name__}"
        body.__doc__ = f"{event} × {state.__doc__}: {function.__doc__}"
        return case(body)
    return register


def scancel():
    bed.run("scancel", job_id())


@cell("scancel", waiting)
def _():
    """the Pod fails, the job is CANCELLED and not submitted again"""
    scancel()
    pod_fails_unbound("SlurmJobCancelled", "CANCELLED")
    job_ends("CANCELLED")


@cell("scancel", unstarted)
def _():
    """the Pod is deleted"""
    scancel()
    pod_is_deleted()
    job_ends("CANCELLED")


@cell("scancel", running)
def _():
    """the kubelet ends the Pod, the object stays, no disruption is claimed"""
    scancel()
    found = pod_is_stopped("SlurmJobEnded")
    equal(disruption(found), None, "DisruptionTarget")
    job_ends("CANCELLED")


@cell("scancel", stubborn)
def _():
    """the job is COMPLETING until the last container is gone"""
    scancel()
    wait_for("the end to be asked for", lambda: bed.get("p")["spec"].get(
        "activeDeadlineSeconds") == 1)
    never("its job ends before it", lambda: "COMPLETING" not in
          bed.state_of(bed.job_of("p")), 2)
    stops()
    pod_is_stopped("SlurmJobEnded")
    job_ends("CANCELLED")


@cell("scancel", finished)
def _():
    """nothing"""
    bed.run("scancel", job_id(), check=False)
    nothing_happens("Succeeded", "COMPLETED")


# slurmctld looks at time limits every 30 s: all Pods of the row wait for it
# together. The shortest is a minute; an administrator takes most of that away.
@functools.cache
def over_the_limit():
    """The last state of each of their Pods, and of its job, by name."""
    fresh()
    limited = {bed.TIMELIMIT: "1"}
    bed.create(bed.pod("unstarted", annotations={
        **limited, "sandbox/start": "never"}))
    bed.create(bed.pod("running", annotations=limited))
    bed.create(bed.pod("stubborn", annotations={**limited, "sandbox/stop": "3s"},
                       terminationGracePeriodSeconds=60))
    bed.create(bed.pod("finished", annotations={**limited,
                                                "sandbox/run": "50ms"}))
    for name in ("unstarted", "running", "stubborn"):
        number = bed.wait_job(name, "RUNNING")["job_id"]
        bed.run("scontrol", "update", f"JobId={number}", "EndTime=now+3")
    seen = {}
    for name in ("unstarted", "running", "stubborn", "finished"):
        if name == "finished":
            bed.wait_ended(name, "COMPLETED", "0:0")
        else:
            bed.wait_job(name, "TIMEOUT", 150)
            if name == "unstarted":
                bed.wait_gone(name)
            else:
                bed.wait_phase(name, "Failed", 60)
            bed.wait_ended(name, "TIMEOUT", "0:0")
        found = bed.get(name)
        if name == "running":
            wait_for("its Event", lambda: [
                e for e in bed.events_of(found["metadata"]["uid"])
                if "ended: TIMEOUT" in e["note"]])
        seen[name] = (found, bed.job_of(name), bed.events_of(
            found["metadata"]["uid"]) if found else [])
    return seen


@case
def time_limit_unstarted():
    """time limit × bound, not started: the Pod is deleted, the job is TIMEOUT"""
    found, job, _ = over_the_limit()["unstarted"]
    equal(found, None, "the Pod")
    check("TIMEOUT" in job["job_state"], job["job_state"])


@case
def time_limit_running():
    """time limit × running: the kubelet ends the Pod, the job is TIMEOUT"""
    found, job, events = over_the_limit()["running"]
    equal(found["status"]["reason"], "DeadlineExceeded", "reason")
    equal(disruption(found), None, "DisruptionTarget")
    check([e for e in events if "ended: TIMEOUT" in e["note"]], "an Event")


@case
def time_limit_stubborn():
    """time limit × slow to stop: as running, when the last container is gone"""
    found, job, _ = over_the_limit()["stubborn"]
    equal(found["status"]["reason"], "DeadlineExceeded", "reason")


@case
def time_limit_finished():
    """time limit × finished: nothing"""
    found, job, _ = over_the_limit()["finished"]
    equal(found["status"]["phase"], "Succeeded", "phase")
    equal(job["job_state"], ["COMPLETED"], "state")


# ---- preemption, in a partition that cancels and in one that requeues


def preempt():
    """Somebody of a higher partition needs every CPU."""
    for i in range(4):
        bed.create(bed.pod(f"high-{i}", cpu="16",
                           annotations={bed.PARTITION: "high"}))


def preempted_cells(partition):
    word = f"preemption ({partition})"

    @cell(word, waiting, partition)
    def _():
        """the job waits on"""
        preempt()
        nothing_happens("Pending", "PENDING")

    @cell(word, unstarted, partition)
    def _():
        """the Pod is deleted, the job is PREEMPTED"""
        preempt()
        pod_is_deleted()
        job_ends("PREEMPTED")

    @cell(word, running, partition)
    def _():
        """the Pod is evicted with Slurm's words, the job is PREEMPTED"""
        uid = bed.get("p")["metadata"]["uid"]
        preempt()
        pod_is_deleted()
        says(uid, "Preempted")
        job_ends("PREEMPTED")

    @cell(word, stubborn, partition)
    def _():
        """the next Pod is bound there when the last container is gone"""
        where = bed.get("p")["spec"]["nodeName"]
        preempt()
        stopping = wait_for("the eviction", lambda: (
            p if (p := bed.get("p"))["metadata"].get("deletionTimestamp")
            else None))
        check(disruption(stopping), "a DisruptionTarget condition")

        def next_is_there():
            # A Pod whose containers have ended may still be listed.
            there = [p["metadata"]["name"] for p in bed.pods()
                     if p["spec"].get("nodeName") == where
                     and p["status"]["phase"] not in ("Succeeded", "Failed")]
            check("p" not in there or there == ["p"], f"{there} on {where}")
            return there and "p" not in there

        never("the next one comes before it has stopped", next_is_there, 3)
        stops()
        wait_for("the next Pod to be bound", next_is_there, 60)
        job_ends("PREEMPTED")

    @cell(word, finished, partition)
    def _():
        """nothing"""
        preempt()
        nothing_happens("Succeeded", "COMPLETED")


preempted_cells("low")
preempted_cells("requeue")


# ---- the node is set DOWN


def node_down():
    where = bed.job_of("p")["nodes"]
    bed.run("scontrol", "update", f"NodeName={where}", "State=DOWN",
            "Reason=test")


@cell("node DOWN", waiting)
def _():
    """the job waits on"""
    bed.run("scontrol", "update", "NodeName=kn1", "State=DOWN", "Reason=test")
    nothing_happens("Pending", "PENDING")


@cell("node DOWN", unstarted)
def _():
    """the Pod is deleted, the job is NODE_FAIL"""
    node_down()
    pod_is_deleted()
    job_ends("NODE_FAIL")


@cell("node DOWN", running)
def _():
    """the Pod is ended as a disruption, the job is NODE_FAIL"""
    node_down()
    found = pod_is_stopped("SlurmJobEnded")
    equal(disruption(found), "SlurmNodeFail", "DisruptionTarget")
    job_ends("NODE_FAIL")


@cell("node DOWN", stubborn)
def _():
    """the same, when the last container is gone"""
    node_down()
    wait_for("the end to be asked for", lambda: bed.get("p")["spec"].get(
        "activeDeadlineSeconds") == 1)
    stops()
    pod_is_stopped("SlurmJobEnded")
    job_ends("NODE_FAIL")


@cell("node DOWN", finished)
def _():
    """nothing"""
    node_down()
    nothing_happens("Succeeded", "COMPLETED")


# ---- deadline and dependency: only what waits can miss them


# Slurm only holds a deadline against what has a time limit.
@cell("deadline", waiting_with_a_time_limit)
def _():
    """the Pod fails, the job is DEADLINE"""
    # slurmctld looks soon at those whose partition is up
    bed.run("scontrol", "update", "NodeName=kn[1-4]", "State=DRAIN",
            "Reason=test")
    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.run("scontrol", "update", f"JobId={job_id()}", "Deadline=now+60")
    wait_for("the deadline", lambda: "DEADLINE" in
             bed.state_of(bed.job_of("p")), 90)
    pod_fails_unbound("SlurmJobDeadline", "DEADLINE")
    job_ends("DEADLINE")


def update_changes_nothing(event, update, state, phase, job_state):
    @cell(event, state, harmless=True)
    def _():
        """it comes too late, nothing changes"""
        bed.run("scontrol", "update", f"JobId={job_id()}", update, check=False)
        nothing_happens(phase, job_state)


@cell("dependency never satisfied", waiting)
def _():
    """the Pod says so, and waits on"""
    job = job_id()
    bed.create(bed.pod("fails", annotations={
        bed.PARTITION: "low", "sandbox/run": "50ms", "sandbox/exit": "1"}))
    bed.wait_ended("fails", "FAILED")
    other = bed.job_of("fails")["job_id"]
    bed.run("scontrol", "update", f"JobId={job}", f"Dependency=afterok:{other}")
    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.wait_words("p", "DependencyNeverSatisfied", seconds=60)
    nothing_happens("Pending", "PENDING")


# ---- admin requeue: Slurm does not requeue external jobs


def requeue():
    return bed.run("scontrol", "requeue", job_id(), check=False)


def requeue_changes_nothing(state, phase, job_state):
    @cell("admin requeue", state, harmless=True)
    def _():
        """Slurm refuses, nothing changes"""
        check(requeue().strip(), "no word of a refusal")
        nothing_happens(phase, job_state)


# ---- hold, release, suspend


@cell("hold and release", waiting)
def _():
    """the Pod says who holds it, and runs once it is released"""
    bed.run("scontrol", "hold", job_id())
    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.wait_words("p", "JobHeld", seconds=60)
    bed.run("scontrol", "release", job_id())
    bed.wait_phase("p", "Running")


def hold_changes_nothing(state, phase, job_state):
    @cell("hold and release", state, harmless=True)
    def _():
        """nothing"""
        bed.run("scontrol", "hold", job_id(), check=False)
        nothing_happens(phase, job_state)
        bed.run("scontrol", "release", job_id(), check=False)
        nothing_happens(phase, job_state)


@cell("suspend", waiting)
def _():
    """Slurm refuses, nothing changes"""
    bed.run("scontrol", "suspend", job_id(), check=False)
    nothing_happens("Pending", "PENDING")


@cell("suspend", finished)
def _():
    """Slurm refuses, nothing changes"""
    bed.run("scontrol", "suspend", job_id(), check=False)
    nothing_happens("Succeeded", "COMPLETED")


def suspend_warns(state, phase):
    @cell("suspend", state)
    def _():
        """the agent resumes the job, with a warning on the Pod"""
        uid = bed.get("p")["metadata"]["uid"]
        bed.run("scontrol", "suspend", job_id())
        wait_for("a warning", lambda: [
            e for e in bed.events_of(uid) if e["reason"] == "SlurmJobSuspended"])
        bed.wait_job("p", "RUNNING")
        nothing_happens(phase, "RUNNING")


for state, phase in ((unstarted, "Pending"), (running, "Running"),
                     (stubborn, "Running")):
    suspend_warns(state, phase)
for state, phase, job_state in (
        (waiting, "Pending", "PENDING"), (unstarted, "Pending", "RUNNING"),
        (running, "Running", "RUNNING"), (stubborn, "Running", "RUNNING"),
        (finished, "Succeeded", "COMPLETED")):
    requeue_changes_nothing(state, phase, job_state)
    if state is not waiting:
        hold_changes_nothing(state, phase, job_state)
        update_changes_nothing("deadline", "Deadline=now+2", state, phase,
                               job_state)
        update_changes_nothing("dependency never satisfied",
                               "Dependency=afternotok:1", state, phase,
                               job_state)


def fresh():
    nodes = json.loads(bed.run("scontrol", "show", "nodes", "--json"))["nodes"]
    for node in nodes:
        if "DOWN" in node["state"] or node["reason"] == "test":
            bed.run("scontrol", "update", f"NodeName={node['name']}",
                    "State=RESUME")
    bed.clean()


@case
def tidy():
    """nothing is left behind"""
    fresh()
    bed.nothing_left()


run(after_failure=bed.last_words)
