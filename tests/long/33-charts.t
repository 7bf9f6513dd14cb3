#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm in Kubernetes by Helm, in a sandbox of `up --operator`: the charts
slurmk8s-operator and slurm-cluster on two real kubelets, the operator in its own
image, and workers for the sandbox's own slurmctld. Nothing is played."""
import base64
import contextlib
import json
import pathlib
import re
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

import agent_conf
import bed
import helm_cluster
import slinky
import slurmctld
import slurmd_pods
import tokens
from charts import helm, refused
from helm_cluster import (
    CLUSTER, FINALLY, FROM, IMAGE, OPERATOR, OPS, POD, SLURM, TAG, VALUES, condition,
    ended, get, idle, inside, kubectl, leaders, namespace, operators, page, sbatch,
    state_of, terminating, wait_idle, wait_nothing_terminating, wait_serves,
    wait_state, with_values, workers)
from tap import case, check, equal, run, wait_for

WORKERS = "workers"  # a namespace


def keys():
    """What is in the Secrets with keys."""
    return {name: get(f"/api/v1/namespaces/{SLURM}/secrets/slurm-auth-{name}")["data"]
            for name in ("slurm", "jwt")}


@case
def operator():
    """helm install brings the definitions and an operator that is ready, in a
    namespace of the standard "restricted", with the rights of contribs/operator"""
    said = helm_cluster.install_operator()
    check("serves all namespaces" in said, said)
    (pod,) = operators()
    equal(page(pod, "healthz").strip(), "ok", "healthz")
    for plural in slinky.PLURALS.values():
        check(slinky.is_served(plural), plural)
    (wanted,) = slinky.objects(TOP / "contribs/operator/base/clusterrole.yaml")
    live = get("/apis/rbac.authorization.k8s.io/v1/clusterroles/slurmk8s-operator")
    equal(live["rules"], wanted["rules"], "rules")
    for words in (("get", "secrets"), ("create", "clusterrolebindings"),
                  ("patch", "nodes"), ("create", "pods", "--subresource=exec")):
        said = kubectl("auth", "can-i", *words, "-A", "--as",
                       f"system:serviceaccount:{OPS}:slurmk8s-operator", check=False)
        equal(said.strip().splitlines()[-1], "no", f"may {words}")


@case
def another_leads():
    """of two operators one acts; when its Pod is killed the other one does"""
    helm("upgrade", "slurmk8s-operator", OPERATOR, "-n", OPS, *IMAGE, "--set",
         "operator.replicas=2", "--wait", "--timeout", "3m")
    wait_for("two, one of which leads",
             lambda: len(operators()) == 2 and len(leaders()) == 1, 90)
    (first,) = leaders()
    bed.delete(first, OPS, grace=0)
    wait_for("another one to lead", lambda: leaders() and leaders() != [first], 60)
    helm("upgrade", "slurmk8s-operator", OPERATOR, "-n", OPS, *IMAGE, "--wait")
    wait_for("one alone", lambda: len(bed.pods(OPS)) == 1 and len(leaders()) == 1, 90)


@case
def cluster():
    """helm install of a cluster with two workers: srun runs on both kubelets"""
    namespace(SLURM)
    began = time.monotonic()
    said = helm("install", "slurm", CLUSTER, "-n", SLURM, *with_values(VALUES))
    check(f"exec {POD}" in said, said)
    wait_serves()
    wait_idle("w-0", "w-1")
    equal(sorted(inside("srun", "-N2", "-D", "/tmp", "hostname").splitlines()),
          ["w-0", "w-1"], "srun hostname")
    print(f"# from helm install to srun -N2: {time.monotonic() - began:.1f} s")
    equal(len({pod["spec"]["nodeName"] for pod in workers(SLURM).values()}), 2,
          "Nodes of the workers")
    for plural, name in (("controllers", "slurm"), ("nodesets", "slurm-worker-w")):
        equal(condition(SLURM, plural, name, "Served").get("status"), "True",
              f"Served of {name}")
    (agent,) = [c["image"] for c in
                get(f"/api/v1/namespaces/{SLURM}/pods/{POD}")["spec"]["containers"]
                if c["name"] == "slurmk8sd"]
    equal(agent, f"{FROM}/slurmk8sd:{TAG}", "the agent's image")


@case
def secrets():
    """the keys are long, and in no log"""
    sizes = {name: [len(base64.b64decode(text)) for text in data.values()]
             for name, data in keys().items()}
    equal(sizes, {"slurm": [1024], "jwt": [32]}, "bytes of the keys")
    logs = kubectl("logs", "-n", OPS, leaders()[0])
    for container in ("slurmctld", "slurmk8sd"):
        logs += kubectl("logs", "-n", SLURM, POD, "-c", container)
    for name in workers(SLURM):
        logs += kubectl("logs", "-n", SLURM, name, "-c", "slurmd")
    check(len(logs) > 1000, logs)
    said = helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(VALUES))
    for data in keys().values():
        for text in data.values():
            check(text[:24] not in logs + said, "a key in what is said")


@case
def upgraded():
    """helm upgrade keeps keys, jobs and what kubectl scale has set; slurm.conf and
    files beside it follow"""
    kubectl("scale", "-n", SLURM, "nodeset/slurm-worker-w", "--replicas=1")
    wait_for("one worker", lambda: list(workers(SLURM)) == ["slurm-worker-w-0"], 90)
    wait_idle("w-0")
    job = sbatch("until [ -e /tmp/go ]; do sleep 1; done; exit 5")
    wait_state(job, "RUNNING")
    before = keys()
    slurmd = workers(SLURM)["slurm-worker-w-0"]["metadata"]["uid"]
    values = {**VALUES, "controller": {"extraConfMap": {"KillWait": 47}},
              "configFiles": {"site.conf": "first\n"}, "prologScripts": {
                  "50-site": "#!/bin/sh\necho $SLURM_JOB_ID > /tmp/prolog\n"}}
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(values))
    wait_for("KillWait", lambda: "KillWait                = 47 sec" in inside(
        "scontrol", "show", "config", check=False), 180)
    equal(inside("cat", "/etc/slurm/site.conf"), "first", "file")
    wait_state(job, "RUNNING")
    equal(keys(), before, "keys")
    equal(workers(SLURM)["slurm-worker-w-0"]["metadata"]["uid"], slurmd, "the worker")
    values["configFiles"]["site.conf"] = "second\n"
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(values))
    wait_for("the other file", lambda: inside("cat", "/etc/slurm/site.conf",
                                              check=False) == "second", 180)
    wait_state(job, "RUNNING")
    kubectl("exec", "-n", SLURM, "slurm-worker-w-0", "--", "touch", "/tmp/go")
    wait_state(job, "FAILED")
    equal(ended(job), (["FAILED"], 5, 0), "the job")
    equal(list(workers(SLURM)), ["slurm-worker-w-0"], "workers")
    wait_idle("w-0")
    job = sbatch("true", "-W")
    equal(kubectl("exec", "-n", SLURM, "slurm-worker-w-0", "--", "cat",
                  "/tmp/prolog").strip(), job, "the prolog's job")


@case
def more_nodesets():
    """a nodeset more, a login set and a REST server: nodes come, and what is not
    served says so"""
    values = {**VALUES, "nodesets": {
        **VALUES["nodesets"], "big": {
            "extraConfMap": {"Weight": 7}, "partition": {"enabled": True}}},
        "loginsets": {"l": {}}, "restapi": {"replicas": 1}}
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(values))
    # Two slurmds do not share a Node, whatever NodeSet they are of.
    wait_for("the node", lambda: "big-0" in idle(), 120)
    wait_for("its partition", lambda: inside(
        "sinfo", "-hp", "big", "-o", "%N %w", check=False) == "big-0 7",
        120)
    for plural, name in (("loginsets", "slurm-login-l"), ("restapis", "slurm")):
        wait_for(f"a condition of {name}", lambda plural=plural, name=name:
                 "not served yet" in condition(SLURM, plural, name, "Served").get(
                     "message", ""))
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(VALUES))
    wait_for("big to be gone", lambda: not any("big" in name
                                               for name in workers(SLURM)), 120)
    wait_nothing_terminating()


@case
def gres():
    """a nodeset with GRES: a node has them at its first registration, and jobs get
    theirs"""
    files = "".join(f"NodeName=g-[0-9] Name=gpu File=/dev/{file}\n"
                    for file in ("null", "zero"))
    values = {**VALUES, "nodesets": {
        "w": {"replicas": 0}, "g": {"replicas": 1, "extraConfMap": {"Gres": "gpu:2"}}},
        "controller": {"extraConfMap": {"GresTypes": "gpu"}},
        "configFiles": {"gres.conf": files}}
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(values))

    def shown():
        said = inside("scontrol", "show", "node", "g-0", check=False)
        return said if "NodeName=g-0" in said else None
    first = wait_for("the node", shown, 240, 0.5)
    wait_idle("g-0")
    now = shown()
    for said in (first, now):
        check("Gres=gpu:2" in said, said)
    check("INVAL" not in now and "DRAIN" not in now, now)
    equal(inside("srun", "-D", "/tmp", "--gres=gpu:1", "sh", "-c",
                 "echo $CUDA_VISIBLE_DEVICES"), "0", "the first device")
    job = sbatch("sleep 300", "--gres=gpu:2")
    wait_state(job, "RUNNING")
    waits = sbatch("true", "--gres=gpu:1")
    wait_for("another job to wait for one", lambda: state_of(waits).get(
        "state_reason") == "Resources", 60)
    inside("scancel", job)
    wait_state(waits, "COMPLETED")
    check("error" in inside("sbatch", "--gres=gpu:3", "-D", "/tmp", "--wrap", "true",
                            check=False), "three of two")
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(VALUES))
    wait_for("g to be gone", lambda: not any("-g-" in name
                                             for name in workers(SLURM)), 120)
    kubectl("scale", "-n", SLURM, "nodeset/slurm-worker-w", "--replicas=1")
    wait_idle("w-0")
    wait_nothing_terminating()


def squeue_with(token):
    """What squeue says to somebody who has nothing but this token."""
    return inside("env", f"SLURM_JWT={token}", "squeue", "-h", check=False)


@case
def tokens_of_others():
    """tokens that an identity provider has signed are taken, and no others"""
    ours, other = tokens.Provider(), tokens.Provider()
    bed.api("POST", f"/api/v1/namespaces/{SLURM}/configmaps", {
        "metadata": {"name": "ids"}, "data": {"jwks.json": ours.keys()}})
    values = {**VALUES, "jwksKeys": {"enabled": True, "configMapRef": {
        "name": "ids"}}}
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(values))
    wait_for("slurm.conf", lambda: "jwks=/etc/slurm/jwks.json" in inside(
        "scontrol", "show", "config", check=False), 180)
    wait_serves()
    equal(squeue_with(ours.token("slurm")), "", "with a token of the provider")
    for name, token in (("another key", other.token("slurm")),
                        ("an old one", ours.token("slurm", -60))):
        check("error" in squeue_with(token), f"{name} is taken")
    bed.api("PATCH", f"/api/v1/namespaces/{SLURM}/configmaps/ids",
            {"data": {"jwks.json": other.keys()}}, "application/merge-patch+json")
    wait_for("the other key", lambda: squeue_with(other.token("slurm")) == "", 180, 2)
    check("error" in squeue_with(ours.token("slurm")), "the first key")
    helm("upgrade", "slurm", CLUSTER, "-n", SLURM, *with_values(VALUES))
    wait_for("the keys to be gone", lambda: "jwks" not in inside(
        "scontrol", "show", "config", check=False), 180)
    wait_serves()


def own_srun(partition, nodes):
    said = bed.run("srun", "-p", partition, f"-N{nodes}", "-D", "/tmp", "hostname",
                   user="alice", check=False)
    return sorted(line for line in said.splitlines() if not line.startswith("srun:"))


@contextlib.contextmanager
def partition_of(said):
    """What helm install has printed for slurm.conf is in that of the sandbox."""
    lines = re.findall(r"^  ((?:NodeSet|PartitionName)=.*)$", said, re.M)
    equal(len(lines), 2, said)
    before = bed.inside("cat", slurmctld.CONF)
    bed.inside("sh", "-c", f"cat > {slurmctld.CONF}",
               stdin="\n".join([before, *lines, ""]))
    try:
        slurmctld.restart()
        wait_for("slurmctld to answer", slurmctld.is_up)
        yield
    finally:
        bed.inside("sh", "-c", f"cat > {slurmctld.CONF}", stdin=before)
        slurmctld.restart()


@case
def external():
    """helm install of workers for the sandbox's own slurmctld: its srun runs there,
    and helm uninstall lets their job end and takes nothing else"""
    namespace(WORKERS)
    slurmd_pods.make_key(WORKERS)
    agent_conf.edit(lambda text: text + f"\nWorkerNamespace={WORKERS}\n")
    bed.ctl("start", "slurmk8sd")
    words = ("--set", "controller.external=true,controller.externalConfig.host="
             f"{slurmd_pods.slurmctld_address()},controller.externalConfig.port="
             f"{slurmd_pods.slurmctld_port()},slurmKey.secretRef.name="
             f"{slurmd_pods.KEY}")
    values = {**VALUES, "nodesets": {"x": {"replicas": 2}}}
    said = helm("install", "slurm", CLUSTER, "-n", WORKERS, *with_values(values),
                *words)
    with partition_of(said):
        wait_for("srun on both", lambda: own_srun("x", 2) == ["x-0", "x-1"], 90, 2)
        job = int(bed.run("sbatch", "--parsable", "-D", "/tmp", "-o", "none", "-p",
                          "x", "-n1", "-t", "10", "--wrap", "sleep 20; exit 3",
                          user="alice").strip().splitlines()[-1])
        wait_for("the job to run", lambda: bed.jobs()[job]["job_state"] ==
                 ["RUNNING"], 60)
        helm("uninstall", "slurm", "-n", WORKERS)
        wait_for("the job to end", lambda: bed.jobs()[job]["job_state"] ==
                 ["FAILED"], 90)
        equal((bed.jobs()[job]["exit_code"]["return_code"]["number"],
               bed.jobs()[job]["restart_cnt"]), (3, 0), "exit code and restarts")
        wait_for("no worker", lambda: not workers(WORKERS), 60)
    wait_nothing_terminating()
    check(get(f"/api/v1/namespaces/{WORKERS}/secrets/{slurmd_pods.KEY}"), "the key")
    wait_serves()  # the other cluster has heard nothing


@case
def uninstalled():
    """helm uninstall lets the jobs end; the keys and the state stay, and an install
    finds them again"""
    kubectl("scale", "-n", SLURM, "nodeset/slurm-worker-w", "--replicas=2")
    wait_idle("w-0", "w-1")
    job = sbatch("sleep 25; exit 6", "-w", "w-1")
    wait_state(job, "RUNNING")
    before, began = keys(), time.monotonic()
    helm("uninstall", "slurm", "-n", SLURM)
    wait_for("the idle worker to go", lambda: list(workers(SLURM)) ==
             ["slurm-worker-w-1"], 60)
    if time.monotonic() - began < 20:
        check("Controller slurm/slurm" in terminating(), "nothing waits for the job")
    wait_nothing_terminating()
    wait_for("no Pod", lambda: not bed.pods(SLURM), FINALLY)
    equal(keys(), before, "keys")
    helm("install", "slurm", CLUSTER, "-n", SLURM, *with_values(VALUES))
    wait_serves()
    wait_idle("w-0", "w-1")
    equal(keys(), before, "keys")
    equal(ended(job), (["FAILED"], 6, 0), "the job")


@case
def in_use():
    """the operator is not uninstalled while something needs it: Helm says what"""
    said = refused("Delete all Controllers and NodeSets first", "uninstall",
                   "slurmk8s-operator", "-n", OPS)
    for name in ("Controller slurm/slurm", "NodeSet slurm/slurm-worker-w"):
        check(name in said, said)
    equal(len(leaders()), 1, "operators that lead")
    found = json.loads(helm("status", "slurmk8s-operator", "-n", OPS, "-o", "json"))
    equal(found["info"]["status"], "uninstalling", "the release, to be tried again")


@case
def not_over_others():
    """the charts take nothing that is not theirs"""
    refused("cannot be imported", "install", "other", OPERATOR, "-n", SLURM, *IMAGE)
    refused("cannot be imported", "install", "other", CLUSTER, "-n", SLURM,
            *with_values(VALUES), "--set", "fullnameOverride=slurm")


@case
def gone():
    """both uninstalled, nothing is left but the definitions, the keys and the
    state"""
    helm("uninstall", "slurm", "-n", SLURM)
    wait_nothing_terminating()
    for plural in slinky.PLURALS.values():
        equal(get(f"{slinky.API}/{plural}")["items"], [], plural)
    helm("uninstall", "slurmk8s-operator", "-n", OPS)
    wait_for("its Pod to go", lambda: not bed.pods(OPS), 60)
    check(all(map(slinky.is_served, slinky.PLURALS.values())), "a definition is gone")
    left = kubectl("get", "-o", "name", "clusterroles,clusterrolebindings,"
                   "validatingadmissionpolicies,validatingadmissionpolicybindings")
    equal([name for name in left.split() if "slurmk8s-operator" in name], [], "left")
    for name in (SLURM, WORKERS, OPS):
        slinky.delete_namespace(name)
    wait_nothing_terminating()
    slinky.undefine()


run(after_failure=helm_cluster.last_words)
