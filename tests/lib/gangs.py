# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods that belong together, for tests: how they are made, and which gang a Pod
belongs to, told from the Pod as agent/objects/gang_key.h says it."""
import time

import bed

BEGAN = int(time.time())  # this script did
GANG_LABEL = "slurmk8s/gang"
SIZE = "slurmk8s/gang-size"
MINIMUM = "slurmk8s/gang-min"
HETEROGENEOUS = "slurmk8s/heterogeneous"
RANK = "slurmk8s/rank"
NODES = "slurmk8s/nodes"
LWS = "leaderworkerset.sigs.k8s.io/"
JOBSET = "jobset.sigs.k8s.io/"
POD_GROUP = "scheduling.x-k8s.io/pod-group"


def uid_of(pod):
    """Its gang's uid, or "" when it is alone. A Pod that names a PodGroup is taken
    for one of a gang while it is on no node; it may be alone all the same."""
    meta = pod["metadata"]
    labels, annotations = meta.get("labels", {}), meta.get("annotations", {})
    owner = next((o for o in meta.get("ownerReferences", [])
                  if o.get("controller")), {})
    where = meta["namespace"] + "/"
    sized = SIZE in annotations
    if annotations.get(SIZE) == "0" and not labels.get(GANG_LABEL):
        return ""
    if labels.get(GANG_LABEL):
        return where + "gang/" + labels[GANG_LABEL]
    if labels.get(LWS + "group-key"):
        own = sized or LWS + "size" in annotations
        return where + "lws/" + labels[LWS + "group-key"] if own else ""
    if labels.get(JOBSET + "jobset-uid") and sized:
        return (where + "jobset/" + labels[JOBSET + "jobset-uid"] + "." +
                labels.get(JOBSET + "restart-attempt", ""))
    if owner.get("kind") == "Job" and sized:
        return where + "job/" + owner["uid"]
    if pod["spec"].get("nodeName") and RANK not in annotations:
        return ""
    if labels.get(POD_GROUP):
        return where + "podgroup/" + labels[POD_GROUP]
    if labels.get(JOBSET + "jobset-uid"):
        return (where + "jobset/" + labels[JOBSET + "jobset-uid"] + "." +
                labels.get(JOBSET + "restart-attempt", ""))
    if group := pod["spec"].get("schedulingGroup", {}).get("podGroupName"):
        return where + "workload/" + group
    return ""


def member(name, gang, size, minimum=None, annotations=None, **options):
    """The body of a Pod of that gang."""
    said = {SIZE: str(size), **(annotations or {})}
    if minimum is not None:
        said[MINIMUM] = str(minimum)
    body = bed.pod(name, annotations=said, **options)
    body["metadata"]["labels"] = {GANG_LABEL: gang}
    return body


def jobs_of(uid):
    """All jobs of that gang in this script, oldest first: one that ran before may
    have had a gang of the same name, whose jobs slurmctld knows for MinJobAge."""
    mark = f'"uid":"{uid}"'
    return sorted((job for job in bed.jobs().values()
                   if mark in job.get("admin_comment", "") and
                   job["submit_time"]["number"] >= BEGAN),
                  key=lambda job: job["job_id"])


def job_of(uid):
    """The newest of them, or None."""
    return (jobs_of(uid) or [None])[-1]


def preempt():
    """Somebody of a higher partition needs every CPU."""
    for i in range(4):
        bed.create(bed.pod(f"high-{i}", cpu="16",
                           annotations={bed.PARTITION: "high"}))
