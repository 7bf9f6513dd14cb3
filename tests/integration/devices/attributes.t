#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Claims that only some nodes' devices satisfy, which GRES cannot say: the first
job of a Pod goes to such a node, and where there is none the Pod says so and
costs no job."""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import claims
import devices
from bed import land
from claims import request, with_claims, with_template
from tap import case, equal, run

CLASSES = {claims.CLASS: f"device.driver == '{devices.DRIVER}'"}
# All of one type: Slurm cannot tell the models apart.
DEVICES = {"kn1": ("a0", "a1"), "kn2": ("a0", "a1"), "kn3": ("h0", "h1")}
NAMESPACE = f"/api/v1/namespaces/{bed.NAMESPACE}"
ADMIN = "resource.kubernetes.io/admin-access"
NOWHERE = "No Node that the Pod may have has devices that satisfy"


def publish(node, names):
    devices.publish(node, [devices.device(name) for name in names])


def make(name, spec):
    return bed.create(bed.pod(name, **spec))


def features(node):
    return set(devices.slurm_node(node)["features"])


@contextlib.contextmanager
def admin_namespace():
    def label(value):
        bed.api("PATCH", NAMESPACE, {"metadata": {"labels": {ADMIN: value}}},
                "application/merge-patch+json")
    label("true")
    try:
        yield
    finally:
        label(None)


@case
def first_try():
    """one node of three has what the selector asks for: the first job is there,
    for one Pod after another"""
    claims.template("h", request(model="H100"))
    for name in ("one", "two"):
        make(name, with_template("h"))
        equal(land(name), "kn3", f"the node of {name}")
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")
    equal(sorted(claims.devices_in(claims.of_template(name))
                 for name in ("one", "two")), ["h0", "h1"], "their devices")


@case
def full():
    """the devices that fit are in use: the Pod waits in Slurm's queue, and goes
    there when they are free"""
    claims.template("h", request(count=2, model="H100"))
    make("first", with_template("h"))
    land("first")
    make("next", with_template("h"))
    bed.wait_job("next", "PENDING")
    bed.end("first")
    equal(land("next"), "kn3", "its node")
    equal(len(bed.jobs_of("next")), 1, "its jobs")


@case
def admin_access():
    """adminAccess asks Slurm for no GRES, and goes there at once all the same"""
    with admin_namespace():
        claims.claim("watch", request(model="H100", adminAccess=True))
        make("watch", with_claims("watch"))
        equal(land("watch"), "kn3", "its node")
        equal(len(bed.jobs_of("watch")), 1, "its jobs")
        bed.delete("watch", grace=0)
        bed.wait_gone("watch")
        claims.drop("watch")


@case
def nowhere():
    """devices that no node has together: a sentence and no job, until a node has
    them"""
    claims.claim("both", request("a", model="A100"),
                 request("h", model="H100"))
    make("both", with_claims("both"))
    bed.wait_words("both", NOWHERE, "the ResourceClaim both")
    equal(bed.jobs_of("both"), [], "its jobs")
    publish("kn2", ("a0", "h1"))
    equal(land("both", 60), "kn2", "its node")
    equal(len(bed.jobs_of("both")), 1, "its jobs")


@case
def any_device():
    """a claim that every device satisfies costs no feature of the nodes"""
    before = {node: features(node) for node in DEVICES}
    claims.claim("any")
    make("any", with_claims("any"))
    land("any")
    for node, words in before.items():
        equal(features(node) - words, set(), f"new features of {node}")


@case
def too_many():
    """more devices than any node has: the number is told, and no job asked for"""
    claims.claim("many", request(count=3))
    make("many", with_claims("many"))
    bed.wait_words("many", "asks for 3 devices", "has 2")
    equal(bed.jobs_of("many"), [], "its jobs")


@case
def deleted():
    """a claim that was deleted is told as such"""
    claims.claim("gone")
    claims.drop("gone")
    make("gone", with_claims("gone"))
    bed.wait_words("gone", "The ResourceClaim gone was deleted")


@case
def driver_away():
    """a job that waits keeps its place while the slices of its only node are
    withdrawn for a moment, and the Pod says so"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        claims.claim("away", request(model="H100"))
        make("away", with_claims("away"))
        bed.wait_job("away", "PENDING")
        (job,) = bed.jobs_of("away")
        devices.withdraw("kn3")
        bed.wait_words("away", "gets no devices")
        publish("kn3", DEVICES["kn3"])
        devices.wait_gres("kn3", "gpu:any:2")
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    equal(land("away", 60), "kn3", "its node")
    equal([one["job_id"] for one in bed.jobs_of("away")], [job["job_id"]],
          "its jobs")


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    for node, names in DEVICES.items():
        publish(node, names)
    for node in DEVICES:
        devices.wait_gres(node, "gpu:any:2")


devices.begin(f"DeviceGres={claims.CLASS}:gpu:any", CLASSES)
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
