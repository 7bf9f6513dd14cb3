#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The bridge inside a cluster that the operator made, in a sandbox of `up
--operator`: it is switched on while jobs run, Pods and sbatch --k8s-image become
jobs on external nodes beside the workers, and it is taken back. Nothing is
played; the sandbox's own agent stands still meanwhile."""
import json
import pathlib
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside
import charts
from tap import skip_all

missing = charts.why_not()
if missing:
    skip_all("Helm cannot be built here: " + missing)
beside.up("1.36", "--nodes", "0", "--operator")

import admission
import bed
import helm_cluster
import slinky
from charts import helm
from helm_cluster import (
    CLUSTER, OPS, POD, SLURM, VALUES, condition, ended, get, inside, kubectl,
    state_of, wait_idle, wait_nothing_terminating, wait_serves, wait_state,
    with_values, workers)
from tap import case, check, equal, run, wait_for

BRIDGE = charts.CHARTS / "slurm-k8s-bridge"
NAME = "slurm-k8s-bridge"  # of its release and namespace
RIGHTS = ("--namespace", NAME, "--set", f"agent.namespace={SLURM},"
          "agent.serviceAccount=slurm-controller")
PARTITION = "real"  # which the annotations of the sandbox's Nodes name
REAL = ("real1", "real2")
# The second worker is on the other Node, so that both have room for Pods.
CONF = f"DefaultUser=nobody\nSbatchNamespace=slurm-jobs\nPartition={PARTITION}\n"
JOBS = "slurm-jobs"  # the chart's namespace for batch jobs
SITE = {**VALUES, "controller": {"extraConf":
        "NodeSet=k8s Feature=k8s\n"
        f"PartitionName={PARTITION} Nodes=k8s MaxTime=1:00:00\n"
        "SchedulerParameters=batch_sched_delay=0,bf_interval=5,"
        "default_queue_depth=1000,partition_job_depth=200\n"
        "EnforcePartLimits=ALL\n"}}
# What slurmk8s check may say of this site: the last two of Pods that are on its
# Nodes, too.
EXPECTED = ("BurstBufferType", "there is no slurmdbd", f"namespace {SLURM}",
            f"namespace {OPS}")

busy = {}  # the job that keeps a worker, and when it began


def site(**bridge):
    """Options for the cluster, with this controller.bridge."""
    return with_values({**SITE, "controller": {
        **SITE["controller"], **({"bridge": bridge} if bridge else {})}})


def agent(*words, **options):
    return inside(*words, container="slurmk8sd", **options)


def status():
    return agent("slurmk8s", "status", check=False)


def agent_says(reason):
    """The condition Agent has this reason."""
    return condition(SLURM, "controllers", "slurm", "Agent").get("reason") == reason


def uid_of(pod):
    return get(f"/api/v1/namespaces/{SLURM}/pods/{pod}")["metadata"]["uid"]


def pod(name, command, node=None):
    bed.create(bed.pod(name, cpu="200m", real=True, command=command,
                       **({"nodeSelector": {"kubernetes.io/hostname": node}}
                          if node else {})))


def job_of(name):
    meta = get(f"/api/v1/namespaces/{bed.NAMESPACE}/pods/{name}")["metadata"]
    return meta.get("labels", {}).get("scheduler.slinky.slurm.net/slurm-jobid")


def node(name):
    said = inside("scontrol", "show", "node", name, "--json", check=False)
    found = json.loads(said)["nodes"] if said.startswith("{") else []
    return found[0] if found else None


def as_nobody(*words, **options):
    """A command of a user on a worker."""
    return kubectl("exec", "-n", SLURM, "slurm-worker-w-0", "-c", "slurmd", "--",
                   "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                   *words, **options).strip()


def let_go(**options):
    """The job that keeps a worker ends."""
    kubectl("exec", "-n", SLURM, "slurm-worker-w-1", "-c", "slurmd", "--", "touch",
            "/tmp/go", **options)


@case
def without():
    """a cluster without the bridge: slurmk8sd serves its workers only, and a Pod for
    Slurm waits"""
    bed.ctl("kill", "slurmk8sd")  # the sandbox's own
    bed.run("kubectl", "delete", "--ignore-not-found", "-k",
            str(admission.KUBERNETES / admission.MANIFESTS))
    helm_cluster.install_operator()
    for name in (SLURM, bed.NAMESPACE):
        helm_cluster.namespace(name)
    helm("install", "slurm", CLUSTER, "-n", SLURM, *site())
    wait_serves()
    wait_idle("w-0", "w-1")
    busy["job"] = helm_cluster.sbatch(
        "until [ -e /tmp/go ]; do sleep 1; done; exit 5", "-w", "w-1")
    wait_state(busy["job"], "RUNNING")
    wait_for("the agent's words", lambda: "workers only" in status(), 60)
    check("problem" not in status(), status())
    check(agent_says("Workers"), condition(SLURM, "controllers", "slurm", "Agent"))
    pod("waits", "exit 7")
    time.sleep(5)
    equal(job_of("waits"), None, "the Pod's job")
    for name in REAL:
        equal(node(name), None, f"node {name}")


@case
def switched_on():
    """the bridge is switched on: slurmctld's Pod stays, and so does the job"""
    before = uid_of(POD), uid_of("slurm-worker-w-1")
    helm("install", NAME, BRIDGE, "--create-namespace", *RIGHTS)
    began = time.monotonic()
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *site(enabled=True, conf=CONF))
    wait_for("the condition", lambda: agent_says("Bridge"), 300)
    wait_for("the agent to serve", lambda: status().splitlines()[:1] ==
             ["slurmk8sd is serving"], 120)
    print(f"# on after {time.monotonic() - began:.0f} s")
    wait_serves()
    equal((uid_of(POD), uid_of("slurm-worker-w-1")), before, "uids of Pods")
    equal(state_of(busy["job"])["job_state"], ["RUNNING"], "the job")


@case
def external_nodes():
    """the labelled Nodes are external nodes, of the size that their workers leave"""
    for name in REAL:
        wait_for(f"node {name}", lambda name=name: node(name), 120)
        allocatable = get(f"/api/v1/nodes/{name}")["status"]["allocatable"]["cpu"]
        taken = sum(name == one["spec"]["nodeName"] for one in workers(SLURM).values())
        check(taken, f"no worker is on {name}")
        check("EXTERNAL" in node(name)["state"], node(name)["state"])
        # 300m for each worker, 0 to 200m for others, rounded down.
        check(node(name)["cpus"] < int(allocatable), f"{name}: {node(name)['cpus']} "
              f"CPUs of {allocatable}")
    check({"w-0", "w-1"} <= set(inside("sinfo", "-hN", "-o", "%N").split()), "workers")


@case
def checked():
    """slurmk8s check in the agent's container finds no error"""
    found = json.loads(agent("slurmk8s", "--json", "check", check=False))
    for one in found["findings"]:
        print(f"# {one['severity']}: {one['about']}: {one['says']}")
    equal([one for one in found["findings"] if one["severity"] == "error"], [],
          "errors")
    equal([one for one in found["findings"] if one["severity"] == "warning" and
           not any(word in one["about"] + one["says"] for word in EXPECTED)], [],
          "warnings that nobody expects")


@case
def pods_run():
    """the Pod that waited and one that comes now are jobs, and end with their codes"""
    pod("comes", "exit 3")
    for name, code in (("waits", 7), ("comes", 3)):
        wait_for(f"the end of {name}", lambda name=name: (bed.get(name) or {})[
            "status"].get("phase") == "Failed", 120)
        job = job_of(name)
        wait_state(job, "FAILED")
        equal(ended(job), (["FAILED"], code, 0), f"job of {name}")
        check(state_of(job)["nodes"] in REAL, state_of(job)["nodes"])
        check("w-" not in state_of(job)["nodes"], "it is on a worker")
        bed.delete(name)


@case
def batch_as_pods():
    """sbatch --k8s-image, by a user on a worker, runs as a Pod with its exit code"""
    job = as_nobody("sbatch", "--parsable", "--k8s-image=busybox:stable", "-p",
                    PARTITION, "-n1", "-t", "5", "--wrap", "echo hello; exit 9")
    wait_state(job, "FAILED")
    equal(ended(job), (["FAILED"], 9, 0), "the job")


@case
def both_kinds():
    """ordinary jobs on the workers and Pods at once"""
    pod("beside", "sleep 30; exit 4")
    wait_for("it to run", lambda: bed.phase_is("beside", "Running"), 60)
    let_go()
    wait_state(busy["job"], "FAILED")
    equal(ended(busy["job"]), (["FAILED"], 5, 0), "the job that was there before")
    equal(sorted(inside("srun", "-N2", "-w", "w-[0-1]", "-D", "/tmp",
                        "hostname").splitlines()), ["w-0", "w-1"], "srun")
    check(bed.phase_is("beside", "Running"), "the Pod")
    wait_for("its end", lambda: bed.phase_is("beside", "Failed"), 60)
    wait_state(job_of("beside"), "FAILED")
    equal(ended(job_of("beside")), (["FAILED"], 4, 0), "its job")
    bed.delete("beside")


@case
def wrong_lines():
    """lines with a mistake, and those of the operator, reach nobody"""
    for conf, words in (("Workers=many\n", "line 1: Workers"),
                        ("Partition=real\nSchedulePods=no\n",
                         "line 2: SchedulePods")):
        helm("upgrade", "slurm", CLUSTER, "-n", SLURM,
             *site(enabled=True, conf=conf))
        wait_for(f"the condition: {words}", lambda words=words: words in condition(
            SLURM, "controllers", "slurm", "Accepted").get("message", ""), 60)
    time.sleep(5)
    equal(status().splitlines()[:1], ["slurmk8sd is serving"], "status")
    check("DefaultUser=nobody" in agent("cat", "/etc/slurm/k8s.conf"), "k8s.conf")
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *site(enabled=True, conf=CONF))
    wait_for("it to be accepted", lambda: condition(
        SLURM, "controllers", "slurm", "Accepted").get("status") == "True", 60)


@case
def taken_back():
    """it is taken back as the guide says: the external nodes go, workers stay, and
    Pods wait again"""
    labels = {name: get(f"/api/v1/nodes/{name}")["metadata"]["labels"] for name in REAL}
    mark = "scheduler.slinky.slurm.net/external-node"
    kubectl("label", "node", *REAL, mark + "-")
    try:
        for name in REAL:
            wait_for(f"{name} to go", lambda name=name: not node(name), 180)
        helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *site())
        wait_for("the condition", lambda: agent_says("Workers"), 300)
        check("workers only" in status(), status())
        helm("uninstall", NAME, "--namespace", NAME)
        pod("waits-again", "exit 7")
        equal(inside("srun", "-N1", "-D", "/tmp", "hostname") in ("w-0", "w-1"), True,
              "srun")
        time.sleep(5)
        check("workers only" in status(), status())
        check("problem" not in status(), status())
        equal(job_of("waits-again"), None, "the Pod's job")
    finally:
        bed.delete("waits-again", grace=0)
        kubectl("label", "node", *[name for name in REAL if mark in labels[name]],
                mark + "=true")


@case
def gone():
    """all is uninstalled, and the sandbox is what it was"""
    let_go(check=False)  # whatever has failed before
    for name, namespace in (("slurm", SLURM), (NAME, NAME)):
        charts.says("uninstall", name, "-n", namespace)
    wait_nothing_terminating()
    helm("uninstall", "slurmk8s-operator", "-n", OPS)
    for name in (SLURM, OPS, JOBS, NAME):
        slinky.delete_namespace(name)
    wait_nothing_terminating()
    slinky.undefine()
    bed.inside(str(TOP / "contribs/sandbox/setup/agent"))
    bed.ctl("restart", "slurmk8sd")
    wait_for("the sandbox's agent", bed.serves, 90)


run(after_failure=helm_cluster.last_words)
