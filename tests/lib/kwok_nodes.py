# SPDX-License-Identifier: GPL-2.0-or-later
"""Node objects whose kubelet kwok plays, for tests that need more room than
`contribs/sandbox/up` has made."""


def node(name, cpus, partitions="kwok"):
    """The body of a Node with that many CPUs and 1 GiB for each."""
    size = {"cpu": str(cpus), "memory": f"{cpus}Gi", "pods": str(4 * cpus)}
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name,
                       "scheduler.slinky.slurm.net/external-node": "true"},
            "annotations": {
                "kwok.x-k8s.io/node": "fake",
                "scheduler.slinky.slurm.net/external-node-partitions":
                    partitions}},
        "status": {
            "allocatable": size, "capacity": size,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"},
                          {"type": "Hostname", "address": name}]}}
