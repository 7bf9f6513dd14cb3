#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods with ResourceClaims: Slurm chooses the index, the claim gets the device
that it stands for, and the Pod its node, in this order; kube-controller-manager
makes the claims and takes the devices back."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import claims
import devices
import faults
import slurmctld
from bed import land, node_of
from claims import request, with_claims, with_template
from slurmctld import Running
from tap import case, check, equal, never, run, wait_for

CLASSES = {claims.A100: f"device.driver == '{devices.DRIVER}' && "
           f"device.attributes['{devices.DRIVER}'].model == 'A100'",
           claims.CLASS: f"device.driver == '{devices.DRIVER}'"}
GRES = (f"{claims.A100}:gpu:a100", f"{claims.CLASS}:gpu:h100")
NODES = ("kn1", "kn2")
ALL = "gpu:a100:2,gpu:h100:2"
DATA = pathlib.Path(__file__).resolve().parents[2] / "data/claims.json"


def make(name, spec, **more):
    return bed.create(bed.pod(name, **spec, **more))


def same_devices(name, *made):
    """What the claims have is what Slurm gave to the Pod's job."""
    got = sorted(" ".join(claims.devices_in(one) for one in made).split())
    equal(got, sorted(devices.devices_of(bed.job_of(name))),
          f"devices of {name}, in its claims and in Slurm")
    check(got, "there are devices")


def shape(value):
    """An object of the API without what differs from run to run."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()
                if k not in ("allocationTimestamp", "managedFields")}
    return [shape(v) for v in value] if isinstance(value, list) else value


@case
def from_a_template():
    """a template's claim: the device is that of the index which the job has, the
    objects are as kube-scheduler leaves them; when the Pod is over the claim
    goes"""
    claims.template("two", request(count=2), config=[claims.config(["gpu"])])
    make("tmpl", with_template("two"))
    node = land("tmpl")
    made = claims.of_template("tmpl")
    same_devices("tmpl", made)
    equal(claims.consumers(made), ["tmpl"], "consumers")
    check(claims.FINALIZER in made["metadata"]["finalizers"], "the finalizer")
    golden = json.loads(DATA.read_text())["tmpl"]["allocated"]["status"]
    ours, theirs = made["status"], golden
    equal(sorted(ours), sorted(theirs), "members of the status")
    equal(sorted(ours["allocation"]), sorted(theirs["allocation"]),
          "members of the allocation")
    equal(set(ours["allocation"]["devices"]["results"][0]),
          set(theirs["allocation"]["devices"]["results"][0]), "of a result")
    equal(shape(ours["allocation"]["nodeSelector"]),
          {"nodeSelectorTerms": [{"matchFields": [
              {"key": "metadata.name", "operator": "In", "values": [node]}]}]},
          "the node selector")
    own = ours["allocation"]["devices"]["config"][-1]
    equal(own["source"], "FromClaim", "the source of its configuration")
    equal(json.dumps(own["opaque"]["parameters"]),
          json.dumps(claims.config()["opaque"]["parameters"]),
          "its parameters, in their order")
    bed.wait_phase("tmpl", "Running")
    bed.end("tmpl")
    bed.wait_ended("tmpl", "COMPLETED")
    wait_for("the claim to go", lambda: not claims.all_claims())


@case
def own_claim():
    """a claim of the user's: allocated for the Pod, and free again, without the
    finalizer, when the Pod has ended"""
    claims.claim("mine")
    make("own", with_claims("mine"))
    land("own")
    same_devices("own", claims.get("mine"))
    bed.wait_phase("own", "Running")
    bed.end("own")
    bed.wait_ended("own", "COMPLETED")
    wait_for("the devices to be given back",
             lambda: not claims.results(claims.get("mine")))
    wait_for("the finalizer to go", lambda: claims.FINALIZER not in
             claims.get("mine")["metadata"].get("finalizers", []))


@case
def waits_for_its_claim():
    """a claim that is not there: the Pod says so, and goes on when it is"""
    make("early", with_claims("late"))
    bed.wait_words("early", "The ResourceClaim late does not exist yet")
    equal(bed.jobs_of("early"), [], "its jobs")
    claims.claim("late")
    land("early")
    same_devices("early", claims.get("late"))


@case
def shared():
    """two Pods with one claim: one job has its GRES, both run on its node"""
    claims.claim("both")
    make("first", with_claims("both"))
    make("second", with_claims("both"))
    equal(land("first"), land("second"), "their nodes")
    wait_for("both to be its consumers", lambda: sorted(claims.consumers(
        claims.get("both"))) == ["first", "second"])
    given = [name for name in ("first", "second")
             if bed.job_of(name)["gres_detail"]]
    equal(len(given), 1, "jobs with GRES")
    same_devices(given[0], claims.get("both"))
    for name in ("first", "second"):
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


@case
def two_requests():
    """two requests, one of a class of its own, and a second claim"""
    claims.claim("pair", request("a", 1, claims.A100), request("h", 1,
                                                               model="H100"))
    claims.claim("one")
    make("many", with_claims("pair", "one"))
    land("many")
    pair = claims.get("pair")
    same_devices("many", pair, claims.get("one"))
    by_request = {r["request"]: r["device"] for r in claims.results(pair)}
    check(by_request["a"].startswith("a"), f"a device for a: {by_request}")
    check(by_request["h"].startswith("h"), f"a device for h: {by_request}")


@case
def first_available():
    """of firstAvailable the first choice that a node can have"""
    claims.claim("choice", claims.first_available(
        "gpu", ("huge", "none.devices.test", 1), ("small", claims.A100, 2)))
    make("choice", with_claims("choice"))
    land("choice")
    made = claims.get("choice")
    equal({r["request"] for r in claims.results(made)}, {"gpu/small"},
          "the choice")
    same_devices("choice", made)


@case
def all_of_a_node():
    """allocationMode All: every device of the class on one node"""
    claims.claim("every", claims.every())
    make("every", with_claims("every"))
    land("every")
    equal(sorted(claims.devices_in(claims.get("every")).split()),
          ["a0", "a1", "h2", "h3"], "its devices")
    same_devices("every", claims.get("every"))


@case
def constraint():
    """matchAttribute: two of one model, also where Slurm's first choice was not
    so"""
    for node, model in (("kn1", "A100"), ("kn2", "A100")):
        claims.claim(f"filler-{node}", request(model=model))
        make(f"filler-{node}", {**with_claims(f"filler-{node}"),
                                "nodeSelector": {"kubernetes.io/hostname": node}})
        land(f"filler-{node}")
    claims.claim("alike", request(count=2), constraints=[
        {"matchAttribute": f"{devices.DRIVER}/model"}])
    make("alike", with_claims("alike"))
    bed.wait_words("alike", "are not suitable", seconds=60)
    bed.end("filler-kn1", "filler-kn2")
    land("alike", 200)
    names = claims.devices_in(claims.get("alike")).split()
    equal(len({name[0] for name in names}), 1, f"models of {names}")
    same_devices("alike", claims.get("alike"))


@case
def more_than_there_are():
    """five Pods for two nodes of four devices, two each: one waits in Slurm's
    queue, and goes on when devices are free"""
    claims.template("two", request(count=2))
    names = [f"many-{i}" for i in range(5)]
    for name in names:
        make(name, with_template("two"))
    wait_for("four of them to have a node",
             lambda: sum(bool(node_of(n)) for n in names) == 4, 60)
    (last,) = [n for n in names if not node_of(n)]
    bed.wait_job(last, "PENDING")
    equal(claims.devices_in(claims.of_template(last)), "", "its devices")
    bed.end(*set(names) - {last})
    land(last)
    same_devices(last, claims.of_template(last))


@case
def written_by_others():
    """somebody writes to the claim all the time: it is read again, and allocated
    once"""
    claims.claim("busy")
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        make("busy", with_claims("busy"))
        bed.wait_job("busy", "PENDING")
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    for i in range(30):
        bed.api("PATCH", claims.path("resourceclaims", "busy"),
                {"metadata": {"labels": {"n": str(i)}}},
                "application/merge-patch+json")
    land("busy")
    same_devices("busy", claims.get("busy"))
    equal(len(bed.jobs_of("busy")), 1, "its jobs")


@case
def taken_by_others():
    """a device that is in somebody else's claim is not given: the Pod gets
    another"""
    for i, name in enumerate(("a0", "a1")):
        made = claims.claim(f"foreign-{i}")
        claims.put_status(made, {
            "allocation": claims.allocation("kn1", name),
            "reservedFor": [{"resource": "pods", "name": "x", "uid": f"x{i}"}]})
    claims.template("one", request(device_class=claims.A100))
    names = [f"other-{i}" for i in range(2)]
    for name in names:
        make(name, with_template("one"))
    for name in names:
        land(name, 90)
    have = [(node_of(n), claims.devices_in(claims.of_template(n)))
            for n in names]
    check(not {("kn1", "a0"), ("kn1", "a1")} & set(have), f"devices: {have}")
    equal(len(set(have)), 2, f"devices: {have}")


@case
def allocated_by_others():
    """a claim that another scheduler has allocated while the Pod waits: the Pod
    goes to its node, without GRES"""
    claims.claim("given")
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        make("given", with_claims("given"))
        bed.wait_job("given", "PENDING")
        claims.put_status(claims.get("given"), {
            "allocation": claims.allocation("kn2", "h3")})
        wait_for("a job without GRES", lambda: bed.job_of("given") and not
                 bed.job_of("given")["tres_per_task"])
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    equal(land("given"), "kn2", "its node")
    equal(claims.devices_in(claims.get("given")), "h3", "its device")
    equal(claims.consumers(claims.get("given")), ["given"], "its consumers")


@case
def without_the_gres():
    """slurmctld starts without the GRES that jobs hold: the Pod lives, with its
    devices; when GresTypes is back a job of its own holds them"""
    claims.claim("held")
    make("lives", with_claims("held"))
    land("lives")
    lives = Running("lives")
    had = claims.devices_in(claims.get("held"))
    slurmctld.save()
    with slurmctld.changed_conf(
            lambda conf: conf.replace("GresTypes=gpu", "#GresTypes=gpu")):
        never("the Pod is ended, or its claim freed", lambda: not lives.lives()
              or claims.devices_in(claims.get("held")) != had, 10)

    wait_for("a job that holds its devices", lambda: [
        job for job in slurmctld.living_jobs_of("lives")
        if "RUNNING" in bed.state_of(job) and job["gres_detail"]], 90)
    lives.lives()
    equal(claims.devices_in(claims.get("held")), had, "its device")
    equal(len(slurmctld.living_jobs_of("lives")), 1, "its living jobs")


def on_a_node_before_it_had_gres():
    """A Pod that runs on kn1 with devices; kn1 has no GRES in the state that was
    put aside."""
    devices.withdraw("kn1")
    devices.wait_gres("kn1", "")
    slurmctld.keep_state()
    devices.publish("kn1", [devices.device(one)
                            for one in ("a0", "a1", "h2", "h3")])
    devices.wait_gres("kn1", ALL)
    claims.claim("held", request(count=2))
    make("lives", with_claims("held") |
         {"nodeSelector": {"kubernetes.io/hostname": "kn1"}},
         annotations={"slurmk8s/timelimit": "60"})  # ends before tomorrow
    equal(land("lives"), "kn1", "its node")
    same_devices("lives", claims.get("held"))
    return Running("lives")


@case
def node_before_it_had_gres():
    """slurmctld was killed before it saved the node with its GRES: the node is
    recreated, and the Pod that lives there adopted with its devices"""
    lives = on_a_node_before_it_had_gres()
    slurmctld.bring_state_back()

    job = lives.is_adopted()
    equal(len(devices.gres_indexes(" ".join(job["gres_detail"]))), 2,
          "devices of its job")
    equal(devices.gres("kn1"), ALL, "the node's GRES")


@case
def node_that_stays_without_gres():
    """the same, and the node cannot be recreated yet: the Pod is adopted without
    GRES, so that nobody else gets its CPUs; the node has them when it is free"""
    lives = on_a_node_before_it_had_gres()
    had = claims.devices_in(claims.get("held"))
    bed.ctl("kill", "slurmk8sd")
    slurmctld.bring_state_back()
    bed.run("scontrol", "create", "Reservation=later", "Nodes=kn1",
            "StartTime=now+1days", "Duration=1", "Users=root")
    try:
        bed.ctl("start", "slurmk8sd")
        job = lives.is_adopted()
        equal(job["gres_detail"], [], "GRES of its job")
        equal(devices.gres("kn1"), "", "the node's GRES")
        equal(claims.devices_in(claims.get("held")), had, "its devices")
        check("Slurm does not count devices" in str(bed.status()), "the status")
    finally:
        bed.run("scontrol", "delete", "Reservation=later")
    bed.end("lives")
    bed.wait_ended("lives", "COMPLETED")
    devices.wait_gres("kn1", ALL)


@case
def cancelled_while_waiting():
    """scancel before the Pod has a node: nothing of the claim is left"""
    claims.claim("kept")
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        make("cut", with_claims("kept"))
        job = bed.wait_job("cut", "PENDING")
        bed.run("scancel", str(job["job_id"]))
        bed.wait_phase("cut", "Failed")
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    made = claims.get("kept")
    equal(claims.devices_in(made), "", "its devices")
    equal(claims.consumers(made), [], "its consumers")


@case
def deleted_while_running():
    """a Pod that is deleted: its devices are free when it is gone"""
    claims.claim("kept")
    make("gone", with_claims("kept"))
    land("gone")
    bed.wait_phase("gone", "Running")
    bed.delete("gone")
    bed.wait_gone("gone")
    wait_for("the devices to be given back",
             lambda: not claims.results(claims.get("kept")))


def killed_at(point, name):
    claims.claim(name)
    if faults.alive():
        bed.ctl("kill", "slurmk8sd")
    make(name, with_claims(name))
    faults.Fault(point).wait_dead()


@case
def agent_killed():
    """the agent is killed before and after each write: one allocation, one
    binding, one job"""
    points = [f"{write}:{side}" for write in
              ("write_claim", "write_claim_status", "bind")
              for side in ("before", "after")]
    check(set(points) <= set(faults.points()), "the fault points")
    names = [p.replace(":", "-").replace("_", "-") for p in points]
    for point, name in zip(points, names):
        killed_at(point, name)
    bed.ctl("start", "slurmk8sd")
    for name in names:
        bed.wait_phase(name, "Running", 60)
        same_devices(name, claims.get(name))
        equal(claims.consumers(claims.get(name)), [name], "consumers")
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


@case
def job_lost_after_the_claim():
    """the agent is killed between claim and binding, and the job is cancelled by
    another hand meanwhile: the claim is free again"""
    killed_at("write_claim_status:after", "torn")
    job = bed.job_of("torn")
    check(claims.devices_in(claims.get("torn")), "it has its device")
    bed.run("scancel", str(job["job_id"]))
    bed.ctl("start", "slurmk8sd")
    bed.wait_phase("torn", "Failed")
    wait_for("the device to be given back",
             lambda: not claims.results(claims.get("torn")))


@case
def node_drained_after_the_claim():
    """the same, and the job fails with its node: the claim is given back, and
    allocated anew where the next job is"""
    killed_at("write_claim_status:after", "moved")
    job = bed.job_of("moved")
    node = job["nodes"]
    with slurmctld.node_down(node):
        bed.ctl("start", "slurmk8sd")
        other = wait_for("another node", lambda: node_of("moved"), 90)
        check(other != node, "it is another one")
        same_devices("moved", claims.get("moved"))
        equal(len(claims.results(claims.get("moved"))), 1, "results")


@case
def admin_access():
    """adminAccess is refused in a namespace that does not allow it"""
    try:
        claims.claim("admin", request(adminAccess=True))
    except bed.ApiError as error:  # the API server refuses it, too
        check("admin" in error.message, error.message)
        return
    make("admin", with_claims("admin"))
    bed.wait_words("admin", "adminAccess")


@case
def unknown_class():
    """a class that is not there: it waits, and goes on when there is one"""
    claims.claim("odd", request(device_class="late.devices.test"))
    make("odd", with_claims("odd"))
    bed.wait_words("odd", "no DeviceClass late.devices.test")
    equal(bed.jobs_of("odd"), [], "its jobs")


@case
def unsupported_selector():
    """a selector that is not supported is named on the Pod"""
    claims.claim("strange", request(selectors=[{"cel": {
        "expression": "device.attributes.map(k, k).size() > 0"}}]))
    make("strange", with_claims("strange"))
    bed.wait_words("strange", "the ResourceClaim strange")
    equal(bed.jobs_of("strange"), [], "its jobs")


@case
def no_right():
    """without the rights of the component: a sentence, and on when they come"""
    with admission.without_binding("slurmk8sd-devices"):
        claims.claim("denied")
        make("denied", with_claims("denied"))
        bed.wait_words("denied", "claims", "components/devices", seconds=40)
        equal(bed.jobs_of("denied"), [], "its jobs")
        make("plain", {})
        land("plain")
    land("denied", 60)
    same_devices("denied", claims.get("denied"))


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    for node in NODES:
        devices.wait_gres(node, ALL)


devices.begin(f"DeviceGres={','.join(GRES)}", CLASSES, NODES)
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
