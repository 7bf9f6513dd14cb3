#!/usr/bin/env python3
"""volumes.py URL CA TOKEN-FILE DIRECTORY NODE…: the provisioner sandbox/directory. For each claim of a class of its own it makes a directory and
a volume of it, which these nodes have; what is released goes with its directory if its policy is Delete. All else is the business of
kube-controller-manager, kube-scheduler (ReadWriteOncePod) and the kubelet."""
import http.client
import json
import pathlib
import shutil
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request

PROVISIONER = "sandbox/directory"
ASKED = "volume.kubernetes.io/storage-provisioner"  # kube-controller-manager asks
MADE = "pv.kubernetes.io/provisioned-by"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
CLAIMS = "/api/v1/persistentvolumeclaims"


class Api:
    def __init__(self, url, authority, token):
        self.url, self.token = url, token
        self.tls = ssl.create_default_context(cafile=authority)
        self.tls.verify_flags &= ~ssl.VERIFY_X509_STRICT      # the sandbox's authority has no keyUsage

    def open(self, path, method="GET", body=None, timeout=30):
        request = urllib.request.Request(self.url + path, method=method, headers={
            "Authorization": "Bearer " + self.token, "Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        return urllib.request.urlopen(request, context=self.tls, timeout=timeout)

    def get(self, path):
        with self.open(path) as answer:
            return json.load(answer)

    def do(self, method, path, body=None):
        """Whether it was done; what is there already, or gone already, was."""
        try:
            self.open(path, method, body).close()
        except urllib.error.HTTPError as error:
            if error.code not in (404, 409):
                raise


def wanted(claim):
    meta = claim["metadata"]
    return (meta.get("annotations", {}).get(ASKED) == PROVISIONER and claim["status"].get("phase") == "Pending" and
            "deletionTimestamp" not in meta)


def done_with(volume):
    return (volume["metadata"].get("annotations", {}).get(MADE) == PROVISIONER and volume["status"].get("phase") == "Released" and
            volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete")


def volume_of(claim, policy, directory, nodes):
    meta, spec = claim["metadata"], claim["spec"]
    return {
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": directory.name, "annotations": {MADE: PROVISIONER}},
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "accessModes": spec["accessModes"],
            "volumeMode": "Filesystem",
            "persistentVolumeReclaimPolicy": policy,
            "storageClassName": spec["storageClassName"],
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": meta["namespace"], "name": meta["name"],
                         "uid": meta["uid"]},
            # Not a hostPath, of which the kubelet would not give a Pod's fsGroup the files.
            "local": {"path": str(directory)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}]}]}}}}


class Provisioner:
    def __init__(self, api, top, nodes):
        self.api, self.top, self.nodes = api, top, nodes

    def settle(self):
        classes = {item["metadata"]["name"]: item.get("reclaimPolicy", "Delete")
                   for item in self.api.get(CLASSES)["items"] if item["provisioner"] == PROVISIONER}
        for claim in filter(wanted, self.api.get(CLAIMS)["items"]):
            if (name := claim["spec"].get("storageClassName")) in classes:
                self.make(claim, classes[name])
        for volume in filter(done_with, self.api.get(VOLUMES)["items"]):
            self.remove(volume["metadata"]["name"])

    def make(self, claim, policy):
        directory = self.top / f"pvc-{claim['metadata']['uid']}"
        directory.mkdir(exist_ok=True)
        directory.chmod(0o755)                                # a Pod that is not root's has an fsGroup, or slurmctld would not like it
        self.api.do("POST", VOLUMES, volume_of(claim, policy, directory, self.nodes))

    def remove(self, name):
        directory = self.top / name
        if directory.parent == self.top and not directory.is_symlink():
            shutil.rmtree(directory, ignore_errors=True)
        self.api.do("DELETE", f"{VOLUMES}/{name}")


def watch(api, path, changed):
    """Sets changed at each change of what is at path, and once more after each time that nothing could be heard."""
    while True:
        try:
            version = api.get(path)["metadata"]["resourceVersion"]
            changed.set()
            with api.open(f"{path}?watch=1&resourceVersion={version}&timeoutSeconds=300", timeout=330) as answer:
                for _ in answer:
                    changed.set()
        except (OSError, ValueError, http.client.HTTPException) as error:
            print(f"{path}: {error}", flush=True)
            time.sleep(1)                                     # the API server is away, or starts


def main(url, authority, token, top, *nodes):
    api = Api(url, authority, pathlib.Path(token).read_text().strip())
    top = pathlib.Path(top)
    top.mkdir(exist_ok=True)
    changed = threading.Event()
    for path in (CLASSES, CLAIMS, VOLUMES):
        threading.Thread(target=watch, args=(api, path, changed), daemon=True).start()
    provisioner = Provisioner(api, top, nodes)
    print("serving", flush=True)
    while changed.wait():
        changed.clear()
        try:
            provisioner.settle()
        except (OSError, ValueError, http.client.HTTPException) as error:
            print(error, flush=True)
            time.sleep(1)
            changed.set()
        time.sleep(0.1)                                       # many changes are one


main(*sys.argv[1:])
