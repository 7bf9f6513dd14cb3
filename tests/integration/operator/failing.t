#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""NodeSets whose writes fail: they are tried again with growing pauses, say why, and
delay nobody else, and of two with the same names of nodes the second is refused."""
import pathlib
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import node_sets
from node_sets import Frame, Place
from tap import case, check, equal, last_case, never, run, wait_for

NODES = [f"fail{i}" for i in range(4)]
bad, good = Place("failing", NODES), Place("failing-not", NODES)
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
LOOK = 4  # seconds: two further tries at most

frame = Frame(NODES, bad, good)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(frame.end(), 0, "exit status of the operator")


def refused():
    """How many Pods the API server has refused to create."""
    text = frame.operator.page("/metrics")[1]
    return sum(int(line.split()[-1]) for line in text.splitlines()
               if 'steps_total{verb="create"' in line and '"ok"' not in line)


def touch(place, number):
    """News of a NodeSet that change nothing of it."""
    bed.api("PATCH", place.path("nodesets", "w"),
            {"metadata": {"labels": {"touched": str(number)}}}, node_sets.MERGE)


@case
def rests():
    """a Pod that is refused is tried seldom, whatever else happens; condition and Event
    say why; a new template is tried at once"""
    before = refused()
    bad.controller()
    bad.node_set(replicas=4, template={"spec": {"priorityClassName": "none"}})
    bad.wait_condition("Failing", "True", "Cannot create Pod w-0")
    check("no PriorityClass with name none was found" in
          bad.condition("Failing")["message"], bad.condition("Failing"))
    wait_for("an Event", lambda: [e for e in bad.events()
                                  if e["reason"] == "FailedCreate"])
    told = [e for e in bad.events() if e["reason"] == "FailedCreate"]
    equal([e["type"] for e in told], ["Warning"], "Events, one for all tries")

    for number in range(30):
        touch(bad, number)
    wait_for("a second try", lambda: refused() >= before + 2)
    # In which a try at each news, or for each of the four Pods, would be more.
    never("more tries", lambda: refused() > before + 5, LOOK)

    bad.change(template={"spec": {"priorityClassName": None}})
    bad.wait_pods("w-0", "w-1", "w-2", "w-3")
    bad.wait_condition("Failing", "False")


@case
def status_goes_on():
    """a NodeSet whose Pods are refused still says how many are ready"""
    bad.controller()
    bad.node_set(replicas=1)
    bad.wait_pods("w-0")
    bad.change(updateStrategy={"type": "OnDelete"}, replicas=2,
               template={"spec": {"priorityClassName": "none"}})
    bad.wait_condition("Failing", "True", "Cannot create Pod w-1")
    bad.patch_status("w-0", {"type": "Ready", "status": "False"})
    bad.wait_condition("Available", "False", "0 of 2")


@case
def hangs():
    """a webhook that never answers for one namespace delays no NodeSet of another"""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        name = "failing-hangs"
        bed.api("POST", HOOKS, {"metadata": {"name": name}, "webhooks": [{
            "name": "hangs.example.com", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "timeoutSeconds": 20,
            "failurePolicy": "Fail",
            "clientConfig": {"url": f"https://127.0.0.1:{port}/"},
            "namespaceSelector": {"matchLabels": {
                "kubernetes.io/metadata.name": bad.namespace}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"],
                       "operations": ["CREATE"], "resources": ["pods"]}]}]})
        try:
            bad.controller()
            good.controller(externalConfig={"host": "other", "port": 6817})
            bad.node_set(replicas=4)
            # Someone has called: the operator's request hangs.
            silent.settimeout(30)
            silent.accept()[0].detach()
            good.node_set(replicas=2)
            good.wait_pods("w-0", "w-1")
            check(bad.condition("Failing").get("status") != "True",
                  "the other one hangs no more")
        finally:
            bed.api("DELETE", f"{HOOKS}/{name}", {})
    bad.wait_pods("w-0", "w-1", "w-2", "w-3")


@case
def one_slurmctld():
    """of two NodeSets of one slurmctld, in two namespaces, whose nodes would have the
    same names the second says so, and gets no Pod"""
    bad.controller()
    good.controller()
    bad.node_set(replicas=1)
    bad.wait_pods("w-0")
    good.node_set(replicas=1)
    good.wait_condition("Accepted", "False", f"NodeSet {bad.namespace}/w")
    equal(good.pods(), {}, "Pods of the second")
    good.change(template={"spec": {"hostname": "other-"}})
    good.wait_pods("w-0")


run(before_each=frame.before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
