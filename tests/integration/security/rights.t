#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rights that the agent lacks: named at its start, in its log and in slurmk8s
status; a component's rights turn its feature off, the base's are a problem; and
what is given later is noticed without a restart."""
import contextlib
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
from tap import case, check, equal, run, wait_for

RBAC = "/apis/rbac.authorization.k8s.io/v1"
NOTICED = 45  # seconds: it asks every 30 while something is missing


def restart():
    bed.ctl("restart", "slurmk8sd")


@contextlib.contextmanager
def restarting():
    """For an agent that will not be well: ctl waits beside the case for what
    the case brings about."""
    with subprocess.Popen(
            [str(bed.TOP / "contribs/sandbox/ctl"), "restart", "slurmk8sd"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        yield


def said(words):
    return wait_for(f"slurmk8s status to say {words!r}",
                    lambda: words in shown() and shown(), 20)


def shown():
    return bed.run("slurmk8s", "status", check=False)


def tells_no_more(words):
    wait_for(f"slurmk8s status to say {words!r} no more",
             lambda: words not in shown(), NOTICED)


def asked_again(found):
    """what found() finds once the agent has asked for its rights after a
    SIGHUP; the API server may take a moment until it knows of them"""
    def ask():
        bed.ctl("kill", "--signal", "HUP", "slurmk8sd")
        time.sleep(0.5)
        return found()
    return ask


def before_each():
    admission.apply()
    bed.clean()


@case
def all_rights():
    """with every component nothing is off"""
    restart()
    wait_for("serving", lambda: "is serving" in shown())
    equal(bed.status()["featuresOff"], {}, "features off")
    check("problem: rights" not in shown(), "no problem")


@case
def component():
    """without a component its feature is off, says so, and Pods run all the
    same; given again, it is on"""
    bed.api("DELETE", f"{RBAC}/clusterrolebindings/slurmk8sd-nodes-patch")
    size = bed.log_size("slurmk8sd")
    restart()

    words = said("off: nodes-patch: slurmk8sd may not patch nodes")
    check("contribs/kubernetes/components/nodes-patch" in words, words)
    check("off: owners" not in words, words)
    check("problem: rights" not in words, words)
    wait_for("the log to say so", lambda:
             'msg="a feature is off" feature=nodes-patch'
             in bed.log_since("slurmk8sd", size))
    bed.create(bed.pod("works", annotations={"sandbox/run": "100ms"}))
    bed.wait_ended("works", "COMPLETED", "0:0")

    admission.apply()
    tells_no_more("off: nodes-patch")
    wait_for("the log to say so", lambda:
             'msg="a feature is on again" feature=nodes-patch'
             in bed.log_since("slurmk8sd", size))


@case
def part_of_component():
    """a component of before the status of scheduler-plugins' PodGroups: that is
    off and says so, what the component gave is on"""
    path = f"{RBAC}/clusterroles/slurmk8sd-pod-groups"
    rules = [rule for rule in bed.api("GET", path)["rules"]
             if (rule["apiGroups"], rule["resources"]) !=
             (["scheduling.x-k8s.io"], ["podgroups/status"])]
    bed.api("PATCH", path, {"rules": rules}, admission.MERGE)
    restart()
    words = said("off: pod-group-status: slurmk8sd may not patch "
                 "podgroups.scheduling.x-k8s.io/status")
    check("contribs/kubernetes/components/pod-groups" in words, words)
    check("off: pod-groups:" not in words, words)

    admission.apply()
    wait_for("the feature to be on again", asked_again(
        lambda: "off: pod-group-status" not in shown()), NOTICED)


@case
def renewal():
    """without the right to renew its token that is off, and says so"""
    path = f"{RBAC}/namespaces/slurm-k8s-bridge/roles/slurmk8sd"
    rules = [rule for rule in bed.api("GET", path)["rules"]
             if "serviceaccounts/token" not in rule["resources"]]
    bed.api("PATCH", path, {"rules": rules}, admission.MERGE)
    restart()
    words = said("off: token-renewal: slurmk8sd may not create "
                 "serviceaccounts/token")
    check("contribs/kubernetes gives it" in words, words)
    check("problem: rights" not in words, words)

    admission.apply()
    wait_for("the feature to be on again", asked_again(
        lambda: "off: token-renewal" not in shown()), NOTICED)


@case
def base():
    """a missing right of the base is a problem that names verb and remedy, and
    solved once it is given"""
    path = f"{RBAC}/clusterroles/slurmk8sd"
    rules = [rule for rule in bed.api("GET", path)["rules"]
             if "pods/eviction" not in rule["resources"]]
    size = bed.log_size("slurmk8sd")
    bed.api("PATCH", path, {"rules": rules}, admission.MERGE)
    with restarting():
        words = said("problem: rights: slurmk8sd may not create pods/eviction")
        check("kubectl apply -k contribs/kubernetes" in words, words)
        wait_for("the log to say so", lambda:
                 "slurmk8sd may not create pods/eviction"
                 in bed.log_since("slurmk8sd", size))

        admission.apply()
        wait_for("the problem to be solved", asked_again(
            lambda: "problem: rights" not in shown()), NOTICED)


@case
def nothing_at_all():
    """an agent without any right names all, serves nothing, and serves once it
    has them"""
    bed.api("DELETE", f"{RBAC}/clusterrolebindings/slurmk8sd")
    with restarting():
        words = said("problem: rights: slurmk8sd may not get pods")
        for verb in ("list nodes", "watch namespaces", "create pods/binding",
                     "create events.events.k8s.io"):
            check(verb in words, f"{verb} is not named: {words}")
        check("NOT serving" in words, words)

        admission.apply()
        wait_for("serving", asked_again(lambda: "is serving" in shown()), 60)
        tells_no_more("problem: rights")


run(before_each, after_failure=bed.last_words)
