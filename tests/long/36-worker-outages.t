#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers on two real kubelets while their template changes under a queue of jobs,
while slurmctld is away (AWAY seconds, 300), and when their NodeSet is deleted with
jobs in every state: no job loses its node, and slurmctld is as it was. Nothing is
played."""
import os
import pathlib
import re
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "0", "--operator")

import bed
import real_workers as workers
import slurmctld
from real_workers import (
    MERGE, NAMESPACE, PROTECT, host_of, pods, sbatch, scale, state_of, uids,
    wait_idle, wait_registered, wait_runs)
from tap import case, check, equal, last_case, run, wait_for

AWAY = int(os.environ.get("AWAY", "300"))
QUEUE = 50  # jobs
SOON = 10   # seconds in which all is right again, at least on a quiet machine
LOG = bed.SANDBOX / "log/slurmctld.log"

operator = None


def both_are_ready():
    wait_registered("w-0", "w-1")
    for name in ("w-0", "w-1"):
        wait_idle(host_of(name))


def took(began, what):
    """For the screen: a loaded machine is no failure."""
    print(f"# {what}: {time.monotonic() - began:.1f} s", flush=True)


def exit_code(job):
    return bed.jobs()[job]["exit_code"]["return_code"]["number"]


def wait_ended(job, code, seconds=90):
    wait_for(f"job {job} to end", lambda: state_of(job)[0] not in (
        "RUNNING", "PENDING", "COMPLETING") and "COMPLETING" not in state_of(job),
        seconds)
    equal(exit_code(job), code, f"exit code of job {job}")
    equal(bed.jobs()[job]["restart_cnt"], 0, f"restarts of job {job}")


@case
def update_under_a_queue():
    """a new template while fifty jobs wait for two workers: both are replaced, and
    all jobs complete at their first try"""
    global operator
    operator = workers.begin()
    workers.make_set(updateStrategy={"type": "RollingUpdate", "rollingUpdate":
                                     {"maxUnavailable": 1}})
    both_are_ready()
    before = uids()
    jobs = [sbatch("sleep 2") for _ in range(QUEUE)]
    wait_runs(jobs[0])
    workers.new_template("first")
    wait_for("both to be replaced", lambda: set(uids()) == set(before) and
             not set(uids().values()) & set(before.values()), 180)
    for job in jobs:
        wait_ended(job, 0, 180)
    wait_for("the update to be over", workers.is_updated, 60)


@case
def scale_out():
    """a worker more is a registered node within seconds"""
    scale(1)
    wait_for("one to go", lambda: len(pods()) == 1, 60)
    began = time.monotonic()
    scale(2)
    both_are_ready()
    took(began, "from kubectl scale to an idle node")


def untouched(before):
    """Whether the Pods are those, and none of them is being deleted."""
    check(uids() == before, f"Pods are {uids()}, not {before}")


def stay_for(seconds, before):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        untouched(before)
        time.sleep(1)


@case
def away():
    """slurmctld is away while the NodeSet gets fewer replicas and another template:
    no Pod goes; once it is back, both go on, and the jobs end by themselves"""
    both_are_ready()
    jobs = {name: sbatch(f"sleep {AWAY + 60}; exit 5", "-w", host_of(name))
            for name in ("w-0", "w-1")}
    for job in jobs.values():
        wait_runs(job)
    before = uids()
    slurmctld.save()
    slurmctld.kill()
    scale(1)
    workers.new_template("second")
    stay_for(AWAY, before)

    slurmctld.start()
    wait_for("slurmctld to answer", slurmctld.is_up)
    began = time.monotonic()
    wait_for("the request to be heard", lambda: any(
        "DRAIN" in workers.node(host_of(name))["state"]
        for name in workers.asked()))
    took(began, "from slurmctld's return to the drain")
    untouched(before)
    for job in jobs.values():
        wait_ended(job, 5, 180)
    wait_for("one worker of the new template", lambda: len(uids()) == 1 and
             workers.is_updated(), 90)
    check(not set(uids().values()) & set(before.values()), "it is an old one")


@case
def deleted_while_away():
    """the NodeSet is deleted while slurmctld is away: its busy worker stays until the
    job has ended"""
    (name,) = pods()
    wait_registered(name)
    wait_idle(host_of(name))
    job = sbatch(f"sleep {AWAY + 30}; exit 6")
    wait_runs(job)
    before = uids()
    slurmctld.save()
    slurmctld.kill()
    workers.delete_set()
    stay_for(AWAY, before)
    slurmctld.start()
    wait_for("slurmctld to answer", slurmctld.is_up)
    wait_ended(job, 6, 180)
    wait_for("the worker to be gone", lambda: not pods(), 90)


def error_lines(offset):
    with open(LOG, encoding="utf-8", errors="replace") as log:
        log.seek(offset)
        return [line for line in log if re.search(r"\b(error|fatal):", line)]


@case
def deleted_with_jobs():
    """a NodeSet is deleted with a job that runs, one that waits for its nodes and one
    that has just ended: slurmctld starts three times without an error"""
    wait_for("the last NodeSet to be gone", lambda: not bed.api(
        "GET", workers.SETS)["items"], 60)
    workers.make_set()
    both_are_ready()
    runs = sbatch("sleep 25; exit 7", "-w", host_of("w-0"))
    wait_runs(runs)
    ended = sbatch("exit 8", "-w", host_of("w-1"))
    waits = sbatch("true", "-w", host_of("w-0"))
    wait_ended(ended, 8)
    workers.delete_set()
    wait_ended(runs, 7)
    wait_for("the workers to be gone", lambda: not pods(), 90)
    slurmctld.save()
    offset = LOG.stat().st_size
    for _ in range(3):
        slurmctld.restart()
        wait_for("slurmctld to answer", slurmctld.is_up)
        equal(state_of(waits), ["PENDING"], "the job that waits")
    equal(error_lines(offset), [], "errors of slurmctld")
    bed.run("scancel", str(waits))
    bed.run("scontrol", "reconfigure")
    wait_for("slurmctld to be back", slurmctld.is_up)


@case
def evicted_in_the_window():
    """an eviction that comes as soon as a job is said to run is refused, again and
    again"""
    wait_for("the last NodeSet to be gone", lambda: not bed.api(
        "GET", workers.SETS)["items"], 60)
    workers.make_set(replicas=1)
    wait_registered("w-0")
    refused = 0
    for _ in range(10):
        wait_idle(host_of("w-0"))
        wait_for("it to be idle for Kubernetes", lambda: PROTECT not in
                 pods()["w-0"]["metadata"]["labels"])
        job = sbatch("sleep 2")
        # slurmctld says RUNNING while prep/k8s holds the prolog: the steps of the
        # job begin after that.
        wait_for("slurmd to have the job", lambda job=job: "RUNNING" in
                 state_of(job) and "CONFIGURING" not in state_of(job))
        try:
            bed.api("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/w-0/eviction", {
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": "w-0"}})
        except bed.ApiError as error:
            equal(error.status, 429, "the answer")
            refused += 1
        wait_ended(job, 0)
    equal(refused, 10, "evictions that were refused")


@last_case
def ends():
    """the operator ends by a signal"""
    for name in pods():
        bed.api("PATCH", f"{workers.SETS}/w", {"metadata": {"annotations": {
            "slurmk8s/delete": "now"}}}, MERGE)
        workers.delete_set()
        break
    wait_for("the workers to be gone", lambda: not pods(), 60)
    equal(workers.end(operator), 0, "its exit status")


run(after_failure=lambda: workers.last_words(operator))
