# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of a driver that nobody runs: ResourceSlices and DeviceClasses as a DRA
driver and its administrator make them, and what Slurm makes of them."""
import collections
import json
import re

import agent_conf
import bed
from tap import wait_for

API = "/apis/resource.k8s.io/v1"
DRIVER = "devices.test"
WORD = "k8sdev:"  # how the agent's word in a node's extra begins


def drop(kind, name):
    try:
        bed.api("DELETE", f"{API}/{kind}/{name}", {})
    except bed.ApiError as error:
        if error.status != 404:
            raise


def names_of(kind):
    return [item["metadata"]["name"]
            for item in bed.api("GET", f"{API}/{kind}")["items"]]


def device_class(name, cel, **spec):
    bed.api("POST", f"{API}/deviceclasses", {
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": cel}}], **spec}})


def device(name, taint=None):
    """a… are of model A100, all others of model H100."""
    made = {"name": name, "attributes": {
        "model": {"string": "A100" if name.startswith("a") else "H100"}}}
    if taint:
        made["taints"] = [{"key": "test/broken", "effect": taint}]
    return made


def slice_of(node, devices, generation=1, slices=1, name="all", driver=DRIVER):
    """One of the slices of the node's pool."""
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice",
            "metadata": {"name": f"{node}-{name}.{driver}"},
            "spec": {"driver": driver, "nodeName": node, "devices": devices,
                     "pool": {"name": node, "generation": generation,
                              "resourceSliceCount": slices}}}


def publish(node, devices, *pool, **names):
    """A slice of the node's pool, made or replaced: see slice_of()."""
    body = slice_of(node, devices, *pool, **names)
    title = body["metadata"]["name"]
    try:
        bed.api("POST", f"{API}/resourceslices", body)
    except bed.ApiError as error:
        if error.status != 409:
            raise
        known = bed.api("GET", f"{API}/resourceslices/{title}")
        version = known["metadata"]["resourceVersion"]
        body["metadata"]["resourceVersion"] = version
        bed.api("PUT", f"{API}/resourceslices/{title}", body)


def begin(settings, classes, nodes=()):
    """Until the program ends the agent has these settings, lines of k8s.conf, and
    hears soon of what changes; there are these DeviceClasses, each a name with its
    CEL or with the arguments of device_class(); and each of the nodes has two
    devices of each model."""
    def drop_ours():
        drop_all(*classes)
    bed.clean()
    agent_conf.edit(lambda text: text + settings +
                    "\nResizeDelay=2\nNodeInterval=1\n", drop_ours)
    drop_ours()
    for name, spec in classes.items():
        device_class(name, **(spec if isinstance(spec, dict)
                              else {"cel": spec}))
    for node in nodes:
        publish(node, [device(one) for one in ("a0", "a1", "h2", "h3")])


def withdraw(node=""):
    """Every slice of the node, or of all."""
    for name in names_of("resourceslices"):
        if name.startswith(node) and name.endswith("." + DRIVER):
            drop("resourceslices", name)


# ---- In Slurm


def drop_all(*classes):
    """No slices of the driver, and none of these DeviceClasses."""
    withdraw()
    for name in classes:
        drop("deviceclasses", name)


def slurm_node(name):
    shown = json.loads(bed.run("scontrol", "show", "node", name, "--json"))
    return shown["nodes"][0] if shown["nodes"] else None


def gres(name):
    """What Slurm counts there, type by type: "gpu:a100:2,gpu:h100:1"."""
    node = slurm_node(name)
    return gres_of(node) if node else None


def gres_of(node):
    """Of Slurm's record of it."""
    counts = collections.Counter()
    for record in filter(None, re.sub(r"\(.*?\)", "", node["gres"]).split(",")):
        kind, _, count = record.rpartition(":")
        counts[kind] += int(count)
    return ",".join(f"{kind}:{counts[kind]}" for kind in sorted(counts))


def extra(name):
    node = slurm_node(name)
    return node["extra"] if node else ""


def indexes(name):
    """The device of each index, "-a0" where a0 was not there when looked for."""
    return indexes_in(extra(name))


def indexes_in(text):
    """Of a node's extra."""
    found = []
    for word in text.split():
        if word.startswith(WORD):
            for run in word.split("!")[1:]:
                found += run.split("|")[0].split(":")[1:]
    return " ".join(found)


def wait_gres(name, wanted, seconds=40):
    wait_for(f"{name} to have {wanted or 'no GRES'}",
             lambda: gres(name) == wanted, seconds, every=0.2)


def wait_indexes(name, wanted, seconds=40):
    wait_for(f"{name} to have the indexes {wanted or '(none)'}",
             lambda: indexes(name) == wanted, seconds, every=0.2)


def gres_indexes(text):
    """All in a text of Slurm's: [0, 2, 3] of "gpu:a100:3(IDX:0,2-3)"."""
    found = []
    for runs in re.findall(r"IDX:([0-9,-]*)", text):
        for run in filter(None, runs.split(",")):  # none: "gpu:h100:0(IDX:)"
            first, _, last = run.partition("-")
            found += range(int(first), int(last or first) + 1)
    return sorted(found)


def devices_of(job):
    """The names of its devices, in the order of the indexes."""
    names = indexes(job["nodes"]).split()
    return [names[i] for i in gres_indexes(" ".join(job["gres_detail"]))]


def index_of_job(job_id):
    """Of the job's GRES: "gpu:a100:1(IDX:0)"."""
    return ",".join(bed.jobs()[job_id]["gres_detail"])
