#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods with volume claims go where their volumes are, or can be; what is bound
is bound by the real controllers."""
import atexit
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import gangs
import volumes
from bed import land, node_of
from tap import case, check, equal, run, wait_for
from volumes import with_claims

ALL = {"kn1", "kn2", "kn3", "kn4"}


def make(name, spec, cpu="1"):
    return bed.create(bed.pod(name, cpu=cpu, **spec))


@case
def bound_local():
    """a bound volume on one node: the Pod goes there"""
    volumes.claim("data", volumes.NOW)
    volumes.volume("v3", "kn3", storage_class=volumes.NOW)
    wait_for("the claim to be bound", lambda: volumes.volume_of("data"))
    make("bound", with_claims("data"))
    equal(land("bound"), "kn3", "its node")


@case
def bound_everywhere():
    """a bound volume that every node reaches: the Pod goes anywhere"""
    volumes.claim("data", volumes.NOW)
    volumes.volume("shared", None, storage_class=volumes.NOW)
    wait_for("the claim to be bound", lambda: volumes.volume_of("data"))
    make("shared", with_claims("data"))
    check(land("shared") in ALL, "a node")


@case
def bound_and_labels():
    """a volume and a nodeSelector that exclude each other: it waits"""
    volumes.claim("data", volumes.NOW)
    volumes.volume("v3", "kn3", storage_class=volumes.NOW)
    wait_for("the claim to be bound", lambda: volumes.volume_of("data"))
    make("torn", {**with_claims("data"), "nodeSelector": {volumes.HOST: "kn1"}})
    bed.wait_words("torn", "No Node satisfies")
    equal(bed.jobs_of("torn"), [], "its jobs")


@case
def missing():
    """a claim that does not exist: it waits, and goes on when there is one"""
    make("early", with_claims("data"))
    bed.wait_words("early", "volume claim data does not exist yet")
    equal(bed.jobs_of("early"), [], "its jobs")
    volumes.volume("v2", "kn2")
    volumes.claim("data")
    equal(land("early"), "kn2", "its node")


@case
def immediate_unbound():
    """an Immediate claim without a volume: it waits until it is bound"""
    volumes.claim("data", volumes.NOW)
    make("unbound", with_claims("data"))
    bed.wait_words("unbound", "not bound to a volume yet")
    volumes.volume("v1", "kn1", storage_class=volumes.NOW)
    equal(land("unbound"), "kn1", "its node")


@case
def first_consumer_local():
    """a class without provisioner: the Pod goes where a free volume is, which
    it then has"""
    volumes.volume("v4", "kn4")
    volumes.claim("data")
    make("local", with_claims("data"))
    equal(land("local"), "kn4", "its node")
    equal(volumes.volume_of("data"), "v4", "its volume")
    bed.wait_phase("local", "Running")
    equal(len(bed.jobs_of("local")), 1, "its jobs")


@case
def first_consumer_none_free():
    """no free volume that fits: it waits, with a sentence"""
    volumes.volume("small", "kn4", size="1Mi")
    volumes.claim("data")
    make("nothing", with_claims("data"))
    bed.wait_words("nothing", "finds no free volume that fits")
    volumes.volume("large", "kn1")
    equal(land("nothing"), "kn1", "its node")


@case
def listed_for_all():
    """many Pods wait for free volumes: these are listed once each ten seconds, and
    new ones are found"""
    count = 12
    before, began = volumes.lists(), time.monotonic()
    for i in range(count):
        volumes.claim(f"d{i}")
        make(f"p{i}", with_claims(f"d{i}"))
    for i in range(count):
        bed.wait_words(f"p{i}", "finds no free volume that fits")
    took = time.monotonic() - began
    lists = volumes.lists() - before
    check(lists <= 2 + took / 10, f"{lists} lists in {took:.0f} s")
    for i in range(count):
        volumes.volume(f"v{i}", f"kn{1 + i % 4}")
    for i in range(count):
        land(f"p{i}", 60)
    equal(len({volumes.volume_of(f"d{i}") for i in range(count)}), count,
          "volumes that they have")


@case
def two_claims():
    """two claims: a node that has volumes for both, each the smallest"""
    volumes.volume("one", "kn1")
    volumes.volume("a", "kn2", size="5Gi")
    volumes.volume("b", "kn2", size="2Gi")
    volumes.volume("c", "kn2", size="9Gi")
    volumes.claim("first", size="2Gi")
    volumes.claim("second", size="3Gi")
    make("both", with_claims("first", "second"))
    equal(land("both"), "kn2", "its node")
    equal(volumes.volume_of("first"), "b", "the first")
    equal(volumes.volume_of("second"), "a", "the second")


@case
def many_for_few():
    """six Pods for three free volumes: three run, each with its own"""
    for i in (1, 2, 3):
        volumes.volume(f"v{i}", f"kn{i}")
    for i in range(6):
        volumes.claim(f"data-{i}")
        make(f"many-{i}", with_claims(f"data-{i}"))
    names = [f"many-{i}" for i in range(6)]
    wait_for("three of them to be placed",
             lambda: sum(bool(node_of(n)) for n in names) == 3, 90)
    placed = [n for n in names if node_of(n)]
    equal({node_of(n) for n in placed}, {"kn1", "kn2", "kn3"}, "their nodes")
    for name in set(names) - set(placed):
        bed.wait_words(name, "finds no free volume", seconds=60)


@case
def first_consumer_made():
    """a class with a provisioner: the claim is told the node of the job, and
    the Pod is bound when the claim is"""
    volumes.claim("data", volumes.MADE)
    make("made", with_claims("data"))
    told = wait_for("the claim to be told",
                    lambda: volumes.selected_node("data"))
    job = bed.wait_job("made", "CONFIGURING")
    equal(job["nodes"], told, "the job's node")
    equal(node_of("made"), None, "the Pod's, before its volume is there")
    volumes.provision("data")
    equal(land("made"), told, "its node")
    equal(len(bed.jobs_of("made")), 1, "its jobs")


@case
def made_elsewhere():
    """the provisioner makes it elsewhere: a new job there"""
    volumes.claim("data", volumes.MADE)
    make("elsewhere", with_claims("data"))
    told = wait_for("the claim to be told",
                    lambda: volumes.selected_node("data"))
    other = min(ALL - {told})
    volumes.provision("data", other)
    equal(land("elsewhere"), other, "its node")
    equal(len(bed.jobs_of("elsewhere")), 2, "its jobs")


@case
def topology():
    """allowedTopologies count"""
    volumes.claim("data", volumes.HERE)
    make("here", with_claims("data"))
    equal(volumes.provision("data", storage_class=volumes.HERE), "kn2",
          "the node that is told")
    equal(land("here"), "kn2", "its node")


@case
def ephemeral():
    """a generic ephemeral volume: its claim is made for the Pod, and goes with
    it"""
    volumes.volume("v3", "kn3")
    make("scratch", {"volumes": [{"name": "tmp", "ephemeral": {
        "volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": volumes.LOCAL,
            "resources": {"requests": {"storage": "1Gi"}}}}}}]})
    equal(land("scratch"), "kn3", "its node")
    equal(volumes.volume_of("scratch-tmp"), "v3", "its volume")
    bed.delete("scratch", grace=1)
    wait_for("its claim to go", lambda: not volumes.get_claim("scratch-tmp"))


@case
def ephemeral_of_another():
    """a claim of that name which was not made for the Pod is not used"""
    volumes.volume("v3", "kn3")
    volumes.claim("stolen-tmp")
    make("stolen", {"volumes": [{"name": "tmp", "ephemeral": {
        "volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": volumes.LOCAL,
            "resources": {"requests": {"storage": "1Gi"}}}}}}]})
    bed.wait_words("stolen", "was not made for this Pod")
    equal(bed.jobs_of("stolen"), [], "its jobs")


@case
def agent_killed():
    """the agent is killed while claims wait to be bound: bound once"""
    volumes.claim("data", volumes.MADE)
    make("killed", with_claims("data"))
    wait_for("the claim to be told", lambda: volumes.selected_node("data"))
    bed.ctl("kill", "slurmk8sd")
    told = volumes.provision("data")
    bed.ctl("start", "slurmk8sd")
    equal(land("killed", 60), told, "its node")
    equal(len(bed.jobs_of("killed")), 1, "its jobs")


def gang_with_claims(gang, *claims, cpu="2"):
    """A Pod for each claim."""
    names = [f"{gang}-{i}" for i in range(len(claims))]
    for name, claim in zip(names, claims):
        body = gangs.member(name, gang, len(claims), cpu=cpu)
        body["spec"].update(with_claims(claim))
        bed.create(body)
    return names


@case
def gang_goes_to_its_volumes():
    """a gang goes where all its Pods' volumes can be reached; two share one"""
    for name in ("a", "b"):
        volumes.claim(name, volumes.NOW)
        volumes.volume("v" + name, "kn3", storage_class=volumes.NOW)
        wait_for("the claim to be bound", lambda: volumes.volume_of(name))
    names = gang_with_claims("train", "a", "b", "b")
    equal([land(name) for name in names], ["kn3"] * 3, "their nodes")
    equal(gangs.job_of(bed.NAMESPACE + "/gang/train")["nodes"], "kn3",
          "its job's node")


@case
def gang_told_once():
    """a claim without a volume that a gang shares: told one node, and no Pod is
    bound before it is; the agent is killed meanwhile"""
    volumes.claim("data", volumes.MADE)
    names = gang_with_claims("train", "data", "data")
    told = wait_for("the claim to be told",
                    lambda: volumes.selected_node("data"))
    check(not any(node_of(name) for name in names), "no Pod is bound")
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    equal(volumes.provision("data"), told, "the node it is made on")
    equal([land(name, 60) for name in names], [told] * 2, "their nodes")


@case
def waits_in_queue():
    """the agent is killed while a Pod with a volume waits in Slurm's queue"""
    make("fill", {"nodeSelector": {volumes.HOST: "kn3"}}, cpu="16")
    equal(land("fill"), "kn3", "its node")
    volumes.claim("data", volumes.NOW)
    volumes.volume("v3", "kn3", storage_class=volumes.NOW)
    wait_for("the claim to be bound", lambda: volumes.volume_of("data"))
    make("queued", with_claims("data"))
    bed.wait_job("queued", "PENDING")
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    bed.delete("fill", grace=1)
    equal(land("queued", 60), "kn3", "its node")
    equal(len(bed.jobs_of("queued")), 1, "its jobs")


@case
def no_right():
    """without the rights of the component: a sentence, and on when they come"""
    with admission.without_binding("slurmk8sd-volumes"):
        volumes.volume("v1", "kn1")
        volumes.claim("data")
        make("denied", with_claims("data"))
        bed.wait_words("denied", "claims", "components/volumes", seconds=40)
        equal(bed.jobs_of("denied"), [], "its jobs")
        make("plain", {})
        land("plain")
    equal(land("denied", 60), "kn1", "its node")


def before_each():
    bed.clean()
    volumes.clean()


bed.clean()
volumes.storage_classes("kn2")
atexit.register(volumes.remove_classes)
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
