#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One user takes nothing from others: held Pods of one namespace, Pods of a second
that Slurm refuses, Pods of a third with a node selection each, and Pods of a fourth
with claims that are costly to judge; Pods of a fifth, made after all that, are bound
about as soon as on the idle cluster. HELD, REFUSED, SELECTIONS and HOSTILE say how
many there are; 0 leaves the kind out. WORST is the most that a Pod may take, in
milliseconds, and FACTOR how many times the idle median theirs may be."""
import concurrent.futures
import os
import pathlib
import statistics
import sys
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "lib"), str(TESTS / "bench")]
import asking
import bed
import claims
import devices
import kube
from tap import case, check, run, wait_for

HELD, REFUSED, SELECTIONS, HOSTILE = (
    int(os.environ.get(name, default)) for name, default in (
        ("HELD", "5000"), ("REFUSED", "10000"), ("SELECTIONS", "400"),
        ("HOSTILE", "20")))
WORST = float(os.environ.get("WORST", "1000"))
FACTOR = float(os.environ.get("FACTOR", "2"))
PODS = 50       # whose time is taken
MAKERS = 4      # connections that make the crowd
CHOICES = 8     # of each request of a hostile claim: as many as the API allows
REQUESTS = 32   # the same for a claim
CLASSES = {claims.CLASS: f"device.driver == '{devices.DRIVER}'"}
CROWDS = ("held", "refused", "selecting", "hostile")
NO_ACCOUNT = "does-not-exist"
CLAIMS = f"{devices.API}/namespaces/hostile/resourceclaims"
idle = []  # milliseconds from create to bound
_client = kube.Client(os.environ)


def make_many(namespace, count, body):
    """So many Pods; body is a function of the number."""
    asking.make_namespace(namespace)
    with concurrent.futures.ThreadPoolExecutor(MAKERS) as pool:
        list(pool.map(lambda i: bed.api(
            "POST", f"/api/v1/namespaces/{namespace}/pods", body(i)), range(count)))


def delete_all(namespace):
    names = [pod["metadata"]["name"] for pod in bed.pods(namespace)]
    with concurrent.futures.ThreadPoolExecutor(MAKERS) as pool:
        list(pool.map(lambda name: bed.delete(name, namespace, grace=0), names))
    wait_for(f"the Pods of {namespace} to be gone",
             lambda: not bed.pods(namespace), 300, 1)


def time_one(name):
    """How long one Pod waits for its node, as a watch sees it, in milliseconds."""
    pod = _client.pod(name, "slurm", run="100ms", partition="kwok")
    _client.watch.expect("bound", [pod])
    _client.create(_client.first, pod)
    _client.watch.wait(60)
    _client.watch.expect("gone", [pod])
    _client.delete(pod)
    _client.watch.wait(60)
    return 1000 * (pod.bound - pod.posted)


def time_all(kind):
    _client.refresh()  # the API server closes connections that were idle
    times = [time_one(f"{kind}-{i}") for i in range(PODS)]
    times.sort()
    print(f"# {kind}: median {statistics.median(times):.0f} ms, "
          f"p90 {times[PODS * 9 // 10]:.0f} ms, worst {times[-1]:.0f} ms",
          flush=True)
    return times


def says(namespace, words):
    """How many Pods of the namespace say that."""
    return sum(any(words in condition.get("message", "")
                   for condition in pod["status"].get("conditions", []))
               for pod in bed.pods(namespace))


def rpcs():
    """How many of which slurmctld has served so far."""
    return {line.split()[0]: int(line.split("count:")[1].split()[0])
            for line in bed.run("sdiag").splitlines()
            if "count:" in line and "(" in line}


def selecting(number):
    """A selection of its own, which every Node satisfies."""
    term = {"matchExpressions": [
        {"key": f"example.com/has-{number}", "operator": "DoesNotExist"}]}
    return bed.pod(f"p{number}", cpu="16", namespace="selecting", affinity={
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [term]}}},
        annotations={"slurmk8s/priority": "0"})


def costly(number):
    """A claim whose every choice has a selector of its own."""
    def choice(request, which):
        words = " && ".join(
            f"device.driver != 'x{number}-{request}-{which}-{i}'" for i in range(20))
        return {"name": f"c{which}", "deviceClassName": claims.CLASS, "count": 1,
                "selectors": [{"cel": {"expression": words}}]}
    return {"devices": {"requests": [
        {"name": f"r{request}", "firstAvailable": [
            choice(request, which) for which in range(CHOICES)]}
        for request in range(REQUESTS)]}}


def hostile(number):
    name = f"c{number}"
    bed.api("POST", CLAIMS, {"metadata": {"name": name}, "spec": costly(number)})
    return bed.pod(f"p{number}", namespace="hostile", **claims.with_claims(name))


@case
def on_an_idle_cluster():
    """how long Pods wait where nothing else does"""
    bed.clean()
    time_all("warm")
    idle.extend(time_all("idle"))


@case
def beside_all_that():
    """the median is at most FACTOR times that, and no Pod waits longer than WORST"""
    if HELD:
        make_many("held", HELD, lambda i: bed.pod(
            f"p{i}", namespace="held", annotations={"slurmk8s/priority": "0"}))
    if REFUSED:
        make_many("refused", REFUSED, lambda i: bed.pod(
            f"p{i}", namespace="refused",
            annotations={"slurmk8s/account": NO_ACCOUNT}))
    if SELECTIONS:
        make_many("selecting", SELECTIONS, selecting)
    if HOSTILE:
        make_many("hostile", HOSTILE, hostile)
    times = time_all("crowded")
    check(statistics.median(times) <= FACTOR * statistics.median(idle),
          f"the median is {statistics.median(times):.0f} ms, and "
          f"{statistics.median(idle):.0f} ms when idle")
    check(times[-1] <= WORST, f"one has waited {times[-1]:.0f} ms")


@case
def what_they_get():
    """the crowd is held back for reasons that it is told"""
    if HELD > 500:  # half of a share
        wait_for("held Pods to say that their share is full",
                 lambda: says("held", "by their own wish"), 120)
    if REFUSED:
        wait_for("all refused Pods to have been tried",
                 lambda: says("refused", NO_ACCOUNT) == REFUSED, 600, 2)
        before, began = rpcs(), time.monotonic()
        time.sleep(20)
        after, took = rpcs(), time.monotonic() - began
        tried = sum(after[name] - before.get(name, 0) for name in after
                    if "SUBMIT" in name)
        print(f"# {tried} submits in {took:.0f} s", flush=True)
        check(tried <= 10 * took, f"{tried} submits in {took:.0f} s")
    if SELECTIONS > 100:
        wait_for("the rest to say that there are too many selections",
                 lambda: says("selecting", "MaxNodeSelectionsPerNamespace"), 120)


@case
def over():
    """all of them go, and what waits is bound as ever"""
    for namespace in CROWDS:
        delete_all(namespace)
    if HOSTILE:
        bed.api("DELETE", CLAIMS)
    wait_for("all jobs to end", bed.no_job_left, 300)
    time_all("after")


asking.with_slurm_conf("AccountingStorageEnforce=associations,limits,qos")
if HOSTILE:
    devices.begin(f"DeviceGres={claims.CLASS}:gpu", CLASSES, ("kn1", "kn2"))
run(after_failure=bed.last_words)
