#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Selectors of claims, which users write, in a cluster of many devices: what one
namespace asks for holds up neither the agent nor the Pods of others."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import claims
import devices
import metrics
from bed import land
from claims import with_claims
from tap import case, check, equal, run, wait_for

CLASSES = {claims.CLASS: f"device.driver == '{devices.DRIVER}'"}
NODES = ("kn1", "kn2", "kn3")
GREEDY = "greedy"
# Of Nodes that there are not: they are compared with each request all the same.
CROWD = 160
IN_A_SLICE = 128
CLAIMS = 4
CLAIMS_PATH = f"{devices.API}/namespaces/{GREEDY}/resourceclaims"
POD_PATH = f"/api/v1/namespaces/{GREEDY}/pods/many"


def crowd():
    for i in range(CROWD):
        devices.publish(f"crowd{i}", [devices.device(f"a{n}")
                                      for n in range(IN_A_SLICE)])


def requests(of):
    """As many as a claim can have; each has a selector of its own."""
    def choice(number):
        last = number % 8 == 7
        cel = f"device.driver {'!=' if last else '=='} 'x{of}-{number}'"
        return {"name": f"c{number % 8}", "deviceClassName": claims.CLASS,
                "selectors": [{"cel": {"expression": cel}}]}
    return [{"name": f"r{i}", "firstAvailable":
             [choice(8 * i + n) for n in range(8)]} for i in range(32)]


def long_turns(seconds="1.0"):
    """How many turns of the agent have taken more than that so far."""
    page = metrics.page()
    return (metrics.get(page, "slurmk8sd_turn_seconds_count") -
            metrics.get(page, "slurmk8sd_turn_seconds_bucket", le=seconds))


def begin_greedy():
    for i in range(CLAIMS):
        bed.api("POST", CLAIMS_PATH, {"metadata": {"name": f"c{i}"},
                                      "spec": claims.spec(*requests(i))})
    bed.create(bed.pod("many", namespace=GREEDY,
                       **with_claims(*(f"c{i}" for i in range(CLAIMS)))))


def end_greedy():
    bed.delete("many", GREEDY, grace=0)
    for i in range(CLAIMS):
        bed.api("DELETE", f"{CLAIMS_PATH}/c{i}", {})


@case
def others_go_on():
    """a Pod of a thousand different requests, which changes again and again: the
    agent decides others meanwhile, and another namespace's claim is satisfied"""
    before = long_turns()
    begin_greedy()
    began = time.monotonic()
    claims.claim("mine")
    bed.create(bed.pod("quick", **with_claims("mine")))
    for i in range(40):
        bed.api("PATCH", POD_PATH, {"metadata": {"annotations": {"x": str(i)}}},
                "application/merge-patch+json")
        time.sleep(0.05)
    land("quick")
    print(f"# bound {time.monotonic() - began:.1f} s after the other was created")
    wait_for("the greedy one to be told that it waits", lambda: any(
        words in (bed.condition("many", GREEDY) or {}).get("message", "")
        for words in ("still comparing", "are expensive to evaluate")), 60)
    equal(long_turns() - before, 0, "turns of more than a second")
    for limit in ("0.05", "0.1", "0.25"):
        print(f"# {long_turns(limit):.0f} turns of more than {limit} s since the start")
    end_greedy()


@case
def many_changes():
    """a driver that publishes its devices again and again: claims get devices
    meanwhile, and what is counted is what was published last"""
    before = bed.metric("events_total{event=\"resourceslice\"")
    for i in range(60):
        devices.publish("crowd0", [devices.device(f"a{i}-{n}")
                                   for n in range(IN_A_SLICE)])
        if i == 20:
            claims.claim("amid")
            bed.create(bed.pod("amid", **with_claims("amid")))
    land("amid")
    wait_for("the agent to hear of all", lambda: bed.metric(
        "events_total{event=\"resourceslice\"") - before >= 60)
    check(claims.devices_in(claims.get("amid")), "it has a device")


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    bed.run("kubectl", "create", "namespace", GREEDY, check=False)
    for node in NODES:
        devices.wait_gres(node, "gpu:any:4")


devices.begin(f"DeviceGres={claims.CLASS}:gpu:any", CLASSES, NODES)
crowd()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
