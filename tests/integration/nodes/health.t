#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that fall ill, vanish and come back: Slurm gives them no more work,
nothing that runs is ended without a positive word, and nothing is stuck for
ever behind a dead kubelet."""
import contextlib
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import real_nodes
import slurmctld
from slurmctld import Running
from tap import Skip, case, check, equal, never, run, wait_for

LOST = 10  # NodeLostTimeout here, seconds
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
FAKE = "kwok.x-k8s.io/node"
OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service",
                  "value": "nodeshutdown", "effect": "NoExecute"}


def fresh():
    for node in bed.api("GET", "/api/v1/nodes")["items"]:
        if node["metadata"]["name"].startswith("kn"):
            set_kubelet(node["metadata"]["name"], True)
    bed.clean()
    wait_for("all nodes to take jobs", lambda: slurmctld.nodes() >=
             {f"kn{i}" for i in (1, 2, 3, 4)}, 60)


def patch_node(node, body, kind=MERGE, part=""):
    bed.api("PATCH", f"/api/v1/nodes/{node}{part}", body, kind)


def set_ready(node, ready):
    """As the kubelet, or Kubernetes after 50 s without a word of it, says."""
    patch_node(node, {"status": {"conditions": [
        {"type": "Ready", "status": "True" if ready else "False",
         "reason": "Test", "message": "as the test wants"}]}},
        STRATEGIC, "/status")


def set_kubelet(node, alive):
    """kwok plays the kubelet of Nodes that have its annotation."""
    patch_node(node, {"metadata": {"annotations":
                                   {FAKE: "fake" if alive else None}}})
    if not alive:
        set_ready(node, False)


def slurm_node(name):
    nodes = bed.json.loads(bed.run("scontrol", "show", "node", name, "--json"))
    return nodes["nodes"][0]


def drained(name, *words):
    node = slurm_node(name)
    return "DRAIN" in node["state"] and all(
        word in node["reason"] for word in ("slurmk8sd", *words))


def runs(name, **options):
    bed.create(bed.pod(name, **options))
    return Running(name)


def node_of(running):
    return running.pod["spec"]["nodeName"]


def wait_drained(node, *words):
    wait_for(f"Slurm to drain {node}", lambda: drained(node, *words))


def wait_usable(node):
    wait_for(f"Slurm to use {node} again",
             lambda: "DRAIN" not in slurm_node(node)["state"], 60)


def die_on_dead_kubelet(name):
    """A Pod that was deleted where nobody ends it before its kubelet is back; its
    Node, and since when that is ill."""
    # kwok also ends Pods where its annotation is gone
    pod = runs(name, annotations={"sandbox/stop": "1h"},
               terminationGracePeriodSeconds=3600)
    node = node_of(pod)
    since = int(time.time())
    set_kubelet(node, False)
    wait_drained(node, "not ready")
    bed.delete(name)
    check("deletionTimestamp" in bed.get(name)["metadata"], "it is terminating")
    return node, since


def kubelet_is_back(node, name):
    """And ends that Pod."""
    set_kubelet(node, True)
    bed.play(name, stop="1ms")


@case
def not_ready():
    """a Node is NotReady for longer than NodeLostTimeout: it is drained, its Pod
    and its job go on, and it is used again when it is back"""
    pod = runs("lives")
    node = node_of(pod)
    set_kubelet(node, False)

    wait_drained(node, "not ready")
    never("the Pod or its job is ended", lambda: pod.keeps_its_job(), LOST + 4)
    set_kubelet(node, True)
    wait_usable(node)
    pod.keeps_its_job()


@case
def dead_kubelet():
    """a Pod is deleted while its kubelet is dead: after NodeLostTimeout, not
    before, its job is FAILED, the node stays drained, the Pod is left to its
    kubelet"""
    node, since = die_on_dead_kubelet("stuck")

    job = bed.wait_job("stuck", "FAILED", LOST + 30)
    lasted = job["end_time"]["number"] - since
    check(lasted >= LOST, f"it ended after {lasted} s")
    check("NodeLost" in job["comment"], f"comment: {job['comment']}")
    never("the Pod is deleted by force", lambda: not bed.get("stuck"), 3)
    check(drained(node), "the node is drained")

    kubelet_is_back(node, "stuck")
    bed.wait_gone("stuck")
    wait_usable(node)


@case
def nothing_on_top():
    """while that Pod is stuck no other one is put on its node"""
    node, _ = die_on_dead_kubelet("stuck")
    bed.wait_job("stuck", "FAILED", LOST + 30)
    for i in range(6):
        bed.create(bed.pod(f"next-{i}", cpu="8"))

    for i in range(6):
        on = wait_for(f"next-{i} to be bound", lambda n=f"next-{i}":
                      bed.get(n)["spec"].get("nodeName"))
        check(on != node, "it is on the dead node")


@case
def out_of_service():
    """an administrator taints the dead Node out-of-service: the job is FAILED at
    once, and Kubernetes takes the Pod away"""
    with lost_after(600):
        node, _ = die_on_dead_kubelet("stuck")
        patch_node(node, {"spec": {"taints": [OUT_OF_SERVICE]}})
        try:
            job = bed.wait_job("stuck", "FAILED")
            check("out of service" in job["comment"], job["comment"])
            bed.wait_gone("stuck", 60)  # the PodGC controller looks every 20 s
            check(drained(node), "the node is drained")
        finally:
            patch_node(node, {"spec": {"taints": None}})


@contextlib.contextmanager
def lost_after(seconds):
    """NodeLostTimeout meanwhile."""
    conf = agent_conf.read(agent_conf.CONF)
    agent_conf.write(agent_conf.CONF, conf.replace(
        f"NodeLostTimeout={LOST}", f"NodeLostTimeout={seconds}"))
    bed.ctl("start", "slurmk8sd")  # restarts what was changed
    try:
        yield
    finally:
        agent_conf.write(agent_conf.CONF, conf)
        bed.ctl("start", "slurmk8sd")


@case
def deleted_and_made_again():
    """a Node is deleted and comes back under the same name, as when it is
    registered anew: Pod and job go on"""
    pod = runs("lives")
    node = node_of(pod)
    body = bed.api("GET", f"/api/v1/nodes/{node}")
    bed.api("DELETE", f"/api/v1/nodes/{node}", {})
    wait_drained(node, "no Kubernetes Node")
    check(bed.get("lives"), "the Pod is there")
    body["metadata"] = {key: body["metadata"][key]
                        for key in ("name", "labels", "annotations")}
    for name in list(body["metadata"]["annotations"]):
        if name.startswith("slurmk8s/"):  # the agent's alone
            del body["metadata"]["annotations"][name]
    body["spec"] = {}
    bed.api("POST", "/api/v1/nodes", body)

    wait_usable(node)
    never("the Pod or its job is ended", lambda: pod.keeps_its_job(), 5)


@case
def node_down_in_slurm():
    """an administrator sets the Slurm node DOWN: that is a positive word, the Pod
    ends and its job is NODE_FAIL"""
    pod = runs("ends")
    node = node_of(pod)
    with slurmctld.node_down(node, "broken fan"):
        bed.wait_ended("ends", "NODE_FAIL")
        wait_for("the Pod to end", lambda: not (there := bed.get("ends")) or
                 there["status"]["phase"] == "Failed")
        equal(slurm_node(node)["reason"], "broken fan", "whose reason it is")


@case
def many_at_once():
    """all Nodes fall ill together: nothing is concluded from it"""
    raise Skip("it takes six Nodes, the sandbox has four: unit tests have it")


@case
def real_kubelet_dead():
    """a real kubelet dies with its machine, its Pod is deleted: the job ends after
    NodeLostTimeout, and the machine's return clears all"""
    real_nodes.need_one()
    bed.create(bed.pod("stuck", real=True, cpu="100m", command="sleep 600"))
    bed.wait_phase("stuck", "Running", 60)
    bed.ctl("kill", "node")
    try:
        set_ready("real1", False)  # Kubernetes itself waits 50 s with it
        wait_drained("real1", "not ready")
        bed.delete("stuck")
        bed.wait_job("stuck", "FAILED", LOST + 30)
        check(bed.get("stuck"), "it was deleted by force")
    finally:
        bed.ctl("start", "node")
    bed.wait_gone("stuck", 120)
    wait_usable("real1")


agent_conf.edit(lambda conf: conf + f"NodeLostTimeout={LOST}\n")
run(before_each=fresh, after_each=bed.nothing_left,
    after_failure=bed.last_words)
