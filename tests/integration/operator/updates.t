#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""New templates of NodeSets: no more Pods are away than may be, none goes before the
agent has answered, and what the template was stays known."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import node_sets
from node_sets import REVISION, Frame, Place
from tap import case, check, equal, last_case, never, run, wait_for

NODES = [f"upd{i}" for i in range(6)]
place = Place("updates", NODES)
SOON = 3  # seconds in which a wrong deletion would have happened

frame = Frame(NODES, place)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(frame.end(), 0, "exit status of the operator")


def revisions():
    """The ControllerRevisions of the NodeSet, by their hash."""
    items = bed.api("GET", f"/apis/apps/v1/namespaces/{place.namespace}/"
                    "controllerrevisions")["items"]
    return {i["metadata"]["labels"][REVISION]: i for i in items
            if i["metadata"]["name"].startswith("w-")}


def rolling(most):
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": most}}


@case
def rolls():
    """a new template replaces all Pods, two at a time, idle ones first, each when the
    agent has answered, and under its name"""
    place.controller()
    place.node_set(replicas=4, updateStrategy=rolling("50%"))
    names = [f"w-{i}" for i in range(4)]
    first = {n: p["metadata"]["uid"] for n, p in place.wait_pods(*names).items()}
    old = place.revision()
    place.busy("w-2")
    place.busy("w-3")
    place.wait_heard()
    place.image("slurmd:next")

    place.wait_asked("w-0", "w-1")
    place.wait_condition("Updated", "False", "4 of 4 Pods have an older template")
    place.wait_condition("ScalingIn", "False")
    never("another Pod that is asked, or one that goes", lambda:
          place.asked() != ["w-0", "w-1"] or place.uids() != first, SOON)

    place.answer("w-0")
    wait_for("another w-0", lambda:
             place.uids().get("w-0", first["w-0"]) != first["w-0"])
    # As long as it is not ready, w-1 is the only other one that may be away.
    never("a third one", lambda: not set(place.asked()) <= {"w-1"}, SOON)
    place.wait_pods(*names)
    place.wait_asked("w-1", "w-3")

    place.busy("w-3", False)
    place.answer("w-3")
    place.answer("w-1")
    for name in ("w-1", "w-3"):
        wait_for(f"another {name}", lambda name=name:
                 place.uids().get(name, first[name]) != first[name])
    place.wait_pods(*names)
    place.wait_asked("w-2")
    place.answer("w-2")
    wait_for("another w-2", lambda:
             place.uids().get("w-2", first["w-2"]) != first["w-2"])
    found = place.wait_pods(*names)
    place.wait_condition("Updated", "True")
    equal(set(place.images().values()), {"slurmd:next"}, "images")
    said = place.status()
    check(said["nodeSetHash"] != old, "the same hash for two templates")
    equal({p["metadata"]["labels"][REVISION] for p in found.values()},
          {said["nodeSetHash"]}, "revisions of the Pods")
    equal(said["updatedReplicas"], 4, "updatedReplicas")


@case
def one_budget():
    """a smaller number during an update: who was asked goes first, and no more are
    away than may be"""
    place.controller()
    place.node_set(replicas=4, updateStrategy=rolling(1))
    first = {n: p["metadata"]["uid"]
             for n, p in place.wait_pods(*(f"w-{i}" for i in range(4))).items()}
    place.image("slurmd:next")
    place.wait_asked("w-3")
    place.scale(3)
    place.wait_asked("w-2", "w-3")  # one is too many, and one is updated
    place.wait_condition("ScalingIn", "True", ": w-3.")
    place.wait_condition("Updated", "False", ": w-2.")
    never("a third one", lambda: place.asked() != ["w-2", "w-3"], SOON)
    place.answer("w-3")
    wait_for("w-3 to be gone", lambda: set(place.pods()) == {"w-0", "w-1", "w-2"})
    place.wait_asked("w-2")
    place.answer("w-2")
    wait_for("another w-2", lambda:
             place.uids().get("w-2", first["w-2"]) != first["w-2"])
    place.wait_pods("w-0", "w-1", "w-2")
    place.wait_asked("w-1")


@case
def taken_back():
    """a template that is taken back takes the requests back, and is the newest
    revision again"""
    place.controller()
    place.node_set(replicas=2, updateStrategy=rolling(1), revisionHistoryLimit=1)
    place.wait_pods("w-0", "w-1")
    first = place.revision()
    before = place.uids()
    place.image("slurmd:next")
    place.wait_asked("w-1")
    wait_for("two revisions", lambda: len(revisions()) == 2)
    place.image("slurmd:test")
    place.wait_asked()
    wait_for("the first revision to be the newest", lambda: max(
        revisions().values(), key=lambda r: r["revision"])["metadata"]["labels"]
        [REVISION] == first)
    place.wait_condition("Updated", "True")
    equal(place.uids(), before, "the Pods")


@case
def history():
    """a revision holds the template as a patch that brings it back; as many are kept as
    the NodeSet says, and those that Pods have"""
    place.controller()
    place.node_set(replicas=1, revisionHistoryLimit=1,
                   updateStrategy={"type": "OnDelete"})
    place.wait_pods("w-0")
    used = place.revision()
    for number in range(3):
        place.image(f"slurmd:{number}")
        place.wait_condition("Updated", "False")
        wait_for("its revision", lambda number=number: any(
            r["data"]["spec"]["slurmd"]["image"] == f"slurmd:{number}"
            for r in revisions().values()))
    wait_for("the oldest that nobody uses to go", lambda: len(revisions()) == 3)
    found = revisions()
    equal(sorted(r["data"]["spec"]["slurmd"]["image"] for r in found.values()),
          ["slurmd:1", "slurmd:2", "slurmd:test"], "templates that are kept")
    check(used in found, "the one that the Pod has")

    bed.api("PATCH", place.path("nodesets", "w"), found[used]["data"],
            node_sets.MERGE)
    place.wait_condition("Updated", "True")
    equal(place.status()["nodeSetHash"], used, "the hash of the same template")
    # They go with the NodeSet.
    place.empty()
    wait_for("no revision", lambda: not revisions())


@case
def killed():
    """an operator that is killed in the middle of an update goes on"""
    place.controller()
    place.node_set(replicas=2, updateStrategy=rolling(1))
    first = {n: p["metadata"]["uid"]
             for n, p in place.wait_pods("w-0", "w-1").items()}
    place.image("slurmd:next")
    place.wait_asked("w-1")
    frame.operator.stop("KILL")
    frame.operator.start().leads()
    place.answer("w-1")
    wait_for("another w-1", lambda:
             place.uids().get("w-1", first["w-1"]) != first["w-1"])
    place.wait_pods("w-0", "w-1")
    place.wait_asked("w-0")
    equal(place.uids()["w-0"], first["w-0"], "w-0")


@case
def min_ready():
    """a Pod that has just become ready is not available yet, and the next one waits"""
    place.controller()
    place.node_set(replicas=2, updateStrategy=rolling(1), minReadySeconds=3600)
    place.wait_pods("w-0", "w-1")
    place.wait_condition("Available", "False", "0 of 2 Pods are ready for as long")
    # The operator may not have heard yet that the second one is ready.
    wait_for("the counts", lambda: (
        place.status()["readyReplicas"], place.status()["availableReplicas"]) ==
        (2, 0))
    place.change(minReadySeconds=0)
    place.wait_condition("Available", "True")


def claims():
    return sorted(c["metadata"]["name"] for c in bed.api(
        "GET", place.core("persistentvolumeclaims"))["items"]
        if not c["metadata"].get("deletionTimestamp"))


def with_claims(**policy):
    place.node_set(replicas=2, updateStrategy={"type": "OnDelete"},
                   volumeClaimTemplates=[{
                       "metadata": {"name": "data"}, "spec": {
                           "accessModes": ["ReadWriteOnce"], "resources":
                           {"requests": {"storage": "1Mi"}}}}],
                   persistentVolumeClaimRetentionPolicy=policy)
    wait_for("the claims", lambda: claims() == ["data-w-0", "data-w-1"])
    volumes = wait_for("w-1", lambda: place.pods().get("w-1"))["spec"]["volumes"]
    equal([v["persistentVolumeClaim"]["claimName"] for v in volumes
           if v["name"] == "data"], ["data-w-1"], "the volume of w-1")


def drop_claims():
    bed.api("DELETE", place.core("persistentvolumeclaims"), {})
    wait_for("no claims", lambda: not bed.api(
        "GET", place.core("persistentvolumeclaims"))["items"])


def scale_in():
    place.scale(1)
    place.wait_asked("w-1")
    place.answer("w-1")
    wait_for("w-1 to go", lambda: set(place.pods()) == {"w-0"})


@case
def claims_stay():
    """each Pod has claims of its own, and by default they stay, whatever goes"""
    place.controller()
    with_claims()
    scale_in()
    never("a claim that goes", lambda: len(claims()) != 2, SOON)
    place.scale(2)
    wait_for("w-1 to come back", lambda: set(place.pods()) == {"w-0", "w-1"})
    place.empty()
    never("a claim that goes", lambda: len(claims()) != 2, SOON)
    drop_claims()


@case
def claims_go():
    """whenScaled and whenDeleted: Delete take them along, and a Pod that is replaced
    keeps its own"""
    place.controller()
    with_claims(whenScaled="Delete", whenDeleted="Delete")
    uid = place.uids()["w-0"]
    bed.delete("w-0", place.namespace)
    wait_for("another w-0", lambda: place.uids().get("w-0", uid) != uid)
    equal(claims(), ["data-w-0", "data-w-1"], "claims")
    scale_in()
    wait_for("its claim to go", lambda: claims() == ["data-w-0"])
    place.empty()
    wait_for("all claims to go", lambda: not claims())


run(before_each=frame.before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
