#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A real DRA driver on the real kubelet: a container's environment names the
device whose index Slurm shows for its job, and no other Pod has it until the
driver has taken it back."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import bed
import claims
import devices
import dra_driver as dra
from claims import request, with_claims, with_template
from dra_driver import NODE
from tap import Skip, case, check, equal, last_case, never, run, wait_for

ANY, SOLO = "any-gpu.devices.test", "solo-gpu.devices.test"
OURS = f"device.driver == '{dra.DRIVER}'"
INDEX = f"device.attributes['{dra.DRIVER}'].index"
CLASSES = {SOLO: f"{OURS} && {INDEX} == 1", ANY: OURS}
DEVICE_GRES = f"{SOLO}:gpu:solo,{ANY}:gpu:rest"
GRES = "gpu:rest:3,gpu:solo:1"
BATCH = "slurm-jobs"
RESOURCE = "devices.test/any"  # of the class ANY
# No index is the number in its device's name, and the types are interleaved.
ORDER = "gpu-2 gpu-3 gpu-1 gpu-0"
_missing = dra.why_missing()


def make(name, spec, **more):
    return bed.create(dra.pod(name, spec, **more))


def any_gpu(name="gpu", count=1, **more):
    return request(name, count, ANY, **more)


def solo_gpu(name="gpu"):
    return request(name, 1, SOLO)


def same_everywhere(name, *containers):
    """The devices that the Pod's containers see, that its job's indexes stand for,
    and that its claims have."""
    bed.wait_phase(name, "Running", 60)
    seen = " ".join(sorted(" ".join(
        dra.devices_seen(name, c) for c in containers or ["main"]).split()))
    check(seen, f"no device in {name}")
    equal(seen, dra.devices_of_job(name), f"{name}: containers and Slurm")
    equal(seen, dra.devices_claimed(name), f"{name}: containers and claims")
    return seen


def succeed(*names):
    """All of them end, and give back what they have."""
    for name in names:
        dra.end(name)
    for name in names:
        bed.wait_phase(name, "Succeeded")
        bed.wait_ended(name, "COMPLETED", "0:0")


def all_free():
    wait_for("all devices to be given back", lambda: not dra.devices_claimed())
    equal(dra.indexes_in_use(), [], "indexes in use")


@case
def counted():
    """the devices of the driver's ResourceSlice are GRES of the node; the indexes
    that an earlier driver's order has given stay"""
    (one,) = dra.slices()
    equal([d["name"] for d in one["spec"]["devices"]],
          [f"gpu-{i}" for i in range(4)], "the driver's own order")
    equal(one["metadata"]["ownerReferences"][0]["name"], NODE, "its owner")
    equal(devices.gres(NODE), GRES, "GRES")
    # A device that was missing for a moment has a "-" until the next look.
    wait_for("the indexes", lambda: devices.indexes(NODE) == ORDER)


@case
def from_a_template():
    """the environment names the device of the index that scontrol shows, and has
    what the claim's configuration says of it"""
    claims.template("one", any_gpu(), config=[{"opaque": {
        "driver": dra.DRIVER, "parameters": {
            "apiVersion": "gpu.resource.example.com/v1alpha1",
            "kind": "GpuConfig", "sharing": {
                "strategy": "TimeSlicing",
                "timeSlicingConfig": {"interval": "Long"}}}}}])
    make("tmpl", with_template("one"))
    seen = same_everywhere("tmpl")
    said = dra.environment("tmpl")
    number = seen.removeprefix("gpu-")
    equal(said[f"GPU_DEVICE_{number}_TIMESLICE_INTERVAL"], "Long", "interval")
    equal(said[f"GPU_DEVICE_GPU_{number}_RESOURCE_CLAIM"],
          claims.of_template("tmpl")["metadata"]["uid"], "its claim")
    succeed("tmpl")
    wait_for("the claim to go", lambda: not claims.all_claims())


@case
def two_at_once():
    """two Pods with a device each: not the same one"""
    claims.template("one", any_gpu())
    make("left", with_template("one"))
    make("right", with_template("one"))
    seen = [same_everywhere(name) for name in ("left", "right")]
    equal(len(set(seen)), 2, f"devices ({seen})")
    equal(dra.devices_claimed(), " ".join(sorted(seen)), "in the claims")


@case
def shared():
    """two Pods with one claim: both see its device, one job has its index"""
    claims.claim("both", any_gpu())
    for name in ("first", "second"):
        make(name, with_claims("both"))
    for name in ("first", "second"):
        bed.wait_phase(name, "Running", 60)
    seen = {dra.devices_seen(name) for name in ("first", "second")}
    equal(seen, {claims.devices_in(claims.get("both"))}, "devices")
    (owner,) = [n for n in ("first", "second") if dra.gres_of(n)]
    equal({dra.devices_of_job(owner)}, seen, "the device of the job's index")
    succeed("first", "second")
    all_free()


@case
def several():
    """two requests of one claim in two containers: each has its own devices, both
    together those of the job"""
    rest = any_gpu("rest", 2, selectors=[
        {"cel": {"expression": f"{INDEX} != 1"}}])
    claims.claim("mixed", solo_gpu("solo"), rest)
    body = bed.pod("many", real=True, cpu="100m", command=dra.COMMAND,
                   **with_claims("mixed"))
    (main,) = body["spec"]["containers"]
    body["spec"]["containers"] = [
        {**main, "name": name, "resources": {**main["resources"]}}
        for name in ("solo", "rest")]
    for i, name in enumerate(("solo", "rest")):
        dra.use(body, i, name="mixed", request=name)
    bed.create(body)
    seen = same_everywhere("many", "solo", "rest")
    equal(len(seen.split()), 3, f"devices ({seen})")
    equal(dra.devices_seen("many", "solo"), "gpu-1", "of request solo")
    equal(claims.devices_in(claims.get("mixed")).split()[0], "gpu-1",
          "the claim's first")


@case
def extended_resources():
    """resources that DeviceClasses offer: each container sees the devices of its
    requests, an init container those of a later one among its own; the claim for
    them goes with the Pod"""
    body = bed.pod("extres", real=True, cpu="100m", command=dra.COMMAND)
    spec = body["spec"]

    def asking(name, resource, count):
        amounts = {resource: str(count)}
        return {**spec["containers"][0], "name": name, "resources": {
            "requests": {"cpu": "50m", **amounts}, "limits": amounts}}
    implicit = f"deviceclass.resource.kubernetes.io/{SOLO}"
    spec["initContainers"] = [{**asking("init", RESOURCE, 2), "command": [
        "sh", "-c", "env; echo that is all"]}]
    spec["containers"] = [asking("main", RESOURCE, 1),
                          asking("solo", implicit, 1)]
    bed.create(body)
    bed.wait_phase("extres", "Running", 60)
    init, main, solo = (set(dra.devices_seen("extres", name).split())
                        for name in ("init", "main", "solo"))
    equal(solo, {"gpu-1"}, "of the class's own name")
    check(len(main) == 1 and main < init and len(init) == 2,
          f"main has {main}, init {init}")
    seen = " ".join(sorted(init | solo))
    equal(seen, dra.devices_of_job("extres"), "containers and Slurm")
    equal(seen, dra.devices_claimed("extres"), "containers and claim")
    bed.delete("extres")
    bed.wait_gone("extres")
    wait_for("the claim to go", lambda: not claims.all_claims())


@case
def batch_jobs():
    """sbatch --k8s-image --gres: the script sees the devices of its job's indexes,
    and no others"""
    admission.apply()
    for gres, count in (("gpu:solo:1", 1), ("gpu:2", 2)):
        said = bed.run(
            "sbatch", "-p", "real", "-D", "/tmp", "--mem=100", f"--gres={gres}",
            "--k8s-image=busybox:stable", user="alice",
            stdin="#!/bin/sh\nenv\nsleep 600\n")
        number = int(said.split()[-1])
        wait_for(f"job {number} to run", lambda n=number:
                 bed.jobs()[n]["job_state"] == ["RUNNING"], 60)
        (pod,) = [p["metadata"]["name"] for p in bed.pods(BATCH) if
                  p["metadata"]["name"].startswith(f"job-{number}-")]

        def seen():
            return " ".join(sorted(re.findall(
                r"^GPU_DEVICE_\d+=(.*)$", bed.run(
                    "kubectl", "logs", "-n", BATCH, pod, check=False), re.M)))
        wait_for("the script to say its environment", seen, 60)
        names = devices.indexes(NODE).split()
        given = " ".join(bed.jobs()[number]["gres_detail"])
        equal(seen(), " ".join(sorted(
            names[i] for i in devices.gres_indexes(given))),
            "the script's devices and Slurm's")
        equal(len(seen().split()), count, gres)
        bed.run("scancel", str(number))
        bed.delete(pod, BATCH, grace=1)
        wait_for("its Pod to be gone", lambda p=pod: p not in [
            item["metadata"]["name"] for item in bed.pods(BATCH)], 60)
    wait_for("no index to be in use", lambda: not dra.indexes_in_use())


@case
def first_available():
    """of firstAvailable the first choice that there is"""
    claims.claim("choice", {"name": "gpu", "firstAvailable": [
        {"name": "other", "deviceClassName": ANY, "selectors": [
            {"cel": {"expression": f"{INDEX} > 7"}}]},
        {"name": "small", "deviceClassName": SOLO}]})
    make("choice", with_claims("choice"))
    equal(same_everywhere("choice"), "gpu-1", "its device")
    equal([r["request"] for r in claims.results(claims.get("choice"))],
          ["gpu/small"], "the choice")


@case
def given_again():
    """a device that is in use is waited for in Slurm's queue; when its Pod has
    ended the claim and Slurm have it no more, and the next Pod gets it"""
    claims.claim("mine", solo_gpu())
    claims.template("solo", solo_gpu())
    make("first", with_claims("mine"))
    equal(same_everywhere("first"), "gpu-1", "its device")
    make("next", with_template("solo"))
    bed.wait_job("next", "PENDING")
    equal(claims.devices_in(claims.of_template("next")), "", "its devices")
    succeed("first")
    equal(same_everywhere("next"), "gpu-1", "the device of the next")
    equal(claims.results(claims.get("mine")), [], "devices of the first")
    check(claims.FINALIZER not in claims.get("mine")["metadata"]
          .get("finalizers", []), "the first's claim has the finalizer")
    succeed("next")
    all_free()


def container_of(name):
    """What changes when its container is not the same any more."""
    status = bed.get(name)["status"]
    equal(status["phase"], "Running", f"phase of {name}")
    return [(c["containerID"], c["restartCount"])
            for c in status["containerStatuses"]]


@case
def driver_killed():
    """a driver is killed, the kubelet deletes its slices, and it comes back: the
    Pod runs on, its job has the same index, and the index its device"""
    claims.template("one", any_gpu())
    make("lives", with_template("one"))
    seen = same_everywhere("lives")
    container, gres = container_of("lives"), dra.gres_of("lives")
    dra.kill()
    dra.withdraw()
    devices.wait_indexes(NODE, " ".join("-" + d for d in ORDER.split()))
    equal(devices.gres(NODE), GRES, "GRES meanwhile")
    dra.start()
    devices.wait_indexes(NODE, ORDER)
    equal(container_of("lives"), container, "its container")
    equal(dra.gres_of("lives"), gres, "its index")
    equal(same_everywhere("lives"), seen, "its device")
    make("other", with_template("one"))
    check(same_everywhere("other") != seen, f"{seen} is in two Pods")
    succeed("lives", "other")
    all_free()


@case
def ends_without_driver():
    """a Pod that ends while the driver is dead: its device is nobody else's until
    the driver is back"""
    claims.template("solo", solo_gpu())
    make("first", with_template("solo"))
    same_everywhere("first")
    dra.kill()
    dra.end("first")
    make("next", with_template("solo"))
    bed.wait_job("next", "PENDING")
    never("the next Pod has the device", lambda:
          dra.devices_claimed() != "gpu-1" or
          "RUNNING" in bed.state_of(bed.job_of("next")), 3)
    dra.start()
    equal(same_everywhere("next"), "gpu-1", "its device")
    bed.wait_ended("first", "COMPLETED", "0:0")


@case
def uninstalled():
    """a driver that is gone for good: its devices are GRES no more; one that is new
    gives the indexes its own order"""
    dra.stop()
    devices.wait_gres(NODE, "")
    devices.wait_indexes(NODE, "")
    dra.start()
    devices.wait_gres(NODE, GRES)
    devices.wait_indexes(NODE, "gpu-0 gpu-1 gpu-2 gpu-3")


@last_case
def nothing_is_left():
    """no device is left, neither in Slurm nor in Kubernetes"""
    if _missing:
        raise Skip(_missing)
    bed.clean()
    drop_all()
    devices.wait_gres(NODE, "")
    devices.wait_indexes(NODE, "")
    equal(dra.slices(), [], "slices")


def earlier_order():
    """An earlier driver has published the devices in another order."""
    if devices.indexes(NODE) == ORDER:
        return
    if dra.slices():  # else the agent may count them after they have gone
        devices.wait_gres(NODE, GRES)
    dra.stop()
    devices.wait_gres(NODE, "")
    devices.wait_indexes(NODE, "")
    devices.publish(NODE, [
        {"name": name, "attributes": {"index": {"int": int(name[-1])}}}
        for name in ORDER.split()], driver=dra.DRIVER)
    devices.wait_gres(NODE, GRES)
    devices.wait_indexes(NODE, ORDER)


def before_each():
    if _missing:
        raise Skip(_missing)
    bed.clean()
    earlier_order()
    dra.start()
    devices.wait_gres(NODE, GRES)
    devices.wait_indexes(NODE, ORDER)
    wait_for("the driver's slice", dra.published)


def drop_classes():
    for name in CLASSES:
        devices.drop("deviceclasses", name)


def drop_all():
    bed.clean()  # without a driver the kubelet ends no Pod that has its devices
    dra.uninstall()
    drop_classes()


def start():
    dra.start()  # Pods of a run that was cut off end with a driver only
    bed.clean()
    agent_conf.edit(lambda text: text + f"DeviceGres={DEVICE_GRES}\n"
                    "ResizeDelay=2\nNodeInterval=1\n", drop_all)
    dra.stop()
    drop_classes()
    for name, cel in CLASSES.items():
        more = {"extendedResourceName": RESOURCE} if name == ANY else {}
        devices.device_class(name, cel, **more)
    wait_for("the agent", bed.serves)


def last_words():
    return bed.last_words() + f"\n== dra-driver\n{bed.log('dra-driver', 25)}"


if not _missing:
    start()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=last_words)
