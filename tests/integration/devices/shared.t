#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices that many have a part of: shares that consume capacity, and partitions
that take from counters. Slurm counts both by a GRES without indexes, so that it
gives no more than there is; the claims are as kube-scheduler writes them."""
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import claims
import devices
import faults
import slurmctld
from bed import land
from claims import request, with_claims, with_template
from slurmctld import Running
from tap import case, check, equal, run, skip_all, wait_for

DRIVER = devices.DRIVER
SHARE, WHOLE, PART = "share.devices.test", "whole.devices.test", \
    "part.devices.test"
KIND = f"device.attributes['{DRIVER}'].kind"
CLASSES = {kind: f"device.driver == '{DRIVER}' && {KIND} == "
           f"'{kind.split('.')[0]}'" for kind in (SHARE, WHOLE, PART)}
GRES = f"{WHOLE}:gpu:whole,{PART}:gpu:part"
COUNTED = f"{DRIVER}/memory:gpumem:1Gi,{DRIVER}/bandwidth:nicbw:1Gi"
NIC, GPU, TWO, MIG = "kn1", "kn2", "kn3", "kn4"  # what each node has
COUNTS = {NIC: "gpumem:8,nicbw:10", GPU: "gpumem:40", TWO: "gpumem:80",
          MIG: "gpu:part:4,gpu:whole:1,gpumem:40"}
DATA = pathlib.Path(__file__).resolve().parents[2] / "data/claims.json"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                  r"[0-9a-f]{12}\Z")


def device(name, kind, **more):
    return {"name": name, "attributes": {"kind": {"string": kind}}, **more}


def shared(name, **capacity):
    return device(name, "share", allowMultipleAllocations=True,
                  capacity=capacity)


def stepped(value):
    """Of which whole Gi are given."""
    return {"value": value, "requestPolicy": {
        "default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}


def takes(name, kind, memory):
    return device(name, kind, consumesCounters=[
        {"counterSet": "gpu", "counters": {"memory": {"value": memory}}}])


def publish():
    devices.publish(NIC, [shared("nic-0", memory={"value": "8Gi"},
                                 bandwidth=stepped("10Gi"))])
    devices.publish(TWO, [shared(f"s{i}", memory=stepped("40Gi"))
                          for i in (1, 2)])
    devices.publish(MIG, [takes("w", "whole", "40Gi")] +
                    [takes(f"p{i}", "part", "10Gi") for i in range(4)], 1, 2)
    counters = devices.slice_of(MIG, [], 1, 2, name="counters")
    del counters["spec"]["devices"]
    counters["spec"]["sharedCounters"] = [
        {"name": "gpu", "counters": {"memory": {"value": "40Gi"}}}]
    bed.api("POST", f"{devices.API}/resourceslices", counters)


def may_share():
    """Whether this API server keeps what a driver says of shares. Its gate came
    with that of partitions."""
    devices.publish(GPU, [shared("s0", memory=stepped("40Gi"))])
    kept = bed.api("GET", f"{devices.API}/resourceslices")["items"]
    return any("allowMultipleAllocations" in d for s in kept
               for d in s["spec"].get("devices", []))


def ask(memory, capacity="memory", count=1):
    return request(count=count, device_class=SHARE,
                   capacity={"requests": {capacity: memory}})


def make(name, spec, node):
    return bed.create(bed.pod(name, nodeSelector={
        "kubernetes.io/hostname": node}, **spec))


def share(name, memory, node=GPU):
    """A Pod with a claim of its name for so much."""
    claims.claim(name, ask(memory))
    return make(name, with_claims(name), node)


def runs(name):
    land(name)
    bed.wait_phase(name, "Running")


def wait_in_queue(name):
    job = bed.wait_job(name, "PENDING")
    wait_for(f"the job of {name} to wait for resources", lambda: bed.job_of(
        name)["state_reason"] in ("Resources", "Priority"), 20)
    check(not claims.results(claims.get(name)), f"the claim of {name}")
    return job


def over(name):
    bed.end(name)
    bed.wait_ended(name, "COMPLETED")


def used(node):
    """What Slurm has given away of it: {"gpumem": 40}."""
    counts = {}
    for record in re.sub(r"\(.*?\)", "",
                         devices.slurm_node(node)["gres_used"]).split(","):
        kind, _, count = record.rpartition(":")
        counts[kind.split(":")[0]] = counts.get(kind.split(":")[0], 0) + \
            int(count or 0)
    return counts


def consumed(name):
    """"s0 20Gi" of its claim."""
    return " ".join(f"{r['device']} {r['consumedCapacity']['memory']}"
                    for r in claims.results(claims.get(name)))


@case
def counted():
    """capacities and counters are GRES of the nodes, in their unit"""
    for node, gres in COUNTS.items():
        equal(devices.gres(node), gres, f"GRES of {node}")
    equal(devices.indexes(GPU), "", "indexes of what is counted")


@case
def as_kube_scheduler():
    """a share: the claim is as kube-scheduler leaves it, rounded up; what has no
    policy is consumed in full, so that a second Pod waits"""
    golden = json.loads(DATA.read_text())["consumable"]["allocated"]["status"]
    claims.template("cap", {"name": "n", "exactly": {
        "deviceClassName": SHARE, "count": 1,
        "capacity": {"requests": {"bandwidth": "1500Mi"}}}})
    for name in ("first", "second"):
        make(name, with_template("cap"), NIC)
        if name == "first":
            runs(name)
    made = claims.of_template("first")
    ours = json.loads(json.dumps(made["status"]))
    result, = ours["allocation"]["devices"]["results"]
    wanted, = golden["allocation"]["devices"]["results"]
    check(UUID.match(result["shareID"]), f"the share's id {result['shareID']}")
    equal(result, {**wanted, "driver": DRIVER, "pool": NIC,
                   "shareID": result["shareID"]}, "the result")
    equal(sorted(ours), sorted(golden), "members of the status")
    equal(sorted(ours["allocation"]), sorted(golden["allocation"]),
          "members of the allocation")
    job = bed.job_of("first")
    equal(job["tres_per_task"], "gres/gpumem:8,gres/nicbw:2", "what it asked for")
    equal(job["gres_detail"], ["gpumem(CNT:8),nicbw(CNT:2)"], "what it has")
    bed.wait_job("second", "PENDING")
    check(not claims.results(claims.of_template("second")), "of the second")
    equal(used(NIC), {"gpumem": 8, "nicbw": 2}, "used")


@case
def two_share():
    """two Pods share a device; when it is full the third waits, and has its room
    when one of them ends"""
    share("a", "19500Mi")
    share("b", "20Gi")
    for name in ("a", "b"):
        runs(name)
        equal(consumed(name), "s0 20Gi", f"share of {name}")
    check(len({r["shareID"] for name in ("a", "b")
               for r in claims.results(claims.get(name))}) == 2, "their ids")
    equal(used(GPU), {"gpumem": 40}, "used")
    share("c", "1Gi")
    wait_in_queue("c")
    over("a")
    runs("c")
    equal(consumed("c"), "s0 1Gi", "share of the third")
    wait_for("the first's claim to be free",
             lambda: not claims.results(claims.get("a")))


@case
def none_has_room():
    """where no device has room although all together have: the job is given back,
    and the next one goes to another node"""
    share("fill", "30Gi", GPU)
    share("a", "30Gi", TWO)
    for name in ("fill", "a"):
        runs(name)
    share("b", "30Gi", TWO)
    runs("b")
    equal([consumed("a"), consumed("b")], ["s1 30Gi", "s2 30Gi"], "their shares")
    claims.claim("c", ask("20Gi"))
    bed.create(bed.pod("c", **with_claims("c"), affinity={"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname",
                                   "operator": "In", "values": [GPU, TWO]}]}]}}}))
    bed.wait_words("c", "other claims use too much of its memory", seconds=30)
    wait_for("another job of c", lambda: len(bed.jobs_of("c")) == 2, 30)
    over("fill")
    runs("c")
    equal(consumed("c"), "s0 20Gi", "its share")


@case
def partitions():
    """partitions and the whole of their device exclude each other, in Slurm"""
    for name in ("p", "q"):
        claims.claim(name, request(device_class=PART))
        make(name, with_claims(name), MIG)
        runs(name)
    equal(bed.job_of("p")["tres_per_task"], "gres/gpu:part:1,gres/gpumem:10",
          "what a partition asks for")
    equal(used(MIG), {"gpu": 2, "gpumem": 20}, "used by two")
    claims.claim("whole", request(device_class=WHOLE))
    make("whole", with_claims("whole"), MIG)
    wait_in_queue("whole")
    over("p")
    over("q")
    runs("whole")
    equal(claims.devices_in(claims.get("whole")), "w", "its device")
    claims.claim("r", request(device_class=PART))
    make("r", with_claims("r"), MIG)
    wait_in_queue("r")
    over("whole")
    runs("r")


@case
def agent_killed():
    """the agent is killed before and after each write: each share once"""
    points = [f"{write}:{side}" for write in ("write_claim_status", "bind")
              for side in ("before", "after")]
    check(set(points) <= set(faults.points()), "the fault points")
    names = [p.replace(":", "-").replace("_", "-") for p in points]
    for point, name in zip(points, names):
        if faults.alive():
            bed.ctl("kill", "slurmk8sd")
        share(name, "10Gi")
        faults.Fault(point).wait_dead()
    bed.ctl("start", "slurmk8sd")
    for name in names:
        bed.wait_phase(name, "Running", 60)
        equal(consumed(name), "s0 10Gi", f"share of {name}")
        equal(claims.consumers(claims.get(name)), [name], "consumers")
    equal(used(GPU), {"gpumem": 40}, "used")


@case
def extended():
    """a share by an extended resource consumes what its capacity's policy says"""
    resource = f"deviceclass.resource.kubernetes.io/{SHARE}"
    body = bed.pod("one", nodeSelector={"kubernetes.io/hostname": GPU})
    resources = body["spec"]["containers"][0]["resources"]
    resources["limits"] = {resource: "1"}
    resources["requests"][resource] = "1"
    bed.create(body)
    runs("one")
    made, = claims.of_extended("one")
    equal([r["consumedCapacity"] for r in claims.results(made)],
          [{"memory": "1Gi"}], "its share")
    equal(bed.job_of("one")["tres_per_task"], "gres/gpumem:1", "what it asked for")


@case
def job_lost():
    """slurmctld forgets the jobs of a share and of a partition: those that adopt
    the Pods hold as much"""
    slurmctld.keep_state()
    share("a", "20Gi")
    claims.claim("p", request(device_class=PART))
    make("p", with_claims("p"), MIG)
    pods = [Running("a"), Running("p")]
    had = {name: claims.results(claims.get(name)) for name in ("a", "p")}
    slurmctld.bring_state_back()
    asked = [pod.is_adopted()["tres_per_task"] for pod in pods]
    equal(asked, ["gres/gpumem:20", "gres/gpu:part:1,gres/gpumem:10"],
          "what the new jobs hold")
    for name, results in had.items():
        equal(claims.results(claims.get(name)), results, f"claim {name}")
    equal([used(GPU), used(MIG)["gpumem"]], [{"gpumem": 20}, 10], "used")


@case
def foreign_share():
    """what another scheduler has given of a device Slurm does not count, once the
    node is idle; when it is given back it does"""
    made = claims.claim("theirs", ask("15Gi"))
    allocation = claims.allocation(GPU, "s0")
    allocation["devices"]["results"][0].update(
        shareID="8f4474d0-b89b-4660-ae22-ba4ddc3c74ff",
        consumedCapacity={"memory": "15Gi"})
    claims.put_status(made, {"allocation": allocation})
    devices.wait_gres(GPU, "gpumem:25")
    share("rest", "25Gi")
    runs("rest")
    claims.drop("theirs")
    over("rest")
    devices.wait_gres(GPU, "gpumem:40")


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    for node, gres in COUNTS.items():
        devices.wait_gres(node, gres)


devices.begin(f"DeviceGres={GRES}\nDeviceCapacity={COUNTED}", CLASSES)
if not may_share():
    skip_all("this API server knows no shares of devices")
publish()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
