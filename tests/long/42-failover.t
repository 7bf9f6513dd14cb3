#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two controllers: slurmctld and its agent die together, or one of them, or an
administrator moves control; the other host takes over, and gives it back. No Pod
dies, no workload runs twice.

Adds a second controller to the sandbox, and takes it away again."""
import os
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import faults
from tap import case, check, equal, run, wait_for

LEASE = "/apis/coordination.k8s.io/v1/namespaces/slurm-k8s-bridge/leases/slurmk8sd"


def sandbox_up(*words):
    done = subprocess.run([str(bed.TOP / "contribs/sandbox/up"), *words],
                          env={**os.environ, "SANDBOX_BUILD": "no"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise AssertionError(done.stdout)


def holder():
    return bed.api("GET", LEASE)["spec"].get("holderIdentity", "")


def status(number):
    """What the agent of ctl or ctl2 says; {} when it says nothing."""
    port = bed.web_address().rsplit(":", 1)[1]
    said = bed.inside("curl", "-s", "--max-time", "5",
                      f"http://127.0.0.{number}:{port}/status", check=False)
    return bed.json.loads(said) if said.startswith("{") else {}


def wait_serving(number, seconds=90):
    host = "ctl" if number == 1 else "ctl2"
    wait_for(f"the agent of {host} to have the Lease",
             lambda: holder().startswith(host + "_"), seconds)
    wait_for(f"the agent of {host} to serve",
             lambda: status(number).get("serving"), 30)


def wait_end(daemon):
    wait_for(f"the end of {daemon}", lambda: not faults.alive(daemon), 60)


class Watch:
    """Every Pod's life as the API server tells it: none may start twice, and
    none may die that should live."""

    def __init__(self, living):
        self.living = {name: bed.get(name)["metadata"]["uid"]
                       for name in living}

    def check(self):
        for name, uid in self.living.items():
            pod = bed.get(name)
            check(pod, f"Pod {name} is there")
            equal(pod["metadata"]["uid"], uid, f"Pod {name}")
            check("deletionTimestamp" not in pod["metadata"],
                  f"Pod {name} lives on")
            equal(pod["status"]["phase"], "Running", f"Pod {name}")


def living_jobs(name):
    return [job for job in bed.jobs_of(name)
            if {"PENDING", "RUNNING", "CONFIGURING"} & set(bed.state_of(job))]


def works(name):
    bed.create(bed.pod(name, annotations={"sandbox/run": "300ms"}))
    bed.wait_ended(name, "COMPLETED", "0:0", 90)
    equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


def begin():
    """Two Pods that run on, one that ends during the failover, one that waits;
    all of it saved by slurmctld."""
    bed.run("scontrol", "update", "PartitionName=low", "State=DOWN")
    for name in ("runs-1", "runs-2"):
        bed.create(bed.pod(name))
    bed.create(bed.pod("ends", annotations={"sandbox/run": "12s",
                                            "sandbox/exit": "3"}))
    bed.create(bed.pod("waits", annotations={bed.PARTITION: "low"}))
    for name in ("runs-1", "runs-2", "ends"):
        bed.wait_phase(name, "Running")
    job = bed.wait_job("waits", "PENDING")
    bed.run("scontrol", "reconfigure")  # saves all jobs
    wait_for("slurmctld to be back",
             lambda: "ctl is UP" in bed.run("scontrol", "ping", check=False))
    wait_for("the job to be known", lambda: job["job_id"] in bed.jobs())
    wait_for("the agent to serve", lambda: status(1).get("serving"))
    return Watch(("runs-1", "runs-2"))


def finish(watch):
    watch.check()
    bed.wait_ended("ends", "FAILED", "3:0", 60)
    bed.run("scontrol", "update", "PartitionName=low", "State=UP")
    bed.wait_phase("waits", "Running", 60)
    for name in ("runs-1", "runs-2", "waits"):
        equal(len(living_jobs(name)), 1, f"living jobs of {name}")


def give_back():
    """The first controller returns, and serves again."""
    if not faults.alive("slurmctld"):
        bed.ctl("start", "slurmctld")
    if not faults.alive("slurmk8sd"):
        bed.ctl("start", "slurmk8sd")
    wait_serving(1)
    if not faults.alive("slurmk8sd2"):
        bed.ctl("start", "slurmk8sd2")
    wait_for("the second agent to stand by",
             lambda: "ctl has" in status(2).get("standby", ""), 30)


@case
def host_dies():
    """slurmctld and its agent are killed while Pods run, wait and are being
    bound: the backup and its agent take over, and give it back"""
    watch = begin()
    burst = [f"burst-{i}" for i in range(8)]
    for name in burst:
        bed.create(bed.pod(name, annotations={"sandbox/run": "25s"}))
    wait_for("the first of them to be bound", lambda: any(
        bed.get(name)["spec"].get("nodeName") for name in burst))
    kills = [threading.Thread(target=bed.ctl, args=("kill", name))
             for name in ("slurmctld", "slurmk8sd")]
    for kill in kills:
        kill.start()
    for kill in kills:
        kill.join()
    bound = {name: bed.get(name)["spec"].get("nodeName") for name in burst}
    print(f"# {sum(map(bool, bound.values()))} of {len(burst)} were bound")

    wait_serving(2)
    for name in burst:
        bed.wait_phase(name, "Succeeded", 90)
        check(bound[name] in (None, bed.get(name)["spec"]["nodeName"]),
              f"Pod {name} stays on its Node")
    finish(watch)
    works("on-the-second")
    wait_for("no job of a Pod that has ended", lambda: not any(
        living_jobs(name) for name in burst), 60)

    give_back()
    watch.check()
    works("on-the-first")


@case
def slurmctld_dies():
    """slurmctld alone is killed: its agent gives the Lease to that of the backup
    and ends"""
    watch = begin()
    bed.ctl("kill", "slurmctld")
    wait_serving(2)
    wait_end("slurmk8sd")
    finish(watch)
    works("on-the-second")

    give_back()
    watch.check()
    works("on-the-first")


@case
def scontrol_takeover():
    """scontrol takeover, with both agents alive: the Lease follows"""
    watch = begin()
    bed.run("scontrol", "takeover", check=False)
    wait_serving(2)
    wait_end("slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    wait_for("the first agent to stand by",
             lambda: "ctl2 has" in status(1).get("standby", ""), 30)
    said = bed.run("slurmk8s", "status", check=False)
    check("on standby: ctl2 has the Lease" in said, said)
    finish(watch)
    works("on-the-second")

    give_back()
    watch.check()
    works("on-the-first")


def before_each():
    if not faults.alive("slurmctld2"):
        bed.ctl("start", "slurmctld2")
    give_back()
    bed.run("scontrol", "update", "PartitionName=low", "State=UP")
    bed.clean()


def last_words():
    return "\n".join(f"== {name}\n{bed.log(name, 25)}" for name in (
        "slurmk8sd", "slurmk8sd2", "slurmctld", "slurmctld2"))


sandbox_up("--backup")
try:
    run(before_each=before_each, after_each=bed.nothing_left,
        after_failure=last_words)
finally:
    sandbox_up("--no-backup")
