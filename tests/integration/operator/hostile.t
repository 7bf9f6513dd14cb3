#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A user with all rights in one namespace, and what the operator can be made to do:
nothing in another namespace, nothing with its keys, no cluster-wide rights, and no
Pod that the namespace's Pod security refuses."""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slinky
from node_sets import Frame, Place
from tap import case, check, equal, last_case, never, run, wait_for

NODES = [f"hostile{i}" for i in range(3)]
SOON = 3  # seconds in which something forbidden would have happened
USER = "mallory"
victims, hers = Place("victims", NODES), Place("hostile", NODES)
frame = Frame(NODES, victims, hers)


def kubectl(*words, stdin=None):
    """As the user, in her namespace; its exit status and what it says."""
    done = subprocess.run(
        ["kubectl", f"--as={USER}", f"--namespace={hers.namespace}", *words],
        input=stdin, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        timeout=120)
    return done.returncode, done.stdout


def make(kind, name, spec):
    """As the user; None: it is refused."""
    status, said = kubectl("create", "-f", "-", stdin=json.dumps({
        "apiVersion": f"{slinky.GROUP}/v1beta1", "kind": kind,
        "metadata": {"name": name, "namespace": hers.namespace}, "spec": spec}))
    return None if status else said


def give_rights():
    bed.api("PATCH", f"/api/v1/namespaces/{hers.namespace}", {"metadata": {"labels": {
        "pod-security.kubernetes.io/enforce": "baseline"}}},
        "application/merge-patch+json")
    rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{hers.namespace}"
    subject = [{"kind": "User", "name": USER,
                "apiGroup": "rbac.authorization.k8s.io"}]
    for name, role in (("edit", {"kind": "ClusterRole", "name": "edit"}),
                       ("slinky", {"kind": "Role", "name": "slinky"})):
        try:
            bed.api("POST", rbac + "/rolebindings", {
                "metadata": {"name": name}, "subjects": subject, "roleRef": {
                    "apiGroup": "rbac.authorization.k8s.io", **role}})
        except bed.ApiError as error:
            if error.status != 409:
                raise
    try:
        bed.api("POST", rbac + "/roles", {
            "metadata": {"name": "slinky"}, "rules": [
                {"apiGroups": [slinky.GROUP], "resources": ["*"], "verbs": ["*"]}]})
    except bed.ApiError as error:
        if error.status != 409:
            raise


def before_each():
    frame.before_each()
    give_rights()
    victims.controller()
    victims.node_set(replicas=1)
    victims.wait_pods("w-0")


def state_of_victims():
    return {name: (pod["metadata"]["uid"], pod["spec"],
                   pod["metadata"].get("annotations"))
            for name, pod in victims.pods().items()}


def untouched(before):
    never("a change of the others' Pods", lambda: state_of_victims() != before, SOON)


def node_set(**more):
    return {"controllerRef": {"name": "slurm"}, "replicas": 1,
            "slurmd": {"image": "slurmd:test"}, **more}


def controller(key="slurm-key"):
    return {"external": True, "externalConfig": {"host": "ctl", "port": 6817},
            "slurmKeyRef": {"name": key, "key": "slurm.key"}}


@last_case
def ends():
    """the operator ends by a signal"""
    equal(frame.end(), 0, "exit status of the operator")


@case
def has_no_more():
    """the user has rights in her namespace only: what follows tries the operator"""
    for words in (("get", "secrets"), ("get", "pods"), ("create", "nodesets")):
        check(kubectl("auth", "can-i", *words)[0] == 0, f"{words} in her own")
        check(kubectl("auth", "can-i", *words, "-n", victims.namespace)[0] != 0,
              f"{words} in the others'")
    check(kubectl("auth", "can-i", "get", "nodes")[0] != 0, "Nodes")


@case
def another_namespace():
    """a NodeSet that names a Controller, and Pods, of another namespace gets none, and
    nothing comes there"""
    before = state_of_victims()
    made = make("NodeSet", "x", node_set(
        controllerRef={"name": "slurm", "namespace": victims.namespace},
        template={"metadata": {"namespace": victims.namespace, "name": "w-0"}}))
    if made is not None:
        hers.wait_condition("Accepted", "False", "no Controller slurm", name="x")
    check(make("NodeSet", "y", node_set(controllerRef={
        "name": f"../{victims.namespace}/slurm"})) is None or
        hers.wait_condition("Accepted", "False", "no Controller", name="y"), "")
    untouched(before)
    equal(hers.pods(), {}, "Pods of hers")


@case
def own_place():
    """with a Controller of her own the Pods are in her namespace, whatever the template
    says, and take no Secret of another one"""
    before = state_of_victims()
    check(make("Controller", "slurm", controller(
        f"{victims.namespace}/slurm-auth-slurm")), "the Controller")
    made = make("NodeSet", "x", node_set(template={
        "metadata": {"namespace": victims.namespace, "name": "w-9"}}))
    if made is None:  # the definition has no such field
        check(make("NodeSet", "x", node_set()), "a plain NodeSet")
    wait_for("the operator to say something", lambda: hers.condition(
        "Available", name="x"))
    never("a Pod that has a key", lambda: any(
        source["secret"]["name"] == "slurm-auth-slurm"
        for pod in hers.pods().values() for volume in pod["spec"]["volumes"]
        for source in volume.get("projected", {}).get("sources", [])
        if "secret" in source), SOON)
    untouched(before)


@case
def false_owner():
    """a Pod that says it is of the others' NodeSet is none of it, and her NodeSet of the
    same name does not move theirs"""
    before = state_of_victims()
    theirs = bed.api("GET", victims.path("nodesets", "w"))["metadata"]["uid"]
    labels = victims.pods()["w-0"]["metadata"]["labels"]
    kubectl("create", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": "w-0", "labels": labels, "ownerReferences": [{
                "apiVersion": f"{slinky.GROUP}/v1beta1", "kind": "NodeSet",
                "name": "w", "uid": theirs, "controller": True}]},
        "spec": {"containers": [{"name": "c", "image": "c"}]}}))
    make("Controller", "slurm", controller())
    make("NodeSet", "w", node_set(replicas=0))
    hers.wait_condition("Available", "True", "0 of 0")
    check(kubectl("delete", "nodeset", "w", "--wait=false")[0] == 0, "the deletion")
    wait_for("hers to be gone", lambda: not bed.api(
        "GET", hers.path("nodesets"))["items"])
    equal(victims.status()["replicas"], 1, "the others' count")
    untouched(before)


@case
def privileged():
    """what the Pod security of the namespace refuses, the operator does not get either;
    a plain slurmd passes"""
    make("Controller", "slurm", controller())
    for name, more in (
            ("a", {"slurmd": {"image": "slurmd:test", "securityContext":
                              {"privileged": True}}}),
            ("b", {"template": {"spec": {"hostIPC": True}}}),
            ("c", {"template": {"spec": {"volumes": [
                {"name": "host", "hostPath": {"path": "/"}}]}}})):
        make("NodeSet", name, node_set(**more))
        hers.wait_condition("Failing", "True", "violates PodSecurity", name=name)
    equal(hers.pods(), {}, "Pods")
    make("NodeSet", "plain", node_set())
    wait_for("a plain one", lambda: "plain-0" in hers.pods())


@case
def rights():
    """for a slurmctld of hers the operator makes rights in her namespace, and none of
    the cluster"""
    def of_cluster():
        return {(kind, item["metadata"]["name"]) for kind in
                ("clusterroles", "clusterrolebindings") for item in bed.api(
                    "GET", f"/apis/rbac.authorization.k8s.io/v1/{kind}")["items"]}
    before = of_cluster()
    check(make("Controller", "inside", {
        "slurmKeyRef": {"name": "slurm-key", "key": "slurm.key"},
        "jwtKeyRef": {"name": "jwt-key", "key": "jwt.key"},
        "slurmctld": {"image": "slurmctld:test"},
        "template": {"spec": {"serviceAccountName": "default",
                              "automountServiceAccountToken": True}}}),
        "the Controller")
    wait_for("the operator to say something", lambda: hers.condition(
        "Accepted", plural="controllers", name="inside"))
    never("rights of the cluster", lambda: of_cluster() != before, SOON)
    for binding in bed.api("GET", "/apis/rbac.authorization.k8s.io/v1/"
                           "rolebindings")["items"]:
        if binding["metadata"].get("labels", {}).get(
                "app.kubernetes.io/name") != "slurmctld":
            continue
        for subject in binding["subjects"]:
            equal(subject.get("namespace"), binding["metadata"]["namespace"],
                  "the namespace of who has the rights")


run(before_each=before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
