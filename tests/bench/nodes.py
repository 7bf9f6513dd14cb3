# SPDX-License-Identifier: GPL-2.0-or-later
"""Many Nodes, and Pods with many node selections: how long it takes until Slurm has them all, what they cost, and what one changed
label costs then."""
import contextlib
import subprocess
import time

from device_pods import NODE_DEVICES, Library, devices_of_slurm
from figures import difference, names
from ours import age, features, node, until
from sandbox import AGENT, CONTROLLERS

NODE_COUNT, NODE_CPUS, SELECTIONS = 5000, 64, 50
PREFIX, PARTITION, RACK = "many", "real", "bench/rack"


def node_name(i):
    return f"{PREFIX}{i:04}"


def bodies():
    """Nodes that nobody plays the kubelet of: no heartbeats. A hundred in each rack."""
    for i in range(NODE_COUNT):
        body = node(node_name(i), NODE_CPUS, PARTITION)
        del body["metadata"]["annotations"]["kwok.x-k8s.io/node"]
        body["metadata"]["labels"] |= {"bench": PREFIX, RACK: f"r{i % SELECTIONS}"}
        body["status"]["conditions"] = [{"type": "Ready", "status": "True", "reason": "Bench", "message": ""}]
        yield body


def selecting(rack):
    """Anywhere but in one rack: nearly all Nodes have the feature of each selection, which is the dearest there is."""
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": RACK, "operator": "NotIn", "values": [rack]}]}]}}}}


@contextlib.contextmanager
def many_nodes(bench):
    """There they are, and the agent is not; Pods with their selections wait, since their partition is down."""
    sandbox, client = bench.sandbox, bench.client
    sandbox.ctl("stop", AGENT)
    sandbox.ctl("stop", CONTROLLERS)
    sandbox.command("scontrol", "update", f"PartitionName={PARTITION}", "State=DOWN")
    try:
        client.call_all([("POST", "/api/v1/nodes", body) for body in bodies()])
        pods = [client.pod(name, "slurm", partition=PARTITION, spec=selecting(f"r{i}"))
                for i, name in enumerate(names("many", "slurm", 0, SELECTIONS))]
        client.create_all(pods)
        yield
    finally:
        client.delete_all()
        sandbox.wait_no_jobs(120)
        sandbox.ctl("stop", AGENT)
        client.call_all([("DELETE", f"/api/v1/nodes/{node_name(i)}") for i in range(NODE_COUNT)])
        subprocess.run(["scontrol", "delete", f"NodeName={PREFIX}[0000-{NODE_COUNT - 1:04}]"], env=sandbox.environment,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sandbox.command("scontrol", "update", f"PartitionName={PARTITION}", "State=UP")
        sandbox.ctl("start", CONTROLLERS)
        sandbox.ctl("start", AGENT)


def registered_with_gres(bench):
    return bench.sandbox.command("sinfo", "--noheader", "--Node", f"--partition={PARTITION}", "--format=%N %G").count(f"gpu:any:{NODE_DEVICES}")


def registered(bench):
    return bench.sandbox.command("sinfo", "--noheader", "--Node", f"--partition={PARTITION}", "--format=%N").count(PREFIX)


def change(bench, what, value, seen):
    """Milliseconds until Slurm has what one Node's change means for its features, and those of agent's and slurmctld's CPU for it and
    what follows."""
    sandbox = bench.sandbox
    before, began = sandbox.cpu(), time.monotonic()
    bench.client.first.call("PATCH", f"/api/v1/nodes/{node_name(0)}", {"metadata": {what: value}},
                            content_type="application/merge-patch+json")
    until("the feature", lambda: seen(set(features(bench, node_name(0)))), 60, 0.05)
    took = time.monotonic() - began
    time.sleep(12)                                            # two looks at what Slurm made of it
    used = difference(sandbox.cpu(), before)
    return 1000 * took, 1000 * used.get(AGENT, 0), 1000 * used.get("slurmctld", 0)


def begin(bench, seen):
    """The agent starts; seconds until SEEN counts all Nodes."""
    bench.sandbox.ctl_begin("start", AGENT)
    until("all nodes to be in Slurm", lambda: seen(bench) == NODE_COUNT, 300, 1)
    return age(bench.sandbox.pid(AGENT))


def memory(sandbox):
    return {"agent rss": sandbox.rss(AGENT), "slurmctld rss": sandbox.rss("slurmctld")}


def nodes_with_devices(bench, scheduler, run):
    """The same Nodes, with devices that are GRES."""
    sandbox = bench.sandbox
    with devices_of_slurm(bench, Library(sandbox), [node_name(i) for i in range(NODE_COUNT)]), many_nodes(bench):
        before = sandbox.cpu()
        sample = {"registered": begin(bench, registered_with_gres)}
        used = difference(sandbox.cpu(), before)
        return sample | {"agent cpu": used.get(AGENT, 0), "slurmctld cpu": used.get("slurmctld", 0)} | memory(sandbox)


def nodes(bench, scheduler, run):
    """5,000 Nodes are there, and 50 Pods that each leave out a hundred of them, when the agent starts; then one Node changes its rack,
    and its partition."""
    sandbox = bench.sandbox
    with many_nodes(bench):
        before = sandbox.cpu()
        sample = {"registered": begin(bench, registered)}
        # Slurm takes a job whose feature some node has.
        until("each Pod to have a job", lambda: len(sandbox.command("squeue", "--noheader", "--format=%i").split()) == SELECTIONS, 300, 0.5)
        sample["jobs"] = age(sandbox.pid(AGENT))
        time.sleep(20)                                        # until nothing is left to do
        used = difference(sandbox.cpu(), before)
        sample["registration agent cpu"], sample["registration cpu"] = used.get(AGENT, 0), used.get("slurmctld", 0)
        sample |= memory(sandbox)
        before, began = sandbox.cpu(), time.monotonic()
        time.sleep(20)
        used = difference(sandbox.cpu(), before)
        sample["rest agent cpu"] = 100 * used.get(AGENT, 0) / (time.monotonic() - began)
        sample["rest slurmctld cpu"] = 100 * used.get("slurmctld", 0) / (time.monotonic() - began)
        had = set(features(bench, node_name(0)))
        sample["relabel"], sample["relabel agent cpu"], sample["relabel cpu"] = change(
            bench, "labels", {RACK: "r1"}, lambda now: now != had)
        sample["move"], sample["move agent cpu"], sample["move cpu"] = change(
            bench, "annotations", {"scheduler.slinky.slurm.net/external-node-partitions": f"{PARTITION},other"},
            lambda now: "other" in now)
        return sample
