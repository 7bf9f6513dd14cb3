#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's token: what it may do with its rights, and what policies refuse
it all the same. Every rule is tried allowed and refused, as a dry run with the
agent's own token."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
from admission import As, pods_path, refused
from tap import case, check, run, wait_for

DEMAND = "slurmk8s-waits"  # a scheduler that does not exist
STRANGER = "stranger"  # a Node that is not opted in
LABEL = bed.JOB_LABEL
GENERATION = bed.GENERATION_ANNOTATION
agent = None


def metadata(labels=None, annotations=None, **more):
    body = dict(more)
    if labels:
        body["labels"] = labels
    if annotations:
        body["annotations"] = annotations
    return {"metadata": body}


def a_node():
    nodes = bed.api("GET", "/api/v1/nodes")["items"]
    return next(n["metadata"]["name"] for n in nodes
                if n["metadata"]["name"].startswith("kn"))


def set_up():
    global agent
    if agent:
        return
    admission.apply()
    agent = As(admission.token(*admission.AGENT))
    bed.clean()
    bed.create(bed.pod("ours"))
    bed.wait_phase("ours", "Running")
    waits = bed.pod("waits", schedulingGates=[{"name": "example.com/hold"}])
    waits["metadata"]["finalizers"] = ["example.com/hold"]
    bed.create(waits)
    bed.create(bed.pod("theirs", scheduler="default-scheduler",
                       nodeName=a_node()))
    bed.create(bed.pod("stands", scheduler=DEMAND))
    bed.create(bed.pod("stands-on-node", scheduler=DEMAND, nodeName=a_node()))
    admission.make("/api/v1/nodes", {"metadata": {
        "name": STRANGER, "annotations": {"theirs": "1"}},
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}})
    # Policies act about a second after they were made, and say nothing then.
    wait_for("the policies to act", lambda: acts(
        agent.patch, pods_path("theirs"), metadata({"a": "b"})))


def acts(function, *arguments):
    try:
        function(*arguments)
    except bed.ApiError as error:
        return "ValidatingAdmissionPolicy" in error.message
    return False


def tear_down():
    bed.api("PATCH", pods_path("waits"), metadata(finalizers=None),
            admission.MERGE)
    for item in (f"/api/v1/nodes/{STRANGER}",):
        bed.api("DELETE", item)


@case
def others_pods():
    """of other schedulers' Pods the agent may change nothing, nor delete them"""
    only = "only touch Pods for Slurm"
    refused(only, agent.patch, pods_path("theirs"), metadata({LABEL: "1"}))
    refused(only, agent.patch, pods_path("theirs"),
            {"spec": {"activeDeadlineSeconds": 1}})
    refused(only, agent.patch, pods_path("theirs", sub="status"),
            {"status": {"message": "x"}})
    refused(only, agent.delete, pods_path("theirs"))


@case
def stands_for_a_node():
    """of one that stands for a Node, it may say that it waits and may delete it; it may
    change nothing else, and nothing once the Pod is on a node"""
    only = "only touch Pods for Slurm"
    says = {"status": {"conditions": [{"type": "PodScheduled", "status": "False",
                                       "reason": "Unschedulable"}]}}
    agent.patch(pods_path("stands", sub="status"), says, admission.STRATEGIC)
    agent.delete(pods_path("stands"))
    refused(only, agent.patch, pods_path("stands"), metadata({LABEL: "1"}))
    refused(only, agent.patch, pods_path("stands"),
            {"spec": {"activeDeadlineSeconds": 1}})
    refused(only, agent.delete, pods_path("stands-on-node"))
    refused(only, agent.patch, pods_path("stands-on-node", sub="status"), says,
            admission.STRATEGIC)


@case
def stamps():
    """it writes its own label and annotations on Pods for Slurm, and no others"""
    agent.patch(pods_path("ours"), metadata({LABEL: "7"}, {
        bed.SLUID_ANNOTATION: "s7", bed.NODE_ANNOTATION: "n",
        GENERATION: "2"}))
    agent.patch(pods_path("waits"), metadata(annotations={GENERATION: "1"}))
    refused("only change labels", agent.patch, pods_path("ours"),
            metadata({"app": "x"}))
    refused("only change annotations", agent.patch, pods_path("ours"),
            metadata(annotations={"slurmk8s/user": "root"}))
    refused("only change annotations", agent.patch, pods_path("ours"),
            metadata(annotations={bed.PARTITION: None}))
    refused("only change annotations", agent.patch,
            pods_path("ours", sub="status"),
            metadata(annotations={"a": "b"}))


@case
def owners():
    """it changes neither finalizers nor owners"""
    words = "finalizers or owners"
    refused(words, agent.patch, pods_path("waits"), metadata(finalizers=None))
    refused(words, agent.patch, pods_path("ours"),
            metadata(finalizers=["example.com/x"]))
    refused(words, agent.patch, pods_path("ours"), metadata(ownerReferences=[{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "u"}]))


@case
def tokens():
    """it renews its own token, for 30 days at most, and nobody else's"""
    ask = lambda account, seconds, ns="slurm-k8s-bridge": agent.create(
        f"/api/v1/namespaces/{ns}/serviceaccounts/{account}/token",
        {"spec": {"expirationSeconds": seconds}})
    month = 30 * 24 * 3600
    got = ask("slurmk8sd", month)
    check(got["status"]["token"], "a token")
    refused("at most 30 days", ask, "slurmk8sd", month + 1)
    refused("cannot create resource", ask, "default", 3600)
    refused("cannot create resource", ask, "slurmk8sd", 3600, "default")


@case
def spec():
    """of a Pod's spec it may shorten the deadline, and nothing else"""
    words = "activeDeadlineSeconds of a Pod's spec only"
    agent.patch(pods_path("ours"), {"spec": {"activeDeadlineSeconds": 1}})
    image = {"spec": {"containers": [{"name": "main", "image": "evil"}]}}
    refused(words, agent.patch, pods_path("ours"), image, admission.STRATEGIC)
    refused(words, agent.patch, pods_path("ours"), [
        {"op": "add", "path": "/spec/tolerations/-",
         "value": {"operator": "Exists"}}], admission.JSON_PATCH)
    refused(words, agent.patch, pods_path("waits"),
            {"spec": {"schedulingGates": []}})


@case
def phase():
    """it may fail a Pod that waits, and of a running one only add conditions"""
    failed = {"status": {"phase": "Failed", "reason": "SlurmJobCancelled"}}
    disrupted = {"status": {"conditions": [
        {"type": "DisruptionTarget", "status": "True", "reason": "x",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}
    agent.patch(pods_path("waits", sub="status"), failed, admission.STRATEGIC)
    agent.patch(pods_path("ours", sub="status"), disrupted,
                admission.STRATEGIC)
    refused("only fail Pods", agent.patch, pods_path("ours", sub="status"),
            failed, admission.STRATEGIC)
    refused("only fail Pods", agent.patch, pods_path("waits", sub="status"),
            {"status": {"phase": "Running"}}, admission.STRATEGIC)


@case
def deletes():
    """it deletes what it has bound, and no Pod that waits"""
    agent.delete(pods_path("ours"))
    refused("only delete Pods that it has bound", agent.delete,
            pods_path("waits"))


@case
def binds():
    """a binding names the uid, the JobId and the SLUID, and nobody else's keys"""
    uid = bed.get("waits")["metadata"]["uid"]
    path = pods_path("waits", sub="binding")
    good = {"uid": uid, "labels": {LABEL: "7"},
            "annotations": {bed.SLUID_ANNOTATION: "s7",
                            bed.NODE_ANNOTATION: "n"}}

    def bind(**changes):
        agent.create(path, admission.binding("waits", a_node(),
                                             {**good, **changes}))

    # It comes to the Pod's gate, so no policy was in its way.
    refused("schedulingGates", bind)
    place = [f"topology.kubernetes.io/{of}" for of in ("zone", "region")]

    def set_place(value):  # which the API server copies into the binding
        bed.api("PATCH", f"/api/v1/nodes/{a_node()}", {"metadata": {"labels": {
            key: value for key in place}}}, admission.MERGE)
    set_place("here")
    try:
        refused("schedulingGates", bind)
    finally:
        set_place(None)
    refused("uid in a binding", bind, uid="")
    refused("JobId as its only label", bind, labels={})
    refused("JobId as its only label", bind, labels={LABEL: "0"})
    refused("JobId as its only label", bind, labels={LABEL: "7", "app": "x"})
    refused("must have the SLUID", bind, annotations={})
    refused("must have the SLUID", bind,
            annotations={bed.SLUID_ANNOTATION: "s7", "a": "b"})


@case
def evicts():
    """an eviction names the uid"""
    uid = bed.get("ours")["metadata"]["uid"]
    path = pods_path("ours", sub="eviction")
    agent.create(path, admission.eviction("ours", uid))
    refused("uid in an eviction", agent.create, path,
            admission.eviction("ours"))


def node(name):
    return f"/api/v1/nodes/{name}"


@case
def nodes():
    """of Nodes that are opted in it may change our taint, the cordon and our
    marks; of others nothing"""
    ours = a_node()
    managed = {"key": "slinky.slurm.net/managed-node", "effect": "NoSchedule"}
    before = bed.api("GET", node(ours)).get("spec", {}).get("taints", [])
    others = [t for t in before if t["key"] != managed["key"]]
    agent.patch(node(ours), {"spec": {"unschedulable": True}})
    agent.patch(node(ours), metadata(annotations={"slurmk8s/x": "1"}))
    agent.patch(node(ours), {"spec": {"taints": others + [managed]}})
    refused("labels, finalizers or owners", agent.patch, node(ours),
            metadata({"app": "x"}))
    refused("annotations that are its own", agent.patch, node(ours),
            metadata(annotations={"kwok.x-k8s.io/node": None}))
    refused("only change the taint", agent.patch, node(ours),
            {"spec": {"taints": others + [{"key": "b",
                                           "effect": "NoSchedule"}]}})
    refused("must not end Pods", agent.patch, node(ours),
            {"spec": {"taints": others + [dict(managed, effect="NoExecute")]}})
    for change in ({"spec": {"unschedulable": True}},
                   metadata(annotations={"slurmk8s/x": "1"}),
                   {"spec": {"taints": [managed]}}):
        refused("that are opted in", agent.patch, node(STRANGER), change)


@case
def node_marks():
    """nobody but the agent sets our marks on a Node; who may write Nodes may
    remove them"""
    admin = As(None)
    words = "only slurmk8sd may set"
    mark = metadata(annotations={"slurmk8s/x": "1"})
    refused(words, admin.patch, node(STRANGER), mark)
    refused(words, admin.create, "/api/v1/nodes", {
        "metadata": {"name": "new", "annotations": {"slurmk8s/x": "1"}}})
    ours = a_node()
    As(agent.token, dry=False).patch(node(ours), mark)
    try:
        refused(words, admin.patch, node(ours),
                metadata(annotations={"slurmk8s/x": "2"}))
        admin.patch(node(ours), metadata({"app": "x"}))
        admin.patch(node(ours), metadata(annotations={"slurmk8s/x": None}))
    finally:
        bed.api("PATCH", node(ours),
                metadata(annotations={"slurmk8s/x": None}), admission.MERGE)


@case
def order_of_devices():
    """which device each index is, administrators say, and no kubelet"""
    As(None).patch(node(STRANGER),
                   metadata(annotations={"slurmk8s/devices": "gpu=GPU-1"}))
    said = bed.run("kubectl", "annotate", "node", STRANGER,
                   "slurmk8s/devices=gpu=GPU-1", "--dry-run=server",
                   f"--as=system:node:{STRANGER}", "--as-group=system:nodes",
                   "--as-group=system:authenticated", check=False)
    check("only slurmk8sd may set" in said or
          "a kubelet may not change the annotations" in said, said)


@case
def claims():
    """of a claim it may name the node, and nothing else"""
    path = f"/api/v1/namespaces/{bed.NAMESPACE}/persistentvolumeclaims"
    admission.make(path, {
        "metadata": {"name": "claim"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "none",
                 "resources": {"requests": {"storage": "1Gi"}}}})
    try:
        agent.patch(path + "/claim", metadata(annotations={
            "volume.kubernetes.io/selected-node": "kn1"}))
        refused("only change the annotation", agent.patch, path + "/claim",
                metadata(annotations={"a": "b"}))
        refused("labels, finalizers or owners", agent.patch, path + "/claim",
                metadata({"a": "b"}))
        refused("spec of a claim", agent.patch, path + "/claim",
                {"spec": {"volumeName": "mine"}})
    finally:
        bed.api("DELETE", path + "/claim")


@case
def volumes():
    """a volume that is nobody's it may give to a claim, and change nothing else"""
    path = "/api/v1/persistentvolumes"
    for name, more in (("free", {}), ("taken", {"claimRef": {
            "kind": "PersistentVolumeClaim", "namespace": "other",
            "name": "claim", "uid": "somebody-s"}})):
        admission.make(path, {"metadata": {"name": name}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "none", "hostPath": {"path": "/tmp/x"}, **more}})
    give = {"spec": {"claimRef": {"kind": "PersistentVolumeClaim",
                                  "namespace": "test", "name": "claim",
                                  "uid": "ours"}}}
    try:
        agent.patch(path + "/free", {**give, **metadata(annotations={
            "pv.kubernetes.io/bound-by-controller": "yes"})})
        refused("a volume that is nobody's", agent.patch, path + "/taken", give)
        refused("a volume that is nobody's", agent.patch, path + "/taken",
                {"spec": {"claimRef": None}})
        refused("only add the annotation", agent.patch, path + "/free",
                metadata(annotations={"a": "b"}))
        refused("labels, finalizers or owners", agent.patch, path + "/free",
                metadata({"a": "b"}))
        refused("only set the claim", agent.patch, path + "/free",
                {"spec": {"persistentVolumeReclaimPolicy": "Delete"}})
    finally:
        for name in ("free", "taken"):
            bed.api("DELETE", f"{path}/{name}")


@case
def cleans_up():
    """the agent still does its work under these limits: a Pod runs and ends"""
    try:
        size = bed.log_size("slurmk8sd")
        bed.create(bed.pod("works", annotations={"sandbox/run": "100ms"}))
        bed.wait_ended("works", "COMPLETED", "0:0")
        bed.create(bed.pod("cancelled"))
        bed.wait_phase("cancelled", "Running")
        bed.run("scancel", str(bed.job_of("cancelled")["job_id"]))
        wait_for("the Pod to end", lambda: not bed.get("cancelled") or
                 bed.phase_is("cancelled", "Failed"))
        check("forbidden" not in bed.log_since("slurmk8sd", size),
              "no write was refused")
    finally:
        tear_down()


run(set_up, after_failure=bed.last_words)
