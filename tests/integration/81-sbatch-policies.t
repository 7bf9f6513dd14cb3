#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The two policies on batch jobs' Pods, at the real API server and as dry runs:
what whoever has the agent's token cannot make of them, one Pod for each rule
that only this rule refuses, and what nobody else may write on them."""
import copy
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import admission
import bed
from admission import As, pods_path, refused
from tap import case, check, run, wait_for

NS = "slurm-jobs"
MARK = "1 s0000000000001 " + "0" * 32
JOB = "slurmjob.slinky.slurm.net/"
PRIVILEGES = "slurmk8sd may not create Pods with privileges"
ROOT = "slurmk8sd may not create Pods that run as root"
TOKEN = "a token or with namespaces of the host"
agent = None


def batch_pod():
    """As the agent makes it."""
    locked = {"allowPrivilegeEscalation": False, "privileged": False,
              "runAsUser": 1001, "runAsGroup": 1001,
              "capabilities": {"drop": ["ALL"]}}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "job-1-00000000", "namespace": NS,
                         "annotations": {"slurmk8s/sbatch": MARK,
                                         JOB + "user-id": "1001"}},
            "spec": {"schedulerName": "slurm", "restartPolicy": "Never",
                     "automountServiceAccountToken": False,
                     "shareProcessNamespace": True,
                     "securityContext": {
                         "runAsUser": 1001, "runAsGroup": 1001,
                         "runAsNonRoot": True, "supplementalGroups": [50],
                         "supplementalGroupsPolicy": "Strict"},
                     "containers": [{"name": "job", "image": "busybox",
                                     "securityContext": locked}],
                     "volumes": [{"name": "home",
                                  "hostPath": {"path": "/home"}}]}}


def put(pod, path, value):
    """Sets what is there under a path such as spec/containers/0/image; None
    takes it away."""
    *way, last = path.split("/")
    for name in way:
        pod = pod[int(name)] if isinstance(pod, list) else pod[name]
    if value is None:
        del pod[last]
    else:
        pod[last] = value


def create(changes=(), who=None):
    pod = batch_pod()
    for path, value in dict(changes).items():
        put(pod, path, value)
    return (who or agent).create(pods_path(ns=NS), pod)


def init(**security):
    """An init container as the job's, but for this."""
    one = copy.deepcopy(batch_pod()["spec"]["containers"][0])
    one["name"] = "first"
    for name, value in security.items():
        put(one, "securityContext/" + name, value)
    return [one]


def set_up():
    global agent
    if agent:
        return
    admission.apply()
    agent = As(admission.token(*admission.AGENT))
    # Policies act about a second after they were made, and say nothing then.
    wait_for("the policies to act", lambda: acts())


def acts():
    try:
        create({"spec/hostPID": True, "spec/shareProcessNamespace": None})
    except bed.ApiError as error:
        return TOKEN in error.message
    return False


@case
def allowed():
    """what the agent makes passes, also with an init container as locked"""
    create()
    create({"spec/initContainers": init()})
    create({"spec/securityContext/fsGroup": 50})


@case
def not_for_slurm():
    """the agent makes no Pod for another scheduler, or for a node of its choice"""
    words = "only create Pods for Slurm"
    refused(words, create, {"spec/schedulerName": "default-scheduler"})
    # Which of two policies says so is open: slurm-k8s-bridge-node-name does too.
    refused("ValidatingAdmissionPolicy", create, {"spec/nodeName": "kn1"})


@case
def no_batch_job():
    """nor one that is no batch job's"""
    words = "only create Pods of batch jobs"
    for mark in (None, "", "1", MARK + "0", "0" + MARK[1:], MARK.upper()):
        annotations = {} if mark is None else {"slurmk8s/sbatch": mark}
        refused(words, create, {"metadata/annotations": annotations})


@case
def root():
    """nor one of which any part is root, or in its group"""
    pod = "spec/securityContext/"
    job = "spec/containers/0/securityContext/"
    for path, value in ((pod + "runAsUser", 0), (pod + "runAsUser", None),
                        (pod + "runAsGroup", 0), (pod + "runAsGroup", None),
                        (pod + "runAsNonRoot", False),
                        (pod + "runAsNonRoot", None),
                        (pod + "fsGroup", 0),
                        (pod + "supplementalGroups", [50, 0]),
                        (job + "runAsUser", 0), (job + "runAsGroup", 0),
                        (job + "runAsNonRoot", False)):
        refused(ROOT, create, {path: value})
    for name, value in (("runAsUser", 0), ("runAsGroup", 0),
                        ("runAsNonRoot", False)):
        refused(ROOT, create, {"spec/initContainers": init(**{name: value})})


@case
def privileges():
    """nor one of which any container has, or can gain, privileges"""
    job = "spec/containers/0/securityContext/"
    for name, value in (("privileged", True),
                        ("allowPrivilegeEscalation", True),
                        ("allowPrivilegeEscalation", None),
                        ("capabilities", None),
                        ("capabilities", {"drop": ["NET_RAW"]}),
                        ("capabilities", {"drop": ["ALL"],
                                          "add": ["SYS_ADMIN"]})):
        # A privileged container may not say that it gains none.
        more = ({"allowPrivilegeEscalation": None} if name == "privileged"
                else {})
        refused(PRIVILEGES, create,
                {job + n: v for n, v in {name: value, **more}.items()})
        refused(PRIVILEGES, create,
                {"spec/initContainers": init(**{name: value, **more})})


@case
def token_and_host():
    """nor one with a token of the API server, or with what is the host's"""
    for changes in ({"spec/automountServiceAccountToken": True},
                    {"spec/automountServiceAccountToken": None},
                    {"spec/hostNetwork": True},
                    {"spec/hostIPC": True},
                    {"spec/hostPID": True, "spec/shareProcessNamespace": None},
                    {"spec/volumes": [{"name": "t", "projected": {"sources": [
                        {"serviceAccountToken": {"path": "t"}}]}}]}):
        refused(TOKEN, create, changes)


@case
def mark_of_others():
    """nobody else marks a Pod as a batch job's: not when it is made, nor later,
    nor by what binds it"""
    words = "only slurmk8sd may set the annotation slurmk8s/sbatch"
    me = As(None)
    refused(words, create, (), me)
    plain = bed.pod("policies", namespace=NS,
                    schedulingGates=[{"name": "example.com/hold"}])
    bed.create(plain)
    try:
        marked = {"metadata": {"annotations": {"slurmk8s/sbatch": MARK}}}
        refused(words, me.patch, pods_path("policies", NS), marked)
        bound = admission.binding("policies", "kn1", marked["metadata"], NS)
        for path in (pods_path("policies", NS, "binding"),
                     f"/api/v1/namespaces/{NS}/bindings"):
            refused(words, me.create, path, bound)
    finally:
        bed.delete("policies", NS, grace=0)


@case
def whom_it_is():
    """whose a batch job's Pod is, and how long it may run, stays as it was"""
    words = "whom the Pod of a batch job runs as cannot be changed"
    wet = As(agent.token, dry=False)
    pod = batch_pod()
    pod["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
    wet.create(pods_path(ns=NS), pod)
    me, name = As(None), pod["metadata"]["name"]
    try:
        for key in ("user-id", "group-id", "account", "partition", "qos",
                    "timelimit", "reservation"):
            changed = {"annotations": {JOB + key: "7"}}
            refused(words, me.patch, pods_path(name, NS), {"metadata": changed})
            refused(words, me.create, pods_path(name, NS, "binding"),
                    admission.binding(name, "kn1", changed, NS))
        refused("only slurmk8sd may set", me.patch, pods_path(name, NS),
                {"metadata": {"annotations": {"slurmk8s/sbatch": None}}})
        me.patch(pods_path(name, NS),
                 {"metadata": {"annotations": {"example.com/x": "7"}}})
    finally:
        bed.delete(name, NS, grace=0)


run(set_up, after_failure=bed.last_words)
