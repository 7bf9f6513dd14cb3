#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of a node with a slurmd, of which gres.conf has four GPUs, also in
shards: Pods get the ones that Slurm's indexes stand for, by UUID, and neither
they nor ordinary jobs get what the other has, whole or a part of it."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import claims
import devices
import hybrid
import slurmctld
from bed import node_of
from claims import request, with_claims
from tap import case, check, equal, never, run, wait_for

NODE = hybrid.NODE
# Slurm's index is the place here: no index agrees with a name.
ORDER = ["a2", "a0", "a3", "a1"]
FILES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random"]
GRES_CONF = "/etc/slurm/gres.conf"
ANNOTATION = "slurmk8s/devices"


def with_gres(text):
    return text.replace(f"NodeName={NODE} ",
                        f"NodeName={NODE} Gres=gpu:a100:4,shard:8 ") \
        .replace("GresTypes=", "GresTypes=shard,")


def write_gres_conf(lines):
    bed.inside("sh", "-c", f"cat > {GRES_CONF}", stdin="".join(lines))


def restart_slurmd():
    bed.ctl("restart", "slurmd-kwok")


def annotate(value):
    bed.api("PATCH", f"/api/v1/nodes/{NODE}",
            {"metadata": {"annotations": {ANNOTATION: value}}},
            "application/merge-patch+json")


def in_order(names):
    return "gpu=" + ",".join(f"GPU-{name}" for name in names)


def make(name, *claim_names):
    return bed.create(bed.pod(name, annotations={bed.PARTITION:
                                                 hybrid.PARTITION},
                              **with_claims(*claim_names)))


def land(name):
    equal(wait_for(f"Pod {name} to have a node", lambda: node_of(name), 60),
          NODE, "its node")


def indexes_of(job_id):
    shown = bed.run("scontrol", "show", "job", "-d", str(job_id))
    return devices.gres_indexes(" ".join(
        word for word in shown.split() if word.startswith("GRES=")))


def state_of(job_id):
    return bed.run("squeue", "--noheader", "--format=%T",
                   f"--jobs={job_id}").strip()


def wait_running(job_id):
    wait_for(f"job {job_id} to run", lambda: state_of(job_id) == "RUNNING", 60)


@case
def by_uuid():
    """the claim has the devices of the job's indexes, and an ordinary job has
    other indexes"""
    native = hybrid.sbatch(1, "--gres=gpu:a100:1")
    wait_running(native)
    claims.claim("two", request(count=2, device_class=claims.A100))
    make("web", "two")
    land("web")
    theirs, ours = indexes_of(native), \
        indexes_of(bed.job_of("web")["job_id"])
    equal((len(theirs), len(ours)), (1, 2), "how many each has")
    check(not set(theirs) & set(ours), f"{theirs} and {ours}")
    equal(sorted(claims.devices_in(claims.get("two")).split()),
          sorted(ORDER[i] for i in ours), "the claim's devices")


@case
def unknown_order():
    """while the annotation does not say what Slurm has, Pods get none there"""
    annotate(in_order(ORDER[:3]))
    try:
        wait_for("slurmk8s status to say so", lambda: "names 3 devices of gpu"
                 in bed.run("slurmk8s", "status", check=False))
        claims.claim("one", request(device_class=claims.A100))
        make("web", "one")
        never("a device for the Pod",
              lambda: claims.devices_in(claims.get("one")), 5)
    finally:
        annotate(in_order(ORDER))
    land("web")


@case
def one_at_a_time():
    """of two Pods that share a claim the second waits for the first one's end:
    its job alone counts the devices"""
    claims.claim("both", request(device_class=claims.A100))
    make("web", "both")
    land("web")
    make("next", "both")
    wait_for("the Pod to say why it waits",
             lambda: "which has a slurmd: only one Pod"
             in bed.condition("next").get("message", ""), 30)
    bed.end("web")
    land("next")
    native = hybrid.sbatch(1, "--gres=gpu:a100:3")
    wait_running(native)
    ours = indexes_of(bed.job_of("next")["job_id"])
    equal(len(ours), 1, "its GPU")
    check(not set(ours) & set(indexes_of(native)), "both have one")


@case
def shards():
    """a GPU of which an ordinary job has a shard is no Pod's, and one that a Pod
    has is in no shard"""
    native = hybrid.sbatch(1, "--gres=shard:1")
    wait_running(native)
    claims.claim("all", request(count=4, device_class=claims.A100))
    make("web", "all")
    never("a node for the Pod", lambda: node_of("web"), 5)
    claims.claim("three", request(count=3, device_class=claims.A100))
    bed.run("scancel", str(native))
    land("web")
    equal(sorted(claims.devices_in(claims.get("all")).split()),
          sorted(ORDER), "the claim's devices")

    later = hybrid.sbatch(1, "--gres=shard:1")
    never("a shard for the job", lambda: state_of(later) == "RUNNING", 5)
    bed.end("web")
    wait_running(later)
    make("next", "three")
    land("next")
    equal(len(indexes_of(bed.job_of("next")["job_id"])), 3, "its GPUs")


def before_each():
    bed.run("scancel", "--user=alice", check=False)
    bed.clean()


def with_uuid(name):
    made = devices.device(name)
    made["attributes"]["uuid"] = {"string": f"GPU-{name}"}
    return made


with hybrid.hybrid_nodes():
    bed.clean()
    write_gres_conf([f"NodeName={NODE} Name=gpu Type=a100 File={file}\n"
                     for file in FILES] +
                    [f"NodeName={NODE} Name=shard Count=8\n"])
    try:
        with slurmctld.changed_conf(with_gres):
            restart_slurmd()
            wait_for(f"{NODE} to have its GPUs",
                     lambda: "gpu:a100:4" in (devices.gres(NODE) or ""), 60)
            devices.device_class(
                claims.A100, f"device.attributes['{devices.DRIVER}'].model "
                "== 'A100'")
            devices.publish(NODE, [with_uuid(f"a{i}") for i in range(4)])
            annotate(in_order(ORDER))
            agent_conf.edit(lambda text: text +
                            f"DeviceGres={claims.A100}:gpu:a100\n"
                            "NodeInterval=1\n")
            run(before_each=before_each, after_failure=bed.last_words)
    finally:
        before_each()
        annotate(None)
        devices.withdraw(NODE)
        devices.drop("deviceclasses", claims.A100)
        write_gres_conf([])
        restart_slurmd()
