#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""An API server, or a network before it, that fails in every way we know, with
Pods in every stage of their life: none is killed, none runs twice, all go on
when it is over, and the server is not flooded meanwhile."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import through_proxy
from fault_proxy import (answer, answer_after, bindings, cut_after, drip,
                         edited, empty_lists, lists_of, slow, truncated,
                         writes)
from tap import case, check, equal, never, run, wait_for
from through_proxy import Stages, proxy, writes_to

OUTAGE = 60 if os.environ.get("TEST_LONG") else 12  # seconds

# Of the agent: Nodes, Namespaces, the Pods of each scheduler name and of others.
# There are more where the API server has JobSets or PodGroups.
WATCHES = 5

CROWD = 20  # Pods
OTHERS = 10  # the Pods of Stages, the watches and the Lease

# To end a Pod: its Event and its deadline. A pause follows the first try, and
# each further pause is twice as long.
REQUESTS = 2
FIRST_RETRY = 0.5  # seconds

GONE = {"type": "ERROR", "object": {
    "kind": "Status", "apiVersion": "v1", "status": "Failure",
    "reason": "Expired", "code": 410, "message": "too old resource version"}}


def lasting(seconds):
    """Faults that do nothing once have to last: the time is what is tried."""
    time.sleep(seconds)


def met(fault, times=1, seconds=20):
    wait_for(f"the agent to meet: {fault.name}", lambda: fault.hits >= times,
             seconds)


def through(*faults, times=1, cut_streams=False):
    """The faults come, each is met so often, and they go."""
    stages = Stages()
    proxy.set(*faults)
    if cut_streams:
        proxy.cut_streams()
    stages.act()
    for fault in faults:
        met(fault, times)
    proxy.clear()
    stages.all_went_on()
    return stages


@case
def nothing_wrong():
    """without a fault the proxy changes nothing"""
    stages = Stages()
    stages.act()
    stages.all_went_on(20)


@case
def expired_watch():
    """410 Gone as the answer to watches: everything is listed again"""
    stages = through(
        answer(410, when=lambda r: r.watches and not r.lists), times=3,
        cut_streams=True)
    wait_for("a list, when the back-off is over", lambda: [
        e for e in proxy.entries(stages.began)
        if "sendInitialEvents" in e.path])


@case
def expired_in_the_stream():
    """410 as an ERROR event in open watches, several times"""
    stages = Stages()
    stages.act()
    for _ in range(3):
        wait_for("the watches", lambda: proxy.streams() >= WATCHES)
        proxy.say(GONE)
    stages.all_went_on()


@case
def cut_in_a_line():
    """watches are cut in the middle of a line"""
    stages = Stages()
    stages.act()
    for _ in range(2):
        wait_for("the watches", lambda: proxy.streams() >= WATCHES)
        proxy.cut_streams(b'{"type":"MODIFIED","object":{"kind":"Pod","meta')
    stages.all_went_on()


@case
def too_many_requests():
    """429 with Retry-After: the same write comes again, and not before"""
    wait = 4
    fault = answer(429, {"Retry-After": str(wait)}, when=bindings, times=1)
    stages = through(fault)
    refused, again = [e for e in writes_to("new", since=stages.began)
                      if e.path.endswith("/binding")]
    equal((refused.answered, again.answered), (429, 201), "bindings")
    check(again.at - refused.at >= wait, f"after {again.at - refused.at} s")


@case
def overloaded():
    """429 with Retry-After to everything, watches too: few requests come"""
    stages = Stages()
    proxy.set(answer(429, {"Retry-After": "3"}))
    proxy.cut_streams()
    began = time.monotonic()
    stages.act()
    lasting(7)
    asked, took = len(proxy.entries(began)), time.monotonic() - began
    proxy.clear()
    stages.all_went_on()
    # in 10 s four watches and four Pods, three times each, and their Events
    check(asked <= 40 * max(1, took / 10), f"{asked} requests in {took:.0f} s")


@case
def one_conflict():
    """409 without reason to one binding and to the end of one Pod"""
    def ending(request):
        return request.writes and request.resource.endswith("/pods/stopped")
    through(answer(409, when=bindings, times=1),
            answer(409, when=ending, times=1))


@case
def conflict_storm():
    """409 to every write for a while"""
    through(answer(409, when=writes), times=12)


@case
def conflict_after():
    """409 to writes that were carried out"""
    through(answer_after(409, when=writes), times=5)


@case
def errors_before():
    """500 to every request: writes, reads, watches"""
    through(answer(500), times=15, cut_streams=True)


@case
def errors_after():
    """500 to writes that were carried out"""
    through(answer_after(500, when=writes), times=5)


@case
def cut_after_forwarding():
    """the connection breaks after a write was carried out, so often that curl's
    own second try meets it, too"""
    through(cut_after(when=writes), times=6)


def tries_in(seconds):
    """How often something is tried in that time if it never succeeds."""
    pauses = 0
    while FIRST_RETRY * (2 ** (pauses + 1) - 1) <= seconds:
        pauses += 1
    return 1 + pauses


def outage(begin):
    """Also with a crowd of Pods, all of which the agent wants to end."""
    stages = Stages()
    crowd = [f"crowd-{i}" for i in range(CROWD)]
    for name in crowd:
        bed.create(bed.pod(name))
    for name in crowd:
        bed.wait_phase(name, "Running")
    began, attempts = time.monotonic(), proxy.attempts
    begin()
    stages.act()
    bed.run("scancel", *(str(id) for id, job in bed.jobs().items()
                         if job["name"] in crowd))
    lasting(OUTAGE / 2)
    half = proxy.attempts - attempts
    lasting(OUTAGE / 2)
    whole = proxy.attempts - attempts
    took = time.monotonic() - began
    proxy.serve_again()

    stages.all_went_on()
    for name in crowd:
        wait_for(f"{name} to be over", through_proxy.over(name), 60)
    limit = REQUESTS * tries_in(took) * (CROWD + OTHERS)
    print(f"# {half} connections, then {whole - half}, of {limit}", flush=True)
    check(whole <= limit, f"{whole} connections in {took:.0f} s, not {limit}")
    check(whole - half <= half + max(WATCHES, proxy.streams()),
          f"{half}, then {whole - half}: not fewer")


@case
def outage_reset():
    """every connection is reset for a while: fewer and fewer are tried, however
    many Pods are to be ended"""
    outage(proxy.reset)


@case
def outage_refused():
    """nobody listens at the API server's port for a while"""
    stages = Stages()
    proxy.refuse()
    stages.act()
    lasting(5)
    proxy.serve_again()
    stages.all_went_on()


@case
def outage_black_hole():
    """packets to and from the API server get lost for a while"""
    outage(proxy.swallow)


@case
def expired_token():
    """401 until the token file changes: then it is read again"""
    old = agent_conf.read(agent_conf.TOKEN).strip()
    stages = Stages()
    fault = answer(401, when=lambda r:
                   r.headers["Authorization"] == f"Bearer {old}")
    proxy.set(fault)
    proxy.cut_streams()
    stages.act()
    met(fault, 8)
    fresh = bed.api(
        "POST", "/api/v1/namespaces/slurm-k8s-bridge/serviceaccounts/"
        "slurmk8sd/token",
        {"spec": {"expirationSeconds": 86400 * 365}})["status"]["token"]
    check(fresh != old, "another token")
    agent_conf.write(agent_conf.TOKEN, fresh + "\n")
    stages.all_went_on()


@case
def slow_answers():
    """each answer takes 5 s"""
    through(slow(5, when=lambda r: not r.watches), times=3)


@case
def slow_drip():
    """answers and events come a few bytes at a time"""
    through(drip(40, 0.02), times=3, cut_streams=True)


@case
def truncated_answers():
    """half an answer, with a length that fits and as a cut connection"""
    def plain(request):
        return not request.watches
    through(truncated(True, when=plain, times=2),
            truncated(False, when=plain, times=2), times=2)


@case
def empty_lists_of_all():
    """lists that are empty though there is something: nothing is ended for it"""
    stages = Stages()
    faults = [empty_lists(kind) for kind in ("pods", "nodes", "namespaces")]
    proxy.set(*faults)
    proxy.say(GONE)
    for fault in faults:
        met(fault)
    bed.run("scancel", stages.cancelled)
    never("a job of a Pod that lives ends", lambda: "RUNNING" not in
          bed.state_of(bed.job_of("runs")), 7)  # OrphanGrace is 5
    proxy.clear()
    stages.act()
    stages.all_went_on()


@case
def version_goes_backwards():
    """a list's resourceVersion is far older than what was read before: as after
    etcd was restored, or from a server that lags behind"""
    def edit(event):
        meta = event["object"]["metadata"]
        if event["type"] == "BOOKMARK" and "annotations" in meta:
            meta["resourceVersion"] = "2"
        return event
    stages = Stages()
    fault = edited(edit, when=lists_of("pods"), times=2)
    proxy.set(fault)
    proxy.say(GONE)
    met(fault)
    stages.act()
    stages.all_went_on()


@case
def older_pods():
    """a list that shows Pods as they were before they were bound"""
    def edit(event):
        pod = event["object"]
        if pod["metadata"].get("name") in Stages.OURS:
            pod["spec"].pop("nodeName", None)
            pod["metadata"].pop("labels", None)
            pod["metadata"]["annotations"] = {
                bed.PARTITION: pod["metadata"]["annotations"][bed.PARTITION]}
            pod["metadata"]["resourceVersion"] = "2"
            pod["status"] = {"phase": "Pending"}
        return event
    stages = Stages()
    fault = edited(edit, "older Pods", when=lists_of("pods"), times=4)
    proxy.set(fault)
    proxy.say(GONE)
    met(fault)
    stages.act()
    lasting(2)
    proxy.clear()
    proxy.say(GONE)
    stages.all_went_on()


through_proxy.begin()
run(before_each=through_proxy.fresh, after_each=bed.nothing_left,
    after_failure=bed.last_words)
