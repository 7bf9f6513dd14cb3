#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Adoption: in Namespaces with the label slurmk8s/adopt=true Pods go to Slurm
without a word in their manifests, and those of others are left alone. Most of it
is looked at as a dry run: what the API server would have stored."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
from admission import As, pods_path
from tap import Skip, case, check, equal, run, wait_for

LABEL = "slurmk8s/adopt"
ADOPTED = "adopted"  # a Namespace that is opted in
FREE = "free"        # one that is not
TAINT = "slinky.slurm.net/managed-node"
OURS = {"key": TAINT, "operator": "Exists", "effect": "NoSchedule"}
GROUP = "/apis/admissionregistration.k8s.io"

admin = As(None)
ready = False


def set_up():
    global ready
    if ready:
        return
    admission.apply()
    admission.namespace(ADOPTED, {LABEL: "true"})
    admission.namespace(FREE)
    wait_for("the policy to act", lambda: made(
        bed.pod("t", scheduler=None, namespace=ADOPTED))
        ["schedulerName"] == "slurm")
    ready = True


def made(body):
    """What the API server makes of this Pod."""
    if body["spec"].get("schedulerName") is None:
        body["spec"].pop("schedulerName", None)
    ns = body["metadata"]["namespace"]
    return admin.create(pods_path(ns=ns), body)["spec"]


def plain(scheduler=None, namespace=ADOPTED, **spec):
    return bed.pod("plain", scheduler=scheduler, namespace=namespace, **spec)


def ours(spec):
    return [t for t in spec["tolerations"] if t.get("key") == TAINT]


def unchanged(before, after):
    equal(after["schedulerName"], before, "schedulerName")
    equal(ours(after), [], "our toleration")


@case
def adopts():
    """a Pod that names no scheduler gets ours, and tolerates our taint"""
    spec = made(plain())
    equal(spec["schedulerName"], "slurm", "schedulerName")
    equal(ours(spec), [OURS], "our toleration")


@case
def named_ours():
    """a Pod for Slurm keeps the name that it gave, and gets the toleration"""
    for scheduler in ("slurm", "slurm-bridge-scheduler"):
        spec = made(plain(scheduler))
        equal(spec["schedulerName"], scheduler, "schedulerName")
        equal(ours(spec), [OURS], "our toleration")


@case
def tolerates_already():
    """tolerations of its own stay, and one that covers the taint is enough"""
    theirs = {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
    spec = made(plain(tolerations=[theirs]))
    check(theirs in spec["tolerations"], spec["tolerations"])
    equal(ours(spec), [OURS], "our toleration")
    equal(ours(made(plain(tolerations=[OURS]))), [OURS], "not twice")
    wide = {"key": TAINT, "operator": "Exists"}
    equal(ours(made(plain(tolerations=[wide]))), [wide], "not twice")
    narrow = {"key": TAINT, "operator": "Equal", "value": "x",
              "effect": "NoSchedule"}
    equal(ours(made(plain(tolerations=[narrow]))), [narrow, OURS],
          "another value does not cover it")


@case
def other_scheduler():
    """a Pod that names another scheduler keeps it"""
    unchanged("volcano", made(plain("volcano")))


@case
def other_namespace():
    """Namespaces without the label, or with another value, are left alone"""
    unchanged("default-scheduler", made(plain(namespace=FREE)))
    bed.api("PATCH", f"/api/v1/namespaces/{FREE}",
            {"metadata": {"labels": {LABEL: "false"}}}, admission.MERGE)
    unchanged("default-scheduler", made(plain(namespace=FREE)))


@case
def with_a_node():
    """a Pod whose node is chosen is left alone: DaemonSet's old way, static Pods"""
    unchanged("default-scheduler", made(plain(nodeName="kn1")))
    mirror = plain()
    mirror["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "x"
    # Only a kubelet may make one; its own check comes after the policy.
    mirror["spec"]["nodeName"] = "kn1"
    try:
        unchanged("default-scheduler", made(mirror))
    except bed.ApiError as error:
        raise Skip(f"nobody but a kubelet makes one: {error.message}")


def owned_by(kind, version, controller=True):
    body = plain()
    body["metadata"]["ownerReferences"] = [
        {"apiVersion": version, "kind": kind, "name": "x", "uid": "u",
         "controller": controller}]
    return body


@case
def of_a_daemonset():
    """a DaemonSet's Pods stay with kube-scheduler, a Job's do not, nor do those
    of another kind by that name"""
    unchanged("default-scheduler", made(owned_by("DaemonSet", "apps/v1")))
    equal(made(owned_by("Job", "batch/v1"))["schedulerName"], "slurm", "a Job's")
    equal(made(owned_by("DaemonSet", "example.com/v1"))["schedulerName"],
          "slurm", "another kind's")
    equal(made(owned_by("DaemonSet", "apps/v1", False))["schedulerName"],
          "slurm", "one that is no controller")


@case
def gated():
    """a Pod with scheduling gates is adopted too, and waits for them"""
    spec = made(plain(schedulingGates=[{"name": "example.com/hold"}]))
    equal(spec["schedulerName"], "slurm", "schedulerName")


@case
def runs():
    """an adopted Pod becomes a Slurm job, by way of a Job that says nothing of
    Slurm, and runs to its end"""
    bed.clean()
    bed.api("POST", f"/apis/batch/v1/namespaces/{ADOPTED}/jobs", {
        "metadata": {"name": "run"},
        "spec": {"template": {
            "metadata": {"annotations": {"sandbox/run": "100ms",
                                         bed.PARTITION: "kwok"}},
            "spec": {"restartPolicy": "Never", "containers": [
                {"name": "main", "image": "busybox:stable",
                 "resources": {"requests": {"cpu": "1",
                                            "memory": "64Mi"}}}]}}}})

    def succeeded():
        job = bed.api("GET", f"/apis/batch/v1/namespaces/{ADOPTED}/jobs/run")
        return job.get("status", {}).get("succeeded")

    wait_for("the Job to succeed", succeeded, 60)
    pods = bed.pods(ADOPTED)
    equal(len(pods), 1, "Pods")
    check(bed.JOB_LABEL in pods[0]["metadata"]["labels"], "it had a Slurm job")


@case
def still_refused():
    """what comes by adoption is checked as everything for Slurm"""
    admission.refused("hostPort", made, plain(containers=[
        {"name": "main", "image": "x",
         "ports": [{"containerPort": 1, "hostPort": 1}]}]))


@case
def for_1_35():
    """the variant for Kubernetes 1.35 is the same policy, as v1beta1"""
    text = bed.run("kubectl", "kustomize",
                   str(admission.KUBERNETES / "all-1.35"))
    now = bed.run("kubectl", "kustomize", str(admission.KUBERNETES / "all"))
    documents = lambda whole: sorted(
        part.strip() for part in whole.split("\n---\n"))
    old = text.replace("admissionregistration.k8s.io/v1beta1",
                       "admissionregistration.k8s.io/v1")
    # A policy and its binding, of each of the components adopt and node-labels.
    equal(text.count("admissionregistration.k8s.io/v1beta1"), 4,
          "objects of v1beta1")
    equal(documents(old), documents(now), "all else")
    versions = [v["version"] for v in bed.api("GET", GROUP)["versions"]]
    if "v1beta1" not in versions:
        raise Skip("rendered and compared; this API server, "
                   f"{bed.api('GET', '/version')['gitVersion']}, serves "
                   f"{', '.join(versions)} and no v1beta1: it is applied to "
                   "1.35 by tests/long/23-kubernetes-1.35.t")
    bed.run("kubectl", "apply", "--dry-run=server", "-k",
            str(admission.KUBERNETES / "all-1.35"))


@case
def forgets():
    """the Namespaces go"""
    for name in (ADOPTED, FREE):
        admission.forget_namespace(name)
    wait_for("the Pods to be gone", lambda: not bed.pods(ADOPTED))


run(set_up, after_failure=bed.last_words)
