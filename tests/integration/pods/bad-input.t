#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What users may write is hostile until checked: every Pod that cannot be
honoured says why, and nothing else suffers."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import node_moves as nodes
from asking import make_namespace
from tap import case, check, equal, never, run, wait_for


def refused(name, *words, reason="NoSlurmJob"):
    """The Pod says why on its condition and in an Event, and has no job."""
    bed.wait_words(name, *words)
    equal(bed.condition(name)["status"], "False", "PodScheduled")
    equal(bed.condition(name)["reason"], reason, "reason")
    uid = bed.get(name)["metadata"]["uid"]
    wait_for("the Event", lambda: [e for e in bed.events_of(uid)
                                   if e["reason"] == "FailedScheduling"])
    equal(bed.job_of(name), None, "job")


def still_serving():
    bed.create(bed.pod("after", annotations={"sandbox/run": "100ms"}))
    bed.wait_ended("after", "COMPLETED", "0:0")


def rows(name):
    """sacct's rows of all jobs of that name, from the start of the day."""
    return bed.run("sacct", "-nXP", f"--name={name}", "-o",
                   "JobID,State").split()


@case
def too_many_cpus():
    """10,000 CPUs: the Pod has its own number and the largest node's, it is said
    once, and sacct has no row of it"""
    name = f"huge-{time.time_ns()}"
    bed.create(bed.pod(name, cpu="10000"))

    refused(name, "No node is large enough", "cpu=10000", "with cpu=16",
            reason="Unschedulable")

    uid = bed.get(name)["metadata"]["uid"]
    still_serving()
    never("a second Event, or a job", lambda: len(bed.events_of(uid)) > 1 or
          bed.job_of(name), 8)
    equal(rows(name), [], "rows in sacct")


@case
def more_than_a_task_can_have():
    """more CPUs than a Slurm task can have, and petabytes and exabytes of memory"""
    bed.create(bed.pod("cpus", cpu="70000"))
    bed.create(bed.pod("bytes", memory="7E"))
    bed.create(bed.pod("peta", memory="1Pi"))

    refused("cpus", "65535")
    refused("bytes", "Slurm")
    refused("peta", "No node is large enough", "memory=1048576Gi",
            reason="Unschedulable")
    still_serving()


@case
def a_larger_node():
    """a Pod that is too large starts when a large Node joins, and sacct has no
    FAILED row of it"""
    name = f"joins-{time.time_ns()}"
    try:
        bed.create(bed.pod(name, cpu="20", annotations={"sandbox/run": "100ms"}))
        refused(name, "cpu=20", reason="Unschedulable")
        nodes.make("large-1", cpus=24)
        bed.wait_ended(name, "COMPLETED", "0:0", 60)
        wait_for("its row in sacct", lambda: [
            row.split("|")[1] for row in rows(name)] == ["COMPLETED"])
    finally:
        nodes.delete("large-1")
        wait_for("the node to be gone", lambda: not nodes.in_slurm("large-1"),
                 60)


@case
def too_large_for_its_partition():
    """a Pod that other nodes could hold, but none of its partition: Slurm refuses
    it, and the Pod has its numbers"""
    bed.create(bed.pod("wide", cpu="12", real=True))

    refused("wide", "No Slurm job could be submitted",
            "The Pod asks for cpu=12, memory=64Mi.", reason="Unschedulable")


@case
def longest_name():
    """a name of 253 characters"""
    name = ".".join(["n" * 62] * 4) + "n"
    equal(len(name), 252, "length")
    name += "n"
    bed.create(bed.pod(name, annotations={"sandbox/run": "100ms"}))

    job = bed.wait_ended(name, "COMPLETED", "0:0")
    equal(job["name"], name, "JobName")
    wait_for("the Event", lambda: bed.events_of(bed.get(name)["metadata"]["uid"]))


@case
def unknown_partition():
    """a partition that Slurm does not have"""
    bed.create(bed.pod("where", annotations={bed.PARTITION: "nowhere"}))

    refused("where", "partition")


@case
def hostile_annotations():
    """annotations with control characters, quotes and other scripts' letters"""
    bed.create(bed.pod("limit", annotations={bed.TIMELIMIT: "-1"}))
    bed.create(bed.pod("part", annotations={
        bed.PARTITION: "kwok\nPartitionName=evil \"'$(id)"}))
    bed.create(bed.pod("jobname", annotations={
        "sandbox/run": "100ms",
        "slurmjob.slinky.slurm.net/job-name": "ü\"\\\n$(id)" + "x" * 2000}))

    refused("limit", "timelimit")
    refused("part", "Slurm")
    wait_for("either a job or a sentence", lambda:
             bed.job_of("jobname") or bed.condition("jobname").get("message"))
    still_serving()


@case
def unknown_wishes():
    """a wish under our prefixes that is not supported is refused by name, not
    passed over"""
    bed.create(bed.pod("wish", annotations={"slurmk8s/moon-phase": "full"}))

    refused("wish", "slurmk8s/moon-phase")


@case
def selectors():
    """a Pod that no Node fits waits and says so; every node of ours is Linux"""
    bed.create(bed.pod("selector", nodeSelector={"disk": "ssd"}))
    bed.create(bed.pod("linux", nodeSelector={"kubernetes.io/os": "linux"},
                       annotations={"sandbox/run": "100ms"}))

    bed.wait_words("selector", "No Node")
    bed.wait_ended("linux", "COMPLETED", "0:0")


@case
def devices():
    """a device is refused visibly"""
    body = bed.pod("gpu")
    body["spec"]["containers"][0]["resources"] = {
        "limits": {"example.com/gpu": "1"}}
    bed.create(body)

    refused("gpu", "example.com/gpu")


@case
def gated():
    """a Pod with scheduling gates gets no job until the last gate is gone"""
    body = bed.pod("gated", annotations={"sandbox/run": "100ms"},
                   schedulingGates=[{"name": "example.com/wait"}])
    bed.create(body)
    bed.create(bed.pod("other", annotations={"sandbox/run": "100ms"}))
    bed.wait_ended("other", "COMPLETED")
    equal(bed.job_of("gated"), None, "job")
    equal(bed.condition("gated")["reason"], "SchedulingGated", "reason")

    bed.api("PATCH", f"/api/v1/namespaces/{bed.NAMESPACE}/pods/gated",
            {"spec": {"schedulingGates": None}},
            content_type="application/merge-patch+json")

    bed.wait_ended("gated", "COMPLETED", "0:0")


@case
def identity_of_the_namespace():
    """the namespace's annotations say whom a Pod runs as, the Pod cannot"""
    make_namespace("of-bob", user="bob", account="physics")
    body = bed.pod("bobs", namespace="of-bob",
                   annotations={"sandbox/run": "100ms"})
    bed.create(body)

    job = bed.wait_ended("bobs", "COMPLETED", "0:0")
    equal(job["user_name"], "bob", "user")
    equal(job["group_name"], "bob", "group")
    equal(job["account"], "physics", "account")
    bed.delete("bobs", "of-bob")


@case
def root_is_refused():
    """a namespace that would run as root is refused, and so is an unknown user"""
    make_namespace("of-root", user="root")
    make_namespace("of-nobody", user="no-such-user")
    for ns, words in (("of-root", "root"), ("of-nobody", "no-such-user")):
        bed.create(bed.pod("p", namespace=ns))
        wait_for(f"the sentence in {ns}", lambda: words in
                 bed.condition("p", ns).get("message", ""))
        equal(bed.job_of("p"), None, "job")
        bed.delete("p", ns)


@case
def forged_marks():
    """a Pod that comes with our label, annotations or a nodeName is refused by
    policy"""
    for metadata in ({"labels": {bed.JOB_LABEL: "1"}},
                     {"annotations": {bed.SLUID_ANNOTATION: "s0"}},
                     {"annotations": {bed.NODE_ANNOTATION: "kn1"}},
                     {"annotations": {bed.GENERATION_ANNOTATION: "7"}}):
        body = bed.pod("forged")
        for kind, values in metadata.items():
            body["metadata"].setdefault(kind, {}).update(values)
        try:
            bed.create(body)
            check(False, f"taken with {metadata}")
        except bed.ApiError as error:
            equal(error.status, 403, str(error))
    try:
        bed.create(bed.pod("placed", nodeName="kn1"))
        check(False, "taken with a nodeName")
    except bed.ApiError as error:
        check(error.status in (403, 422), str(error))


@case
def forged_marks_without_policies():
    """where the policies are missing, the agent refuses or ignores such Pods"""
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
    saved = bed.api("GET", policies)["items"]
    for item in saved:
        bed.api("DELETE", f"{policies}/{item['metadata']['name']}")
    body = bed.pod("forged")
    body["metadata"]["labels"] = {bed.JOB_LABEL: "1"}

    def taken(pod):
        try:
            return bed.create(pod)
        except bed.ApiError:
            return None
    try:
        wait_for("the policy of our label to be gone", lambda: taken(body))
        wait_for("that of nodeName to be gone", lambda: taken(
            bed.pod("placed", nodeName="kn1")))
        refused("forged", bed.JOB_LABEL)
        still_serving()
        bed.wait_phase("placed", "Running")
        equal(bed.job_of("placed"), None, "job of a Pod with a nodeName")
    finally:
        for item in saved:
            for key in ("uid", "resourceVersion", "creationTimestamp",
                        "generation", "managedFields"):
                item["metadata"].pop(key, None)
            bed.api("POST", policies, item)
        for name in ("forged", "placed"):  # no agent would make such ones
            bed.delete(name)
            bed.wait_gone(name)
        body["metadata"]["name"] = "again"
        wait_for("the policies to act again", lambda: not (
            taken(body) and (bed.delete("again", grace=0) or True)))


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
