#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain batch job bursts to a worker in Kubernetes when the native node is full, in
a sandbox of `up --operator`: the NodeSet's Pod has a real slurmd on a real kubelet.
sbatch/burst.t has all exceptions, on nodes without Kubernetes."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "0", "--operator")

import agent_conf
import bed
import real_workers
import slurmctld
from real_workers import host_of, state_of, wait_idle, wait_registered, wait_runs
from slurmd_pods import PARTITION
from tap import case, check, equal, last_case, run, wait_for

OWN, NATIVE_CPUS = "native", 2
RULE = f"Burst={OWN}:{PARTITION}"
TOLD = f"the job may also start in partition {PARTITION}"

operator = None


def sbatch(script, *options):
    """What sbatch says to alice."""
    return bed.run("sbatch", "-D", "/tmp", "-o", "none", "-p", OWN, "-t", "30",
                   *options, "--wrap", script, user="alice")


def number(said):
    return int(said.split("Submitted batch job")[1].split()[0])


def place_of(job):
    found = bed.jobs()[job]
    return found["partition"], found["nodes"]


def accounted(job):
    """What sacct knows of the job and its steps: partition, node, state."""
    return bed.run("sacct", "-nP", f"--jobs={job}",
                   "--format=JobID,Partition,NodeList,State").split()


@case
def worker():
    """a NodeSet of one registers, and plain jobs are told of its partition"""
    global operator
    operator = real_workers.begin()
    bed.run("scontrol", "update", f"PartitionName={PARTITION}", "PriorityTier=1")
    real_workers.make_set(replicas=1)
    wait_registered("w-0")
    wait_idle(host_of("w-0"))
    agent_conf.write(agent_conf.CONF,
                     agent_conf.read(agent_conf.CONF) + f"\n{RULE}\n")
    agent_conf.hup()

    def told():
        said = sbatch("true", "-n1", "--hold")
        bed.run("scancel", str(number(said)))
        return TOLD in said and RULE in said
    wait_for("sbatch to tell of the partition", told, 40)


@case
def bursts():
    """with the native node full a plain job starts on the worker, its steps run there,
    and sacct says so; the same job starts on the native node when that is free"""
    host = host_of("w-0")
    filler = number(sbatch("sleep 600", f"-n{NATIVE_CPUS}", "--k8s-no-burst"))
    wait_runs(filler)
    equal(place_of(filler), (OWN, "native1"), "where the first job runs")
    script = f"test \"$(srun hostname)\" = {host} || exit 9; " \
             f"test $SLURM_JOB_PARTITION = {PARTITION} || exit 8; exit 5"
    job = number(sbatch(script, "-n1"))
    wait_for(f"job {job} to end", lambda: state_of(job) == ["FAILED"], 120)
    equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 5, "exit code")
    equal(place_of(job), (PARTITION, host), "where it has run")
    wait_for("sacct to know its step", lambda: any(
        line.startswith(f"{job}.0|") and f"|{host}|COMPLETED" in line
        for line in accounted(job)))
    check(f"{job}|{PARTITION}|{host}|FAILED" in accounted(job), accounted(job))

    bed.run("scancel", str(filler))
    wait_for("the native node to be free", lambda:
             bed.allocated_cpus("native1") == 0)
    job = number(sbatch("sleep 600", "-n1"))
    wait_runs(job)
    equal(place_of(job), (OWN, "native1"), "where the next job runs")
    bed.run("scancel", "--user=alice")


@case
def says_no():
    """--k8s-no-burst lets a job wait for the native node while the worker is idle"""
    filler = number(sbatch("sleep 600", f"-n{NATIVE_CPUS}", "--k8s-no-burst"))
    wait_runs(filler)
    wait_idle(host_of("w-0"))
    said = sbatch("true", "-n1", "--k8s-no-burst")
    check(TOLD not in said, said)
    job = number(said)
    wait_for("slurmctld to have looked at it", lambda:
             bed.jobs()[job]["state_reason"] in ("Resources", "Priority"))
    equal(bed.jobs()[job]["partition"], OWN, "its partition")
    bed.run("scancel", str(filler))
    wait_for(f"job {job} to end", lambda: state_of(job) == ["COMPLETED"], 60)
    equal(place_of(job), (OWN, "native1"), "where it has run")


@case
def from_zero():
    """a NodeSet that follows the queue has no worker, also while EnforcePartLimits=ALL:
    a plain job that the native node has no room for brings one, runs there, and it
    goes"""
    real_workers.scale(0)
    real_workers.annotate(autoscale="0-1", scale_down_after="15s")
    wait_for("no worker", lambda: not real_workers.pods() and
             "DOWN" in real_workers.node("w-0")["state"], 120)
    with slurmctld.changed_conf(lambda conf: conf + "\nEnforcePartLimits=ALL\n",
                                how="stop"):
        wait_for("slurmctld to answer", slurmctld.is_up)
        filler = number(sbatch("sleep 600", f"-n{NATIVE_CPUS}", "--k8s-no-burst"))
        wait_runs(filler)
        equal(real_workers.replicas(), 0, "replicas")
        said = sbatch("exit 6", "-n1")
        check(TOLD in said, said)
        job = number(said)
        wait_for(f"job {job} to end", lambda: state_of(job) == ["FAILED"], 120)
        equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 6, "exit code")
        equal(place_of(job), (PARTITION, "w-0"), "where it has run")
        wait_for("the worker to go", lambda: not real_workers.pods() and
                 real_workers.replicas() == 0, 120)
        check(state_of(filler) == ["RUNNING"], "the job on the native node has ended")
        bed.run("scancel", "--user=alice")


@last_case
def ends():
    """the operator ends by a signal"""
    real_workers.delete_set()
    wait_for("the Pods to be gone", lambda: not real_workers.pods(), 120)
    equal(real_workers.end(operator), 0, "its exit status")


run(after_failure=lambda: real_workers.last_words(operator))
