#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers in Kubernetes for a slurmctld that stays on its host, in a sandbox of
`up --operator`: slurmk8s-operator makes the Pods of a NodeSet on two real
kubelets, slurmd in them registers, the agent beside slurmctld answers for their
nodes. Nothing is played."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "0", "--operator")

import bed
import real_workers
import slurmctld
from real_workers import (
    MERGE, NAMESPACE, PROTECT, SETS, answers_probes, host_of, is_true, node, pods,
    sbatch, scale, state_of, wait_idle, wait_registered, wait_runs)
from slurmd_pods import PARTITION
from tap import case, check, equal, last_case, run, wait_for

operator = None


@case
def two_workers():
    """a NodeSet of two has a slurmd on each of the kubelets, both register, and
    srun runs on both"""
    global operator
    operator = real_workers.begin()
    real_workers.make_set()
    wait_for("two Pods", lambda: len(pods()) == 2)
    wait_registered("w-0", "w-1")
    wait_for("slurmd to answer the kubelets' probes",
             lambda: all(map(answers_probes, pods().values())), 50)
    equal(len({pod["spec"]["nodeName"] for pod in pods().values()}), 2,
          "Nodes of the Pods")
    for name in pods():
        wait_idle(host_of(name))
    said = bed.run("srun", "-p", PARTITION, "-N2", "-D", "/tmp", "hostname",
                   user="alice")
    hosts = [line for line in said.splitlines() if not line.startswith("srun:")]
    equal(sorted(hosts), sorted(host_of(name) for name in pods()),
          "srun hostname")


@case
def scale_in():
    """one replica less while both nodes have jobs: the job of the Pod that goes ends
    by itself, its Pod goes after that, the other job and its Pod stay"""
    hosts = {name: host_of(name) for name in pods()}
    for host in hosts.values():
        wait_idle(host)
    jobs = {name: sbatch("sleep 20; exit 3", "-w", host)
            for name, host in hosts.items()}
    for job in jobs.values():
        wait_runs(job)
    wait_for("both to be protected", lambda: all(
        pod["metadata"]["labels"].get(PROTECT) == "true"
        for pod in pods().values()))
    scale(1)
    gone = wait_for("a request", lambda: next(
        (name for name, pod in pods().items() if "slurmk8s/worker-request" in
         pod["metadata"].get("annotations", {})), None))
    wait_for("its node to be drained", lambda:
             "DRAIN" in node(hosts[gone])["state"])
    (stays,) = set(hosts) - {gone}
    while gone in pods():
        ended = "RUNNING" not in state_of(jobs[gone])
        there = gone in pods() and \
            "deletionTimestamp" not in pods()[gone]["metadata"]
        check(there or ended, "the Pod goes before its job has ended")
    for job in jobs.values():
        wait_for(f"job {job} to end", lambda job=job: state_of(job) ==
                 ["FAILED"], 60)
        equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 3,
              f"exit code of job {job}")
        equal(bed.jobs()[job]["restart_cnt"], 0, f"restarts of job {job}")
    equal(list(pods()), [stays], "Pods")


@case
def scale_out():
    """and back: the node of that name is there again, and takes jobs"""
    scale(2)
    wait_registered("w-0", "w-1")
    for name in pods():
        wait_idle(host_of(name))
        job = sbatch("true", "-w", host_of(name))
        wait_for(f"job {job} to end", lambda job=job: state_of(job) ==
                 ["COMPLETED"], 60)


@case
def cordon():
    """a drain by scontrol shows on the Pod, a cordon of the Pod drains in Slurm, and
    its end resumes the node"""
    host = host_of("w-0")
    bed.run("scontrol", "update", f"NodeName={host}", "State=DRAIN",
            "Reason=bad fan", user="slurm")
    wait_for("the condition", lambda: is_true(pods()["w-0"],
                                              "SlurmNodeStateDrain"), 10)
    bed.run("scontrol", "update", f"NodeName={host}", "State=RESUME",
            user="slurm")
    annotation = "nodeset.slinky.slurm.net/pod-cordon"
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/w-0"
    for value in ("true", None):
        bed.api("PATCH", path, {"metadata": {"annotations": {annotation: value}}},
                MERGE)
        wait_for("Slurm to follow", lambda value=value:
                 ("DRAIN" in node(host)["state"]) == (value is not None), 10)


@case
def deleted_without_asking():
    """kubectl delete of a busy worker: its job is requeued, and runs again on
    another"""
    first, second = (host_of(name) for name in ("w-0", "w-1"))
    wait_idle(first)
    wait_idle(second)
    job = sbatch("sleep 300", "--requeue", "-w", first)
    wait_runs(job)
    bed.delete("w-0", NAMESPACE)
    wait_for("the job to leave it", lambda: state_of(job) != ["RUNNING"], 60)
    bed.run("scontrol", "update", f"JobId={job}", "ReqNodeList=" + second,
            check=False)
    wait_registered("w-0", "w-1")
    wait_for("the job to run again", lambda: state_of(job) == ["RUNNING"] and
             bed.jobs()[job]["restart_cnt"] == 1, 180)
    bed.run("scancel", str(job))
    wait_idle(first)


@case
def set_is_deleted():
    """a NodeSet that is deleted: its Pods go when no job is there any more"""
    host = host_of("w-1")
    wait_idle(host)
    job = sbatch("sleep 15; exit 4", "-w", host)
    wait_runs(job)
    bed.api("DELETE", f"{SETS}/w", {})
    wait_for("the Pods to be gone", lambda: not pods(), 120)
    equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 4,
          "the job's exit code")
    slurmctld.restart()
    wait_for("slurmctld to answer", slurmctld.is_up)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(real_workers.end(operator), 0, "its exit status")


run(after_failure=lambda: real_workers.last_words(operator))
