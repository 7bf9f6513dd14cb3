#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Controller that is not external: what the operator makes for it with the rights
that it has, and in which order that goes. No slurmctld runs: its image is none."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slinky
from node_sets import MERGE, Place
from operator_process import Operator, account_token, install, uninstall
from tap import case, check, equal, last_case, run, wait_for

NAMESPACE = "cluster"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
RBAC = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
STATEFUL_SET = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/slurm-controller"
KEYS = {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "keys", "key": "jwt.key"}}

place = Place(NAMESPACE, ())
path, make = place.path, place.make
operator = None


def wait_condition(name, kind, holds, words=""):
    """A condition of a Controller."""
    place.wait_condition(kind, holds, words, plural="controllers", name=name)


def get(where, token=None):
    try:
        return bed.api("GET", where, token=token)
    except bed.ApiError as error:
        if error.status != 404:
            raise
        return None


def conf():
    found = get(f"{CORE}/configmaps/slurm-config")
    return found["data"]["slurm.conf"] if found else ""


@case
def objects():
    """a Controller and a NodeSet: all objects, owned by the Controller, each applied
    once; nothing can be done with more rights than the operator has"""
    global operator
    install()
    slinky.namespace(NAMESPACE)
    operator = Operator("--agent-image", "agent:test").start().leads()
    make("Controller", "slurm", {
        **KEYS, "slurmctld": {"image": "ctld:test"}, "extraConf": "KillWait=47"})
    make("NodeSet", "w", {"controllerRef": {"name": "slurm"}, "replicas": 1,
                          "partition": {"enabled": True},
                          "slurmd": {"image": "slurmd:test"}})
    uid = get(path("controllers", "slurm"))["metadata"]["uid"]
    made = [f"{CORE}/serviceaccounts/slurm-controller",
            f"{RBAC}/roles/slurm-controller",
            f"{RBAC}/rolebindings/slurm-controller",
            f"{CORE}/configmaps/slurm-config", f"{CORE}/services/slurm-controller",
            f"{CORE}/services/slurm-controller-internal", STATEFUL_SET]
    for where in made:
        found = wait_for(where, lambda where=where: get(where))
        (owner,) = found["metadata"]["ownerReferences"]
        equal(owner["uid"], uid, f"owner of {where}")
    wait_for("the partition", lambda: "PartitionName=w Nodes=w\n" in
             conf().replace(" \n", "\n"))
    check(conf().endswith("\n# extraConf\nKillWait=47\n"), conf())
    wait_condition("slurm", "Failing", "False")
    wait_condition("slurm", "Accepted", "True")

    def settled():
        return [get(where)["metadata"].get("managedFields") and
                get(where)["metadata"]["annotations"]["slurmk8s/applied"]
                for where in made]
    before = settled()
    operator.stop("KILL")
    operator.start().leads()
    wait_for("the operator to know all", lambda: operator.page("/readyz")[0] == 200)
    equal(settled(), before, "what was applied")


@case
def no_more_rights():
    """the operator's token gives nobody what it has not itself, and reads no Secret"""
    token = account_token()
    for rules in ([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
                  [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]):
        try:
            bed.api("POST", f"{RBAC}/roles", {"metadata": {"name": "more"},
                                              "rules": rules}, token=token)
        except bed.ApiError as error:
            equal(error.status, 403, "the status")
        else:
            raise AssertionError(f"a Role with {rules} was made")
    try:
        bed.api("GET", f"{CORE}/secrets", token=token)
    except bed.ApiError as error:
        equal(error.status, 403, "the status")
    else:
        raise AssertionError("Secrets can be listed")


@case
def second():
    """a second Controller of the namespace gets nothing, and says why"""
    make("Controller", "other", {**KEYS, "slurmctld": {"image": "ctld:test"}})
    wait_condition("other", "Accepted", "False", "Controller slurm has a slurmctld")
    bed.api("DELETE", path("controllers", "other"), {})


@case
def order():
    """a Controller that is deleted stays, with its slurmctld, as long as a worker is
    there; a deletion in the foreground is refused"""
    wait_for("a worker", lambda: get(f"{CORE}/pods/w-0"))
    try:
        bed.api("DELETE", path("controllers", "slurm"),
                {"propagationPolicy": "Foreground"})
    except bed.ApiError as error:
        check("in the foreground" in error.message, error.message)
    else:
        raise AssertionError("it was deleted in the foreground")
    bed.api("DELETE", path("controllers", "slurm"), {})
    wait_condition("slurm", "Deleting", "True")
    check(get(STATEFUL_SET), "slurmctld has gone first")
    wait_for("the worker to be asked", lambda: "slurmk8s/worker-request" in
             get(f"{CORE}/pods/w-0")["metadata"].get("annotations", {}))
    bed.api("PATCH", path("nodesets", "w"), {"metadata": {"annotations": {
        "slurmk8s/delete": "now"}}}, MERGE)
    bed.api("DELETE", path("nodesets", "w"), {})
    for plural, name in (("nodesets", "w"), ("controllers", "slurm")):
        wait_for(f"{name} to be gone", lambda plural=plural, name=name:
                 get(path(plural, name)) is None, 60)
    wait_for("slurmctld to be gone", lambda: get(STATEFUL_SET) is None)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(operator.stop(), 0, "its exit status")
    slinky.delete_namespace(NAMESPACE)
    uninstall()


def last_words():
    return operator.log.read_text()[-3000:] if operator else ""


run(after_failure=last_words)
