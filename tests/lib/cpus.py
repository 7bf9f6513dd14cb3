# SPDX-License-Identifier: GPL-2.0-or-later
"""CPU devices as dra-driver-cpu publishes them one by one, claims for them, and
what Slurm says of a job's CPUs."""
import re

import bed
import claims
import devices
from tap import wait_for

DRIVER = "dra.cpu"
CLASS = "dra.cpu"
FEATURE = "k8s-cpus"
NUMA = "dra.cpu/numaNodeID"
CAPACITY = "dra.cpu/cpu"


def device(cpu, numa=0):
    """As pkg/device/builder.go of the driver makes it."""
    return {"name": f"cpudev{cpu:03}", "attributes": {
        "dra.cpu/cpuID": {"int": cpu}, "dra.cpu/coreID": {"int": cpu},
        "dra.cpu/coreType": {"string": "standard"},
        "dra.cpu/cacheL3ID": {"int": numa}, "dra.cpu/socketID": {"int": numa},
        "dra.cpu/smtEnabled": {"bool": False}, NUMA: {"int": numa},
        "dra.net/numaNode": {"int": numa}}}


def publish(node, count=16):
    """The first half of its CPUs on NUMA node 0, the other on 1."""
    devices.publish(node, [device(i, int(i >= count // 2))
                           for i in range(count)], driver=DRIVER)


def publish_groups(node, count=16):
    """As in the driver's mode "grouped": two devices, given in shares."""
    devices.publish(node, [
        {"name": f"cpudevnuma{i:03}", "allowMultipleAllocations": True,
         "attributes": {NUMA: {"int": i}, "dra.cpu/socketID": {"int": i},
                        "dra.cpu/numCPUs": {"int": count // 2},
                        "dra.cpu/smtEnabled": {"bool": False}},
         "capacity": {CAPACITY: {"value": str(count // 2)}}}
        for i in range(2)], driver=DRIVER)


def withdraw():
    for name in devices.names_of("resourceslices"):
        if name.endswith("." + DRIVER):
            devices.drop("resourceslices", name)


def has_feature(node):
    return FEATURE in bed.run("scontrol", "show", "node", node)


def wait_feature(node, wanted=True, seconds=40):
    wait_for(f"{node} to have the feature {FEATURE}: {wanted}",
             lambda: has_feature(node) == wanted, seconds, every=0.2)


def request(count, name="cpu", **more):
    return claims.request(name, count, CLASS, **more)


def share(cpus, name="cpu", **more):
    """Of a group."""
    return request(1, name, capacity={"requests": {CAPACITY: str(cpus)}}, **more)


def on_one_numa_node():
    return {"constraints": [{"matchAttribute": NUMA}]}


def with_uses(body, *entries):
    """The Pod's first container names these of its claims."""
    body["spec"]["containers"][0]["resources"]["claims"] = [
        {"name": entry} for entry in entries]
    return body


def in_claim(made):
    """[0, 3] of an allocated claim; [] of another."""
    return sorted(int(result["device"].removeprefix("cpudev"))
                  for result in claims.results(made))


def of_job(job):
    """CPU_IDs of the job, of one node, as scontrol shows them: [0, 2, 3]."""
    shown = bed.run("scontrol", "show", "job", "-d", str(job["job_id"]))
    found = []
    for run in re.search(r"CPU_IDs=(\S+)", shown).group(1).split(","):
        first, _, last = run.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
