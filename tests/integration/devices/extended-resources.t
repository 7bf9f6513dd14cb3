#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Extended resources that a DeviceClass offers: Slurm counts them as it counts
claims, and the agent makes the one ResourceClaim that stands for them, as
kube-scheduler does."""
import copy
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import claims
import devices
import faults
import invariants
import slurmctld
import world
from bed import land, node_of
from claims import with_claims
from tap import case, check, equal, run, wait_for

GPU = "devices.test/gpu"
IMPLICIT = "deviceclass.resource.kubernetes.io/" + claims.A100
NODES = ("kn1", "kn2")
OURS = f"device.driver == '{devices.DRIVER}'"
MODEL = f"device.attributes['{devices.DRIVER}'].model"
DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/slurmk8sd-devices"
CONFIG = {"opaque": {"driver": devices.DRIVER, "parameters": {
    "apiVersion": "gpu.example.com/v1", "kind": "GpuConfig"}}}


def container(name, **asks):
    """asks: gpu=2, a100=1."""
    named = {"gpu": GPU, "a100": IMPLICIT}
    amounts = {named[kind]: str(count) for kind, count in asks.items()}
    return {"name": name, "image": "busybox:stable",
            "resources": {"limits": amounts, "requests": {
                "cpu": "500m", "memory": "32Mi", **amounts}}}


def make(name, count=1, resource=GPU, **spec):
    body = bed.pod(name, **spec)
    if count:
        resources = body["spec"]["containers"][0]["resources"]
        resources["limits"] = {resource: str(count)}
        resources["requests"][resource] = str(count)
    return bed.create(body)


def good(name, *others):
    """One claim was made for the Pod, its status names it, and it has, together
    with others, the devices of its job. Returns it."""
    made = claims.of_extended(name)
    equal(len(made), 1, f"claims made for {name}")
    (one,) = made
    equal(claims.extended_status(name)["resourceClaimName"],
          one["metadata"]["name"], "the claim that the Pod's status names")
    equal(claims.consumers(one), [name], "its consumers")
    got = " ".join(claims.devices_in(c) for c in (one, *others)).split()
    equal(sorted(got), sorted(devices.devices_of(bed.job_of(name))),
          f"devices of {name}, in its claims and in Slurm")
    check(got, "there are devices")
    return one


def shape(value, names):
    """An object of the API without what differs from run to run."""
    if isinstance(value, dict):
        return {k: shape(v, names) for k, v in value.items()
                if k not in ("allocationTimestamp", "managedFields", "uid",
                             "resourceVersion", "creationTimestamp", "device")}
    if isinstance(value, list):
        return [shape(v, names) for v in value]
    return names.get(value, value) if isinstance(value, str) else value


@case
def as_kube_scheduler():
    """claim and status of the Pod are those that kube-scheduler makes, names and
    times aside; the devices are those of the job's indexes; kube-controller-manager
    takes the claim away when the Pod has ended"""
    make("extres", 2)
    node = land("extres")
    one = good("extres")
    golden = json.loads((DATA / "claims.json").read_text())["extres"]["allocated"]
    pod = json.loads((DATA / "pod-extended.json").read_text())
    names = {"gpu.example.com": claims.CLASS, "n3": node, "g": bed.NAMESPACE,
             "example.com/gpu": GPU,
             golden["metadata"]["name"]: one["metadata"]["name"]}
    wanted = shape(golden, names)
    del wanted["kind"], wanted["apiVersion"]  # which a list leaves out
    for place in (wanted["status"]["allocation"]["devices"]["results"],
                  [c["opaque"] for c in
                   wanted["status"]["allocation"]["devices"]["config"]]):
        for entry in place:
            entry["driver"] = devices.DRIVER
    equal(shape(one, {}), wanted, "the claim")
    equal(claims.extended_status("extres"),
          shape(pod["status"]["extendedResourceClaimStatus"], names),
          "the status of the Pod")
    check(one["metadata"]["name"].startswith(
        one["metadata"]["generateName"]), "its name")
    bed.wait_phase("extres", "Running")
    bed.end("extres")
    bed.wait_ended("extres", "COMPLETED")
    wait_for("the claim to go", lambda: not claims.all_claims())


@case
def by_class():
    """deviceclass.resource.kubernetes.io/NAME, of a class that says no name"""
    make("byclass", 1, IMPLICIT)
    land("byclass")
    one = good("byclass")
    check(claims.devices_in(one).startswith("a"), "of that class")
    equal(claims.extended_status("byclass")["requestMappings"],
          [{"containerName": "main", "resourceName": IMPLICIT,
            "requestName": "container-0-request-1"}], "the mappings")


@case
def init_containers():
    """an init container uses what the later containers will have, and the most
    that one of them lacks is asked for once"""
    bed.create(bed.pod("init", initContainers=[
        container("i0", gpu=2), container("i1", gpu=3)],
        containers=[container("main", gpu=1)]))
    land("init")
    one = good("init")
    equal({r["name"]: r["exactly"]["count"]
           for r in one["spec"]["devices"]["requests"]},
          {"container-1-request-1": 2, "container-2-request-1": 1}, "requests")
    equal([(m["containerName"], m["requestName"]) for m in
           claims.extended_status("init")["requestMappings"]],
          [("main", "container-2-request-1"), ("i0", "container-2-request-1"),
           ("i0", "container-1-request-1"), ("i1", "container-2-request-1"),
           ("i1", "container-1-request-1")], "mappings")


@case
def several():
    """two resources in two containers, and a claim of the Pod's own"""
    claims.claim("own")
    bed.create(bed.pod("several", containers=[
        container("c0", gpu=1), container("c1", gpu=1, a100=1)],
        **with_claims("own")))
    land("several")
    one = good("several", claims.get("own"))
    equal({r["request"] for r in claims.results(one)},
          {"container-0-request-1", "container-1-request-1",
           "container-1-request-2"}, "requests with devices")


@case
def more_than_there_are():
    """five Pods for two nodes of four devices, two each: one waits in Slurm's
    queue, without a claim, and goes on when devices are free"""
    names = [f"many-{i}" for i in range(5)]
    for name in names:
        make(name, 2)
    wait_for("four of them to have a node",
             lambda: sum(bool(node_of(n)) for n in names) == 4, 60)
    (last,) = [n for n in names if not node_of(n)]
    bed.wait_job(last, "PENDING")
    equal(claims.of_extended(last), [], "its claims")
    bed.end(*set(names) - {last})
    land(last)
    good(last)


@case
def no_class():
    """a resource that no DeviceClass offers, such as a device plugin's: the Pod
    says so, has no job, and goes on when there is one"""
    make("late", 1, "late.test/gpu")
    bed.wait_words("late", "the resource late.test/gpu is not supported",
                   "no DeviceClass offers it")
    equal(bed.jobs_of("late"), [], "its jobs")
    devices.device_class("late.devices.test", OURS,
                         extendedResourceName="late.test/gpu")
    try:
        land("late")
        good("late")
    finally:
        devices.drop("deviceclasses", "late.devices.test")


def killed_at(point, name):
    if faults.alive():
        bed.ctl("kill", "slurmk8sd")
    make(name)
    faults.Fault(point).wait_dead()


@case
def agent_killed():
    """the agent is killed before and after each write: one claim, one allocation,
    one binding, one job"""
    points = [f"{write}:{side}" for write in
              ("create_claim", "write_claim_status", "set_extended_claim",
               "bind") for side in ("before", "after")]
    check(set(points) <= set(faults.points()), "the fault points")
    names = [p.replace(":", "-").replace("_", "-") for p in points]
    for point, name in zip(points, names):
        killed_at(point, name)
    bed.ctl("start", "slurmk8sd")
    for name in names:
        bed.wait_phase(name, "Running", 60)
        good(name)
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


@case
def job_lost_after_the_claim():
    """the agent is killed between claim and Pod status, and the job is cancelled:
    the Pod fails, and nothing of the claim is left"""
    killed_at("write_claim_status:after", "torn")
    (one,) = claims.of_extended("torn")
    check(claims.devices_in(one), "it has its device")
    bed.run("scancel", str(bed.job_of("torn")["job_id"]))
    bed.ctl("start", "slurmk8sd")
    bed.wait_phase("torn", "Failed")
    wait_for("the claim to go", lambda: not claims.all_claims())


@case
def node_down_after_the_claim():
    """the same, and the job fails with its node: that claim goes, and another is
    made where the next job is; the agent is killed at the removal, too"""
    killed_at("write_claim_status:after", "moved")
    node = bed.job_of("moved")["nodes"]
    (first,) = claims.of_extended("moved")
    with slurmctld.node_down(node):
        for side in ("before", "after"):
            if faults.alive():
                bed.ctl("kill", "slurmk8sd")
            if claims.of_extended("moved"):
                faults.Fault(f"delete_claim:{side}").wait_dead(60)
        bed.ctl("start", "slurmk8sd")
        other = wait_for("another node", lambda: node_of("moved"), 90)
        check(other != node, "it is another one")
        one = good("moved")
        check(one["metadata"]["uid"] != first["metadata"]["uid"],
              "it is another claim")


@case
def deleted_before_the_binding():
    """a Pod that is deleted while its claim is made and no status names it: the
    claim goes with it"""
    for point in ("create_claim:after", "write_claim_status:after"):
        killed_at(point, "brief")
        check(claims.of_extended("brief"), "its claim is made")
        bed.delete("brief")
        bed.wait_gone("brief")
        bed.ctl("start", "slurmk8sd")
        wait_for("the claim to go", lambda: not claims.all_claims(), 60)


@case
def deleted_while_running():
    """a Pod that is deleted: its claim is gone when it is"""
    make("gone")
    land("gone")
    bed.wait_phase("gone", "Running")
    bed.delete("gone")
    bed.wait_gone("gone")
    wait_for("the claim to go", lambda: not claims.all_claims())


@case
def checker_sees():
    """the invariant checker has nothing to say of such a Pod, and sees a claim with
    too few devices, and a second claim"""
    make("seen", 2)
    land("seen")

    def rules():
        return {wrong.rule for wrong in invariants.violations(now)}

    now = world.read()
    equal(rules(), set(), "as it is")
    (one,) = [c for c in now.claims if claims.results(c)]
    now.claims.append(copy.deepcopy(one))
    check("extended-twice" in rules(), "a second claim")
    now.claims.pop()
    claims.results(one).pop()
    equal(rules(), {"extended-short"}, "a device less")


@case
def quota():
    """a quota on ResourceClaims is said on the Pod, which goes on when it is
    gone"""
    path = f"/api/v1/namespaces/{bed.NAMESPACE}/resourcequotas"
    bed.api("POST", path, {"metadata": {"name": "none"}, "spec": {"hard": {
        "count/resourceclaims.resource.k8s.io": "0"}}})
    try:
        wait_for("the quota to be counted", lambda: bed.api(
            "GET", f"{path}/none").get("status", {}).get("used"))
        make("poor")
        bed.wait_words("poor", "exceeded quota", seconds=40)
        equal(claims.all_claims(), [], "claims")
    finally:
        bed.api("DELETE", f"{path}/none", {})
    land("poor", 90)
    good("poor")


@case
def plugin_node():
    """a Node whose device plugins offer the resource is not for a DeviceClass's"""
    path = "/api/v1/nodes/kn1/status"
    made = {"status": {kind: {GPU: "4"} for kind in ("capacity", "allocatable")}}
    gone = {"status": {kind: {GPU: None} for kind in ("capacity", "allocatable")}}
    bed.api("PATCH", path, made, admission.STRATEGIC)
    try:
        make("plugged", 4)
        equal(land("plugged", 60), "kn2", "its node")
        good("plugged")
    finally:
        bed.api("PATCH", path, gone, admission.STRATEGIC)


@case
def part_of_component():
    """a component of before extended resources: these are off and say so, Pods
    with claims go on; given, they go on, too"""
    rules = bed.api("GET", ROLE)["rules"]
    less = [rule for rule in rules if "create" not in rule["verbs"]]
    equal(len(rules) - len(less), 1, "rules that are taken away")
    bed.api("PATCH", ROLE, {"rules": less}, admission.MERGE)
    try:
        bed.ctl("restart", "slurmk8sd")
        wait_for("slurmk8s status to say so", lambda:
                 "off: extended-resources: slurmk8sd may not create "
                 "resourceclaims.resource.k8s.io, delete "
                 "resourceclaims.resource.k8s.io" in
                 bed.run("slurmk8s", "status", check=False))
        make("denied")
        bed.wait_words("denied", "extended resources", "components/devices",
                       seconds=40)
        claims.claim("plain")
        make("allowed", 0, **with_claims("plain"))
        land("allowed")
    finally:
        bed.api("PATCH", ROLE, {"rules": rules}, admission.MERGE)
    land("denied", 60)
    good("denied")


@case
def no_other_claims():
    """the agent's account may make and delete no other claims than these"""
    agent = admission.As(admission.token(*admission.AGENT))
    make("owner", 0)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "owner",
             "uid": bed.get("owner")["metadata"]["uid"], "controller": True}
    good_meta = {"name": "x", "annotations": {claims.EXTENDED: "true"},
                 "ownerReferences": [owner]}

    def tries(more_meta=None, **spec):
        return agent.create(claims.path("resourceclaims"), {
            "metadata": {**good_meta, **(more_meta or {})},
            "spec": claims.spec(**spec)})

    tries()
    only = "only make and delete ResourceClaims of extended resources"
    admission.refused(only, tries, {"annotations": {}})
    admission.refused(only, tries, {"ownerReferences": []})
    extra = "may not give labels, parameters or other finalizers"
    admission.refused(extra, tries, {"labels": {"a": "b"}})
    admission.refused(extra, tries, {"finalizers": ["a.io/b"]})
    admission.refused(extra, tries, config=[claims.config()])
    claims.claim("users")
    admission.refused(only, agent.delete, claims.path("resourceclaims", "users"))


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    for node in NODES:
        devices.wait_gres(node, "gpu:a100:2,gpu:h100:2")


devices.begin(f"DeviceGres={claims.A100}:gpu:a100,{claims.CLASS}:gpu:h100", {
    claims.A100: f"{OURS} && {MODEL} == 'A100'",
    claims.CLASS: {"cel": OURS, "extendedResourceName": GPU,
                   "config": [CONFIG]}}, NODES)
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
