#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods whose claims have CPU devices, one for each CPU or shares of groups: the job has
a CPU for each, Slurm chooses which, and the claim gets these; no CPU is ever in two
claims."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import claims
import cpus
import devices
import faults
import gangs
import slurmctld
from bed import land
from claims import with_claims
from slurmctld import Running
from tap import case, check, equal, never, run, wait_for

NODES = ("kn1", "kn2")  # of 16 CPUs; the others have no such devices


def make(name, *names, cpu=None, **more):
    """A Pod whose container names all of its claims."""
    return bed.create(cpus.with_uses(
        bed.pod(name, cpu=cpu, **with_claims(*names), **more), *names))


def taken():
    """node/CPU of every claim there is."""
    return [f"{result['pool']}/{result['device']}"
            for made in claims.all_claims() for result in claims.results(made)]


def all_different():
    equal(len(set(taken())), len(taken()), f"different CPUs in {taken()}")


def allocate(name, node, count, **status):
    """As kube-scheduler does: the finalizer first."""
    result = {"request": "cpu", "driver": cpus.DRIVER, "pool": node}
    made = bed.api("PATCH", claims.path("resourceclaims", name), {
        "metadata": {"finalizers": [claims.FINALIZER]}},
        "application/merge-patch+json")
    claims.put_status(made, {**status, "allocation": {"devices": {"results": [
        {**result, "device": f"cpudev{i:03}"} for i in range(count)]}}})


@case
def own_cores():
    """a claim for three CPUs: the job has three, and the claim those which Slurm
    says; when the Pod has ended they are free"""
    claims.claim("three", cpus.request(3))
    make("own", "three")
    check(land("own") in NODES, "its node has CPU devices")
    job = bed.job_of("own")
    equal(job["cpus"]["number"], 3, "CPUs of the job")
    equal(cpus.in_claim(claims.get("three")), cpus.of_job(job),
          "CPUs in the claim and in Slurm")
    equal(claims.consumers(claims.get("three")), ["own"], "consumers")
    bed.wait_phase("own", "Running")
    bed.end("own")
    bed.wait_ended("own", "COMPLETED")
    wait_for("the CPUs to be given back",
             lambda: not claims.results(claims.get("three")))


@case
def shared_with_others():
    """beside Pods without claims, and with another claim: each its own"""
    for name, count in (("a", 2), ("b", 5)):
        claims.claim(name, cpus.request(count))
    where = {"nodeSelector": {"kubernetes.io/hostname": "kn1"}}
    make("first", "a", **where)
    land("first")
    bed.create(bed.pod("plain", cpu="3", **where))
    land("plain")
    make("second", "b", **where)
    land("second")
    for pod, name in (("first", "a"), ("second", "b")):
        equal(cpus.in_claim(claims.get(name)), cpus.of_job(bed.job_of(pod)),
              f"CPUs of {pod}")
    all_different()


@case
def request_and_claim():
    """what a container requests and what it claims are the same CPUs; what another
    one requests comes on top"""
    claims.claim("same", cpus.request(4))
    make("same", "same", cpu="4")
    claims.claim("more", cpus.request(4))
    body = cpus.with_uses(bed.pod("more", cpu=None, **with_claims("more")),
                          "more")
    body["spec"]["containers"].append({
        "name": "beside", "image": "busybox:stable",
        "resources": {"requests": {"cpu": "1500m"}}})
    bed.create(body)
    for name, count in (("same", 4), ("more", 6)):
        land(name)
        equal(bed.job_of(name)["cpus"]["number"], count, f"CPUs of {name}")
        equal(len(cpus.in_claim(claims.get(name))), 4, f"in {name}'s claim")


@case
def one_numa_node():
    """matchAttribute: CPUs of one NUMA node, where Slurm's own choice is not so"""
    where = {"nodeSelector": {"kubernetes.io/hostname": "kn1"}}
    bed.create(bed.pod("fills", cpu="6", **where))
    land("fills")
    claims.claim("near", cpus.request(4), **cpus.on_one_numa_node())
    make("near", "near", **where)
    land("near")
    got = cpus.in_claim(claims.get("near"))
    check(max(got) < 8 or min(got) >= 8, f"of one NUMA node: {got}")
    equal(len(bed.jobs_of("near")), 1, "its jobs")


@case
def taken_by_others():
    """a CPU that is in somebody else's claim is swapped, and no job is given
    back"""
    made = claims.claim("foreign", cpus.request(1))
    result = {"request": "cpu", "driver": cpus.DRIVER, "pool": "kn1",
              "device": "cpudev001"}
    claims.put_status(made, {
        "allocation": {"devices": {"results": [result]}},
        "reservedFor": [{"resource": "pods", "name": "x", "uid": "x"}]})
    claims.claim("ours", cpus.request(3))
    make("ours", "ours", nodeSelector={"kubernetes.io/hostname": "kn1"})
    land("ours")
    got = cpus.in_claim(claims.get("ours"))
    equal(len(got), 3, f"CPUs: {got}")
    check(1 not in got, f"another one instead of 1: {got}")
    equal(len(bed.jobs_of("ours")), 1, "its jobs")
    all_different()


@case
def restarted_agent():
    """the agent is killed: what runs keeps its CPUs, what comes gets others"""
    claims.claim("before", cpus.request(2))
    make("before", "before")
    land("before")
    had = cpus.in_claim(claims.get("before"))
    bed.ctl("kill", "slurmk8sd")
    claims.claim("after", cpus.request(2))
    make("after", "after")
    bed.ctl("start", "slurmk8sd")
    land("after")
    equal(cpus.in_claim(claims.get("before")), had, "its CPUs")
    equal(cpus.in_claim(claims.get("after")), cpus.of_job(bed.job_of("after")),
          "CPUs of the new one")
    all_different()


@case
def killed_around_the_write():
    """the agent is killed before and after it writes an allocation: one job, whose
    CPUs the claim has once"""
    points = [f"write_claim_status:{side}" for side in ("before", "after")]
    check(set(points) <= set(faults.points()), "the fault points")
    for point in points:
        name = "torn-" + point.partition(":")[2]
        bed.ctl("kill", "slurmk8sd")
        claims.claim(name, cpus.request(2))
        make(name, name)
        faults.Fault(point).wait_dead()
        bed.ctl("start", "slurmk8sd")
        land(name)
        equal(cpus.in_claim(claims.get(name)), cpus.of_job(bed.job_of(name)),
              f"CPUs of {name}")
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")
    all_different()


@case
def lost_job():
    """slurmctld has lost the job of a Pod: the new one has as many CPUs, the claim
    keeps its own, and nobody else gets these"""
    slurmctld.keep_state()
    where = {"nodeSelector": {"kubernetes.io/hostname": "kn1"}}
    claims.claim("kept", cpus.request(3))
    make("lives", "kept", **where)
    land("lives")
    lives = Running("lives")
    had = cpus.in_claim(claims.get("kept"))
    slurmctld.bring_state_back()
    job = lives.is_adopted()
    equal(job["cpus"]["number"], 3, "CPUs of the new job")
    claims.claim("next", cpus.request(4))
    make("next", "next", **where)
    land("next")
    equal(cpus.in_claim(claims.get("kept")), had, "CPUs of the old claim")
    equal(len(cpus.in_claim(claims.get("next"))), 4, "CPUs of the next one")
    all_different()


@case
def a_gang():
    """Pods of a gang on one node split the CPUs of their job"""
    for i in range(2):
        claims.claim(f"g-{i}", cpus.request(3))
        body = gangs.member(f"g-{i}", "g", 2, cpu=None)
        body["spec"].update(with_claims(f"g-{i}"))
        bed.create(cpus.with_uses(body, f"g-{i}"))
    nodes = {land(f"g-{i}") for i in range(2)}
    job = gangs.job_of(f"{bed.NAMESPACE}/gang/g")
    equal(job["cpus"]["number"], 6, "CPUs of the job")
    if len(nodes) == 1:
        got = [cpu for i in range(2)
               for cpu in cpus.in_claim(claims.get(f"g-{i}"))]
        equal(sorted(got), cpus.of_job(job), "CPUs in the claims and in Slurm")
    all_different()


@case
def taken_while_pending():
    """another Pod takes the claim while a job waits for its node: as soon as it has
    that the job is given back, and the next one comes when the claim is free"""
    where = {"nodeSelector": {"kubernetes.io/hostname": "kn1"}}
    bed.create(bed.pod("fills", cpu="16", **where))
    land("fills")
    bed.wait_phase("fills", "Running")
    claims.claim("wanted", cpus.request(2))
    make("later", "wanted", **where)
    first = bed.wait_job("later", "PENDING")["job_id"]
    holder = bed.create(bed.pod("holder", scheduler="nobody",
                                **with_claims("wanted")))
    allocate("wanted", "kn2", 2, reservedFor=[{
        "resource": "pods", "name": "holder",
        "uid": holder["metadata"]["uid"]}])
    bed.wait_words("later", "The ResourceClaim wanted has CPUs")
    bed.end("fills")
    wait_for("its job to be given back", lambda:
             "CANCELLED" in bed.state_of(bed.jobs()[first]), 20)
    never("another job", lambda: len(bed.jobs_of("later")) > 1, 5)
    bed.wait_words("later", "The ResourceClaim wanted has CPUs")
    bed.delete("holder")
    land("later")
    equal(claims.consumers(claims.get("wanted")), ["later"], "consumers")


@case
def shared_in_a_gang():
    """a claim that two Pods of a gang name is refused, also when it has its CPUs"""
    claims.claim("both", cpus.request(2))
    for i in range(2):
        body = gangs.member(f"s-{i}", "s", 2, cpu=None)
        body["spec"].update(with_claims("both"))
        bed.create(cpus.with_uses(body, "both"))
    words = "Pods s-0 and s-1 share the ResourceClaim both"
    bed.wait_words("s-0", words)
    allocate("both", "kn1", 2)
    never("a job", lambda: gangs.job_of(f"{bed.NAMESPACE}/gang/s"), 3)
    bed.wait_words("s-1", words)
    bed.clean()  # nobody else takes it back


@case
def groups():
    """the driver's mode "grouped": a share of a NUMA node is CPUs of the job, and
    no group gives more than it has"""
    cpus.withdraw()
    for node in NODES:
        cpus.wait_feature(node, False)
        cpus.publish_groups(node)
    for node in NODES:
        cpus.wait_feature(node)
    where = {"nodeSelector": {"kubernetes.io/hostname": "kn1"}}
    for name in ("a", "b"):
        claims.claim(name, cpus.share(6))
        make(f"in-{name}", name, **where)
        land(f"in-{name}")
        job = bed.job_of(f"in-{name}")
        equal(job["cpus"]["number"], 6, f"CPUs of in-{name}")
        equal(job["gres_detail"], [], f"GRES of in-{name}")
        result, = claims.results(claims.get(name))
        equal(result["consumedCapacity"], {cpus.CAPACITY: "6"}, "its share")
        check(result["shareID"], "it has a share's id")
    all_different()
    claims.claim("c", cpus.share(6))  # two CPUs are left in each group
    make("out", "c")
    equal(land("out"), "kn2", "the node of the third")


@case
def no_devices():
    """without CPU devices in the cluster the Pod waits and says so; when they come
    it goes to their node"""
    cpus.withdraw()
    for node in NODES:
        cpus.wait_feature(node, False)
    claims.claim("late", cpus.request(1))
    make("late", "late")
    bed.wait_words("late", "no external node in Slurm has a device")
    equal(bed.jobs_of("late"), [], "its jobs")
    cpus.publish("kn2")
    equal(land("late"), "kn2", "its node")


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    for node in NODES:
        cpus.publish(node)
    for node in NODES:
        cpus.wait_feature(node)


def drop_all():
    cpus.withdraw()
    devices.drop("deviceclasses", cpus.CLASS)


def start():
    bed.clean()
    agent_conf.edit(lambda text: text + f"DeviceGres={cpus.CLASS}:cpu\n"
                    f"DeviceCapacity={cpus.CAPACITY}:cpu\nNodeInterval=1\n",
                    drop_all)
    drop_all()
    devices.device_class(cpus.CLASS, f'device.driver == "{cpus.DRIVER}"')


start()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
