#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A slurmctld that forgets: it crashes before it saved, starts from an older
state, or without what its jobs stand on. No Pod dies of it, none runs twice,
and each one that lives has a job in the end."""
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import faults
import slurmctld
from slurmctld import Running, living_jobs_of, waiting_pods
from tap import case, check, equal, never, run, wait_for

LONG = bool(os.environ.get("TEST_LONG"))
AWAY = 600 if LONG else 20  # seconds
MANY = 60 if LONG else 20  # Pods of one CPU each: the sandbox has 64 CPUs


def fresh():
    """Every case begins with all nodes and no job."""
    if not slurmctld.is_up():
        slurmctld.start()
    bed.clean()
    wait_for("all nodes in Slurm", lambda: slurmctld.nodes() >= kwok_nodes(), 60)
    bed.ctl("start", "slurmk8sd")  # if a case left it dead
    wait_for("the agent to serve", bed.serves)


def kwok_nodes():
    nodes = bed.api("GET", "/api/v1/nodes")["items"]
    return {n["metadata"]["name"] for n in nodes
            if n["metadata"]["name"].startswith("kn")}


def runs(name, **annotations):
    bed.create(bed.pod(name, annotations={
        f"sandbox/{key}": value for key, value in annotations.items()}))
    return Running(name)


def end(name, code="0"):
    """The Pod's containers end now."""
    bed.play(name, run="1ms", exit=code)


def one_living_job(name):
    equal(len(living_jobs_of(name)), 1, f"living jobs of {name}")


@case
def killed_before_the_save():
    """slurmctld is killed before it saved an allocation: the Pod of the job that
    vanished lives, gets a new job on its node, and ends with its exit code"""
    slurmctld.keep_state()
    lives = runs("lives")
    slurmctld.bring_state_back()

    job = lives.is_adopted()
    bed.wait_event(lives.pod["metadata"]["uid"], "SlurmJobAdopted")

    end("lives", "3")
    equal(bed.wait_ended("lives", "FAILED", "3:0", 60)["job_id"], job["job_id"],
          "the job that got the exit code")


@case
def killed_at_once():
    """slurmctld is killed as soon as Pods are bound, whatever it had saved"""
    for i in range(6):
        bed.create(bed.pod(f"fast-{i}"))
    wait_for("some of them to be bound", lambda: sum(
        bool(pod["spec"].get("nodeName")) for pod in bed.pods()) >= 3)
    slurmctld.restart()

    for i in range(6):
        bed.wait_phase(f"fast-{i}", "Running", 60)
        wait_for(f"one job for fast-{i}", lambda: [
            j for j in living_jobs_of(f"fast-{i}")
            if "RUNNING" in bed.state_of(j)], 60)
        one_living_job(f"fast-{i}")


@case
def held_without_its_feature():
    """the job that adopts a Pod is held, because slurmctld forgot the feature of its
    node: the agent releases it with the highest priority, not slurmctld with an
    ordinary one"""
    slurmctld.keep_state()
    lives = runs("lives")
    node = lives.pod["spec"]["nodeName"]
    bed.ctl("kill", "slurmk8sd")
    slurmctld.bring_state_back()
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        bed.ctl("start", "slurmk8sd")
        job = str(bed.wait_job("lives", "PENDING", 60)["job_id"])
        bed.ctl("kill", "slurmk8sd")
        bed.run("scontrol", "update", f"NodeName={node}", "Features=k8s,kwok",
                "ActiveFeatures=k8s,kwok")
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
        wait_for("the job to be held", lambda: bed.job_of("lives")
                 ["state_reason"] == "BadConstraints", 60)
        seen = bed.log_size("slurmk8sd")
        bed.ctl("start", "slurmk8sd")

        wait_for("the agent to release it", lambda:
                 "released a job that adopts Pods" in
                 bed.log_since("slurmk8sd", seen), 60)
        equal(int(bed.run("squeue", "-h", "-o", "%Q", "-j", job)), 0xfffffffd,
              "its priority")
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    lives.is_adopted()


@case
def id_used_again():
    """the id of the vanished job is given to another user's job: that one is left
    alone, and the Pod gets a job of its own"""
    slurmctld.keep_state()
    lives = runs("lives")
    bed.ctl("kill", "slurmk8sd")
    slurmctld.bring_state_back()
    said = bed.run("sbatch", "--parsable", "-p", "native", "-D", "/tmp",
                   "--wrap", "sleep 300", user="bob")
    other = int(said.strip().splitlines()[-1])
    equal(other, lives.job["job_id"], "the id that is used again")
    bed.ctl("start", "slurmk8sd")

    try:
        lives.is_adopted()
        wait_for("bob's job to run", lambda: "RUNNING" in
                 bed.jobs()[other]["job_state"])
        equal(bed.jobs()[other]["user_name"], "bob", "whose job it is")
    finally:
        bed.run("scancel", str(other))


@case
def id_used_by_our_own():
    """the id of the vanished job is given to another Pod's job: each Pod has its
    own in the end"""
    slurmctld.keep_state()
    lives = runs("lives")
    bed.ctl("kill", "slurmk8sd")
    slurmctld.bring_state_back()
    bed.create(bed.pod("next"))
    bed.ctl("start", "slurmk8sd")

    adopter = lives.is_adopted()
    bed.wait_phase("next", "Running", 60)
    one_living_job("next")
    check(bed.job_of("next")["job_id"] != adopter["job_id"], "they share one")


@case
def cancelled_before_it_was_lost():
    """slurmctld has lost jobs of which slurmdbd says that they were cancelled: by a
    user, then the Pod ends; by the agent, as one that another has replaced, then
    it is adopted"""
    slurmctld.keep_state()
    lives, ends = runs("lives"), runs("ends")
    bed.ctl("kill", "slurmk8sd")
    bed.run("scancel", str(lives.job["job_id"]), user="slurm")
    bed.run("scancel", str(ends.job["job_id"]))
    for pod in (lives, ends):
        job = str(pod.job["job_id"])
        wait_for(f"slurmdbd to know the end of {pod.name}", lambda: "CANCELLED" in
                 bed.run("sacct", "-nPX", "-j", job, "-o", "State"), 60)
    slurmctld.bring_state_back()
    bed.ctl("start", "slurmk8sd")

    lives.is_adopted()
    bed.wait_phase("ends", "Failed")


@case
def older_state():
    """slurmctld comes back with an older state: running Pods live, what ended
    ends again, what was made since is made good, nothing is done twice"""
    old = runs("old")
    for name in ("ended", "deleted", "cancelled"):
        runs(name)
    (waits,) = waiting_pods("waits")
    slurmctld.keep_state()

    end("ended", "4")
    bed.wait_ended("ended", "FAILED", "4:0")
    bed.delete("deleted")
    bed.wait_ended("deleted", "CANCELLED")
    bed.run("scancel", str(bed.job_of("cancelled")["job_id"]))
    bed.wait_ended("cancelled", "CANCELLED")
    new = runs("new")
    waiting_pods("waits-too")
    slurmctld.bring_state_back()

    new.is_adopted()
    old.keeps_its_job()
    equal(bed.wait_job("waits", "PENDING")["job_id"], waits, "waits")
    bed.wait_phase("waits-too", "Running", 60)  # its new job is not held
    for name in ("old", "new", "waits", "waits-too"):
        one_living_job(name)
    bed.wait_ended("ended", "FAILED", "4:0", 60)
    for name in ("deleted", "cancelled"):
        wait_for(f"no living job of {name}",
                 lambda n=name: not living_jobs_of(n), 60)


@case
def older_state_and_agent_down():
    """the same with the agent down meanwhile: it finds all of it at its start"""
    old, ended = runs("old"), runs("ended")
    (waits,) = waiting_pods("waits")
    slurmctld.keep_state()
    new = runs("new")
    bed.ctl("kill", "slurmk8sd")
    end("ended", "4")
    slurmctld.bring_state_back()
    bed.create(bed.pod("newest"))
    bed.ctl("start", "slurmk8sd")

    new.is_adopted()
    old.keeps_its_job()
    bed.wait_ended("ended", "FAILED", "4:0", 60)
    equal(bed.wait_job("waits", "PENDING")["job_id"], waits, "waits")
    bed.wait_phase("newest", "Running", 60)
    for name in ("old", "new", "waits", "newest"):
        one_living_job(name)
    del ended


@case
def all_state_lost():
    """slurmctld starts with no state at all: every Pod that lives is adopted,
    waiting ones are submitted once"""
    first, second = runs("first"), runs("second")
    waiting_pods("waits")
    slurmctld.kill()
    bed.inside("sh", "-c", f"rm -rf {slurmctld.STATE}/*_state* "
               f"{slurmctld.STATE}/hash.*")
    slurmctld.start()

    first.is_adopted(90)
    second.is_adopted(90)
    bed.wait_phase("waits", "Running", 60)  # its new job is not held
    one_living_job("waits")


@case
def without_max_node_count():
    """slurmctld starts without MaxNodeCount and forgets the agent's nodes: no
    Pod dies; when the line is back, so are nodes and jobs"""
    lives = runs("lives")
    waiting_pods("waits")
    slurmctld.save()
    with slurmctld.changed_conf(
            lambda conf: re.sub(r"(?m)^MaxNodeCount=.*\n", "", conf)):
        never("a Pod is ended", lambda: not lives.lives(), 8)
        equal(slurmctld.nodes() & kwok_nodes(), set(), "nodes without the line")

    lives.is_adopted(90)
    bed.wait_job("waits", "PENDING", 60)
    one_living_job("waits")
    equal(bed.wait_phase("lives", "Running")["metadata"]["uid"],
          lives.pod["metadata"]["uid"], "the Pod")


@case
def without_the_partition():
    """slurmctld starts without the partition of the jobs: no Pod dies; when it is
    back, they have jobs again"""
    lives = runs("lives")
    slurmctld.save()
    with slurmctld.changed_conf(
            lambda conf: re.sub(r"(?m)^PartitionName=kwok .*\n", "", conf)):
        never("a Pod is ended", lambda: not lives.lives(), 8)

    wait_for("a job that runs", lambda: [
        job for job in living_jobs_of("lives")
        if "RUNNING" in bed.state_of(job)], 90)
    lives.lives()
    one_living_job("lives")


def set_partition(name, *words):
    bed.run("scontrol", "update", f"PartitionName={name}", *words)


def on_kn1(name, cpu, partition="kwok", **asks):
    bed.create(bed.pod(
        name, cpu, annotations={bed.PARTITION: partition} | {
            f"slurmk8s/{key}": value for key, value in asks.items()},
        nodeSelector={"kubernetes.io/hostname": "kn1"}))


def adopted_behind_a_higher_tier(*killed_at):
    """While a job of a higher PriorityTier waits for its node, the new job of a Pod
    waits, too, where another partition would bill otherwise; it starts there where
    that bills alike. Returns the Pod."""
    on_kn1("fills", "8", timelimit="10")  # then backfill sees the next one start
    Running("fills")
    slurmctld.keep_state()
    on_kn1("lives", "2")
    lives = Running("lives")
    try:
        bed.ctl("kill", "slurmk8sd")
        slurmctld.bring_state_back()
        set_partition("kwok", "State=DOWN")  # until that other job is there
        set_partition("high", "TRESBillingWeights=CPU=2")
        bed.ctl("start", "slurmk8sd")
        on_kn1("first", "16", "high")
        first = bed.wait_job("first", "PENDING", 60)
        wait_for("a job that is to adopt", lambda: [
            job for job in living_jobs_of("lives")
            if "PENDING" in bed.state_of(job)], 60)
        set_partition("kwok", "State=UP")

        never("it starts, or the Pod ends", lambda: not lives.lives() or any(
            "RUNNING" in bed.state_of(job) or job["partition"] != "kwok"
            for job in living_jobs_of("lives")), 12)
        (job,) = living_jobs_of("lives")
        check(job["state_reason"] in ("Resources", "Priority"),
              job["state_reason"])

        if killed_at:
            bed.ctl("kill", "slurmk8sd")
        set_partition("high", "TRESBillingWeights=")
        for point in killed_at:
            faults.Fault(point).wait_dead(60)
        if killed_at:
            bed.ctl("start", "slurmk8sd")
        job = lives.is_adopted()
        equal(job["partition"], "high", "where it is")
        equal(bed.state_of(bed.jobs()[first["job_id"]]), ["PENDING"],
              "the one before it")
    finally:
        set_partition("kwok", "State=UP")
        set_partition("high", "TRESBillingWeights=")
    return lives.pod


@case
def behind_a_higher_tier():
    """a Pod whose job was lost gets a new one also while a job of a higher
    PriorityTier waits for its node, where that partition bills alike, and is
    told"""
    pod = adopted_behind_a_higher_tier()
    bed.wait_event(pod["metadata"]["uid"], "SlurmJobAdopted",
                   "may start in partition high,kwok")


@case
def killed_behind_a_higher_tier():
    """the same where the agent is killed before and after it says so"""
    adopted_behind_a_higher_tier("set_partitions:before", "set_partitions:after")


@case
def with_other_gres():
    """slurmctld starts with another list of GresTypes: nothing happens to Pods
    without devices; devices/claims.t has those with"""
    lives = runs("lives")
    slurmctld.save()
    with slurmctld.changed_conf(
            lambda conf: conf.replace("GresTypes=gpu", "GresTypes=gpu,nic")):
        never("a Pod is ended", lambda: not lives.lives(), 3)

    lives.keeps_its_job()


@case
def reconfigured_in_a_burst():
    """scontrol reconfigure three times in the middle of a burst of Pods: each
    runs once"""
    names = [f"burst-{i}" for i in range(40)]
    before = max(bed.jobs(), default=0)
    for i, name in enumerate(names):
        bed.create(bed.pod(name, annotations={"sandbox/run": "500ms"}))
        if i % 10 == 5 and i < 30:
            bed.run("scontrol", "reconfigure")

    wait_for("all Pods to end", lambda: all(
        pod["status"]["phase"] in ("Succeeded", "Failed")
        for pod in bed.pods()), 90)
    wait_for("all jobs to end", lambda: not bed.run("squeue", "-h").strip())
    for pod in bed.pods():
        equal(pod["status"]["phase"], "Succeeded", pod["metadata"]["name"])
    states = [job["job_state"] for job in bed.jobs().values()
              if job["name"] in names and job["job_id"] > before]
    equal(states, [["COMPLETED"]] * len(names), "states of their jobs")


@case
def away_for_a_while():
    """slurmctld is away for a while: Pods live, and within 30 s of its return all
    that happened is made good"""
    names = ("lives", "ends", "deleted")
    lives, ends, deleted = [runs(name) for name in names]
    waits, _ = waiting_pods("waits", "gives-up")
    slurmctld.save()
    bed.ctl("stop", "slurmctld")
    bed.create(bed.pod("made", annotations={"sandbox/run": "100ms"}))
    end("ends", "2")
    for name in ("deleted", "gives-up"):
        bed.delete(name)
    never("a Pod is ended", lambda: not lives.lives(), AWAY)
    slurmctld.start()
    back = time.monotonic()

    bed.wait_ended("ends", "FAILED", "2:0")
    bed.wait_ended("deleted", "CANCELLED")
    bed.wait_ended("gives-up", "CANCELLED")
    bed.wait_ended("made", "COMPLETED", "0:0")
    took = time.monotonic() - back
    lives.keeps_its_job()
    equal(bed.wait_job("waits", "PENDING")["job_id"], waits, "waits")
    for name in (*names, "waits", "gives-up", "made"):
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")
    check(took < 30, f"it took {took:.0f} s")
    del ends, deleted


@case
def unused_node_deleted():
    """a node that nobody uses is deleted, slurmctld restarted and reconfigured:
    many running and many waiting Pods keep their jobs (slurm-bridge 43)"""
    spare = bed.api("GET", "/api/v1/nodes/kn1")
    spare = {"apiVersion": "v1", "kind": "Node",
             "metadata": {"name": "spare",
                          "labels": {**spare["metadata"]["labels"],
                                     "kubernetes.io/hostname": "spare"},
                          "annotations": {
                              key: value for key, value
                              in spare["metadata"]["annotations"].items()
                              if not key.startswith("slurmk8s/")}},
             "spec": {k: v for k, v in spare["spec"].items() if k == "taints"},
             "status": {k: spare["status"][k]
                        for k in ("capacity", "allocatable")}}
    running = [f"runs-{i}" for i in range(MANY)]
    waiting = [f"waits-{i}" for i in range(MANY)]
    for name in running:
        bed.create(bed.pod(name, cpu="500m", memory="16Mi"))
    for name in running:
        bed.wait_phase(name, "Running", 60)
    waiting_pods(*waiting)
    bed.api("POST", "/api/v1/nodes", spare)
    try:
        wait_for("the spare node in Slurm",
                 lambda: "spare" in slurmctld.nodes(), 60)
    finally:
        bed.api("DELETE", "/api/v1/nodes/spare", {})
    # The agent may come before; whoever it is, it is deleted.
    bed.run("scontrol", "delete", "NodeName=spare", check=False)
    wait_for("the spare node to be gone from Slurm", lambda: "spare" not in
             bed.run("sinfo", "-h", "-N", "-o", "%N").split(), 60)

    marks = {bed.get(name)["metadata"]["uid"] for name in running + waiting}

    def states():
        """Of these Pods' jobs, with their ids: Slurm forgets older ones."""
        return {job["job_id"]: job["job_state"][0]
                for job in bed.jobs().values()
                if marks & set(re.findall('"uid":"([^"]*)"',
                                          job.get("admin_comment", "")))}
    before = states()
    equal(len(before), 2 * MANY, "jobs")
    slurmctld.save()
    slurmctld.restart()
    bed.run("scontrol", "reconfigure")
    wait_for("slurmctld to be back", slurmctld.is_up)

    never("a job or a Pod changes", lambda: before != states(), 8)
    for name in running:
        equal(bed.get(name)["status"]["phase"], "Running", name)
    for name in waiting:
        equal(bed.get(name)["status"]["phase"], "Pending", name)


run(before_each=fresh, after_each=bed.nothing_left,
    after_failure=bed.last_words)
