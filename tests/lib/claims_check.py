# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether Pods that some scheduler has bound have their devices, as far as one
look at the cluster (world.World) tells. Pools are named after their Node, as
those of devices.py. That the check sees what it is for is itself checked."""
import copy
import dataclasses

import invariants
from world import is_live


def wrong(world, asked):
    """What is wrong, in words. asked: the number of devices of each Pod, by
    (namespace, name)."""
    found = [f"{subject}: {words}"
             for subject, words in invariants.device_twice(world)]
    pods = {_key(pod): pod for pod in world.pods}
    claims = {_key(claim): claim for claim in world.claims}
    for key, count in asked.items():
        pod = pods.get(key)
        words = _wrong_of(pod, claims, count) if pod else "it is gone"
        if words:
            found.append(f"Pod {'/'.join(key)}: {words}")
    return found


def _key(item):
    return item["metadata"]["namespace"], item["metadata"]["name"]


def _wrong_of(pod, claims, count):
    """"" when nothing is."""
    if not is_live(pod):
        return "it is not on a node"
    made = {s["name"]: s.get("resourceClaimName")
            for s in pod["status"].get("resourceClaimStatuses", [])}
    devices = []
    for entry in pod["spec"].get("resourceClaims", []):
        name = entry.get("resourceClaimName") or made.get(entry["name"])
        claim = claims.get((pod["metadata"]["namespace"], name))
        if not claim:
            return f"it has no ResourceClaim for {entry['name']}"
        status = claim.get("status", {})
        if not status.get("allocation"):
            return f"its ResourceClaim {name} is not allocated"
        if pod["metadata"]["uid"] not in [
                one["uid"] for one in status.get("reservedFor", [])]:
            return f"its ResourceClaim {name} is not reserved for it"
        devices += status["allocation"]["devices"]["results"]
    node = pod["spec"]["nodeName"]
    for device in devices:
        if device["pool"] != node:
            return f"it is on {node}, its device on {device['pool']}"
    if len(devices) != count:
        return f"it has {len(devices)} devices, and asks for {count}"
    return ""


# ---- The check's own check


def _release(pod, claim, other):
    claim["status"]["reservedFor"] = []


def _deallocate(pod, claim, other):
    del claim["status"]["allocation"]


def _unbind(pod, claim, other):
    del pod["spec"]["nodeName"]


def _take_one(pod, claim, other):
    claim["status"]["allocation"]["devices"]["results"].pop()


def _share(pod, claim, other):
    results = claim["status"]["allocation"]["devices"]["results"]
    results[0] = other["status"]["allocation"]["devices"]["results"][0]


def _move(pod, claim, other):
    pod["spec"]["nodeName"] += "x"


DAMAGE = {_release: "is not reserved for it", _deallocate: "is not allocated",
          _unbind: "is not on a node", _take_one: "and asks for",
          _share: "it is in", _move: ", its device on"}


def unseen(world, asked):
    """The damage to one of the Pods (two at least, nothing wrong with them) that
    wrong() does not see, which must be none."""
    keys = list(asked)[:2]
    pods = [pod for pod in world.pods if _key(pod) in keys]
    uids = {pod["metadata"]["uid"] for pod in pods}
    claims = [claim for claim in world.claims if uids & {
        one["uid"] for one in claim.get("status", {}).get("reservedFor", [])}]
    part = dataclasses.replace(world, pods=pods, claims=claims)
    missed = []
    for damage, words in DAMAGE.items():
        copied = dataclasses.replace(part, pods=copy.deepcopy(pods),
                                     claims=copy.deepcopy(claims))
        pod = copied.pods[0]
        claim, other = sorted(
            copied.claims, key=lambda one: one["status"]["reservedFor"][0]["uid"]
            != pod["metadata"]["uid"])
        damage(pod, claim, other)
        if not any(words in line for line in
                   wrong(copied, {key: asked[key] for key in keys})):
            missed.append(damage.__name__)
    return missed
