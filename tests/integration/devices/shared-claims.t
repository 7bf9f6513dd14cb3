#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods of several jobs that share a ResourceClaim: Slurm counts the devices until
the last of these Pods is over, in whatever order they end, over restarts of the
agent, and at a time limit all of them end."""
import itertools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import asking
import bed
import claims
import devices
from bed import land
from claims import request, with_claims, with_template
from tap import case, check, equal, never, run, wait_for

CLASSES = {claims.A100: f"device.driver == '{devices.DRIVER}' && "
           f"device.attributes['{devices.DRIVER}'].model == 'A100'"}
NODE = "kn1"
COUNT = "gpu:a100:2"


def make(name, claim="both", **annotations):
    return bed.create(bed.pod(
        name, nodeSelector={"kubernetes.io/hostname": NODE},
        annotations=annotations, **with_claims(claim)))


def runs(name, **annotations):
    """The Pod runs with the claim; returns the id of its job."""
    make(name, **annotations)
    land(name)
    bed.wait_phase(name, "Running")
    return bed.job_of(name)["job_id"]


def share(*names):
    """They run with one claim for all A100 of the node; returns their jobs."""
    claims.claim("both", request(count=2, device_class=claims.A100))
    jobs = {name: runs(name) for name in names}
    wait_for("all to be consumers", lambda: sorted(claims.consumers(
        claims.get("both"))) == sorted(names))
    equal([name for name in names if bed.job_of(name)["gres_detail"]],
          [names[0]], "whose job has the GRES")
    equal(used(), 2, "devices in use")
    return jobs


def used():
    """How many A100 of the node Slurm has given away."""
    found = re.search(r"gpu:a100:(\d+)", devices.slurm_node(NODE)["gres_used"])
    return int(found[1]) if found else 0


def state(job):
    """Also of a job whose Pod is gone."""
    return bed.jobs()[job]["job_state"]


def over(name):
    """The Pod has ended, and its reservation is gone."""
    bed.end(name)
    bed.wait_phase(name, "Succeeded")
    wait_for(f"{name} to be no consumer", lambda: name not in
             claims.consumers(claims.get("both")))


def counted(job):
    equal(state(job), ["RUNNING"], "the state of the job that counts")
    equal(used(), 2, "devices in use")


def all_given_back(*jobs):
    for job in jobs:
        wait_for(f"job {job} to be COMPLETED",
                 lambda one=job: state(one) == ["COMPLETED"])
    wait_for("no device to be in use", lambda: used() == 0)
    wait_for("the claim to be free",
             lambda: not claims.results(claims.get("both")))


@case
def two_pods():
    """two Pods, in both orders of their ends"""
    for order in itertools.permutations(("a", "b")):
        bed.clean()
        jobs = share("a", "b")
        over(order[0])
        if order[0] == "a":
            wait_for("the job to say why it goes on", lambda: "Pod b uses"
                     in bed.jobs()[jobs["a"]]["comment"])
        else:
            bed.wait_ended("b", "COMPLETED", "0:0")
        counted(jobs["a"])
        never("an end of the job that counts",
              lambda: state(jobs["a"]) != ["RUNNING"], 3)
        over(order[1])
        all_given_back(*jobs.values())


@case
def three_pods():
    """three Pods, in every order of their ends"""
    for order in itertools.permutations(("a", "b", "c")):
        bed.clean()
        jobs = share("a", "b", "c")
        for name in order:
            counted(jobs["a"])
            over(name)
        all_given_back(*jobs.values())


@case
def nobody_else_gets_them():
    """while a job counts for others only, the next Pod waits for the devices"""
    jobs = share("a", "b")
    over("a")
    claims.claim("mine", request(device_class=claims.A100))
    make("next", "mine")
    bed.wait_job("next", "PENDING")
    wait_for("it to wait for resources", lambda: bed.job_of("next")[
        "state_reason"] in ("Resources", "Priority"))
    counted(jobs["a"])
    over("b")
    land("next")
    equal(used(), 1, "devices in use")


@case
def limit_of_the_user():
    """GrpTRES=gres/gpu holds over the end of the first Pod: another Pod waits,
    although a node has free devices, until the last one is over"""
    asking.sacctmgr("modify", "user", "alice", "set", "GrpTRES=gres/gpu=2")
    try:
        share("a", "b")
        over("a")
        claims.claim("mine", request(device_class=claims.A100))
        bed.create(bed.pod("next", **with_claims("mine")))
        bed.wait_job("next", "PENDING")
        wait_for("it to wait for the limit", lambda: "AssocGrp" in
                 bed.job_of("next")["state_reason"])
        over("b")
        land("next")
    finally:
        asking.sacctmgr("modify", "user", "alice", "set", "GrpTRES=gres/gpu=-1")


@case
def first_pod_is_deleted():
    """the Pod whose job counts is deleted, and the agent restarted after that: the
    job goes on until the other is over"""
    jobs = share("a", "b")
    bed.delete("a")
    bed.wait_gone("a")
    counted(jobs["a"])
    for _ in range(2):
        bed.ctl("kill", "slurmk8sd")
        bed.ctl("start", "slurmk8sd")
        wait_for("the agent to serve", bed.serves, 60)
        never("an end of the job that counts",
              lambda: state(jobs["a"]) != ["RUNNING"], 3)
    equal(used(), 2, "devices in use")
    over("b")
    wait_for("the job to end", lambda: "RUNNING" not in state(jobs["a"]), 60)
    wait_for("no device to be in use", lambda: used() == 0)


@case
def ends_without_an_agent():
    """the first Pod ends while there is no agent"""
    jobs = share("a", "b")
    bed.ctl("kill", "slurmk8sd")
    over("a")
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent to serve", bed.serves, 60)
    never("an end of the job that counts",
          lambda: state(jobs["a"]) != ["RUNNING"], 3)
    over("b")
    all_given_back(*jobs.values())


@case
def time_limit():
    """a first Pod of one minute and a second one of a week: with the first one's
    job the second ends, too, so that nothing is used uncounted"""
    claims.claim("both", request(count=2, device_class=claims.A100))
    first = runs("a", **{bed.TIMELIMIT: "1"})
    runs("b", **{bed.TIMELIMIT: "7-0"})
    uid = bed.get("b")["metadata"]["uid"]
    over("a")
    counted(first)
    wait_for("the time limit", lambda: "TIMEOUT" in state(first), 180)
    bed.wait_ended("b", "CANCELLED", seconds=60)
    check("counted the devices" in bed.job_of("b")["comment"],
          bed.job_of("b")["comment"])
    wait_for("the Pod to end", lambda: not bed.get("b") or
             bed.get("b")["status"]["phase"] == "Failed", 60)
    bed.wait_event(uid, "SlurmSharedClaimEnded")
    bed.delete("a")
    bed.wait_gone("a")


@case
def scancelled():
    """who cancels the job that counts ends all that share the claim"""
    jobs = share("a", "b")
    bed.run("scancel", str(jobs["a"]))
    bed.wait_ended("b", "CANCELLED", seconds=60)
    for name in ("a", "b"):
        wait_for(f"Pod {name} to end", lambda one=name: not bed.get(one) or
                 bed.get(one)["status"]["phase"] == "Failed", 60)


@case
def too_late():
    """a Pod whose job waits while the others end gets devices by a job of its own"""
    jobs = share("a", "b")
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        make("late")
        equal(bed.wait_job("late", "PENDING")["tres_per_task"], "", "its GRES")
        over("a")
        over("b")
        all_given_back(*jobs.values())
        wait_for("a job with GRES", lambda: bed.job_of("late") and
                 "gpu" in bed.job_of("late")["tres_per_task"], 60)
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    land("late")
    equal(used(), 2, "devices in use")


@case
def of_a_template():
    """a claim that was made from a template is its Pod's alone"""
    claims.template("tmpl", request(device_class=claims.A100))
    bed.create(bed.pod("a", nodeSelector={"kubernetes.io/hostname": NODE},
                       **with_template("tmpl")))
    land("a")
    name = claims.of_template("a")["metadata"]["name"]
    make("b", name)
    bed.wait_words("b", "was not made for this Pod")
    equal(bed.jobs_of("b"), [], "its jobs")


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    devices.wait_gres(NODE, COUNT)


asking.with_slurm_conf("AccountingStorageEnforce=associations,limits,qos,safe")
devices.begin(f"DeviceGres={claims.A100}:gpu:a100", CLASSES, (NODE, "kn2"))
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
