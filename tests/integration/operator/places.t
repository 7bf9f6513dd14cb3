#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""On which Nodes the Pods of NodeSets run: one on each that fits in the mode
DaemonSet, each on its first one with pinToNode; and what a Node says of its Slurm
node. kwok plays the kubelets, and the cases play the scheduler and the agent."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from node_sets import MERGE, REQUEST, Frame, Place, make_nodes
from tap import case, check, equal, last_case, never, run, wait_for

NODES = [f"place{i}" for i in range(3)]
TEAM = "example.com/team"
FORGET = "slurmk8s/forget-node"
SOON = 3  # seconds in which a wrong deletion would have happened
place = Place("places", NODES)
frame = Frame(NODES, place)


@last_case
def ends():
    """the operator ends by a signal"""
    make_nodes(NODES)
    equal(frame.end(), 0, "exit status of the operator")


def mark(node, labels=None, annotations=None):
    bed.api("PATCH", f"/api/v1/nodes/{node}",
            {"metadata": {"labels": labels or {}, "annotations": annotations or {}}},
            MERGE)


def team_of(*nodes):
    for node in NODES:
        mark(node, {TEAM: "blue" if node in nodes else None})


def daemon_set(**more):
    place.controller()
    return place.node_set(scalingMode="DaemonSet", template={
        "spec": {"nodeSelector": {TEAM: "blue"}}}, **more)


def wait_names(*names):
    wait_for(f"exactly the Pods {names}", lambda: set(place.pods()) == set(names))


def node_of(pod):
    """On which it must run."""
    affinity = pod["spec"]["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"]
    return affinity["nodeSelectorTerms"][0]["matchFields"][0]["values"][0]


def bind(*names):
    """Each to its Node, as the scheduler does."""
    for name in names:
        bed.api("POST", place.core("pods", name) + "/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"kind": "Node", "name": node_of(place.pods()[name])}})
    wait_for("the Pods to be ready", lambda: place.status().get(
        "readyReplicas") == len(names))


@case
def one_on_each():
    """a Pod on each Node that fits, with the name of that; one more Node, one more
    Pod; one that fits no more loses its Pod when the agent has answered"""
    team_of(*NODES[:2])
    daemon_set()
    wait_names("w-place0", "w-place1")
    pods = place.pods()
    equal({p["spec"]["hostname"]: node_of(p) for p in pods.values()},
          {"place0": "place0", "place1": "place1"}, "host names and Nodes")
    bind("w-place0", "w-place1")
    place.wait_condition("Available", "True", "2 of 2")
    check(place.condition("Served")["status"] == "True", place.condition("Served"))

    mark("place2", {TEAM: "blue"})
    wait_names("w-place0", "w-place1", "w-place2")
    mark("place1", {TEAM: None})
    place.wait_asked("w-place1")
    never("a deletion", lambda: "w-place1" not in place.pods(), SOON)
    place.answer("w-place1")
    wait_names("w-place0", "w-place2")
    equal(place.status()["desired"], 2, "desired")


@case
def node_is_gone():
    """the Pod of a Node that is deleted is asked to go, with its record if
    pruneSlurmNodeRecords says so; that of a Node that only fits no more keeps it"""
    team_of(*NODES[:2])
    daemon_set(pruneSlurmNodeRecords="NodeNotFound")
    wait_names("w-place0", "w-place1")
    bind("w-place0", "w-place1")
    mark("place0", {TEAM: None})
    place.wait_asked("w-place0")
    bed.api("DELETE", "/api/v1/nodes/place1", {})
    asked = wait_for("the request", lambda: place.pods().get("w-place1", {}).get(
        "metadata", {}).get("annotations", {}).get(REQUEST) and place.pods())
    equal(asked["w-place1"]["metadata"]["annotations"].get(FORGET), "true",
          "the record of the one whose Node is gone")
    equal(asked["w-place0"]["metadata"]["annotations"].get(FORGET), None,
          "that of the other")
    make_nodes(NODES)


@case
def other_mode():
    """a NodeSet that changes its mode gets other Pods, and asks those that it had"""
    team_of(NODES[0])
    place.controller()
    place.node_set(replicas=1)
    place.wait_pods("w-0")
    place.change(scalingMode="DaemonSet", template={
        "spec": {"nodeSelector": {TEAM: "blue"}}})
    place.wait_asked("w-0")
    place.answer("w-0")
    wait_names("w-place0")


@case
def pinned():
    """with pinToNode a Pod comes back to the Node on which it was, and the status
    says which that is"""
    place.controller()
    place.node_set(replicas=2, pinToNode=True)
    before = {name: pod["spec"]["nodeName"] for name, pod in
              place.wait_pods("w-0", "w-1").items()}
    wait_for("the pins", lambda: place.status().get("ordinalToNode") ==
             {"0": before["w-0"], "1": before["w-1"]})
    uid = place.uids()["w-0"]
    bed.delete("w-0", place.namespace)
    wait_for("another w-0", lambda: place.uids().get("w-0", uid) != uid)
    equal(node_of(place.pods()["w-0"]), before["w-0"], "its Node")
    place.change(pinToNode=False)
    wait_for("no pins", lambda: not place.status().get("ordinalToNode"))


@case
def said_by_the_node():
    """topology and features that a Node's annotations say are on its Pod, and go"""
    topology = "topology.slinky.slurm.net/spec"
    features = "features.slinky.slurm.net/spec"
    place.controller()
    place.node_set(replicas=1)
    node = place.wait_pods("w-0")["w-0"]["spec"]["nodeName"]
    mark(node, annotations={topology: "default:s1", features: "fast,big"})

    def has():
        there = place.pods()["w-0"]["metadata"].get("annotations", {})
        return there.get(topology), there.get(features)
    wait_for("the annotations", lambda: has() == ("default:s1", "fast,big"))
    mark(node, annotations={topology: None, features: None})
    wait_for("no annotations", lambda: has() == (None, None))


run(before_each=frame.before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
