# SPDX-License-Identifier: GPL-2.0-or-later
"""Many Nodes: how long it takes until Slurm has them all, what they cost, and what one changed label costs then."""
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from figures import difference
from ours import age, features, node, until
from sandbox import AGENT

NODE_COUNT, NODE_CPUS = 5000, 64
PREFIX = "many"


def bodies():
    """Nodes that nobody plays the kubelet of: no heartbeats."""
    for i in range(NODE_COUNT):
        body = node(f"{PREFIX}{i:04}", NODE_CPUS, "real")
        del body["metadata"]["annotations"]["kwok.x-k8s.io/node"]
        body["metadata"]["labels"]["bench"] = PREFIX
        body["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "Bench", "message": ""}]
        yield body


def make_all(bench):
    """Over all connections, each its share."""
    todo, connections = list(bodies()), bench.client.connections

    def share(i):
        for body in todo[i::len(connections)]:
            connections[i].call("POST", "/api/v1/nodes", body)

    with ThreadPoolExecutor(len(connections)) as pool:
        list(pool.map(share, range(len(connections))))


def registered(bench):
    return bench.sandbox.command("sinfo", "--noheader", "--Node", "--partition=real", "--format=%N").count(PREFIX)


def remove_all(bench):
    sandbox = bench.sandbox
    sandbox.ctl("stop", AGENT)
    bench.client.first.call("DELETE", f"/api/v1/nodes?labelSelector=bench%3D{PREFIX}")
    subprocess.run(["scontrol", "delete", f"NodeName={PREFIX}[0000-{NODE_COUNT - 1:04}]"], env=sandbox.environment,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sandbox.ctl("start", AGENT)


def nodes(bench, scheduler, run):
    """5,000 Nodes are there, the agent starts; then one of them changes its partition."""
    sandbox = bench.sandbox
    sandbox.ctl("stop", AGENT)
    try:
        make_all(bench)
        before = sandbox.cpu()
        sandbox.ctl_begin("start", AGENT)
        until("all nodes to be in Slurm", lambda: registered(bench) == NODE_COUNT, 180, 0.2)
        sample = {"registered": age(sandbox.pid(AGENT))}
        sample["registration cpu"] = difference(sandbox.cpu(), before).get("slurmctld", 0)
        time.sleep(10)                                        # until nothing is left to do
        sample["agent rss"] = sandbox.rss(AGENT)
        before, began = sandbox.cpu(), time.monotonic()
        time.sleep(20)
        used = difference(sandbox.cpu(), before)
        sample["rest agent cpu"] = 100 * used.get(AGENT, 0) / (time.monotonic() - began)
        sample["rest slurmctld cpu"] = 100 * used.get("slurmctld", 0) / (time.monotonic() - began)
        before, began = sandbox.cpu(), time.monotonic()
        bench.client.first.call("PATCH", f"/api/v1/nodes/{PREFIX}0000", {"metadata": {"annotations": {
            "scheduler.slinky.slurm.net/external-node-partitions": "real,other"}}}, content_type="application/merge-patch+json")
        until("the feature", lambda: "other" in features(bench, f"{PREFIX}0000"), 60, 0.05)
        sample["relabel"] = 1000 * (time.monotonic() - began)
        used = difference(sandbox.cpu(), before)
        sample["relabel cpu"] = 1000 * (used.get(AGENT, 0) + used.get("slurmctld", 0))
        return sample
    finally:
        remove_all(bench)
