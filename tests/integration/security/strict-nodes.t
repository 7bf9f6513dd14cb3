#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No Pod outside the queue: a user who may edit one Namespace tries to get a Pod
onto Slurm's Nodes without Slurm, in every way that Kubernetes has. Each attempt is
printed with its answer. Who may do it still can."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
from admission import As, allowed, as_somebody, attempt, denied, pods_path
from tap import case, check, equal, run, wait_for

NS = "outside"  # where the user may edit
FREE = "outside-free"  # which the component leaves alone
TAINT = "slinky.slurm.net/managed-node"
NODE = "kn1"
POLICIES = ("slurm-k8s-bridge-strict-nodes",
            "slurm-k8s-bridge-strict-daemonsets")
OF_NODE = "spec.nodeName must be empty"
OF_TAINT = "spec.tolerations must not cover the taint"
COVERING = {
    "every taint": {"operator": "Exists"},
    "every taint that keeps Pods off": {"operator": "Exists",
                                        "effect": "NoSchedule"},
    "the taint, by its key": {"key": TAINT, "operator": "Exists"},
    "the taint, by key and effect": {"key": TAINT, "operator": "Exists",
                                     "effect": "NoSchedule"},
    "the taint, by some value": {"key": TAINT, "value": "x"},
}
user = None


def set_up():
    global user
    if not user:
        admission.apply()
        for name in (NS, FREE):
            admission.namespace(name)
        bed.api("PATCH", f"/api/v1/namespaces/{FREE}", {"metadata": {
            "labels": {"slurmk8s/strict-nodes": "false"}}}, admission.MERGE)
        user = {name: As(admission.editor(name), dry=False)
                for name in (NS, FREE)}
        policies_act()
    bed.clean()
    for namespace in (NS, FREE):
        remove_all(namespace)


def remove_all(namespace):
    for kind in ("deployments", "daemonsets"):
        path = f"/apis/apps/v1/namespaces/{namespace}/{kind}"
        for item in bed.api("GET", path)["items"]:
            bed.api("DELETE", f"{path}/{item['metadata']['name']}",
                    {"propagationPolicy": "Background"})
    asked = set()

    def gone():
        there = bed.pods(namespace)
        for item in there:
            if item["metadata"]["uid"] not in asked:
                asked.add(item["metadata"]["uid"])
                bed.delete(item["metadata"]["name"], namespace, grace=0)
        return not there
    wait_for(f"the Pods of {namespace} to be gone", gone)


def policies_act():
    """They do about a second after they were made, and say nothing before."""
    probe = As(user[NS].token)
    wait_for("the policies to act", lambda: says(
        OF_NODE, probe.create, pods_path(ns=NS), pod("t", nodeName=NODE)))
    wait_for("that of DaemonSets to act", lambda: says(
        "this DaemonSet", probe.create, apps("daemonsets"),
        workload("DaemonSet", "t", COVERING["every taint"])))


def says(words, function, *arguments):
    try:
        function(*arguments)
    except bed.ApiError as error:
        return words in error.message
    return False


def pod(name, namespace=NS, scheduler="default-scheduler", **spec):
    return bed.pod(name, cpu="1", namespace=namespace, scheduler=scheduler,
                   **spec)


def apps(kind, name="", namespace=NS):
    return f"/apis/apps/v1/namespaces/{namespace}/{kind}" + (
        f"/{name}" if name else "")


def workload(kind, name, toleration=None, **spec):
    template = pod(name)
    template["spec"].update(spec)
    del template["spec"]["restartPolicy"]
    if toleration:
        template["spec"]["tolerations"] = [toleration]
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}},
                                  "spec": template["spec"]}}}


def metric():
    return bed.metric("pods_outside_queue ")


def checked():
    said = bed.inside("slurmk8s", "--json", "check", check=False)
    return [f"{f['severity']} {f['about']}: {f['says']}"
            for f in json.loads(said)["findings"]]


@case
def without_the_policy():
    """without the component such a Pod runs at once and no job is charged for it;
    slurmk8s check and /metrics say so"""
    before = metric()
    with admission.without_policies(*POLICIES):
        probe = As(user[NS].token)
        wait_for("the policies to be gone", lambda: not attempt(
            "a Pod with nodeName, as a trial", probe.create, pods_path(ns=NS),
            pod("t", nodeName=NODE)))
        allowed("a Pod with nodeName", user[NS].create, pods_path(ns=NS),
                pod("free", nodeName=NODE))
        wait_for("it to run", lambda: (bed.get("free", NS) or {}).get(
            "status", {}).get("phase") == "Running")
        mark = bed.get("free", NS)["metadata"]["uid"]
        check(not [job for job in bed.jobs().values()
                   if mark in job.get("admin_comment", "")], "it has a job")
        wait_for("the metric", lambda: metric() == before + 1)
        said = checked()
        for words in (f"warning namespace {NS}: ", "free on " + NODE,
                      f"warning policy {POLICIES[0]}: no binding"):
            check(any(words in line for line in said), f"{words!r} in {said}")
    policies_act()
    said = checked()
    check(not any(f"policy {name}" in line for name in POLICIES
                  for line in said), said)
    check(any(f"namespace {NS}: " in line for line in said),
          "what is there already is still reported")
    user[NS].delete(pods_path("free", NS))
    wait_for("the metric", lambda: metric() == before)


@case
def node_name():
    """a Pod that names its Node, whatever Node"""
    for node in (NODE, "no-such-node"):
        denied(f"nodeName: {node}", OF_NODE, user[NS].create, pods_path(ns=NS),
               pod("free", nodeName=node))
    denied("nodeName for Slurm", "Slurm chooses the node", user[NS].create,
           pods_path(ns=NS), pod("free", scheduler="slurm", nodeName=NODE))
    equal(bed.pods(NS), [], "Pods")


@case
def tolerations():
    """a Pod that tolerates the taint of Slurm's Nodes, by any words"""
    for words, toleration in COVERING.items():
        denied(f"tolerates {words}", OF_TAINT, user[NS].create,
               pods_path(ns=NS), pod("free", tolerations=[
                   {"key": "theirs", "operator": "Exists"}, toleration]))
    equal(bed.pods(NS), [], "Pods")
    for words, toleration in {
            "another taint": {"key": "theirs", "operator": "Exists"},
            "what evicts": {"operator": "Exists", "effect": "NoExecute"}
    }.items():
        allowed(f"tolerates {words}", As(user[NS].token).create,
                pods_path(ns=NS), pod("fine", tolerations=[toleration]))


@case
def later():
    """a Pod that waits gets the toleration later: added, or in place of one of two
    equal ones; other updates of it pass"""
    twice = [{"key": "theirs", "operator": "Exists"}] * 2
    bed.api("POST", pods_path(ns=NS), pod("waits", scheduler="nobody",
                                          tolerations=twice))
    path = pods_path("waits", NS)
    for words, toleration in COVERING.items():
        denied(f"adds a toleration of {words}", OF_TAINT, user[NS].patch, path,
               [{"op": "add", "path": "/spec/tolerations/-",
                 "value": toleration}], admission.JSON_PATCH)
        denied(f"replaces an equal one by {words}", OF_TAINT, user[NS].patch,
               path, [{"op": "replace", "path": "/spec/tolerations/1",
                       "value": toleration}], admission.JSON_PATCH)
    allowed("adds another toleration", user[NS].patch, path, [
        {"op": "add", "path": "/spec/tolerations/-",
         "value": {"key": "b", "operator": "Exists"}}], admission.JSON_PATCH)
    allowed("changes a label", user[NS].patch, path,
            {"metadata": {"labels": {"app": "x"}}})
    # What an administrator has allowed is not in the way of later updates.
    bed.api("PATCH", path, [{"op": "add", "path": "/spec/tolerations/-",
                             "value": COVERING["every taint"]}],
            admission.JSON_PATCH)
    allowed("adds one more then", user[NS].patch, path, [
        {"op": "add", "path": "/spec/tolerations/-",
         "value": {"key": "c", "operator": "Exists"}}], admission.JSON_PATCH)


@case
def workloads():
    """a Deployment makes no such Pods, and a DaemonSet with them is refused, also
    when somebody else has made it"""
    for name, spec, words in (
            ("named", {"nodeName": NODE}, OF_NODE),
            ("tolerant", {"tolerations": [{"operator": "Exists"}]}, OF_TAINT)):
        allowed(f"a Deployment {name}", user[NS].create, apps("deployments"),
                workload("Deployment", name, **spec))
        said = wait_for("it to say why it has no Pod",
                        lambda name=name: failure_of(name))
        print(f"# its Pods: {said}", flush=True)
        check(words in said, said)
    equal(bed.pods(NS), [], "Pods")
    everywhere = COVERING["every taint"]
    denied("a DaemonSet on all Nodes", "this DaemonSet", user[NS].create,
           apps("daemonsets"), workload("DaemonSet", "free", everywhere))
    bed.api("POST", apps("daemonsets"),
            workload("DaemonSet", "theirs", everywhere))
    bigger = {"spec": {"template": {"spec": {"containers": [
        {"name": "main", "resources": {"requests": {"cpu": "3"}}}]}}}}
    denied("a larger one of it", "this DaemonSet", user[NS].patch,
           apps("daemonsets", "theirs"), bigger, admission.STRATEGIC)
    allowed("a label of it", user[NS].patch, apps("daemonsets", "theirs"),
            {"metadata": {"labels": {"a": "b"}}})
    allowed("a DaemonSet on other Nodes", user[NS].create, apps("daemonsets"),
            workload("DaemonSet", "fine"))


def failure_of(name):
    status = bed.api("GET", apps("deployments", name)).get("status", {})
    return next((c["message"] for c in status.get("conditions", [])
                 if c["type"] == "ReplicaFailure"), None)


@case
def who_may():
    """administrators, who may create bindings there, DaemonSets, kubelets, and the
    namespaces that the component leaves alone"""
    free = pod("free", nodeName=NODE, tolerations=[COVERING["every taint"]])
    allowed("an administrator", As(None).create, pods_path(ns=NS), free)
    bed.api("POST", apps("daemonsets"),
            workload("DaemonSet", "theirs", COVERING["every taint"]))
    wait_for("Pods of the DaemonSet", lambda: bed.pods(NS))

    binds = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NS}"
    admission.make(binds + "/roles", {
        "metadata": {"name": "binds"}, "rules": [
            {"apiGroups": [""], "resources": ["pods/binding"],
             "verbs": ["create"]}]})
    admission.make(binds + "/rolebindings", {
        "metadata": {"name": "binds"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role",
                    "name": "binds"},
        "subjects": [{"kind": "ServiceAccount", "name": "editor",
                      "namespace": NS}]})
    try:
        wait_for("who may create bindings", lambda: not attempt(
            "who may create bindings", As(user[NS].token).create,
            pods_path(ns=NS), free))
    finally:
        bed.api("DELETE", binds + "/rolebindings/binds")
    policies_act()

    elsewhere = pod("free", FREE, nodeName=NODE,
                    tolerations=[COVERING["every taint"]])
    allowed("in a namespace with the label", As(user[FREE].token).create,
            pods_path(ns=FREE), elsewhere)
    said = bed.run("kubectl", "label", "namespace", NS,
                   "slurmk8s/strict-nodes=false", "--dry-run=server",
                   f"--as=system:serviceaccount:{NS}:editor",
                   "--as-group=system:serviceaccounts",
                   "--as-group=system:authenticated", check=False)
    print(f"# the label, by a user: {said.strip()}", flush=True)
    check("cannot" in said, said)


@case
def mirrors():
    """a kubelet shows its static Pods"""
    body = pod("static-" + NODE, "default", nodeName=NODE,
               tolerations=[COVERING["every taint"]])
    body["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "hash",
                                       "kubernetes.io/config.hash": "hash"}
    path = bed.SANDBOX / "static-pod.json"
    path.write_text(json.dumps(body))
    said = as_somebody(f"system:node:{NODE}", ["system:nodes"], "create",
                       "--dry-run=server", "-f", str(path))
    check("ValidatingAdmissionPolicy" not in said and "created" in said, said)


@case
def pods_for_slurm():
    """Pods for Slurm run as before, with tolerations, too"""
    body = bed.pod("works", annotations={"sandbox/run": "100ms"},
                   tolerations=[COVERING["every taint"]])
    bed.create(body)
    bed.wait_ended("works", "COMPLETED", "0:0")


run(set_up, after_failure=bed.last_words)
