# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured. A case is a function of (bench, scheduler, run) that returns a sample, a dict of numbers; bench.tidy()
runs after each. ROWS says what the table makes of them."""
import time
from functools import partial

from arrays import ARRAY_SLOTS, ARRAY_TASKS, NATIVE_TASKS, array, template
from ours import BEHIND_PODS, BEHIND_SECONDS, RECOVERY_PODS, behind, more_nodes, node, recovery
from device_pods import ATTRIBUTE_PODS, FEW_DEVICES, FEW_NODES, MANY_NODES, MIXED_SIZES, NODE_COUNT as DEVICE_NODES, NODE_DEVICES, \
    ONE_PODS, attribute, device_nodes, devices, mixed_devices
from gang_jobs import BIG_NODES, BIG_PODS, MANY_GANGS, MANY_PODS, gangs
from ordinary import DELAYS, JOBS, SLOW_JOBS, ordinary
from nodes import NODE_COUNT, SELECTIONS, nodes, nodes_with_devices
from figures import agents_rpcs, difference, names, percentile, rates
from sandbox import AGENT, BULK, CPUS, NODES, OURS

SLOTS = NODES * CPUS
MANY_IDLE = 1000                                              # nodes
IDLE_PODS, BURST_PODS, TURNOVER_PODS, WAITING_PODS, WAITING_SECONDS = 40, 60, 640, 50, 20


def idle(bench, scheduler, run):
    """Pods one after another: each is gone before the next is made."""
    client, watch = bench.client, bench.client.watch
    pods = [client.pod(name, scheduler) for name in names("idle", scheduler, run, IDLE_PODS)]
    for pod in pods:
        watch.expect("bound", [pod])
        client.create(client.first, pod)
        watch.wait(30)
        watch.expect("gone", [pod])
        client.delete(pod)
        watch.wait(30)
        time.sleep(0.05)                                      # until all daemons sleep again
    latency = [1000 * (pod.bound - pod.posted) for pod in pods]
    return {"p50": percentile(latency, 50), "p99": percentile(latency, 99), "all": latency,
            "replied": percentile([1000 * (pod.replied - pod.posted) for pod in pods], 50),
            "seen": percentile([1000 * (pod.added - pod.posted) for pod in pods], 50)}


def idle_nodes(bench):
    """A context in which there are many more nodes."""
    return more_nodes(bench, {name: node(name, CPUS) for name in (f"in{i + 1}" for i in range(MANY_IDLE - NODES))})


def burst(bench, scheduler, run):
    """Pods of 1 CPU at once, a little fewer than there are slots."""
    client, watch = bench.client, bench.client.watch
    pods = [client.pod(name, scheduler) for name in names("burst", scheduler, run, BURST_PODS)]
    watch.expect("bound", pods)
    client.create_all(pods)
    watch.wait(60)
    return rates(pods, "bound")


def turnover(bench, scheduler, run):
    """Ten times as many Pods of 500 ms as there are slots, and what slurmctld was asked for them."""
    client, watch = bench.client, bench.client.watch
    pods = [client.pod(name, scheduler, run="500ms") for name in names("turnover", scheduler, run, TURNOVER_PODS)]
    before, requests = bench.sandbox.rpcs(), client.requests()
    watch.expect("finished", pods)
    client.create_all(pods)
    watch.wait(180)
    sample = rates(pods, "finished")
    sample["life p50"] = percentile([1000 * (pod.finished - pod.bound) for pod in pods], 50)
    time.sleep(1)                                             # the jobs end a moment after their Pods
    sample["rpcs"], sample["rpc types"] = agents_rpcs(bench.sandbox.rpcs(), before)
    sample["rpcs a Pod"] = sample["rpcs"] / len(pods)
    sample["requests"] = difference(client.requests(), requests)
    return sample


def waiting(bench, scheduler, run):
    """Pods wait while others have all slots: what does that cost?"""
    client, watch = bench.client, bench.client.watch
    blockers = [client.pod(name, scheduler, cpus=CPUS) for name in names("blocker", scheduler, run, NODES)]
    watch.expect("bound", blockers)
    client.create_all(blockers)
    watch.wait(60)
    pods = [client.pod(name, scheduler) for name in names("waiting", scheduler, run, WAITING_PODS)]
    watch.expect("condition", pods)
    client.create_all(pods)
    watch.wait(60)
    time.sleep(6)                                             # the last words about their beginning
    before, requests = bench.sandbox.rpcs(), client.requests()
    writes, cpu = sum(pod.events for pod in pods), bench.sandbox.cpu()
    time.sleep(WAITING_SECONDS)
    cpu, writes = difference(bench.sandbox.cpu(), cpu), sum(pod.events for pod in pods) - writes
    requests = difference(client.requests(), requests)
    _, types = agents_rpcs(bench.sandbox.rpcs(), before)
    return {"rpcs": sum(n for name, n in types.items() if name not in BULK),
            "bulk": sum(n for name, n in types.items() if name in BULK), "rpc types": types, "writes": writes, "requests": requests,
            "scheduler cpu": sum(cpu.get(name, 0) for name in schedulers_of(scheduler))}


def schedulers_of(scheduler):
    """The processes that do the scheduling: slurmctld is a part of ours."""
    return (AGENT, "slurmctld") if scheduler == OURS else ("kube-scheduler",)


# The cases by name, in their order, with the number of runs where it is not --runs: counts do not scatter.
CASES = {"idle": (idle, None), "idle-many": (idle, None), "burst": (burst, None), "turnover": (turnover, None), "waiting": (waiting, 1),
         "behind": (behind, 1), "recovery": (recovery, 1), "nodes": (nodes, 1), "nodes-devices": (nodes_with_devices, 1),
         "gangs": (gangs, None), "array": (array, None), "ordinary": (ordinary, None), "devices": (devices, None),
         "mixed-devices": (mixed_devices, None), "attribute": (attribute, None), "attribute-many": (attribute, None)}
# What is there only for all runs of a case: a context manager of the bench.
SURROUNDINGS = {"array": template, "idle-many": idle_nodes, "devices": device_nodes, "mixed-devices": device_nodes,
                "attribute": partial(device_nodes, count=FEW_NODES, each=FEW_DEVICES),
                "attribute-many": partial(device_nodes, count=MANY_NODES, each=FEW_DEVICES)}
# Those that ask what kube-scheduler has no like of.
OURS_ONLY = {"behind", "recovery", "nodes", "nodes-devices", "gangs", "array", "ordinary"}


class Row:
    """A line of the table. TARGET is (sense, bound, of): sense is <= or >=, of is "ratio" or "ours"."""

    def __init__(self, case, title, key, unit, target=None, hint=None, ours_only=False):
        self.case, self.title, self.key, self.unit = case, title, key, unit
        self.target, self.hint, self.ours_only = target, hint, ours_only


DEVICES_HINT = "a claim costs three writes, and an RPC reads its indexes: API requests, and slurmctld's RPCs, are below"
ROWS = [
    *(row for case, what in (("idle", "idle"), ("idle-many", f"idle on {MANY_IDLE} nodes")) for row in (
        Row(case, f"{what}: create to bound, p50", "p50", "ms", ("<=", 1.3, "ratio"),
            "\"replied\" and \"seen\" in --json are the API server's part of it, the rest is the agent's, slurmctld's and the binding's"),
        Row(case, f"{what}: create to bound, p99", "p99", "ms", ("<=", 2.0, "ratio"),
            "one of a hundred meets something that comes at intervals: a scheduler's cycle, a list of jobs, the API server's garbage"))),
    Row("burst", f"burst: {BURST_PODS} Pods on {SLOTS} slots", "rate", "Pods/s", (">=", 1.1, "ratio"),
        "the agent's queue of actions (/metrics), or slurmctld's locks (sdiag): compare CPU seconds"),
    Row("turnover", f"turnover: {TURNOVER_PODS} Pods of 500 ms", "rate", "Pods/s", (">=", 1.1, "ratio"),
        f"ideal {SLOTS * 2}/s; if a Pod's life is longer than theirs, the CPUs are what is short: compare CPU seconds; if not, "
        "slots stand empty between a Pod's end and the next binding"),
    Row("turnover", "  bound to finished, p50 (ideal 500)", "life p50", "ms"),
    Row("turnover", "  CPU of the scheduler a Pod", "cpu a Pod", "ms"),
    Row("turnover", "  CPU of everything a Pod", "all cpu a Pod", "ms"),
    Row("turnover", "slurmctld RPCs a Pod", "rpcs a Pod", "", ("<=", 4, "ours"),
        "the RPCs by type are below", ours_only=True),
    Row("waiting", f"RPCs while {WAITING_PODS} Pods wait {WAITING_SECONDS} s", "rpcs", "", ("<=", 0, "ours"),
        "something asks slurmctld about each waiting job", ours_only=True),
    Row("waiting", "  bulk state loads then", "bulk", "", ours_only=True),
    Row("waiting", "  writes of waiting Pods then", "writes", ""),
    Row("waiting", "  CPU of the scheduler then", "scheduler cpu", "s"),
    Row("behind", "small Pod of a disjoint partition, p50", "alone p50", "ms", ours_only=True),
    Row("behind", f"  while {BEHIND_PODS} Pods wait, p50", "behind p50", "ms", ours_only=True),
    Row("behind", "  the second to the first", "behind to alone", "", ("<=", 1.5, "ours"),
        "slurmctld looks at the waiting jobs first: partition_job_depth, default_queue_depth and bf_interval of SchedulerParameters",
        ours_only=True),
    Row("behind", f"CPU of the agent then, {BEHIND_SECONDS} s at rest", "agent cpu", "%", ("<=", 2, "ours"),
        "something is done for each waiting Pod: /metrics, sdiag", ours_only=True),
    Row("behind", "  RPCs then", "rpcs", "", ("<=", 0, "ours"), "something asks slurmctld about each waiting job", ours_only=True),
    Row("behind", "  bulk state loads then", "bulk", "", ours_only=True),
    Row("recovery", f"restart with {RECOVERY_PODS} bound Pods: serving", "serving", "s", ("<=", 3, "ours"),
        "the lists of Pods and jobs, one after the other", ours_only=True),
    Row("recovery", "  a new Pod is bound, from the start", "bound", "s", ours_only=True),
    Row("recovery", "  writes to Pods", "writes", "", ("<=", 0, "ours"), "a Pod was written to that needs no write", ours_only=True),
    Row("nodes", f"{NODE_COUNT} Nodes, {SELECTIONS} selections: all are in Slurm", "registered", "s", ("<=", 30, "ours"),
        "nodes that differ in size or features are made one by one", ours_only=True),
    Row("nodes", "  and each Pod has its job", "jobs", "s", ours_only=True),
    Row("nodes", "  CPU of the agent for it", "registration agent cpu", "s", ours_only=True),
    Row("nodes", "  CPU of slurmctld for it", "registration cpu", "s", ours_only=True),
    Row("nodes", "  resident memory of the agent", "agent rss", "MiB", ("<=", 200, "ours"), "what is kept of each Node", ours_only=True),
    Row("nodes", "  resident memory of slurmctld", "slurmctld rss", "MiB", ours_only=True),
    Row("nodes", "  CPU of the agent at rest", "rest agent cpu", "%", ours_only=True),
    Row("nodes", "  CPU of slurmctld at rest", "rest slurmctld cpu", "%", ours_only=True),
    Row("nodes", "  one Node's label changes, until Slurm has it", "relabel", "ms", ours_only=True),
    Row("nodes", "  CPU of the agent for it", "relabel agent cpu", "ms", ours_only=True),
    Row("nodes", "  CPU of slurmctld for it", "relabel cpu", "ms", ours_only=True),
    Row("nodes", "  one Node's partition changes, until Slurm has it", "move", "ms", ours_only=True),
    Row("nodes", "  CPU of the agent for it", "move agent cpu", "ms", ours_only=True),
    Row("nodes", "  CPU of slurmctld for it", "move cpu", "ms", ours_only=True),
    Row("nodes-devices", f"{NODE_COUNT} Nodes of {NODE_DEVICES} devices: all are in Slurm with their GRES", "registered", "s",
        ("<=", 90, "ours"), "slurmctld takes the GRES of one node at a time", ours_only=True),
    Row("nodes-devices", "  CPU of the agent for it", "agent cpu", "s", ours_only=True),
    Row("nodes-devices", "  CPU of slurmctld for it", "slurmctld cpu", "s", ours_only=True),
    Row("nodes-devices", "  resident memory of the agent", "agent rss", "MiB", ours_only=True),
    Row("nodes-devices", "  resident memory of slurmctld", "slurmctld rss", "MiB", ours_only=True),
    Row("gangs", f"a gang of {BIG_PODS} Pods on {BIG_NODES} nodes: last created to last bound", "big", "s", ("<=", 4, "ours"),
        "the bindings of one gang are shared by all workers: Workers in k8s.conf, and the API server", ours_only=True),
    Row("gangs", "  last created to first bound", "big first", "s", ours_only=True),
    Row("gangs", f"{MANY_GANGS} gangs of {MANY_PODS} Pods of 500 ms: Pods bound", "many bound", "Pods/s", ours_only=True),
    Row("gangs", "  of as many lone Pods", "lone bound", "Pods/s", ours_only=True),
    Row("gangs", "  the first to the second", "bound to lone", "", (">=", 1, "ours"), "what a gang costs beside its Pods", ours_only=True),
    Row("gangs", "  until the last has finished", "many rate", "Pods/s", ours_only=True),
    Row("gangs", "  of as many lone Pods", "lone rate", "Pods/s", ours_only=True),
    Row("gangs", "  the first to the second", "rate to lone", "", (">=", 1, "ours"), "what a gang costs beside its Pods", ours_only=True),
    Row("gangs", "  gangs that have finished", "many gangs rate", "gangs/s", ours_only=True),
    Row("gangs", "  first to last binding of a gang, p99", "many apart p99", "ms", ours_only=True),
    Row("array", f"sbatch --array, {ARRAY_TASKS} tasks of 1 s on {ARRAY_SLOTS} slots", "rate", "tasks/s", ours_only=True),
    Row("array", "  of the ideal", "share", "%", ours_only=True),
    Row("array", f"  the same of slurmd's own, {NATIVE_TASKS} tasks on its CPUs", "native share", "%", ours_only=True),
    Row("array", "  slurmctld RPCs a task", "rpcs a task", "", ("<=", 4, "ours"), "the RPCs by type are below", ours_only=True),
    *(row for delay, seconds in DELAYS.items() for row in (
        Row("ordinary", f"{SLOW_JOBS if seconds else JOBS} jobs of slurmd's, a look-up of a user takes {delay} ms", f"with {delay}", "jobs/s",
            ours_only=True),
        Row("ordinary", "  without our plugins", f"without {delay}", "jobs/s", ours_only=True),
        Row("ordinary", "  the first to the second", f"share {delay}", "", (">=", 0.95, "ours"),
            "a hook of a plugin waits, or asks for users: the case no_user_is_looked_up of tests/integration/nodes/native-jobs.t", ours_only=True))),
    Row("devices", f"{ONE_PODS} Pods of a device, {DEVICE_NODES} nodes of {NODE_DEVICES}", "rate", "Pods/s", (">=", 1.0, "ratio"), DEVICES_HINT),
    Row("devices", "  until all of them run", "running rate", "Pods/s"),
    Row("devices", "  create to bound, p50", "bound p50", "ms"),
    Row("devices", "  CPU of the scheduler a Pod", "cpu a Pod", "ms"),
    Row("devices", "  CPU of everything a Pod", "all cpu a Pod", "ms"),
    Row("mixed-devices", f"{len(MIXED_SIZES)} Pods of 1 to {NODE_DEVICES} devices there", "rate", "Pods/s", (">=", 1.0, "ratio"), DEVICES_HINT),
    Row("mixed-devices", "  until all of them run", "running rate", "Pods/s"),
    Row("mixed-devices", "  create to bound, p50", "bound p50", "ms"),
    Row("mixed-devices", "  CPU of the scheduler a Pod", "cpu a Pod", "ms"),
    Row("mixed-devices", "  CPU of everything a Pod", "all cpu a Pod", "ms"),
    *(row for case, count in (("attribute", FEW_NODES), ("attribute-many", MANY_NODES)) for row in (
        Row(case, f"a claim that one of {count} nodes satisfies, {ATTRIBUTE_PODS} times: create to bound, p50", "p50", "ms",
            ("<=", 2.0, "ratio"), DEVICES_HINT),
        Row(case, "  the slowest", "worst", "ms"))),
]
