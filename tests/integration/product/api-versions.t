#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the agent says to the API server is what this release of it knows: the
agent lives through all that it has words for behind a proxy that writes down
each request, and none was of an API that is not served, was refused as not
understood, or was answered with a warning (a field that is not known, an API
that is going away)."""
import http.client
import json
import os
import pathlib
import re
import ssl
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import gangs
import node_moves
import through_proxy
import volumes
from tap import case, check, equal, run, wait_for
from through_proxy import Stages, proxy

DRY = "dryRun"  # what the test itself asks
NOT_UNDERSTOOD = (400, 405, 406, 415, 422)
OBJECT = re.compile(r"/(namespaces/[^/]+/[^/]+|nodes|persistentvolumes)/[^/]+")
# What a life has to say, at least: method, and the end of the path.
SAID = {("POST", "selfsubjectaccessreviews"), ("PUT", "leases/slurmk8sd"),
        ("POST", "/binding"), ("PATCH", "/status"), ("POST", "/events"),
        ("PATCH", "/pods/stopped"), ("POST", "/eviction"),
        ("PATCH", "/nodes/kn1"), ("PATCH", "/persistentvolumeclaims/scratch"),
        ("GET", "/namespaces"), ("GET", "/jobs/owner")}


def a_life():
    """Everything for which the agent has a request."""
    through_proxy.fresh()
    stages = Stages()
    stages.act()
    stages.all_went_on()
    cordon("kn1")
    claim()
    owner()
    preemption()


def cordon(node):
    bed.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=t")
    wait_for("the cordon", lambda: node_moves.is_cordoned(node))
    bed.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    wait_for("its end", lambda: not node_moves.is_cordoned(node))


def claim():
    """Bound by the real controllers, after the agent has named the node."""
    volumes.storage_classes("kn1")
    volumes.claim("scratch", volumes.MADE)
    bed.create(bed.pod("with-claim", **volumes.with_claims("scratch")))
    volumes.provision("scratch")
    bed.wait_phase("with-claim", "Running", 60)


def owner():
    """Pods whose owner is looked at."""
    template = bed.pod("x", annotations={"sandbox/run": "100ms"})
    path = f"/apis/batch/v1/namespaces/{bed.NAMESPACE}/jobs"
    bed.api("POST", path, {"metadata": {"name": "owner"}, "spec": {"template": {
        "metadata": {"annotations": template["metadata"]["annotations"]},
        "spec": template["spec"]}}})
    wait_for("the Job to succeed", lambda: bed.api("GET", f"{path}/owner")
             .get("status", {}).get("succeeded"), 60)


def preemption():
    """A preempted Pod is evicted."""
    bed.clean()
    low = [f"low-{i}" for i in range(4)]
    for name in low:
        bed.create(bed.pod(name, cpu="16", annotations={bed.PARTITION: "low"}))
    for name in low:
        bed.wait_phase(name, "Running")
    gangs.preempt()
    for i in range(4):
        bed.wait_phase(f"high-{i}", "Running", 60)


def apis_served():
    """Their paths: /api/v1, /apis/batch/v1, …"""
    groups = bed.api("GET", "/apis")["groups"]
    return {"/api/v1"} | {f"/apis/{version['groupVersion']}"
                          for group in groups for version in group["versions"]}


def api_of(path):
    """/apis/batch/v1 of what is below it; None for discovery and /version."""
    found = re.match(r"/api/v1(?=/)|/apis/[^/?]+/[^/?]+", path)
    return found and found.group()


def said(method, end):
    return [e for e in proxy.entries() if e.method == method
            and e.path.partition("?")[0].endswith(end)]


@case
def proxy_hears():
    """the proxy notes a warning, and a request that is not understood"""
    trust = ssl.create_default_context(cafile=os.environ["SANDBOX_CA"])

    def noted():
        return [e for e in proxy.entries() if DRY in e.path]

    def ask(body):
        before = len(noted())
        connection = http.client.HTTPSConnection(
            "127.0.0.1", proxy.port, context=trust, timeout=60)
        connection.request(
            "POST", "/api/v1/namespaces?dryRun=All", json.dumps(body),
            {"Content-Type": "application/json",
             "Authorization": "Bearer " + os.environ["SANDBOX_TOKEN"]})
        connection.getresponse().read()
        connection.close()
        wait_for("the proxy's note", lambda: len(noted()) > before)
        return noted()[-1]

    entry = ask({"metadata": {"name": "x"}, "spec": {"nonsense": 1}})
    equal(entry.answered, 201, "answer")
    check("nonsense" in "".join(entry.warnings), entry)
    equal(ask({"metadata": {"name": 1}}).answered, 400, "answer")


@case
def lives():
    """a life of Pods, Nodes and claims, and nothing is in the agent's way"""
    a_life()
    for method, end in sorted(SAID):
        check(said(method, end), f"the agent has not said {method} {end}")
    equal(bed.status()["problems"], {}, "problems")
    equal(bed.status()["featuresOff"], {}, "features off")


def of_the_agent():
    return [e for e in proxy.entries() if DRY not in e.path]


@case
def only_what_is_served():
    """each request was of an API that is served; what the server does not have
    was not asked for"""
    served = apis_served()
    asked = {api_of(e.path) for e in of_the_agent()} - {None}
    check("/apis/coordination.k8s.io/v1" in asked, asked)
    equal(asked - served, set(), f"asked for, not among {sorted(served)}")


@case
def understood():
    """no request was refused as not understood, and none found nothing but that
    an object has gone"""
    for e in of_the_agent():
        check(e.answered not in NOT_UNDERSTOOD, e)
        check(e.answered != 404 or OBJECT.search(e.path), e)


@case
def without_a_warning():
    """no answer came with a warning"""
    equal([e for e in of_the_agent() if e.warnings], [], "warnings")


@case
def cleans_up():
    """Pods, claims and classes go"""
    bed.clean()
    volumes.clean()
    volumes.remove_classes()


through_proxy.begin()
run(after_failure=bed.last_words)
