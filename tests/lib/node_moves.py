# SPDX-License-Identifier: GPL-2.0-or-later
"""What administrators, kubelets and other schedulers do to Nodes, and what Slurm
says of its own."""
import json

import bed
import kwok_nodes
from tap import wait_for

MERGE = "application/merge-patch+json"
LABEL = "scheduler.slinky.slurm.net/external-node"
PARTITIONS = "scheduler.slinky.slurm.net/external-node-partitions"
TOPOLOGY = "topology.slinky.slurm.net/spec"
SLURM_NAME = "slinky.slurm.net/slurm-nodename"
TAINT = "slinky.slurm.net/managed-node"
CORDONED, MAINTENANCE = "slurmk8s/cordoned", "slurmk8s/maintenance"


def get(name):
    return bed.api("GET", f"/api/v1/nodes/{name}")


def patch(name, body, kind=MERGE, part=""):
    return bed.api("PATCH", f"/api/v1/nodes/{name}{part}", body, kind)


def annotate(name, **values):
    """Of names with other letters: annotate("kn1", **{PARTITIONS: "kwok"})."""
    patch(name, {"metadata": {"annotations": values}})


def label(name, **values):
    patch(name, {"metadata": {"labels": values}})


def cordon(name, off=True):
    patch(name, {"spec": {"unschedulable": off or None}})


def annotations(name):
    return get(name)["metadata"].get("annotations", {})


def is_cordoned(name):
    return get(name)["spec"].get("unschedulable", False)


def taints(name):
    return [t for t in get(name)["spec"].get("taints", [])
            if t["key"] == TAINT]


def make(name, cpus=4, partitions="kwok", **more_labels):
    """A Node whose kubelet kwok plays."""
    body = kwok_nodes.node(name, cpus, partitions)
    body["metadata"]["labels"].update(more_labels)
    bed.api("POST", "/api/v1/nodes", body)


def delete(name):
    try:
        bed.api("DELETE", f"/api/v1/nodes/{name}", {})
    except bed.ApiError as error:
        if error.status != 404:
            raise


def foreign(name, node, cpu, scheduler="default-scheduler"):
    """A Pod of another scheduler on that Node, as a DaemonSet's."""
    body = bed.pod(name, cpu=str(cpu), scheduler=scheduler)
    body["spec"]["nodeName"] = node
    body["spec"]["tolerations"] = [{"operator": "Exists"}]
    return bed.create(body)


# ---- In Slurm


def in_slurm(name):
    """What scontrol says of it, or None."""
    shown = bed.run("scontrol", "show", "nodes", "--json")
    nodes = {n["name"]: n for n in json.loads(shown)["nodes"]}
    return nodes.get(name)


def usable(name):
    """It may have Pods: it is one of the agent's, and not drained or down."""
    node = in_slurm(name)
    return node and "k8s" in node["features"] and not {
        "DRAIN", "DOWN"} & set(node["state"])


def is_drained(name, *words):
    node = in_slurm(name)
    return node and "DRAIN" in node["state"] and all(
        word in node["reason"] for word in words)


def drain(name, reason):
    bed.run("scontrol", "update", f"NodeName={name}", "State=DRAIN",
            f"Reason={reason}")


def resume(name):
    bed.run("scontrol", "update", f"NodeName={name}", "State=RESUME")


def shadows():
    """Jobs that hold what other schedulers' Pods have."""
    return [job for job in bed.jobs().values()
            if '"shadow":' in job.get("admin_comment", "") and
            {"PENDING", "RUNNING"} & set(job["job_state"])]


def wait_cpus(name, cpus, seconds=30):
    wait_for(f"Slurm's {name} to have {cpus} CPUs", lambda:
             (in_slurm(name) or {}).get("cpus") == cpus, seconds)
