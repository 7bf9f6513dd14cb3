#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What protects a slurmd Pod from others: no eviction while its node has jobs, and on a
real kubelet readiness by the agent's word and the time to drain before the end."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import node_sets
import real_nodes
from node_sets import Frame, Place, is_ready
from tap import case, check, equal, last_case, never, run, wait_for

NODES = [f"evict{i}" for i in range(4)]
place = Place("evictions", NODES)
BUDGET = "slurm-workers-pdb-slurm"
REGISTERED = "slurmk8s/Registered"
SOON = 3  # seconds in which a Pod would have become ready

frame = Frame(NODES, place)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(frame.end(), 0, "exit status of the operator")


def budget():
    try:
        return bed.api("GET", f"/apis/policy/v1/namespaces/{place.namespace}/"
                       f"poddisruptionbudgets/{BUDGET}")
    except bed.ApiError as error:
        if error.status == 404:
            return None
        raise


def wait_budget(healthy):
    """Until the budget is there, and Kubernetes has counted with its present form."""
    def counted():
        found = budget()
        said = (found or {}).get("status", {})
        return said.get("observedGeneration") == \
            (found or {}).get("metadata", {}).get("generation", 0) and \
            said.get("currentHealthy") == healthy
    wait_for(f"the budget with {healthy} Pods", counted)


def evict(name):
    """The status of the answer."""
    try:
        bed.api("POST", place.core("pods", name) + "/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": name, "namespace": place.namespace}})
    except bed.ApiError as error:
        return error.status
    return 201


@case
def busy_stays():
    """the Pod of a node with jobs is not evicted, an idle one is"""
    place.controller()
    place.node_set(replicas=2)
    place.wait_pods("w-0", "w-1")
    place.busy("w-0")
    wait_budget(1)
    before = place.uids()
    equal(evict("w-0"), 429, "the eviction of a busy one")
    equal(evict("w-1"), 201, "the eviction of an idle one")
    wait_for("another w-1", lambda: place.uids().get("w-1", before["w-1"]) !=
             before["w-1"])
    equal(place.uids()["w-0"], before["w-0"], "the busy one")
    place.busy("w-0", False)
    equal(evict("w-0"), 201, "the eviction once its jobs have ended")


@case
def by_choice():
    """workloadDisruptionProtection: false leaves the Pods of this NodeSet to evictions,
    and those of others protected"""
    place.controller()
    place.node_set("w", replicas=1)
    place.node_set("free", replicas=1, workloadDisruptionProtection=False)
    place.wait_pods("w-0", "free-0")
    place.busy("w-0")
    place.busy("free-0")
    wait_budget(1)
    equal(evict("w-0"), 429, "the eviction of the protected one")
    equal(evict("free-0"), 201, "the eviction of the other one")


@case
def put_right():
    """a budget that somebody deletes or changes comes back"""
    place.controller()
    place.node_set(replicas=1)
    wait_for("the budget", budget)
    bed.api("DELETE", f"/apis/policy/v1/namespaces/{place.namespace}/"
            f"poddisruptionbudgets/{BUDGET}", {})
    wait_for("another budget", budget)
    bed.api("PATCH", f"/apis/policy/v1/namespaces/{place.namespace}/"
            f"poddisruptionbudgets/{BUDGET}", {"spec": {"maxUnavailable": 1}},
            node_sets.MERGE)
    wait_for("it to be as it was", lambda: budget()["spec"]["maxUnavailable"] == 0)


def answers_as_slurmd():
    """A container that answers on slurmd's port, and does nothing else."""
    return {"image": "busybox:stable", "imagePullPolicy": "IfNotPresent",
            "command": ["sh", "-c", "mkdir /www; touch /www/livez /www/readyz; "
                        "httpd -p 6818 -h /www; trap 'exit 0' TERM; "
                        "while :; do sleep 0.1; done", "sh"]}


@case
def registered():
    """on a real kubelet: a Pod is ready when the agent says that slurmd is registered,
    and its slurmd lives on for a moment once it is deleted"""
    real_nodes.need_one()
    place.controller()
    bed.api("POST", place.core("secrets"), {
        "metadata": {"name": "slurm-auth-slurm"},
        "stringData": {"slurm.key": "a key that nobody uses"}})
    place.make("NodeSet", "w", {
        "controllerRef": {"name": "slurm"}, "replicas": 1,
        "slurmd": answers_as_slurmd()})
    wait_for("the Pod", lambda: "w-0" in place.pods())
    bed.api("POST", place.core("pods", "w-0") + "/binding", {
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "w-0"},
        "target": {"kind": "Node", "name": real_nodes.FIRST}})

    def said(kind):
        return next((c["status"] for c in place.pods()["w-0"]["status"].get(
            "conditions", []) if c["type"] == kind), None)
    wait_for("its containers to be ready", lambda: said("ContainersReady") == "True",
             60)
    never("a Pod that is ready", lambda: said("Ready") == "True", SOON)
    place.wait_condition("Available", "False", "0 of 1")

    place.patch_status("w-0", {"type": REGISTERED, "status": "True"})
    wait_for("the Pod to be ready", lambda: is_ready(place.pods()["w-0"]))
    place.wait_condition("Available", "True")
    place.patch_status("w-0", {"type": REGISTERED, "status": "False"})
    place.wait_condition("Available", "False", "0 of 1")

    uid = place.uids()["w-0"]
    bed.delete("w-0", place.namespace)
    # The agent reads this; the container still runs then.
    pod = wait_for("its deletion", lambda: next(
        (p for p in place.pods().values() if p["metadata"]["uid"] == uid and
         p["metadata"].get("deletionTimestamp")), None))
    check("running" in pod["status"]["containerStatuses"][0]["state"],
          pod["status"]["containerStatuses"])
    equal(pod["spec"]["containers"][0]["lifecycle"],
          {"preStop": {"sleep": {"seconds": 3}}}, "its hook")
    wait_for("it to be gone", lambda: place.uids().get("w-0") != uid, 60)


run(before_each=frame.before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
