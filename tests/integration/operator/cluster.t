#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A Controller that is not external: what the operator makes for it with the rights
that it has, and in which order that goes. No slurmctld runs: its image is none."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slinky
from node_sets import MERGE, Place
from operator_process import Operator, account_token, install, uninstall
from tap import case, check, equal, last_case, never, run, wait_for

NAMESPACE = "cluster"
CORE = f"/api/v1/namespaces/{NAMESPACE}"
RBAC = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}"
STATEFUL_SET = f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/slurm-controller"
KEYS = {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "keys", "key": "jwt.key"}}
NOW, FAR = "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"

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


def trials():
    """The Pods in which a configuration is tried."""
    return [pod for pod in bed.pods(NAMESPACE)
            if pod["metadata"]["labels"].get("app.kubernetes.io/name") ==
            "slurmctld-trial" and "deletionTimestamp" not in pod["metadata"]]


def play(state, ready=False, other_than=None):
    """The kubelet and slurmctld of the trial that has begun; returns its Pod."""
    pod = wait_for("a trial", lambda: next(
        (one for one in trials()
         if one["metadata"]["name"] != other_than), None))
    bed.api("PATCH", f"{CORE}/pods/{pod['metadata']['name']}/status", {"status": {
        "phase": "Running" if ready else "Failed", "containerStatuses": [{
            "name": "slurmctld", "image": "ctld:test", "imageID": "x",
            "ready": ready, "restartCount": 0, "state": state}]}},
        "application/strategic-merge-patch+json")
    return pod["metadata"]["name"]


def accept():
    return play({"running": {"startedAt": NOW}}, ready=True)


def refuse(words):
    return play({"terminated": {"exitCode": 1, "reason": "Error", "message": words,
                                "startedAt": NOW, "finishedAt": FAR}})


def change(**spec):
    bed.api("PATCH", path("controllers", "slurm"), {"spec": spec}, MERGE)


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
    accept()
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
    wait_for("the partition", lambda: "PartitionName=w Nodes=w\n" in conf())
    check(conf().endswith("\n# extraConf\nKillWait=47\n"), conf())
    wait_for("no trial to be left", lambda: not trials())
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
def tried_first():
    """a configuration that a slurmctld refuses stays away from the other one, and its
    words are told; a corrected one gets there, and the Pod is not changed"""
    template = get(STATEFUL_SET)["spec"]["template"]
    before = conf()
    change(extraConf="Nonsense=1")
    wait_condition("slurm", "ConfigValid", "Unknown", "tries configuration")
    refused = refuse("error: unrecognized key: Nonsense\nfatal: no")
    wait_condition("slurm", "ConfigValid", "False", "unrecognized key: Nonsense")
    secrets = [volume for pod in trials() for volume in pod["spec"]["volumes"]
               if "secret" in json.dumps(volume)]
    equal(secrets, [], "Secrets of the trial")
    never("another slurm.conf", lambda: conf() != before, 3)
    operator.stop("KILL")  # it remembers
    operator.start().leads()
    wait_for("the operator to know all", lambda: operator.page("/readyz")[0] == 200)
    equal([pod["metadata"]["name"] for pod in trials()], [refused], "trials")

    change(extraConf="KillWait=48")
    play({"running": {"startedAt": NOW}}, ready=True, other_than=refused)
    wait_for("KillWait", lambda: conf().endswith("\nKillWait=48\n"))
    wait_condition("slurm", "ConfigValid", "True")
    wait_condition("slurm", "ConfigApplied", "False", "not read")
    wait_for("no trial to be left", lambda: not trials())
    equal(get(STATEFUL_SET)["spec"]["template"], template, "template of the Pod")
    left = [one["metadata"]["name"] for one in
            bed.api("GET", f"{CORE}/configmaps")["items"]
            if "trial" in one["metadata"]["name"]]
    equal(left, [], "ConfigMaps of trials")


@case
def by_reference():
    """scripts and files of ConfigMaps: one that is missing is told, a change of one is
    tried as any other"""
    before = conf()
    change(configFileRefs=[{"name": "files"}], prologScriptRefs=[{"name": "scripts"}])
    wait_condition("slurm", "ConfigValid", "False", 'no ConfigMap "files"')
    equal(conf(), before, "slurm.conf")
    for name, data in (("files", {"gres.conf": "# one"}),
                       ("scripts", {"first.sh": "#!/bin/sh\n"})):
        bed.api("POST", f"{CORE}/configmaps",
                {"metadata": {"name": name}, "data": data})
    first = accept()
    wait_for("the script", lambda: "\nProlog=first.sh\n" in conf())

    def data(name):
        return get(f"{CORE}/configmaps/slurm-config")["data"].get(name)
    equal(data("gres.conf"), "# one", "the file")
    wait_for("no trial to be left", lambda: not trials())
    bed.api("PATCH", f"{CORE}/configmaps/files", {"data": {"gres.conf": "# two"}},
            MERGE)
    play({"running": {"startedAt": NOW}}, ready=True, other_than=first)
    wait_for("the new file", lambda: data("gres.conf") == "# two")
    wait_for("no trial to be left", lambda: not trials())
    change(configFileRefs=None, prologScriptRefs=None)
    accept()
    wait_for("the files to be gone", lambda: data("gres.conf") is None)


@case
def drift():
    """what somebody changes or deletes is as it should be at once, and an Event says
    so"""
    before = conf()
    bed.api("PATCH", f"{CORE}/configmaps/slurm-config",
            {"data": {"slurm.conf": "mine"}}, MERGE)
    wait_for("slurm.conf", lambda: conf() == before, 5)
    bed.api("PATCH", STATEFUL_SET, {"spec": {"replicas": 0}}, MERGE)
    wait_for("one replica", lambda: get(STATEFUL_SET)["spec"]["replicas"] == 1, 5)
    for where in (f"{CORE}/services/slurm-controller", STATEFUL_SET,
                  f"{RBAC}/roles/slurm-controller"):
        uid = get(where)["metadata"]["uid"]
        bed.api("DELETE", where, {})
        wait_for(f"another {where}", lambda where=where, uid=uid:
                 (get(where) or {"metadata": {"uid": uid}})["metadata"]["uid"] !=
                 uid, 5)
    uid = get(path("controllers", "slurm"))["metadata"]["uid"]
    told = {(event["reason"], event["note"].split(" was ")[0])
            for event in bed.events_of(uid, NAMESPACE)}
    check({("Restored", "ConfigMap slurm-config"),
           ("Created", "Created StatefulSet slurm-controller")} <= told, str(told))
    check("ConfigValidNot" in {reason for reason, _ in told}, str(told))


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
def in_use():
    """--check-unused names what needs the operator, in the namespaces that it is
    given"""
    equal(operator.check_unused(),
          (4, "There are objects that only the operator can end: Controller "
           f"{NAMESPACE}/slurm, NodeSet {NAMESPACE}/w. Delete all Controllers and "
           "NodeSets first."), "what it says")
    equal(operator.check_unused("--namespace", "default"),
          (0, "No Controller and no NodeSet is there."), "what it says")


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
