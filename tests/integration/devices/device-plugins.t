#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Resources of device plugins, as kubelets count them: a Pod's job has GRES for
them, whichever device its kubelet will choose; what others have is taken off, and
nodes with a slurmd are left out."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import bed
import claims
import devices
import faults
import gangs
import hybrid
import node_moves
from bed import land, node_of
from tap import case, check, equal, never, run, wait_for

GPU = "plugin.test/gpu"
GRES = "gpu:a100"
NODES = ("kn1", "kn2")


def offer(node, count):
    """As its kubelet says it; None: it knows of no such device plugin."""
    amount = None if count is None else str(count)
    bed.api("PATCH", f"/api/v1/nodes/{node}/status",
            {"status": {kind: {GPU: amount}
                        for kind in ("capacity", "allocatable")}},
            admission.STRATEGIC)


def with_gpus(body, count):
    resources = body["spec"]["containers"][0]["resources"]
    resources["limits"] = {GPU: str(count)}
    resources["requests"][GPU] = str(count)
    return body


def make(name, count=1, node=None, **options):
    body = with_gpus(bed.pod(name, **options), count)
    if node:
        body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    return bed.create(body)


def others(name, node, count):
    """A Pod of another scheduler that is there."""
    body = with_gpus(bed.pod(name, cpu="100m", scheduler="default-scheduler"),
                     count)
    body["spec"].update(nodeName=node, tolerations=[{"operator": "Exists"}])
    return bed.create(body)


def good(name, count):
    """Its job has so many, and no claim stands for them."""
    job = bed.job_of(name)
    check(job["tres_per_task"].endswith(f"{GRES}:{count}"),
          f"asked for {name}: {job['tres_per_task']}")
    equal(len(devices.gres_indexes(" ".join(job["gres_detail"]))), count,
          f"GRES of {name}")
    equal(claims.all_claims(), [], "claims")


@case
def counted():
    """the job of a Pod has GRES for it, and ends with it"""
    make("one", 2)
    check(land("one") in NODES, "a node that has some")
    good("one", 2)
    bed.wait_phase("one", "Running")
    bed.end("one")
    bed.wait_ended("one", "COMPLETED")


@case
def init_containers():
    """what an init container needs more is counted, too"""
    body = with_gpus(bed.pod("init"), 1)
    body["spec"]["initContainers"] = [{
        "name": "first", "image": "busybox:stable",
        "resources": {"limits": {GPU: "3"}, "requests": {GPU: "3"}}}]
    bed.create(body)
    land("init")
    good("init", 3)


@case
def shared_and_full():
    """Pods share a node's devices, and one too many waits until some are free; more
    than any node has is refused with both numbers"""
    names = [f"many-{i}" for i in range(5)]
    for name in names:
        make(name, 2)
    make("big", 5)
    wait_for("four of them to have a node",
             lambda: sum(bool(node_of(n)) for n in names) == 4)
    (last,) = [n for n in names if not node_of(n)]
    bed.wait_job(last, "PENDING")
    bed.wait_words("big", "No node is large enough", "gres/gpu:a100=5")
    bed.end(*set(names) - {last})
    land(last)
    good(last, 2)


@case
def unknown_resource():
    """what neither DeviceGres nor a DeviceClass knows is refused, in words"""
    body = bed.pod("unknown")
    body["spec"]["containers"][0]["resources"].update(
        limits={"other.test/gpu": "1"})
    bed.create(body)
    bed.wait_words("unknown", "the resource other.test/gpu is not supported",
                   "DeviceGres")
    equal(bed.jobs_of("unknown"), [], "its jobs")


@case
def gang():
    """Pods that belong together have one job, with enough for each on its node"""
    names = [f"t-{i}" for i in range(3)]
    for name, count in zip(names, (2, 1, 2)):
        bed.create(with_gpus(gangs.member(name, "t", 3), count))
    for name in names:
        bed.wait_phase(name, "Running")
    job = gangs.job_of(f"{bed.NAMESPACE}/gang/t")
    check(job["tres_per_task"].endswith(f"{GRES}:2"), job["tres_per_task"])
    equal(sorted(set(map(node_of, names))), sorted(NODES), "their nodes")


@case
def agent_killed():
    """the agent is killed after it submits, and before and after it binds: one job
    each, one binding"""
    names = []
    for point in ("submit:after", "bind:before", "bind:after"):
        if faults.alive():
            bed.ctl("kill", "slurmk8sd")
        names.append(point.replace(":", "-"))
        check(point in faults.points(), "the fault point")
        make(names[-1])
        faults.Fault(point).wait_dead()
    bed.ctl("start", "slurmk8sd")
    for name in names:
        bed.wait_phase(name, "Running", 60)
        good(name, 1)
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


@case
def others_have_some():
    """what a Pod of another scheduler has is nobody else's: a shadow holds it while
    the node is in use, also for the next agent, and goes with that Pod"""
    make("mine", 1, "kn1")
    equal(land("mine"), "kn1", "its node")
    bed.wait_phase("mine", "Running")
    others("theirs", "kn1", 2)
    held = wait_for("a shadow", node_moves.shadows)[0]
    wait_for("it to run", lambda: "RUNNING" in
             bed.jobs()[held["job_id"]]["job_state"])
    asks = bed.jobs()[held["job_id"]]["tres_per_node"]
    check(asks.endswith(f"{GRES}:2"), f"held: {asks}")
    make("next", 2, "kn1")
    bed.wait_job("next", "PENDING")
    make("fits", 1, "kn1")  # whatever the number of its index
    land("fits")
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    never("there is another one", lambda: len(node_moves.shadows()) != 1, 3)
    equal(node_of("next"), None, "the node of the one that waits")
    bed.delete("theirs", grace=0)
    wait_for("the shadow to go", lambda: not node_moves.shadows())
    land("next")


@case
def idle_node():
    """of an idle node Slurm counts what others leave, and all again afterwards"""
    others("daemon", "kn2", 3)
    devices.wait_gres("kn2", f"{GRES}:1")
    wait_for("the shadow to go", lambda: not node_moves.shadows())
    bed.delete("daemon", grace=0)
    devices.wait_gres("kn2", f"{GRES}:4")


@case
def slow_to_stop():
    """containers that still stop have their devices, though their job has ended"""
    body = with_gpus(bed.pod("slow", annotations={"sandbox/stop": "60s"}), 3)
    body["spec"].update(terminationGracePeriodSeconds=120,
                        nodeSelector={"kubernetes.io/hostname": "kn1"})
    bed.create(body)
    bed.wait_phase("slow", "Running")
    bed.run("scancel", str(bed.job_of("slow")["job_id"]))
    make("after", 2, "kn1")
    bed.wait_words("after", "waits until containers of ended jobs stop")
    make("beside", 1, "kn1")
    land("beside")
    bed.play("slow", stop="1ms")
    land("after")


@case
def plugin_goes():
    """a Pod waits while no device plugin offers the resource, and says so"""
    for node in NODES:
        offer(node, 0)
    for node in NODES:
        devices.wait_gres(node, "")
    make("early", 1)
    bed.wait_words("early", "No Node satisfies", f"status.allocatable/{GPU}")
    offer("kn2", 4)
    equal(land("early"), "kn2", "its node")


@case
def beside_slurmd():
    """a node with a slurmd gives no such device to Pods, which say why"""
    offer(hybrid.NODE, 4)
    try:
        for node in NODES:
            offer(node, 0)
        for node in NODES:
            devices.wait_gres(node, "")
        make("off", 1, annotations={bed.PARTITION: hybrid.PARTITION})
        bed.wait_words("off", f"Node {hybrid.NODE} offers it, but has a slurmd")
        equal(bed.jobs_of("off"), [], "its jobs")
    finally:
        offer(hybrid.NODE, None)


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    for node in NODES:
        offer(node, 4)
    for node in NODES:
        devices.wait_gres(node, f"{GRES}:4")


def drop_all():
    for node in NODES:
        offer(node, None)
    for node in NODES:
        devices.wait_gres(node, "")


with hybrid.hybrid_nodes():
    bed.clean()
    agent_conf.edit(lambda text: text + f"DeviceGres={GPU}:{GRES}\n"
                    "ResizeDelay=2\nNodeInterval=1\n")
    try:
        run(before_each=before_each, after_each=bed.nothing_left,
            after_failure=bed.last_words)
    finally:
        bed.clean()
        drop_all()
