# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that are about slurm-k8s-bridge alone: what 1,000 waiting Pods cost, and a restart with 1,000 Pods on their nodes."""
import json
import sys
import time
import urllib.request
from pathlib import Path

from figures import agents_rpcs, difference, names, percentile
from kube import Failed
from sandbox import AGENT, BULK

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))
from kwok_nodes import node                                   # noqa: E402

BEHIND_PODS, BEHIND_SECONDS, SMALL_PODS = 1000, 20, 20
RECOVERY_PODS, BIG_NODES, BIG_CPUS = 1000, 4, 256
LAST_NODE, APART = "kn4", "real"                              # alone in this partition while it is measured
PARTITIONS = "scheduler.slinky.slurm.net/external-node-partitions"


def until(what, condition, seconds=60, every=0.1):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(every)


def features(bench, name):
    """Of a Slurm node; none while there is no such one."""
    lines = bench.sandbox.command("sinfo", "--noheader", "--Node", "--format=%N %f").splitlines()
    return dict(line.split(" ", 1) for line in lines).get(name, "").split(",")


def move(bench, partition):
    """Puts the last Node into this partition, by its annotation."""
    bench.client.first.call("PATCH", f"/api/v1/nodes/{LAST_NODE}", {"metadata": {"annotations": {PARTITIONS: partition}}},
                            content_type="application/merge-patch+json")
    until(f"{LAST_NODE} to be in partition {partition}", lambda: partition in features(bench, LAST_NODE))


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
    move(bench, APART)
    try:
        sample = {"alone p50": small_pods(bench, scheduler, "alone", run)}
        blockers = [client.pod(pod, scheduler, cpus=16, partition="kwok") for pod in names("blocker", scheduler, run, 3)]
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
    finally:
        move(bench, "kwok")


def versions(bench):
    items = bench.client.first.call("GET", "/api/v1/namespaces/bench/pods")["items"]
    return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}


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
    big = [f"big{i + 1}" for i in range(BIG_NODES)]
    for name in big:
        client.first.call("POST", "/api/v1/nodes", node(name, BIG_CPUS))
    try:
        until("Slurm's nodes", lambda: all("k8s" in features(bench, name) for name in big))
        pods = [client.pod(pod, scheduler) for pod in names("recovery", scheduler, run, RECOVERY_PODS)]
        watch.expect("bound", pods)
        client.create_all(pods)
        watch.wait(300)
        until("all jobs to run", lambda: len(sandbox.command(
            "squeue", "--noheader", "--states=RUNNING", "--format=%i").split()) == RECOVERY_PODS, 120)
        time.sleep(3)                                         # kwok's and the agent's last words
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
    finally:
        for name in big:
            client.first.call("DELETE", f"/api/v1/nodes/{name}")
        until("Slurm to drain them", lambda: all("drain" in sandbox.command(
            "sinfo", "--noheader", f"--nodes={name}", "--format=%T") for name in big))
        sandbox.command("scontrol", "delete", f"NodeName={','.join(big)}")
