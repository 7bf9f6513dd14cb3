# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with gangs: Pods that are one job."""
import copy

import bed
import gangs
from chaos_watch import DELETED, SLURM

NAMESPACE = "chaos"


class ChaosGangs:
    """The operations on gangs of a Chaos run."""

    def __init__(self, chaos):
        self.chaos = chaos
        self.members = {}  # gang: names of its Pods
        self.sharers = {}  # Pod: the names of all that use its claim

    def share(self, claim, count):
        """The names of the Pods that use one claim. The job of one of them counts
        its devices; when Slurm ends that one, they all end."""
        users = [f"{claim}-{i}" for i in range(count)]
        self.sharers |= dict.fromkeys(users, users)
        return users

    def cause(self, name, cause):
        """Notes what may end the Pod of that name, or those of the gang; returns
        the names."""
        pods = self.members.get(name, [name])
        for pod in pods:
            for sharer in self.sharers.get(pod, [pod]):
                self.chaos.causes[sharer].add(cause)
        return pods

    def crash(self):
        """slurmctld is killed. It forgets the job that counts a claim; when that
        job's own Pod ends before another job is allocated for it, nothing counts
        the devices, and the others end."""
        for pod in self.sharers:
            self.chaos.causes[pod].add(SLURM)

    def _do_apply_gang(self, op):
        count = op.words["count"]
        self.members[op.pod] = []
        for i in range(count):
            self._make(op, f"{op.pod}-{i}", unequal=i % 2 == 1)

    def _make(self, op, name, unequal):
        one = copy.deepcopy(op)
        one.pod = name
        if unequal and op.words.get("unequal"):
            one.words["cpu"] = "100m"
        het = op.words.get("unequal") == "heterogeneous"
        self.members[op.pod].append(name)
        self.chaos.apply_pod(one, labels={gangs.GANG_LABEL: op.pod}, sizes={
            gangs.SIZE: op.words["count"],
            gangs.MINIMUM: op.words["least"],
            **({gangs.HETEROGENEOUS: "true"} if het else {})}.items())

    def _do_gang_member_delete(self, op):
        """The others may be released with it, when it had not started."""
        pods = self.cause(op.pod, SLURM)
        name = f"{op.pod}-{op.words['member']}"
        if name not in pods:
            return
        self.chaos.causes[name].add(DELETED)
        there = bed.get(name, NAMESPACE)
        bed.delete(name, NAMESPACE, 0)
        if there and op.words["again"]:
            self._again(op, there, f"{name}-{op.number}")

    def _again(self, op, there, name):
        """As a controller makes it, under another name."""
        self.members[op.pod].append(name)
        self.chaos.causes[name] |= self.chaos.causes[there["metadata"]["name"]]
        meta, spec = there["metadata"], there["spec"]
        ours = (bed.SLUID_ANNOTATION, bed.NODE_ANNOTATION,
                bed.GENERATION_ANNOTATION, gangs.RANK, gangs.NODES)
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {
            "name": name, "namespace": NAMESPACE,
            "labels": {gangs.GANG_LABEL: op.pod},
            "annotations": {k: v for k, v in meta["annotations"].items()
                            if k not in ours}},
            "spec": {k: spec[k] for k in (
                "schedulerName", "restartPolicy", "containers",
                "terminationGracePeriodSeconds")}}
        if deadline := meta["annotations"].get("chaos/deadline"):
            body["spec"]["activeDeadlineSeconds"] = int(deadline)
        for container in body["spec"]["containers"]:
            container.pop("volumeMounts", None)
        bed.create(body)
