# SPDX-License-Identifier: GPL-2.0-or-later
"""Karpenter in a sandbox of `up --karpenter`: what it may buy, what it has bought,
and what Slurm has of that. A node of it has 8 CPUs and 32 GiB, in the partition
karpenter."""
import json
import re
import time

import bed
from tap import PATIENCE, wait_for

PARTITION = "karpenter"
CPUS = 8  # of a node
POOL = "default"
OF_POOL = "karpenter.sh/nodepool"
NO_NODE = "slurmk8sd: no Node yet"
DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"

_CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
_POOLS = "/apis/karpenter.sh/v1/nodepools"
_CLASSES = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"
_MERGE = "application/merge-patch+json"


# ---- What it may buy


def pool(consolidate_after="15s", policy="WhenEmpty", most=30, taints=None,
         starts_after="0s"):
    """What the pool is from now on. consolidate_after: for how long a node must be
    as policy has it before it goes, "Never" for none; policy: WhenEmpty or
    WhenEmptyOrUnderutilized; most: how many nodes there may be; taints: of each, if not
    that of contribs/sandbox/karpenter/pool.yaml; starts_after: how long a Node takes
    to appear."""
    spec = {"limits": {"nodes": str(most)},
            "disruption": {"consolidationPolicy": policy,
                           "consolidateAfter": consolidate_after}}
    if taints is not None:
        spec["template"] = {"spec": {"taints": taints}}
    bed.api("PATCH", f"{_POOLS}/{POOL}", {"spec": spec}, _MERGE)
    bed.api("PATCH", f"{_CLASSES}/{POOL}",
            {"spec": {"nodeRegistrationDelay": starts_after}}, _MERGE)


# ---- Who waits for it

TOLERATION = {"key": "slinky.slurm.net/managed-node", "operator": "Exists"}


def pod(name, cpu="2", annotations=None, tolerates=True, **spec):
    """The body of a Pod for the partition karpenter. tolerates: whether Karpenter
    may count on the nodes of its pool for it, which have the agent's taint."""
    if tolerates:
        spec.setdefault("tolerations", []).append(TOLERATION)
    return bed.pod(name, cpu=cpu, annotations={
        bed.PARTITION: PARTITION, **(annotations or {})}, **spec)


# ---- What there is


def claims():
    """Every NodeClaim: a node that Karpenter has bought, is buying, or lets go."""
    return bed.api("GET", _CLAIMS)["items"]


def nodes():
    """The Nodes of these."""
    return bed.api("GET", f"/api/v1/nodes?labelSelector={OF_POOL}")["items"]


def node(name):
    """The Node, or None."""
    return next((n for n in nodes() if n["metadata"]["name"] == name), None)


def slurm_nodes():
    """The nodes of the partition in Slurm that have a Node, by name, as scontrol's
    JSON has them."""
    return {name: n for name, n in _all_slurm_nodes().items()
            if not n["reason"].startswith(NO_NODE)}


def potential_nodes():
    """The names of those that stand for Nodes which may come."""
    return sorted(name for name, n in _all_slurm_nodes().items()
                  if n["reason"].startswith(NO_NODE) and "DOWN" in n["state"])


def _all_slurm_nodes():
    listing = json.loads(bed.run("scontrol", "show", "nodes", "--json"))["nodes"]
    return {n["name"]: n for n in listing if PARTITION in n["features"]}


def usable():
    """The names of those on which a job may start."""
    return sorted(name for name, n in slurm_nodes().items()
                  if not {"DRAIN", "DOWN"} & set(n["state"]))


def taints(name):
    """The keys of a Node's taints."""
    return [t["key"] for t in (node(name) or {}).get("spec", {}).get("taints", [])]


class Purchases:
    """How many NodeClaims Karpenter has made since now, also those that are gone."""

    def __init__(self):
        self._from = bed.log_size("karpenter")

    def count(self):
        return len(re.findall(r'"message":"created nodeclaim"',
                              bed.log_since("karpenter", self._from)))


# ---- Waiting


def settled(what, ask, seconds=15, limit=180):
    """The value of ask(), once it has not changed for these seconds. Karpenter looks
    at what waits at least each 10 s."""
    end = time.monotonic() + limit * PATIENCE
    value, since = ask(), time.monotonic()
    while time.monotonic() - since < seconds:
        if time.monotonic() > end:
            raise AssertionError(f"{what} still changes after {limit * PATIENCE} s")
        time.sleep(0.25)
        now = ask()
        if now != value:
            value, since = now, time.monotonic()
    return value


def wait_nodes(count, seconds=60):
    """Until Slurm has so many nodes of Karpenter's that may be used; their names."""
    return wait_for(f"{count} nodes of Karpenter in Slurm", lambda: (
        len(usable()) == count and usable()), seconds)


def wait_none(seconds=120):
    """Until nothing is left, neither in Kubernetes nor in Slurm."""
    wait_for("no NodeClaim, no Node and no Slurm node of Karpenter", lambda: not (
        claims() or nodes() or slurm_nodes()), seconds)


def let_go(name):
    """The NodeClaim of this Node is deleted, as by consolidation: Karpenter drains
    the Node, and removes it when its Pods have ended."""
    _delete(wait_for(f"the NodeClaim of {name}", lambda: next((
        c for c in claims() if c.get("status", {}).get("nodeName") == name), None)))


def purge(seconds=120):
    """Every node goes, whatever runs there, and none is bought for what waits now."""
    pool(most=0)
    for one in claims():
        _delete(one)
    wait_none(seconds)


def _delete(claim):
    try:
        bed.api("DELETE", f"{_CLAIMS}/{claim['metadata']['name']}", {})
    except bed.ApiError as error:
        if error.status != 404:
            raise


# ---- For a failed case


def last_words():
    lines = [f"{c['metadata']['name']} {c.get('status', {}).get('nodeName', '-')}"
             for c in claims()]
    return "\n".join(["== NodeClaims", *lines, "== karpenter",
                      bed.log("karpenter", 25), bed.last_words()])
