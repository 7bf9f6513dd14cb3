#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long containers have after the end of their job: MaxGracePeriod bounds it,
whatever the Pod's own grace period is. Without the bound each of these Pods
would live on for an hour that Slurm does not count."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
from tap import Skip, case, check, equal, never, run, wait_for

HOUR = 3600
MOST = 4  # MaxGracePeriod here, seconds


def slow(name, grace=HOUR, **options):
    """A Pod on a kwok node that takes all of its grace period to stop."""
    annotations = {"sandbox/stop": "2h", **options.pop("annotations", {})}
    bed.create(bed.pod(name, annotations=annotations,
                       terminationGracePeriodSeconds=grace, **options))
    bed.wait_phase(name, "Running")
    bed.wait_job(name, "RUNNING")


def bounded():
    """For as long as the block lasts."""
    return agent_conf.changed(lambda text: text.replace(
        "MaxGracePeriod=3600", f"MaxGracePeriod={MOST}"))


def scancel(name):
    bed.run("scancel", str(bed.job_of(name)["job_id"]))


def warnings(uid):
    return [e["reason"] for e in bed.events_of(uid)]


@case
def time_limit():
    """a Pod with an hour's grace that does not stop is gone soon after its time
    limit, and its job is TIMEOUT"""
    with bounded():
        slow("greedy", annotations={bed.TIMELIMIT: "1"})
        uid = bed.get("greedy")["metadata"]["uid"]

        bed.wait_gone("greedy", 180)

        bed.wait_ended("greedy", "TIMEOUT")
        check("SlurmJobEnded" in warnings(uid), f"Events {warnings(uid)}")


@case
def scancelled():
    """the same after scancel"""
    with bounded():
        slow("greedy")

        scancel("greedy")

        bed.wait_gone("greedy")
        bed.wait_ended("greedy", "CANCELLED")


@case
def kill_wait():
    """without MaxGracePeriod, KillWait of slurm.conf counts"""
    def without(text):
        return text.replace("MaxGracePeriod=3600\n", "")
    with agent_conf.changed(without):
        slow("greedy")

        scancel("greedy")

        wait_for("its deletion", lambda: bed.get("greedy")["metadata"]
                 .get("deletionGracePeriodSeconds"))
        equal(bed.get("greedy")["metadata"]["deletionGracePeriodSeconds"],
              int(kill_wait_of_slurm()), "its grace")
    bed.play("greedy", stop="1ms")
    bed.wait_ended("greedy", "CANCELLED")


def kill_wait_of_slurm():
    for line in bed.run("scontrol", "show", "config").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "KillWait":
            return value.split()[0]
    raise AssertionError("scontrol says no KillWait")


@case
def short_grace():
    """a Pod whose own grace period is short enough keeps its object"""
    with bounded():
        slow("modest", grace=MOST)

        scancel("modest")

        pod = bed.wait_phase("modest", "Failed")
        equal(pod["status"]["reason"], "DeadlineExceeded", "reason")
        bed.wait_ended("modest", "CANCELLED")


@case
def deletion_under_way():
    """a user's deletion with a long grace counts as long as the job does, and is
    shortened when the job ends"""
    with bounded():
        slow("deleted")
        bed.delete("deleted", grace=2 * HOUR)
        wait_for("the deletion", lambda: bed.get("deleted")["metadata"]
                 .get("deletionTimestamp"))
        never("it is shortened while its job runs", lambda: bed.get("deleted")
              ["metadata"]["deletionGracePeriodSeconds"] != 2 * HOUR, 2)
        bed.wait_job("deleted", "RUNNING")

        scancel("deleted")

        bed.wait_gone("deleted")
        bed.wait_ended("deleted", "CANCELLED")


@case
def own_deadline():
    """a Pod that its user's activeDeadlineSeconds is ending already is deleted with
    the bound, too; a real kubelet may not obey (doc/admin/secure.md)"""
    with bounded():
        slow("deadline", activeDeadlineSeconds=1)

        scancel("deadline")

        bed.wait_gone("deadline", 60)
        bed.wait_ended("deadline", "CANCELLED")


@case
def on_the_real_kubelet():
    """a container of the real kubelet that ignores TERM is killed, and its job
    does not stay COMPLETING"""
    with bounded():
        bed.create(bed.pod("rude", real=True, cpu="100m",
                           terminationGracePeriodSeconds=HOUR,
                           command="trap '' TERM; while :; do sleep 1; done"))
        bed.wait_phase("rude", "Running")
        bed.wait_job("rude", "RUNNING")

        scancel("rude")

        bed.wait_gone("rude", 60)
        bed.wait_ended("rude", "CANCELLED")


@case
def shortened_on_the_real_kubelet():
    """the real kubelet obeys a grace period that is shortened while it stops a
    container"""
    if os.environ.get("SHORTENED") != "yes":
        raise Skip("the kubelet of 1.36 does not (doc/admin/secure.md); "
                   "SHORTENED=yes tries it")
    with bounded():
        bed.create(bed.pod("rude", real=True, cpu="100m",
                           terminationGracePeriodSeconds=HOUR,
                           command="trap '' TERM; while :; do sleep 1; done"))
        bed.wait_phase("rude", "Running")
        bed.wait_job("rude", "RUNNING")
        bed.delete("rude")
        wait_for("the deletion", lambda: bed.get("rude")["metadata"]
                 .get("deletionTimestamp"))

        scancel("rude")

        bed.wait_gone("rude", 60)
        bed.wait_ended("rude", "CANCELLED")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
