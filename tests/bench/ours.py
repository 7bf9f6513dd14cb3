# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that are about slurm-k8s-bridge alone: what 1,000 waiting Pods cost, and a restart with 1,000 Pods on their nodes."""
import contextlib
import json
import sys
import time
import urllib.request
from pathlib import Path

from figures import agents_rpcs, difference, names, percentile
from kube import PODS, Failed
from sandbox import AGENT, BULK, CPUS, NODES

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
from kwok_nodes import node                                   # noqa: E402

BEHIND_PODS, BEHIND_SECONDS, SMALL_PODS = 1000, 20, 20
RECOVERY_PODS, BIG_NODES, BIG_CPUS = 1000, 4, 256
APART = "real"                                                # the partition of one more Node


def until(what, condition, seconds=60, every=0.1):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(every)


def features(bench, name):
    """Of a Slurm node; none while there is no such one."""
    lines = bench.sandbox.command("sinfo", "--noheader", f"--nodes={name}", "--format=%f").splitlines()
    return lines[0].strip().split(",") if lines else []


def of_all(bench, field):
    """What sinfo shows as FIELD, of every node."""
    lines = bench.sandbox.command("sinfo", "--noheader", "--all", "--Node", f"--format=%N {field}").splitlines()
    return {name: said for name, _, said in (line.partition(" ") for line in lines)}


@contextlib.contextmanager
def more_nodes(bench, nodes):
    """Nodes that are there only meanwhile, by name."""
    def all_have(word, field):
        shown = of_all(bench, field)
        return all(word in shown.get(name, "") for name in nodes)

    patience = 60 + len(nodes) / 5
    bench.sandbox.ctl("stop", AGENT)                          # at its start it makes them all at once, later one after the other
    bench.client.call_all([("POST", "/api/v1/nodes", body) for body in nodes.values()])
    try:
        bench.sandbox.ctl("start", AGENT)
        until("Slurm's nodes", lambda: all_have("k8s", "%f"), patience, 0.5)
        yield
    finally:
        bench.client.call_all([("DELETE", f"/api/v1/nodes/{name}") for name in nodes])
        # Not "draining": as long as a job is on it, a node cannot be deleted.
        until("Slurm to drain them", lambda: all_have("drained", "%T"), patience, 0.5)
        bench.sandbox.command("scontrol", "delete", f"NodeName={','.join(nodes)}")


def small_pods(bench, scheduler, name, run):
    """Milliseconds from create to bound, p50, of Pods one after another in the partition apart."""
    client, watch = bench.client, bench.client.watch
    pods = [client.pod(pod, scheduler, partition=APART) for pod in names(name, scheduler, run, SMALL_PODS)]
    for pod in pods:
        watch.expect("bound", [pod])
        client.create(client.first, pod)
        watch.wait(60)
        watch.expect("gone", [pod])
        client.delete(pod)
        watch.wait(30)
        time.sleep(0.05)
    return percentile([1000 * (pod.bound - pod.posted) for pod in pods], 50)


def behind(bench, scheduler, run):
    """Small Pods of one partition, alone and while 1,000 Pods of another wait; and what those cost at rest."""
    client, watch = bench.client, bench.client.watch
    with more_nodes(bench, {"apart1": node("apart1", CPUS, APART)}):
        sample = {"alone p50": small_pods(bench, scheduler, "alone", run)}
        blockers = [client.pod(pod, scheduler, cpus=CPUS, partition="kwok") for pod in names("blocker", scheduler, run, NODES)]
        watch.expect("bound", blockers)
        client.create_all(blockers)
        watch.wait(60)
        waiting = [client.pod(pod, scheduler, partition="kwok") for pod in names("behind", scheduler, run, BEHIND_PODS)]
        watch.expect("condition", waiting)
        client.create_all(waiting)
        watch.wait(300)
        time.sleep(10)                                        # the last words about their beginning
        rpcs, cpu = bench.sandbox.rpcs(), bench.sandbox.cpu()
        time.sleep(BEHIND_SECONDS)
        cpu = difference(bench.sandbox.cpu(), cpu)
        _, types = agents_rpcs(bench.sandbox.rpcs(), rpcs)
        sample |= {"agent cpu": 100 * cpu.get(AGENT, 0) / BEHIND_SECONDS, "rpc types": types,
                   "rpcs": sum(n for name, n in types.items() if name not in BULK),
                   "bulk": sum(n for name, n in types.items() if name in BULK),
                   "behind p50": small_pods(bench, scheduler, "small", run)}
        sample["behind to alone"] = sample["behind p50"] / sample["alone p50"]
        client.delete_all(300)
        bench.sandbox.wait_no_jobs(120)
        return sample


def listed(bench):
    return bench.client.first.call("GET", PODS)["items"]


def versions(bench):
    return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in listed(bench)}


def age(pid):
    """Seconds since a process began."""
    ticks = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    return float(Path("/proc/uptime").read_text().split()[0]) - ticks / 100


def serving(bench):
    port = int((bench.sandbox.directory / "port").read_text()) + 8
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=5) as answer:
            return json.load(answer)["serving"]
    except (OSError, ValueError):
        return False


def recovery(bench, scheduler, run):
    """1,000 Pods are on their nodes, the agent is killed and started."""
    client, watch, sandbox = bench.client, bench.client.watch, bench.sandbox
    big = {name: node(name, BIG_CPUS) for name in (f"big{i + 1}" for i in range(BIG_NODES))}
    with more_nodes(bench, big):
        pods = [client.pod(pod, scheduler) for pod in names("recovery", scheduler, run, RECOVERY_PODS)]
        watch.expect("bound", pods)
        client.create_all(pods)
        watch.wait(300)
        until("all Pods to run", lambda: all(item["status"]["phase"] == "Running" for item in listed(bench)), 120, 1)
        until("all jobs to run", lambda: len(sandbox.command(
            "squeue", "--noheader", "--states=RUNNING", "--format=%i").split()) == RECOVERY_PODS, 120)
        before = versions(bench)
        sandbox.ctl("kill", AGENT)
        newest = client.pod(f"newest-{run}", scheduler)
        watch.expect("bound", [newest])
        client.create(client.first, newest)
        sandbox.ctl_begin("start", AGENT)
        until("the agent", lambda: serving(bench), 60, 0.01)
        sample = {"serving": age(sandbox.pid(AGENT))}
        watch.wait(60)
        sample["bound"] = age(sandbox.pid(AGENT)) - (time.monotonic() - newest.bound)
        time.sleep(20)                                        # more than ResyncInterval
        after = versions(bench)
        sample["writes"] = sum(before[name] != after.get(name) for name in before)
        client.delete_all(300)
        sandbox.wait_no_jobs(120)
        return sample
