#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent and slurmctld are killed and restarted at every point of a Pod's
life: nothing is lost, nothing runs twice, no healthy Pod dies."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, run, wait_for


def kill_agent():
    bed.ctl("kill", "slurmk8sd")


def start_agent():
    bed.ctl("start", "slurmk8sd")


def restart_slurmctld():
    """As after a crash: SIGKILL. What it had not saved is lost, so tests wait
    for the save where that is not what they are about."""
    bed.ctl("kill", "slurmctld")
    bed.ctl("start", "slurmctld")


def saved(job):
    """slurmctld saves jobs some seconds after a change; ask for it."""
    bed.run("scontrol", "reconfigure")
    wait_for("slurmctld to be back",
             lambda: "UP" in bed.run("scontrol", "ping", check=False))
    wait_for("the job to be known",
             lambda: job["job_id"] in bed.jobs())


def waiting_pod(name="waits"):
    for i in range(4):
        bed.create(bed.pod(f"filler-{i}", cpu="16"))
    for i in range(4):
        bed.wait_phase(f"filler-{i}", "Running")
        bed.wait_job(f"filler-{i}", "RUNNING")
    bed.create(bed.pod(name))
    return bed.wait_job(name, "PENDING")


def one_job(name):
    equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


@case
def agent_down_at_create():
    """a Pod made while the agent is down is scheduled when it is back"""
    kill_agent()
    bed.create(bed.pod("early", annotations={"sandbox/run": "200ms"}))
    start_agent()

    bed.wait_ended("early", "COMPLETED", "0:0")
    one_job("early")


@case
def agent_killed_while_waiting():
    """the agent is killed while a Pod waits: the same job is allocated later"""
    job = waiting_pod()
    kill_agent()
    start_agent()

    bed.delete("filler-0")

    pod = bed.wait_phase("waits", "Running")
    equal(pod["metadata"]["labels"][bed.JOB_LABEL], str(job["job_id"]), "job")
    one_job("waits")


@case
def allocated_while_agent_down():
    """a job allocated while the agent is down waits CONFIGURING, and is bound
    when it is back"""
    job = waiting_pod()
    kill_agent()
    bed.run("scancel", str(bed.job_of("filler-0")["job_id"]))
    wait_for("the job to be allocated", lambda: "CONFIGURING" in
             bed.state_of(bed.job_of("waits")))
    check(not bed.get("waits")["spec"].get("nodeName"), "it is not bound yet")
    start_agent()

    bed.wait_phase("waits", "Running")
    equal(bed.job_of("waits")["job_id"], job["job_id"], "job")
    wait_for("the job to leave CONFIGURING", lambda: "CONFIGURING" not in
             bed.state_of(bed.job_of("waits")))


@case
def agent_killed_while_running():
    """the agent is killed while a Pod runs: the Pod goes on, its end is seen"""
    bed.create(bed.pod("runs", annotations={"sandbox/exit": "5"}))
    before = bed.wait_phase("runs", "Running")
    kill_agent()
    start_agent()

    check("RUNNING" in bed.state_of(bed.job_of("runs")), "the job goes on")
    equal(bed.phase_is("runs", "Running")["metadata"]["uid"],
          before["metadata"]["uid"], "Pod")
    bed.end("runs")
    bed.wait_ended("runs", "FAILED", "5:0")
    one_job("runs")


@case
def ended_while_agent_down():
    """a Pod that ends while the agent is down: the job gets its exit code"""
    bed.create(bed.pod("ends", annotations={"sandbox/exit": "4"}))
    bed.wait_phase("ends", "Running")
    kill_agent()
    bed.end("ends")
    bed.wait_phase("ends", "Failed")
    start_agent()

    bed.wait_ended("ends", "FAILED", "4:0")


@case
def deleted_while_agent_down():
    """Pods deleted while the agent is down, one waiting and one running: both
    jobs end CANCELLED"""
    waiting_pod()
    kill_agent()
    bed.delete("waits")
    bed.delete("filler-1")
    bed.wait_gone("filler-1")
    start_agent()

    bed.wait_ended("waits", "CANCELLED", seconds=60)
    bed.wait_ended("filler-1", "CANCELLED", seconds=60)


@case
def cancelled_while_agent_down():
    """jobs cancelled while the agent is down: the waiting Pod fails, the running
    one is deleted"""
    job = waiting_pod()
    running = bed.job_of("filler-3")
    kill_agent()
    bed.run("scancel", str(job["job_id"]), str(running["job_id"]))
    start_agent()

    pod = bed.wait_phase("waits", "Failed")
    equal(pod["status"]["reason"], "SlurmJobCancelled", "reason")
    bed.wait_phase("filler-3", "Failed")
    bed.wait_ended("filler-3", "CANCELLED")


@case
def no_needless_writes():
    """a restart of the agent writes to no Pod that needs no write"""
    waiting_pod()
    bed.wait_words("waits", "is waiting")
    uid = bed.get("waits")["metadata"]["uid"]
    wait_for("its Event", lambda: bed.events_of(uid))
    versions = {p["metadata"]["name"]: p["metadata"]["resourceVersion"]
                for p in bed.pods()}
    events = len(bed.events_of(uid))
    kill_agent()
    start_agent()
    wait_for("a list of jobs after the start", bed.serves)

    after = {p["metadata"]["name"]: p["metadata"]["resourceVersion"]
             for p in bed.pods()}
    equal(after, versions, "resourceVersions")
    equal(len(bed.events_of(uid)), events, "Events")


@case
def slurmctld_killed_while_waiting():
    """slurmctld is killed while a Pod waits: it is scheduled afterwards"""
    job = waiting_pod()
    saved(job)
    restart_slurmctld()

    bed.delete("filler-0")

    bed.wait_phase("waits", "Running", 60)
    bed.delete("waits")
    bed.wait_gone("waits")


@case
def slurmctld_killed_while_running():
    """slurmctld is killed while a Pod runs: the Pod lives, its end is recorded"""
    bed.create(bed.pod("lives", annotations={"sandbox/exit": "6"}))
    before = bed.wait_phase("lives", "Running")
    saved(bed.job_of("lives"))
    restart_slurmctld()

    equal(bed.phase_is("lives", "Running")["metadata"]["uid"],
          before["metadata"]["uid"], "Pod")
    bed.end("lives")
    bed.wait_ended("lives", "FAILED", "6:0", 60)
    one_job("lives")


@case
def slurmctld_away():
    """Pods made and ended while slurmctld is away are taken care of when it is
    back"""
    bed.create(bed.pod("ends", annotations={"sandbox/exit": "2"}))
    bed.wait_phase("ends", "Running")
    saved(bed.job_of("ends"))
    bed.ctl("kill", "slurmctld")
    bed.end("ends")
    bed.create(bed.pod("made", annotations={"sandbox/run": "200ms"}))
    bed.wait_phase("ends", "Failed")
    bed.ctl("start", "slurmctld")

    bed.wait_ended("ends", "FAILED", "2:0", 60)
    bed.wait_ended("made", "COMPLETED", "0:0", 60)
    one_job("made")


@case
def both_killed():
    """slurmctld and the agent are killed together while Pods wait and run"""
    job = waiting_pod()
    saved(job)
    bed.ctl("kill", "slurmctld")
    kill_agent()
    bed.ctl("start", "slurmctld")
    start_agent()

    for i in range(4):
        check(bed.phase_is(f"filler-{i}", "Running"), "lives")
    bed.delete("filler-2")
    bed.wait_phase("waits", "Running", 60)


@case
def reconfigure():
    """scontrol reconfigure, which replaces the slurmctld process, harms nothing"""
    bed.create(bed.pod("calm"))
    bed.wait_phase("calm", "Running")
    bed.run("scontrol", "reconfigure")
    bed.end("calm")

    bed.wait_ended("calm", "COMPLETED", "0:0", 60)
    one_job("calm")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
