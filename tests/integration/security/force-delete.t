#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Deleting by force: a user who may edit one Namespace tries to make a running Pod
vanish before its containers have stopped, or to give them longer to stop than the
Pod has. Each attempt is printed with its answer. Those who finish deletions, and
those whose Node is gone, still can."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
from admission import As, allowed, as_somebody, attempt, denied, pods_path
from tap import case, check, run, wait_for

NS = "forceful"
WORDS = "may still run"
LATE = "own terminationGracePeriodSeconds"
GRACE = 600
POLICIES = ("slurm-k8s-bridge-force-delete", "slurm-k8s-bridge-force-evict")
AT_ONCE = {"gracePeriodSeconds": 0}
user = None


def set_up():
    global user
    if not user:
        admission.apply()
        admission.namespace(NS, annotations={"slurmk8s/user": "alice"})
        user = As(admission.editor(NS), dry=False)
    for item in bed.pods(NS):
        bed.delete(item["metadata"]["name"], NS, grace=0)
    wait_for("the Pods to be gone", lambda: not bed.pods(NS))
    bed.clean()


def running(name, **spec):
    """A Pod for Slurm on a node; its containers take their time to stop."""
    bed.create(bed.pod(name, namespace=NS, terminationGracePeriodSeconds=GRACE,
                       annotations={"sandbox/stop": "10m"}, **spec))
    return wait_for("it to run", lambda: (bed.get(name, NS) or {}).get(
        "status", {}).get("phase") == "Running" and bed.get(name, NS))


def policies_act(name):
    probe = As(user.token)

    def refused(function, *arguments):
        try:
            function(*arguments)
        except bed.ApiError as error:
            return "ValidatingAdmissionPolicy" in error.message
        return False
    wait_for("the policies to act", lambda: all(
        refused(probe.delete, pods_path(name, NS),
                {"gracePeriodSeconds": grace}) and
        refused(probe.create, pods_path(name, NS, "eviction"),
                eviction(name, grace)) for grace in (0, 3600)))


def eviction(name, grace):
    return {**admission.eviction(name, ns=NS),
            "deleteOptions": {"gracePeriodSeconds": grace}}


def lives(name):
    found = bed.get(name, NS)
    check(found and found["status"]["phase"] == "Running",
          f"{name} is there and runs")
    check("RUNNING" in bed.state_of(bed.job_of(name)), "its job runs")


@case
def without_the_policy():
    """without the policy the Pod is gone at once, and its job ends, whatever its
    kubelet still does"""
    running("fault")
    with admission.without_policies(*POLICIES):
        probe = As(user.token)
        wait_for("the policies to be gone", lambda: not attempt(
            "a trial", probe.delete, pods_path("fault", NS), AT_ONCE))
        allowed("kubectl delete --force", user.delete, pods_path("fault", NS),
                AT_ONCE)
        check(bed.get("fault", NS) is None, "it is gone")
        wait_for("its job to be no longer running", lambda:
                 "RUNNING" not in bed.state_of(bed.job_of("fault")))


@case
def by_force():
    """deleted with a grace period of 0, alone or with all, or evicted so"""
    running("mine")
    policies_act("mine")
    path = pods_path("mine", NS)
    denied("kubectl delete --force", WORDS, user.delete, path, AT_ONCE)
    denied("all Pods of the namespace", WORDS, user.delete, pods_path(ns=NS),
           AT_ONCE)
    denied("an eviction", WORDS, user.create, pods_path("mine", NS, "eviction"),
           eviction("mine", 0))
    said = bed.run("kubectl", "delete", "pod", "mine", "-n", NS, "--force",
                   "--grace-period=0", "--wait=false",
                   f"--as=system:serviceaccount:{NS}:editor",
                   "--as-group=system:serviceaccounts",
                   "--as-group=system:authenticated", check=False)
    print(f"# kubectl: {said.strip()}", flush=True)
    check(WORDS in said, said)
    lives("mine")


@case
def slowly():
    """deleted with a longer grace period than its own, alone or with all, or
    evicted with a long one: its kubelet would grant all of it"""
    running("mine")
    policies_act("mine")
    path = pods_path("mine", NS)
    late = {"gracePeriodSeconds": GRACE + 1}
    denied("kubectl delete --grace-period", LATE, user.delete, path, late)
    denied("all Pods of the namespace", LATE, user.delete, pods_path(ns=NS),
           late)
    denied("an eviction", LATE, user.create, pods_path("mine", NS, "eviction"),
           eviction("mine", 31))
    said = bed.run("kubectl", "delete", "pod", "mine", "-n", NS,
                   "--grace-period=3600", "--wait=false",
                   f"--as=system:serviceaccount:{NS}:editor",
                   "--as-group=system:serviceaccounts",
                   "--as-group=system:authenticated", check=False)
    print(f"# kubectl: {said.strip()}", flush=True)
    check(LATE in said, said)
    lives("mine")
    dry = As(user.token)
    allowed("its own", dry.delete, path, {"gracePeriodSeconds": GRACE})
    allowed("none said", dry.delete, path)
    allowed("all Pods, none said", dry.delete, pods_path(ns=NS))
    for grace in ({"gracePeriodSeconds": 30}, {}):
        allowed(f"an eviction with {grace}", dry.create,
                pods_path("mine", NS, "eviction"),
                {**eviction("mine", 30), "deleteOptions": grace})
    lives("mine")


@case
def while_it_stops():
    """a Pod that stops is not made to vanish either"""
    running("stops")
    policies_act("stops")
    path = pods_path("stops", NS)
    allowed("kubectl delete", user.delete, path)
    denied("and then by force", WORDS, user.delete, path, AT_ONCE)
    check(bed.get("stops", NS)["metadata"].get("deletionTimestamp"),
          "it stops")
    allowed("a shorter grace period", user.delete, path,
            {"gracePeriodSeconds": 1})
    wait_for("it to be gone", lambda: not bed.get("stops", NS))


@case
def of_its_own():
    """a Pod whose own grace period is 0 is refused: a plain delete would do"""
    body = bed.pod("mine", namespace=NS, terminationGracePeriodSeconds=0)
    wait_for("the policy to act", lambda: attempt(
        "a trial", As(user.token).create, pods_path(ns=NS), body))
    denied("terminationGracePeriodSeconds: 0", "use 1", user.create,
           pods_path(ns=NS), body)


@case
def what_is_harmless():
    """a Pod that waits, one that is over, and one of another scheduler may be
    deleted by force; an eviction with a grace period is one"""
    running("mine")
    policies_act("mine")
    allowed("an eviction", As(user.token).create,
            pods_path("mine", NS, "eviction"), eviction("mine", 1))
    bed.create(bed.pod("waits", namespace=NS, schedulingGates=[
        {"name": "example.com/hold"}]))
    allowed("one that waits, late", As(user.token).delete,
            pods_path("waits", NS), {"gracePeriodSeconds": 3600})
    allowed("one that waits", user.delete, pods_path("waits", NS), AT_ONCE)
    bed.play("mine", NS, run="1ms")
    wait_for("it to be over", lambda: bed.get("mine", NS)["status"]["phase"]
             == "Succeeded")
    allowed("one that is over", user.delete, pods_path("mine", NS), AT_ONCE)
    bed.create(bed.pod("theirs", namespace=NS, scheduler="default-scheduler",
                       nodeName="kn1"))
    allowed("one of another scheduler, late", As(user.token).delete,
            pods_path("theirs", NS), {"gracePeriodSeconds": 3600})
    allowed("one of another scheduler", user.delete, pods_path("theirs", NS),
            AT_ONCE)


@case
def who_may():
    """its kubelet, which finishes each deletion so, the controllers of Kubernetes,
    and administrators"""
    node = running("mine")["spec"]["nodeName"]
    policies_act("mine")
    command = ("delete", "pod", "mine", "-n", NS, "--force", "--grace-period=0",
               "--wait=false", "--dry-run=server")
    said = as_somebody(f"system:node:{node}", ["system:nodes"], *command)
    check("deleted" in said and WORDS not in said, said)
    for controller in ("pod-garbage-collector", "node-controller",
                       "namespace-controller"):
        said = as_somebody(f"system:serviceaccount:kube-system:{controller}",
                           ["system:serviceaccounts",
                            "system:serviceaccounts:kube-system"], *command)
        check("deleted" in said and WORDS not in said, said)
    allowed("an administrator, late", As(None).delete, pods_path("mine", NS),
            {"gracePeriodSeconds": 3600})
    allowed("an administrator evicts, late", As(None).create,
            pods_path("mine", NS, "eviction"), eviction("mine", 3600))
    allowed("an administrator", As(None, dry=False).delete,
            pods_path("mine", NS), AT_ONCE)
    check(not bed.get("mine", NS), "it is gone")


run(set_up, after_failure=bed.last_words)
