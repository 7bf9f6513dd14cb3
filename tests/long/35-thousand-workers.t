#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A NodeSet of 1,000 replicas comes and goes. kwok plays the kubelets; this program
binds the Pods and registers their nodes, as external ones, with a real slurmctld,
and loads them with external jobs. Operator and agent are real. WORKERS is how many
replicas there are. The numbers are told; the limit of memory is checked."""
import collections
import os
import pathlib
import re
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "1", "--no-kube-scheduler")

import agent_conf
import bed
import fault_proxy
import node_sets
import operator_process
import slinky
from node_sets import Place
from tap import case, check, equal, last_case, run, wait_for
from through_proxy import proxy

REPLICAS = int(os.environ.get("WORKERS", "1000"))
NODES = [f"thousand{i}" for i in range(50)]
PARTITION = "thousand"
BUSY = REPLICAS // 10  # workers with a job
MOST = 150  # MiB of the operator
REGISTERED = "slurmk8s/Registered"
JOB = ("sbatch --external --ntasks=1 --time=60 --partition={} --nodelist={} "
       "--output=none --job-name=load")

place = Place("thousand", NODES)
operator = None
most_memory = 0
busy = set()   # names of Pods whose nodes have jobs
wrong = []     # busy ones that were deleted


def in_slurm(script):
    """Many commands of Slurm, as its user."""
    return bed.inside("sh", "-c", script, user="slurm")


def remember_memory():
    global most_memory
    most_memory = max(most_memory, operator.rss())


def look(request):
    """Fits no request, but looks at each."""
    if request.method == "DELETE" and \
            request.resource.startswith(place.core("pods") + "/"):
        name = request.resource.rsplit("/", 1)[1]
        if name in busy:
            wrong.append(name)
    return False


def spent(since):
    """How many requests of each kind the operator has made."""
    kinds = collections.Counter()
    for entry in proxy.entries(since):
        path = entry.path.partition("?")[0]
        path = re.sub(r"/(w-\d+|w\.[0-9a-f]+)(/|$)", r"/*\2", path)
        kinds[f"{entry.method} {path.rsplit('/api', 1)[-1]}"] += 1
    return kinds


def tell(what, began):
    kinds = spent(began)
    total = sum(kinds.values())
    print(f"# {what}: {time.monotonic() - began:.1f} s, {total} requests, "
          f"{total / REPLICAS:.2f} a replica, {operator.rss()} MiB now, "
          f"{most_memory} at most")
    for kind, number in kinds.most_common(8):
        print(f"#   {number:6d} {kind}")


def play_scheduler():
    """Binds what is not bound; returns all Pods."""
    found = place.pods()
    for number, (name, pod) in enumerate(found.items()):
        if not pod["spec"].get("nodeName") and \
                "deletionTimestamp" not in pod["metadata"]:
            bed.api("POST", place.core("pods", name) + "/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
                "target": {"kind": "Node", "name": NODES[number % len(NODES)]}})
    return found


_known = {}  # address by name, of the nodes that slurmctld has


def play_slurmd(found):
    """Registers the nodes of Pods that have an address, and have none yet."""
    script = []
    for name, pod in found.items():
        address = pod["status"].get("podIP")
        if address and name not in _known:
            _known[name] = address
            script.append(
                f"scontrol create NodeName={name} NodeAddr={address} CPUs=2 "
                "RealMemory=1000 Feature=w State=EXTERNAL")
    if script:
        in_slurm("\n".join(script))


def count(found, kind):
    return sum(any(c["type"] == kind and c["status"] == "True"
                   for c in pod["status"].get("conditions", []))
               for pod in found.values())


@case
def comes():
    """from none to all replicas: each has a Pod and a node that is registered"""
    global operator
    operator_process.install()
    slinky.without_finalizers()
    node_sets.make_nodes(NODES)
    slinky.namespace(place.namespace)
    agent_conf.edit(lambda text: f"{text}\nWorkerNamespace={place.namespace}\n"
                    "WorkerController=slurm\n")
    proxy.start()
    proxy.set(fault_proxy.Fault("look", None, look))
    operator = operator_process.Operator("--server", proxy.url)
    operator.start().leads()
    place.controller()
    place.node_set(replicas=0)
    place.wait_condition("Available", "True")
    began = time.monotonic()
    place.scale(REPLICAS)

    def there():
        found = play_scheduler()
        play_slurmd(found)
        remember_memory()
        return len(found) == REPLICAS and count(found, REGISTERED) == REPLICAS
    wait_for("all to be registered", there, 600, 0.5)
    place.wait_condition("Available", "True", f"{REPLICAS} of {REPLICAS}")
    tell(f"0 to {REPLICAS}", began)


@case
def busy_ones_stay():
    """to none, with jobs on a tenth of the nodes: the others go, these stay"""
    names = sorted(_known, key=lambda name: int(name.rsplit("-", 1)[1]))
    in_slurm(f"scontrol create PartitionName={PARTITION} Nodes=ALL State=UP")
    busy.update(names[::len(names) // BUSY][:BUSY])
    in_slurm("\n".join(JOB.format(PARTITION, name) for name in sorted(busy)))
    wait_for("the jobs to run", lambda: len(in_slurm(
        "squeue --noheader --name=load --states=RUNNING").splitlines()) == BUSY, 60)
    wait_for("their Pods to be protected", lambda: sum(
        pod["metadata"]["labels"].get(node_sets.PROTECT) == "true"
        for pod in place.pods().values()) == BUSY, 60)
    began = time.monotonic()
    place.scale(0)

    def only_the_busy():
        remember_memory()
        return set(place.pods()) == busy
    wait_for("only these to be left", only_the_busy, 600, 0.5)
    tell(f"{REPLICAS} to {BUSY}", began)
    equal(wrong, [], "busy workers that were deleted")


@case
def go():
    """when their jobs end, they go, too; the operator has had no more memory than it
    may"""
    began = time.monotonic()
    left = set(busy)
    busy.clear()
    in_slurm("scancel --name=load")
    wait_for("none to be left", lambda: not place.pods(), 300, 0.5)
    tell(f"{len(left)} to 0", began)
    equal(wrong, [], "busy workers that were deleted")
    check(most_memory <= MOST, f"the operator had {most_memory} MiB")


@last_case
def ends():
    """the operator ends by a signal"""
    proxy.clear()
    place.empty()
    equal(operator.stop(), 0, "its exit status")
    in_slurm(f"scontrol delete PartitionName={PARTITION} || true")
    slinky.delete_namespace(place.namespace)
    operator_process.uninstall()
    proxy.stop()


def last_words():
    return operator.log.read_text()[-3000:] if operator else ""


run(after_failure=last_words)
