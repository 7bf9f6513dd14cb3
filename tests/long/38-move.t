#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A site moves from SlinkyProject's slurm-operator, and back, as
doc/admin/move-from-slurm-operator.md has it: the real one, in a sandbox of
`up --operator`. The objects stay, and so do the queue and the JobIds."""
import json
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside
import sandbox_cache
from tap import skip_all

missing = sandbox_cache.built("cache_slurm_operator")[1]
if missing:
    skip_all("slurm-operator cannot be built here: " + missing)
beside.up("1.36", "--nodes", "0", "--operator")

import bed
import operator_process
import slinky
import slurm_operator
from helm_cluster import (
    POD, SLURM, condition, ended, idle, inside, kubectl, sbatch, wait_idle, wait_state,
    workers)
from slurm_operator import SlurmOperator
from tap import case, check, equal, last_case, run, wait_for

SET = "slurm-worker-slinky"
IMAGE = "registry.example/slinkyproject/slurmctld:26.05-ubuntu26.04"

theirs = SlurmOperator()
ours = None


def manifest():
    """cluster.yaml, but for its RestApi, for which there is no image."""
    bed.run(str(TOP / "contribs/sandbox/ctl"), "name-images",
            stdin=(slinky.DATA / "cluster.yaml").read_text())
    return [item for item in slinky.objects(slinky.DATA / "cluster.yaml")
            if item["kind"] != "RestApi"]


def specs(change=lambda item: item):
    """Those of the Controller and the NodeSet."""
    return [change(item) for item in manifest()
            if item["kind"] in ("Controller", "NodeSet")]


def scale(replicas):
    kubectl("scale", "-n", SLURM, f"nodeset/{SET}", f"--replicas={replicas}")
    wait_for(f"{replicas} workers", lambda: len(workers(SLURM)) == replicas, 120)


def uids():
    return {kind: kubectl("get", "-n", SLURM, kind, "-o",
                          "jsonpath={.metadata.uid}")
            for kind in ("controllers/slurm", f"nodesets/{SET}",
                         f"pvc/statesave-{POD}")}


def wait_up():
    """Until the Pod of slurmctld is ready, and slurmctld answers there."""
    wait_for("slurmctld's Pod", lambda: any(
        c["type"] == "Ready" and c["status"] == "True" for pod in bed.pods(SLURM)
        if pod["metadata"]["name"] == POD
        for c in pod["status"].get("conditions", [])), 180)
    wait_for("slurmctld to answer",
             lambda: "UP" in inside("scontrol", "ping", check=False), 60)


def as_user():
    """Whose slurmctld is."""
    return int(inside("stat", "-c", "%u", "/proc/1"))


def remove_slurmctld():
    kubectl("delete", "statefulset", "slurm-controller", "-n", SLURM)
    wait_for("no Pod of slurmctld", lambda: not any(
        pod["metadata"]["name"] == POD for pod in bed.pods(SLURM)), 60)


def held_job():
    job = sbatch("exit 5", "--hold")
    wait_state(job, "PENDING")
    return job


def goes_on_with(held, over):
    """The queue, ended jobs, and the numbers."""
    wait_state(held, "PENDING")
    equal(ended(over), (["FAILED"], 4, 0), "a job that had ended")
    inside("scontrol", "release", held)
    wait_state(held, "FAILED")
    equal(ended(held), (["FAILED"], 5, 0), "the job that was held")
    job = sbatch("exit 4")
    check(int(job) > int(held), f"job {job} after job {held}")
    wait_state(job, "FAILED")
    equal(sorted(inside("srun", "-N2", "-D", "/tmp", "hostname").splitlines()),
          ["slinky-0", "slinky-1"], "srun hostname")
    return job


def finished_job():
    job = sbatch("exit 4")
    wait_state(job, "FAILED")
    return job


@case
def before():
    """slurm-operator runs slurmctld as its own user, and two workers"""
    slurm_operator.define()
    slinky.namespace(SLURM)
    for one in (slurm_operator.users(), slurm_operator.FILES):
        bed.api("POST", f"/api/v1/namespaces/{SLURM}/configmaps", one)
    slurm_operator.apply([slurm_operator.for_our_images(slinky.with_keys(item))
                          for item in manifest()])
    theirs.start()
    wait_up()
    equal(as_user(), slurm_operator.UID, "slurmctld's user")
    scale(2)
    wait_idle("slinky-0", "slinky-1")
    equal(sorted(inside("srun", "-N2", "-D", "/tmp", "hostname").splitlines()),
          ["slinky-0", "slinky-1"], "srun hostname")


@case
def moved():
    """to slurmk8s-operator: the same objects and claim; a held job is still held, and
    runs on workers with the same names"""
    global ours
    over, held, there = finished_job(), held_job(), uids()
    partitions = inside("sinfo", "-h", "-o", "%R %f")
    scale(0)
    theirs.stop()
    remove_slurmctld()
    operator_process.install("--force-conflicts")
    slurm_operator.apply(specs())
    ours = operator_process.Operator("--agent-image", IMAGE).start().leads()
    wait_up()
    equal(as_user(), 64030, "slurmctld's user")
    scale(2)
    wait_idle("slinky-0", "slinky-1")
    goes_on_with(held, over)
    equal(inside("sinfo", "-h", "-o", "%R %f"), partitions, "partition and features")
    equal(uids(), there, "uids")
    for plural, name in (("controllers", "slurm"), ("nodesets", SET)):
        wait_for(f"{name} to be accepted", lambda plural=plural, name=name: condition(
            SLURM, plural, name, "Accepted").get("status") == "True")
    files = bed.api("GET", f"/api/v1/namespaces/{SLURM}/configmaps/slurm-config")
    equal(sorted(files["data"]), ["cgroup.conf", "config-hash", "k8s.conf",
                                  "slurm.conf"], "files")


@case
def serves():
    """after the move, a busy worker is not removed before its job has ended"""
    wait_idle("slinky-0", "slinky-1")
    job = sbatch("sleep 20; exit 6", "-w", "slinky-1")
    wait_state(job, "RUNNING")
    scale_in = json.dumps({"spec": {"replicas": 1}})
    kubectl("patch", "-n", SLURM, f"nodeset/{SET}", "--type=merge", "-p", scale_in)
    wait_state(job, "FAILED")
    equal(ended(job), (["FAILED"], 6, 0), "the job")
    wait_for("one worker", lambda: list(workers(SLURM)) == [f"{SET}-0"], 60)
    equal(idle(), ["slinky-0"], "idle nodes")


@case
def moved_back():
    """to slurm-operator again: what ours has made for itself goes with it"""
    scale(2)
    wait_idle("slinky-0", "slinky-1")
    over, held, there = finished_job(), held_job(), uids()
    scale(0)
    equal(ours.stop(), 0, "the operator's exit status")
    for one in ("controllers/slurm", f"nodesets/{SET}"):
        kubectl("patch", "-n", SLURM, one, "--type=merge", "-p",
                '{"metadata":{"finalizers":null}}')
    remove_slurmctld()
    kubectl("delete", "-n", SLURM, "serviceaccount,role,rolebinding",
            "slurm-controller")
    kubectl("delete", "-n", SLURM, "service/slurm-controller-internal",
            "configmap/slurm-config")
    slurm_operator.define()
    slurm_operator.apply(specs(slurm_operator.for_our_images))
    theirs.start()
    wait_up()
    equal(as_user(), slurm_operator.UID, "slurmctld's user")
    scale(2)
    # Without RestApi it does not know that they are drained.
    inside("scontrol", "update", "NodeName=slinky-[0-1]", "State=RESUME")
    wait_idle("slinky-0", "slinky-1")
    goes_on_with(held, over)
    equal(uids(), there, "uids")


@last_case
def ends():
    """nothing is left"""
    theirs.stop()
    if ours:
        ours.stop()
    slinky.without_finalizers()
    slinky.delete_namespace(SLURM)
    operator_process.uninstall()


def last_words():
    said = [log.read_text()[-3000:] for log in (theirs.log, ours.log if ours else
                                                theirs.log) if log.exists()]
    for container in ("slurmctld", "slurmk8sd"):
        said.append(kubectl("logs", "-n", SLURM, POD, "-c", container, "--tail=15",
                            check=False))
    said.append(kubectl("get", "pods", "-A", "-o", "wide", check=False))
    return "\n".join(said)


run(after_failure=last_words)
