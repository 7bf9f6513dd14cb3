# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold at every moment of a chaos run, checked on each change that the
API server makes, in its own order: no Node has more live Pods than fit, no Pod
is bound or started twice, and none ends without a cause."""
import collections
import http.client
import json
import os
import ssl
import threading
import time
import urllib.parse

import bed
import world
from pod_requests import node_requests_of

# What may have ended a Pod: its own doing, or an operation.
OWN, DEADLINE, DELETED, SLURM = "own end", "deadline", "deletion", "Slurm"


class Observer:
    """Takes the Pods of one namespace as they change. causes: {name: set};
    report(words) hears what must not be."""

    def __init__(self, allocatable, causes, report):
        self.allocatable, self.causes, self.report = allocatable, causes, report
        self.pods = {}  # uid: the Pod as it was last
        self.told = set()

    def changed(self, pod):
        uid = pod["metadata"]["uid"]
        before = self.pods.get(uid)
        self.pods[uid] = pod
        self._look(before, pod)

    def _look(self, before, pod):
        if before:
            self._compare(before, pod)
        self._check_cause(pod)
        node = pod["spec"].get("nodeName")
        if node and not (before and before["spec"].get("nodeName")):
            self._check_room(node, pod)

    def deleted(self, pod):
        uid = pod["metadata"]["uid"]
        self.pods.pop(uid, None)
        if not world.is_over(pod):
            self._needs(pod, {DELETED, SLURM}, "it was removed")

    def listed(self, pods):
        """After a gap: what was missed is taken as one change, of all Pods."""
        there = {p["metadata"]["uid"]: p for p in pods}
        for uid in set(self.pods) - set(there):
            self.deleted(self.pods[uid])
        before, self.pods = self.pods, there
        for uid, pod in there.items():
            self._look(before.get(uid), pod)

    def _tell(self, pod, words):
        if (pod["metadata"]["uid"], words) not in self.told:
            self.told.add((pod["metadata"]["uid"], words))
            self.report(f"Pod {pod['metadata']['name']}: {words}")

    def _compare(self, before, pod):
        for what, one, other in (
                ("bound twice", before["spec"].get("nodeName"),
                 pod["spec"].get("nodeName")),
                ("started twice", before["status"].get("startTime"),
                 pod["status"].get("startTime"))):
            if one and one != other:
                self._tell(pod, f"{what}: {one}, then {other}")
        if world.is_over(before) and not world.is_over(pod):
            self._tell(pod, "it lives again")

    def _check_room(self, node, newest):
        sums = collections.Counter()
        there = [p for p in self.pods.values()
                 if world.is_live(p) and p["spec"]["nodeName"] == node]
        for pod in there:
            sums.update(node_requests_of(pod))
        for kind, amount in sums.items():
            if amount > self.allocatable[node].get(kind, 0):
                self._tell(newest, f"bound to {node}, where live Pods then ask "
                           f"for {amount} {kind} of "
                           f"{self.allocatable[node].get(kind, 0)}: " +
                           " ".join(p["metadata"]["name"] for p in there))

    def _check_cause(self, pod):
        status = pod["status"]
        if "deletionTimestamp" in pod["metadata"]:
            self._needs(pod, {DELETED, SLURM}, "it is being deleted")
        asked = pod["metadata"].get("annotations", {}).get("chaos/deadline")
        if str(pod["spec"].get("activeDeadlineSeconds", "")) != (asked or ""):
            self._needs(pod, {SLURM}, "it was given a deadline")
        if status.get("phase") not in world.TERMINAL:
            return
        reason = status.get("reason", "")
        if reason == "DeadlineExceeded":
            self._needs(pod, {DEADLINE, SLURM}, f"it failed: {reason}")
        elif reason:
            self._needs(pod, {SLURM}, f"it failed: {reason}")
        elif _collected(status):
            self._needs(pod, {DELETED}, "it failed: its Node is gone")
        elif "deletionTimestamp" in pod["metadata"]:
            # A kubelet writes how it ended before it lets the Pod go.
            self._needs(pod, {OWN, DELETED, SLURM}, f"it is {status['phase']}")
        else:
            self._needs(pod, {OWN}, f"it is {status['phase']}")

    def _needs(self, pod, causes, what):
        known = self.causes.get(pod["metadata"]["name"], set())
        if not known & causes:
            self._tell(pod, f"{what}, and nobody did that (known: "
                       f"{', '.join(sorted(known)) or 'nothing'})")


def _collected(status):
    """Pod garbage collection, which fails a Pod before it removes it."""
    return any(c["type"] == "DisruptionTarget" and
               c.get("reason") == "DeletionByPodGC"
               for c in status.get("conditions", []))


class Watch(threading.Thread):
    """Feeds an Observer from the API server, whatever becomes of that."""

    def __init__(self, path, observer):
        super().__init__(daemon=True)
        self.path = path
        self.observer = observer
        self.failed = None
        self.connected = threading.Event()

    def run(self):
        while True:
            try:
                self._follow()
            except (OSError, http.client.HTTPException, ValueError):
                time.sleep(0.2)  # cut off: it lists again
            except Exception as error:  # a fault of ours: the run must not pass
                self.failed = error
                raise

    def _request(self, path):
        url = urllib.parse.urlsplit(os.environ["SANDBOX_API"])
        connection = http.client.HTTPSConnection(
            url.hostname, url.port, timeout=60,
            context=ssl.create_default_context(cafile=os.environ["SANDBOX_CA"]))
        connection.request("GET", path, headers={
            "Authorization": "Bearer " + os.environ["SANDBOX_TOKEN"]})
        reply = connection.getresponse()
        if reply.status != 200:
            raise OSError(reply.read())
        return reply

    def _follow(self):
        listing = json.loads(self._request(self.path).read())
        self.observer.listed(listing["items"])
        version = listing["metadata"]["resourceVersion"]
        reply = self._request(f"{self.path}?watch=1&timeoutSeconds=50"
                              f"&resourceVersion={version}")
        self.connected.set()
        for line in reply:
            event = json.loads(line)
            if event["type"] == "ERROR":
                return  # such as 410 Gone
            if event["type"] == "DELETED":
                self.observer.deleted(event["object"])
            else:
                self.observer.changed(event["object"])


def allocatable_of_nodes():
    nodes = bed.api("GET", "/api/v1/nodes")["items"]
    return {n["metadata"]["name"]: world.allocatable(n) for n in nodes}
