#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A kubelet's own credentials: what they may write on the kubelet's Node, and that
they decide neither whether Slurm has it, nor its name, partitions and place. Each
attempt is printed with its answer."""
import copy
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import node_moves
from admission import as_somebody
from tap import case, check, equal, run, wait_for

NODE = "taken"  # whose kubelet somebody has taken over
OPT_IN = "scheduler.slinky.slurm.net/external-node"
NAME = "slinky.slurm.net/slurm-nodename"
PARTITIONS = "scheduler.slinky.slurm.net/external-node-partitions"
TOPOLOGY = "topology.slinky.slurm.net/spec"
WORDS = "a kubelet may not change"
POLICY = "slurm-k8s-bridge-node-labels"
REGISTRATION = "slurm-k8s-bridge-node-registration"


def set_up():
    admission.apply()
    node_moves.delete(NODE)
    admission.make("/api/v1/nodes", {"metadata": {
        "name": NODE, "labels": {NAME: "c1", "pool": "a"},
        "annotations": {PARTITIONS: "kwok"}}})
    wait_for("the policies to act", lambda: WORDS in kubelet(
        "label", "node", NODE, f"{OPT_IN}=true") and
        OPT_IN not in registered().get("labels", {}))


def kubelet(*words, name=NODE):
    return as_somebody(f"system:node:{name}", ["system:nodes"], *words,
                       "--dry-run=server")


def patch(body):
    return kubelet("patch", "node", NODE, "--type=merge", "-p",
                   json.dumps({"metadata": body}))


def put_status(body):
    """Writes the Node with these changes of its metadata by the subresource
    status, which a kubelet may write and may not read."""
    path = f"/api/v1/nodes/{NODE}"
    node = json.loads(bed.run("kubectl", "get", "--raw", path))
    for field, values in body.items():
        node["metadata"][field] = \
            {**node["metadata"].get(field, {}), **values} if values else {}
    written = bed.SANDBOX / "taken-node.json"
    written.write_text(json.dumps(node))
    return as_somebody(f"system:node:{NODE}", ["system:nodes"], "replace",
                       "--raw", f"{path}/status?dryRun=All", "-f",
                       str(written))


# What a kubelet with --node-labels sends.
NEW = {"apiVersion": "v1", "kind": "Node", "metadata": {
    "name": "new",
    "labels": {OPT_IN: "true", NAME: "c7", "pool": "b",
               "kubernetes.io/hostname": "new"},
    "annotations": {PARTITIONS: "secret", TOPOLOGY: "t:s1", "theirs": "1"}}}


def registered(user="system:node:new", groups=("system:nodes",), **annotations):
    """The metadata of a Node that this user registers, with more annotations of
    the agent's."""
    node = copy.deepcopy(NEW)
    node["metadata"]["annotations"].update(
        {f"slurmk8s/{key}": value for key, value in annotations.items()})
    path = bed.SANDBOX / "new-node.json"
    path.write_text(json.dumps(node))
    said = as_somebody(user, groups, "create", "-f", str(path),
                       "--dry-run=server", "-o", "json")
    check("{" in said, said)
    return json.loads(said[said.index("{"):])["metadata"]


@case
def changes():
    """labels and annotations that say what a node is in Slurm are not a kubelet's:
    set, changed or removed, by any way of writing"""
    for key in (OPT_IN, NAME):
        check(WORDS in kubelet("label", "node", NODE, "--overwrite",
                               f"{key}=c7"), key)
    check(WORDS in kubelet("label", "node", NODE, f"{NAME}-"), "removed")
    for key in (PARTITIONS, TOPOLOGY, "slurmk8s/devices"):
        said = kubelet("annotate", "node", NODE, "--overwrite", f"{key}=secret")
        check(WORDS in said or "only slurmk8sd may set" in said, said)
    check(WORDS in kubelet("annotate", "node", NODE, f"{PARTITIONS}-"),
          "removed")
    for write in (patch, put_status):
        check(WORDS in write({"labels": {OPT_IN: "true"}}),
              f"label by {write.__name__}")
        check(WORDS in write({"annotations": {PARTITIONS: "secret"}}),
              f"annotation by {write.__name__}")
        check(WORDS in write({"labels": None, "annotations": None}),
              f"all by {write.__name__}")


@case
def its_own():
    """all else it may write as before"""
    for said in (patch({"labels": {"pool": "b"}}),
                 patch({"annotations": {"theirs": "2"}})):
        check("ValidatingAdmissionPolicy" not in said and "patched" in said,
              said)
    said = put_status({"labels": {"pool": "b"}})
    check(json.loads(said)["metadata"]["labels"]["pool"] == "b", said)


@case
def registration():
    """a Node that its kubelet registers comes without them, and is not refused;
    with an administrator's credentials it keeps them"""
    made = registered(cordoned="DRAIN: disk")
    labels = {key: value for key, value in made["labels"].items()
              if not key.startswith("beta.kubernetes.io/")}
    equal(labels, {"pool": "b", "kubernetes.io/hostname": "new"}, "labels")
    equal(made.get("annotations"), {"theirs": "1"}, "annotations")
    made = registered("admin", ("system:masters",))
    equal(made["labels"][NAME], "c7", "an administrator's label")
    equal(made["annotations"][PARTITIONS], "secret", "and annotation")


@case
def without_the_policies():
    """without the policies a kubelet joins Slurm under any name, in any
    partition"""
    with admission.without_policies(POLICY):
        wait_for("the policy to be gone", lambda: WORDS not in kubelet(
            "label", "node", NODE, f"{OPT_IN}=true"))
        said = patch({"labels": {OPT_IN: "true", NAME: "c7"},
                      "annotations": {PARTITIONS: "secret"}})
        check("patched" in said, said)
    with admission.without_policies(REGISTRATION, kind="mutating"):
        wait_for("that of registration to be gone", lambda:
                 registered()["labels"].get(NAME) == "c7")


@case
def cleans_up():
    """the Node is gone again"""
    node_moves.delete(NODE)
    check(NODE not in [node["metadata"]["name"] for node in
                       bed.api("GET", "/api/v1/nodes")["items"]], "it is gone")


run(set_up, after_failure=bed.last_words)
