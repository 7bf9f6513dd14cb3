#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A user suspends the job of a running Pod: Slurm stops counting it and gives its
resources away, while the Pod goes on. The first time the agent undoes that, the
second time the Pod ends."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, last_case, run, wait_for

REASON = "SlurmJobSuspended"


def running(name="p"):
    bed.create(bed.pod(name))
    uid = bed.wait_phase(name, "Running")["metadata"]["uid"]
    bed.wait_job(name, "RUNNING")
    return uid


def suspend(name="p"):
    """As its owner may."""
    bed.run("scontrol", "suspend", str(bed.job_of(name)["job_id"]),
            user="alice")


def warnings(uid):
    return [e for e in bed.events_of(uid) if e["reason"] == REASON]


def suspended_for_a_second(name="p"):
    """Slurm's times are whole seconds: a shorter one leaves no trace."""
    suspend(name)
    wait_for("a second to pass", lambda: time.time() >=
             bed.job_of(name)["suspend_time"]["number"] + 2)


@case
def undone():
    """the job is resumed although nothing waits in the queue, the Pod says why,
    and goes on"""
    uid = running()

    suspend()

    wait_for("a warning", lambda: warnings(uid))
    bed.wait_job("p", "RUNNING")
    equal(bed.get("p")["metadata"]["uid"], uid, "Pod")
    equal(bed.get("p")["status"]["phase"], "Running", "phase")
    bed.end("p")
    bed.wait_ended("p", "COMPLETED", "0:0")


@case
def the_second_time():
    """who does it again ends the Pod; that it is the second time is known to an
    agent that was started since"""
    uid = running()
    bed.ctl("kill", "slurmk8sd")
    suspended_for_a_second()
    bed.ctl("start", "slurmk8sd")
    bed.wait_job("p", "RUNNING", 60)
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    bed.wait_job("p", "RUNNING", 60)

    suspend()

    bed.wait_ended("p", "CANCELLED", seconds=60)
    check("second time" in bed.job_of("p")["comment"],
          f"comment {bed.job_of('p')['comment']!r}")
    wait_for("the Pod to end", lambda: (bed.get("p") or {"status": {
        "phase": "Failed"}})["status"]["phase"] == "Failed")
    equal(len(bed.jobs_of("p")), 1, "jobs")
    check(warnings(uid), "no word of it on the Pod")


@case
def while_it_waits():
    """Slurm itself refuses to suspend a job that waits"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    bed.create(bed.pod("p"))
    job = str(bed.wait_job("p", "PENDING")["job_id"])

    said = bed.run("scontrol", "suspend", job, user="alice", check=False)

    check("pending" in said.lower(), said)
    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.wait_phase("p", "Running")


@last_case
def nodes_respond():
    """slurmctld, which got the signals for these nodes itself, lets them have jobs
    again within a minute; the scripts after this one need them"""
    wait_for("all nodes to respond", lambda: "*" not in bed.run(
        "sinfo", "--all", "--noheader", "--format=%T"), 60)


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
