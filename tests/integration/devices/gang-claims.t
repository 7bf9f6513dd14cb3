#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gangs whose Pods have ResourceClaims, or extended resources: one job has GRES for
all, each Pod gets devices of its own out of what the job has on its node, and all of
them have theirs before the first is bound."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import claims
import devices
import faults
import gangs
import node_moves
import slurmctld
from bed import node_of
from claims import request
from tap import case, check, equal, never, run, wait_for

CLASSES = {claims.CLASS: f"device.driver == '{devices.DRIVER}'"}
GRES = f"{claims.CLASS}:gpu:any"
RESOURCE = "devices.test/gpu"  # of that class
NODES = ("kn1", "kn2")


def names(gang, count):
    return [f"{gang}-{i}" for i in range(count)]


def member(name, gang, size, template="two", minimum=None, **options):
    body = gangs.member(name, gang, size, minimum, **options)
    if template:
        body["spec"].update(claims.with_template(template))
    return bed.create(body)


def create(gang, count, size=None, **options):
    """Pods of that gang, with a claim of the template each; their names."""
    for name in names(gang, count):
        member(name, gang, size or count, **options)
    return names(gang, count)


def create_asking(gang, count, devices_each=2):
    """Pods of that gang, whose containers ask for so many of RESOURCE."""
    for name in names(gang, count):
        body = gangs.member(name, gang, count)
        asks = body["spec"]["containers"][0]["resources"]
        asks["limits"] = {RESOURCE: str(devices_each)}
        asks["requests"][RESOURCE] = str(devices_each)
        bed.create(body)
    return names(gang, count)


def job_of(gang):
    return gangs.job_of(f"{bed.NAMESPACE}/gang/{gang}")


def jobs_of(gang):
    return gangs.jobs_of(f"{bed.NAMESPACE}/gang/{gang}")


def wait_bound(pods, seconds=40):
    wait_for(f"{', '.join(pods)} to have nodes",
             lambda: all(node_of(name) for name in pods), seconds)


def wait_running(pods, seconds=40):
    for name in pods:
        bed.wait_phase(name, "Running", seconds)


def claim_of(name):
    return claims.of_template(name) or \
        next(iter(claims.of_extended(name)), None)


def in_claims(pods):
    """node/device of every claim, in order; each result once for each claim."""
    return sorted(f"{node_of(name)}/{one}" for name in pods
                  for one in claims.devices_in(claim_of(name)).split())


def in_slurm(job):
    """node/device of what the job has on each of its nodes, in Slurm's words:
    scontrol names a node with its GRES."""
    shown = bed.run("scontrol", "show", "job", "-d", str(job["job_id"]))
    found = []
    for line in shown.splitlines():
        words = dict(w.split("=", 1) for w in line.split() if "=" in w)
        if "Nodes" not in words or "GRES" not in words:
            continue
        for node in bed.run("scontrol", "show", "hostnames",
                            words["Nodes"]).split():
            known = devices.indexes(node).split()
            found += [f"{node}/{known[i].lstrip('-')}"
                      for i in devices.gres_indexes(words["GRES"])]
    return sorted(found)


def check_shared_out(gang, pods, each=2):
    """Every Pod has so many devices on its node, no two the same, all of them out
    of the job's; each claim is its Pod's alone."""
    job = job_of(gang)
    got = in_claims(pods)
    equal(len(got), each * len(pods), f"devices in {got}")
    equal(len(set(got)), len(got), f"different devices in {got}")
    given = in_slurm(job)
    check(set(got) <= set(given), f"{got} are of {given}")
    for name in pods:
        made = claim_of(name)
        equal(claims.consumers(made), [name], f"consumers of {name}'s claim")
        check(claims.FINALIZER in made["metadata"]["finalizers"],
              "the finalizer")
        equal({r["pool"] for r in claims.results(made)}, {node_of(name)},
              f"the pool of {name}'s devices")
    return got, given


@case
def one_job():
    """4 Pods of 2 devices on 2 nodes of 4: one job, all devices, each in one
    claim; when the Pods are over the claims go"""
    pods = create("train", 4)
    wait_running(pods)
    job = job_of("train")
    equal(job["tasks"]["number"], 4, "tasks")
    check(job["tres_per_task"].endswith("gpu:any:2"), job["tres_per_task"])
    equal(len(jobs_of("train")), 1, "jobs")
    equal(sorted(map(node_of, pods)), ["kn1", "kn1", "kn2", "kn2"], "nodes")
    got, given = check_shared_out("train", pods)
    equal(got, given, "the devices in claims, and Slurm's")
    bed.end(*pods)
    wait_for("the job to end", lambda:
             job_of("train")["job_state"] == ["COMPLETED"])
    wait_for("the claims to go", lambda: not claims.all_claims())


@case
def more_than_there_are():
    """what does not fit waits as a whole, without a device, and goes on when there
    is room"""
    first = create("first", 3)
    wait_running(first)
    second = create("second", 2)
    for name in second:
        bed.wait_words(name, "is waiting: ", seconds=60)
    equal(in_claims(second), [], "devices in their claims")
    equal([node_of(name) for name in second], [None, None], "their nodes")
    bed.end(*first)
    wait_running(second)
    check_shared_out("second", second)


@case
def unequal():
    """Pods with other claims: tasks of the largest; and one without any"""
    claims.template("three", request(count=3))
    pods = names("mix", 2)
    member(pods[0], "mix", 2, template="three")
    member(pods[1], "mix", 2)
    wait_running(pods)
    task = job_of("mix")["tres_per_task"]
    check(task.endswith("gpu:any:3"), f"TRES of a task: {task}")
    equal([len(claims.devices_in(claim_of(n)).split()) for n in pods], [3, 2],
          "devices")
    check(node_of(pods[0]) != node_of(pods[1]), "two nodes")
    bed.end(*pods)
    wait_for("the claims to go", lambda: not claims.all_claims())

    pods = names("led", 3)
    member(pods[0], "led", 3, template=None)
    member(pods[1], "led", 3, template="one")
    member(pods[2], "led", 3, template="one")
    wait_running(pods)
    check_shared_out("led", pods[1:], each=1)


@case
def late_members():
    """a gang that may start with two of its four Pods: those that come later get
    what is left of the job's devices"""
    pods = create("grow", 2, size=4, minimum=2)
    wait_running(pods)
    equal(job_of("grow")["tasks"]["number"], 4, "tasks")
    for name in names("grow", 4)[2:]:
        member(name, "grow", 4, minimum=2)
    wait_running(names("grow", 4))
    got, given = check_shared_out("grow", names("grow", 4))
    equal(got, given, "the devices in claims, and Slurm's")
    equal(len(jobs_of("grow")), 1, "jobs")


@case
def agent_killed():
    """the agent is killed before and after each write: one job, and each Pod has
    two devices that nobody else has"""
    points = [f"{write}:{side}" for write in
              ("write_claim", "write_claim_status", "bind")
              for side in ("before", "after")]
    check(set(points) <= set(faults.points()), "the fault points")
    for point in points:
        gang = "cut-" + point.replace(":", "-").replace("_", "-")
        if faults.alive():
            bed.ctl("kill", "slurmk8sd")
        pods = create(gang, 4)
        faults.Fault(point).wait_dead()
        if not point.startswith("bind:after"):
            equal([n for n in pods if node_of(n)], [], f"bound at {point}")
        if point.startswith("bind"):
            equal(len(in_any_claim(pods)), 8, f"devices in claims at {point}")
        bed.ctl("start", "slurmk8sd")
        wait_running(pods, 60)
        check_shared_out(gang, pods)
        equal(len(jobs_of(gang)), 1, f"jobs of {gang}")
        bed.end(*pods)
        wait_for("the claims to go", lambda: not claims.all_claims())


def in_any_claim(pods):
    return [one for name in pods
            for one in claims.devices_in(claim_of(name)).split()]


@case
def killed_between_claims():
    """killed again after each claim that it allocates: what a Pod has got is kept
    for it"""
    point = "write_claim_status:after"
    bed.ctl("kill", "slurmk8sd")
    pods = create("torn", 4)
    had = {}
    for count in (1, 2, 3):
        faults.Fault(point).wait_dead()
        now = {name: claims.devices_in(claim_of(name)) for name in pods}
        now = {name: value for name, value in now.items() if value}
        equal(len(now), count, f"claims allocated: {now}")
        equal({name: now[name] for name in had}, had, "those that were before")
        had = now
    bed.ctl("start", "slurmk8sd")
    wait_running(pods)
    for name, value in had.items():
        equal(claims.devices_in(claim_of(name)), value, f"devices of {name}")
    check_shared_out("torn", pods)
    equal(len(jobs_of("torn")), 1, "jobs")


@case
def job_lost_between_claims():
    """the agent is killed between the claims, and the job fails with a node: all
    devices are given back, and had anew where the next job is"""
    bed.ctl("kill", "slurmk8sd")
    pods = create("moved", 2)
    faults.Fault("write_claim_status:after").wait_dead()
    node = job_of("moved")["nodes"]
    with slurmctld.node_down(node):
        bed.ctl("start", "slurmk8sd")
        wait_bound(pods, 90)
        check(node not in map(node_of, pods), "they are elsewhere")
        check_shared_out("moved", pods)


@case
def cancelled_between_claims():
    """the same, and somebody cancels the job: the Pods fail, no device is left in
    a claim"""
    bed.ctl("kill", "slurmk8sd")
    pods = create("cut", 4)
    faults.Fault("write_claim_status:after").wait_dead()
    bed.run("scancel", str(job_of("cut")["job_id"]))
    bed.ctl("start", "slurmk8sd")
    for name in pods:
        bed.wait_phase(name, "Failed")
    wait_for("the devices to be given back", lambda: not in_any_claim(pods))


@case
def extended_resources():
    """Pods that ask for a resource of the DeviceClass, and the agent is killed
    after each kind of write: one claim for each, named on its Pod before any Pod
    is bound"""
    bed.ctl("kill", "slurmk8sd")
    pods = create_asking("asks", 4)
    for point in ("create_claim:after", "write_claim_status:after",
                  "set_extended_claim:after", "bind:before"):
        faults.Fault(point).wait_dead()
        equal([n for n in pods if node_of(n)], [], f"bound at {point}")
    for name in pods:
        (one,) = claims.of_extended(name)
        equal(claims.extended_status(name)["resourceClaimName"],
              one["metadata"]["name"], f"the claim that {name} names")
    bed.ctl("start", "slurmk8sd")
    wait_running(pods, 60)
    got, given = check_shared_out("asks", pods)
    equal(got, given, "the devices in claims, and Slurm's")
    equal(len(jobs_of("asks")), 1, "jobs")
    bed.end(*pods)
    wait_for("the claims to go", lambda: not claims.all_claims())


@case
def extended_given_back():
    """the same, killed between the claims: the job fails with a node, and the
    claims are made anew elsewhere; or somebody cancels it, and none is left"""
    bed.ctl("kill", "slurmk8sd")
    pods = create_asking("lost", 2)
    faults.Fault("write_claim_status:after").wait_dead()
    first = {one["metadata"]["uid"] for one in claims.all_claims()}
    check(first, "a claim is made")
    node = job_of("lost")["nodes"]
    with slurmctld.node_down(node):
        bed.ctl("start", "slurmk8sd")
        wait_bound(pods, 90)
        check(node not in map(node_of, pods), "they are elsewhere")
        check_shared_out("lost", pods)
        now = {one["metadata"]["uid"] for one in claims.all_claims()}
        equal(first & now, set(), "claims of before")
    bed.end(*pods)
    wait_for("the claims to go", lambda: not claims.all_claims())

    bed.ctl("kill", "slurmk8sd")
    pods = create_asking("off", 4)
    faults.Fault("write_claim_status:after").wait_dead()
    bed.run("scancel", str(job_of("off")["job_id"]))
    bed.ctl("start", "slurmk8sd")
    for name in pods:
        bed.wait_phase(name, "Failed")
    wait_for("the claims to go", lambda: not claims.all_claims())


@case
def member_made_again():
    """a member is deleted and made again while the gang runs: it gets the devices
    of that seat"""
    pods = create("again", 4)
    wait_running(pods)
    before = {name: (node_of(name), claims.devices_in(claim_of(name)))
              for name in pods}
    job = job_of("again")["job_id"]
    bed.delete("again-1")
    bed.wait_gone("again-1")
    never("the job to end", lambda: job_of("again")["job_state"] != ["RUNNING"],
          2)
    member("again-1", "again", 4)
    wait_running(["again-1"])
    equal({name: (node_of(name), claims.devices_in(claim_of(name)))
           for name in pods}, before, "nodes and devices")
    equal(job_of("again")["job_id"], job, "the job")
    check_shared_out("again", pods)


@case
def scancel_ends_all():
    """scancel ends all Pods, and all devices are free again"""
    pods = create("gone", 4)
    wait_running(pods)
    bed.run("scancel", str(job_of("gone")["job_id"]))
    for name in pods:
        bed.wait_phase(name, "Failed")
    wait_for("the devices to be given back", lambda: not in_any_claim(pods))
    after = create("next", 4)
    wait_running(after)
    check_shared_out("next", after)


@case
def taken_by_others():
    """a device that is in somebody else's claim: the gang is not bound in part, and
    gets its devices without that one"""
    made = claims.claim("foreign")
    claims.put_status(made, {
        "allocation": claims.allocation("kn1", "a0"),
        "reservedFor": [{"resource": "pods", "name": "x", "uid": "x"}]})
    pods = create("other", 3)
    wait_running(pods, 90)
    got, _ = check_shared_out("other", pods)
    check("kn1/a0" not in got, f"devices: {got}")


@case
def shared_claim():
    """a claim that several Pods of the gang share is refused with a sentence"""
    claims.claim("both")
    for name in names("share", 2):
        body = gangs.member(name, "share", 2)
        body["spec"].update(claims.with_claims("both"))
        bed.create(body)
    for name in names("share", 2):
        bed.wait_words(name, "share the ResourceClaim both")
    equal(job_of("share"), None, "its job")


@case
def nodes_out_of_order():
    """Slurm's table of nodes is not in the order of their names: the devices are
    those of the node on which Slurm gave them"""
    for node in NODES:
        leave(node)
    for node in reversed(NODES):
        join(node)
    bed.create(bed.pod("filler", **claims.with_template("one")))
    wait_running(["filler"])
    pods = create("order", 3)
    wait_running(pods, 60)
    got, given = check_shared_out("order", pods)
    equal(got, given, "the devices in claims, and Slurm's")


def leave(node):
    node_moves.label(node, **{node_moves.LABEL: None})
    wait_for(f"{node} to leave Slurm", lambda: not devices.slurm_node(node), 60)


def join(node):
    node_moves.label(node, **{node_moves.LABEL: "true"})
    devices.wait_gres(node, "gpu:any:4", 60)


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    for node in NODES:
        devices.wait_gres(node, "gpu:any:4")
    claims.template("one", request())
    claims.template("two", request(count=2))


devices.begin(f"DeviceGres={GRES}", {name: {
    "cel": cel, "extendedResourceName": RESOURCE}
    for name, cel in CLASSES.items()}, NODES)
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
