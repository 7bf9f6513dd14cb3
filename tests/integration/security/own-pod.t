#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the agent may do to the Pod that it runs in, where slurmctld is in
Kubernetes, too: the policies know that Pod by the agent's token, which is bound
to it. Here it is a Pod that nobody runs."""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
from admission import STRATEGIC, As, pods_path, refused
from tap import case, run, wait_for

PLACE, ACCOUNT = admission.AGENT
NOT_OURS = "may only touch Pods for Slurm"
TOLD = {"status": {"conditions": [{
    "type": "slurmk8s/Configured", "status": "True", "reason": "Configured",
    "message": "1234"}]}}


def bound_token(pod):
    answer = bed.api(
        "POST", f"/api/v1/namespaces/{PLACE}/serviceaccounts/{ACCOUNT}/token",
        {"spec": {"expirationSeconds": 3600, "boundObjectRef": {
            "apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"],
            "uid": pod["metadata"]["uid"]}}})
    return answer["status"]["token"]


@contextlib.contextmanager
def pods(*where):
    """Pods of no scheduler, as (namespace, name)."""
    made = []
    try:
        for namespace, name in where:
            account = {"serviceAccountName": ACCOUNT} if namespace == PLACE else {}
            made.append(bed.create(bed.pod(
                name, scheduler="nobody", namespace=namespace,
                automountServiceAccountToken=False, **account)))
        yield made
    finally:
        for pod in made:
            bed.delete(pod["metadata"]["name"], pod["metadata"]["namespace"],
                       grace=0)


def tell(agent, pod, body=None):
    """A patch of its status, as the agent makes it."""
    meta = pod["metadata"]
    body = body or TOLD
    return agent.patch(
        pods_path(meta["name"], meta["namespace"], "status"),
        {**body, "metadata": {"uid": meta["uid"], **body.get("metadata", {})}},
        STRATEGIC)


@case
def its_own():
    """it writes the status of that Pod, but none of its labels and annotations, and
    cannot delete it; of another Pod it writes nothing, whatever that is called"""
    admission.apply()
    with pods((PLACE, "ctl-0"), (PLACE, "ctl-1"), (bed.NAMESPACE, "ctl-0")) as made:
        own, *others = made
        agent = As(bound_token(own))
        wait_for("the policies to act", lambda: admission.attempt(
            "another Pod", tell, agent, others[0]) and not admission.attempt(
                "its own Pod", tell, agent, own))
        for other in others:
            refused(NOT_OURS, tell, agent, other)
        for metadata, words in (
                ({"labels": {"a": "b"}}, "may only change labels"),
                ({"labels": {bed.JOB_LABEL: "1"}}, "may only change labels"),
                ({"annotations": {"slurmk8s/rank": "1"}},
                 "may only change annotations")):
            refused(words, tell, agent, own, {**TOLD, "metadata": metadata})
        refused(NOT_OURS, agent.delete, pods_path("ctl-0", PLACE))
        refused(NOT_OURS, agent.patch, pods_path("ctl-0", PLACE),
                {"spec": {"activeDeadlineSeconds": 1}})


@case
def not_bound():
    """an agent elsewhere has no such Pod, also in the namespace of its account"""
    with pods((PLACE, "ctl-0")) as (pod,):
        refused(NOT_OURS, tell, As(admission.token(*admission.AGENT)), pod)


run()
