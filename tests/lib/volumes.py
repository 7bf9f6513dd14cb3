# SPDX-License-Identifier: GPL-2.0-or-later
"""StorageClasses, volumes and claims, bound by the real controllers; a test is
the provisioner where one is needed."""
import os

import bed
from admission import make
from tap import wait_for

LOCAL = "test-local"    # without provisioner: volumes that a test makes
MADE = "test-made"      # with one, which is provision() below
HERE = "test-topology"  # the same, with allowedTopologies
NOW = "test-immediate"  # bound without a consumer
WAITS = "WaitForFirstConsumer"
SELECTED = "volume.kubernetes.io/selected-node"
HOST = "kubernetes.io/hostname"

CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
CLAIMS = f"/api/v1/namespaces/{bed.NAMESPACE}/persistentvolumeclaims"


def storage_classes(topology_node):
    none, some = "kubernetes.io/no-provisioner", "test.example.com/disk"
    for name, provisioner, mode, more in (
            (LOCAL, none, WAITS, {}), (MADE, some, WAITS, {}),
            (NOW, none, "Immediate", {}),
            (HERE, some, WAITS, {"allowedTopologies": [
                {"matchLabelExpressions": [
                    {"key": HOST, "values": [topology_node]}]}]})):
        make(CLASSES, {"metadata": {"name": name}, "provisioner": provisioner,
                       "volumeBindingMode": mode, **more})


def volume(name, node, size="1Gi", storage_class=LOCAL, claim=None, **spec):
    """A volume that is on one node, or reachable from all."""
    body = {"metadata": {"name": name}, "spec": {
        "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"],
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": storage_class,
        "hostPath": {"path": "/tmp/" + name}, **spec}}
    if node:
        body["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": HOST, "operator": "In",
                                   "values": [node]}]}]}}
    if claim:
        body["spec"]["claimRef"] = {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "namespace": bed.NAMESPACE, "name": claim,
            "uid": get_claim(claim)["metadata"]["uid"]}
    make(VOLUMES, body)


def claim(name, storage_class=LOCAL, size="1Gi", **spec):
    make(CLAIMS, {"metadata": {"name": name}, "spec": {
        "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class,
        "resources": {"requests": {"storage": size}}, **spec}})


def lists():
    """How many lists of all volumes the API server has answered so far."""
    text = bed.inside(
        "curl", "-sf", "--cacert", os.environ["SANDBOX_CA"],
        "-H", "Authorization: Bearer " + os.environ["SANDBOX_TOKEN"],
        os.environ["SANDBOX_API"] + "/metrics")
    return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
               if line.startswith("apiserver_request_total{") and
               'resource="persistentvolumes"' in line and 'verb="LIST"' in line)


def get_claim(name):
    try:
        return bed.api("GET", f"{CLAIMS}/{name}")
    except bed.ApiError as error:
        if error.status == 404:
            return None
        raise


def selected_node(name):
    return (get_claim(name) or {}).get("metadata", {}).get(
        "annotations", {}).get(SELECTED)


def volume_of(name):
    """The volume that the claim is bound to, or None."""
    found = get_claim(name) or {}
    if found.get("status", {}).get("phase") != "Bound":
        return None
    return found["spec"]["volumeName"]


def provision(name, node=None, storage_class=MADE):
    """What a provisioner does once a claim has been told its node."""
    told = wait_for(f"the claim {name} to be told a node",
                    lambda: selected_node(name))
    volume(f"made-{name}", node or told, storage_class=storage_class,
           claim=name)
    return told


def with_claims(*names):
    """The part of a Pod's spec."""
    return {"volumes": [{"name": f"v{i}",
                         "persistentVolumeClaim": {"claimName": name}}
                        for i, name in enumerate(names)]}


def clean():
    """No claim, no volume, once no Pod uses them."""
    for path in (CLAIMS, VOLUMES):
        for item in bed.api("GET", path)["items"]:
            remove(f"{path}/{item['metadata']['name']}")
        wait_for(f"{path} to be empty",
                 lambda p=path: not bed.api("GET", p)["items"], 60)


def remove_classes():
    for name in (LOCAL, MADE, HERE, NOW):
        remove(f"{CLASSES}/{name}")


def remove(path):
    """Unless somebody has."""
    try:
        bed.api("DELETE", path)
    except bed.ApiError as error:
        if error.status != 404:
            raise
