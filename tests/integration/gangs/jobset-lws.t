#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""JobSets and LeaderWorkerSets by their real controllers, each one Slurm job."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import gangs
from controllers import Controller
from tap import case, check, equal, run, wait_for

JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/test/jobsets"
LWS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/test/leaderworkersets"
_running = {}


def controller(name):
    """Runs from its first use to the end of the script."""
    if name not in _running:
        made = Controller(name)
        made.start()
        _running[name] = made
    return _running[name]


def template(cpu, annotations):
    body = bed.pod("x", cpu=cpu, annotations=annotations)
    return {"metadata": {"annotations": body["metadata"]["annotations"]},
            "spec": body["spec"]}


def replicated(name, replicas, parallelism, size, annotations, cpu="2"):
    said = {gangs.SIZE: str(size), **annotations}
    return {"name": name, "replicas": replicas, "template": {"spec": {
        "parallelism": parallelism, "completions": parallelism,
        "backoffLimit": 0, "template": template(cpu, said)}}}


def jobset(name, annotations=(), **spec):
    """A driver and 2 × 2 workers: 5 Pods."""
    controller("jobset")
    annotations = dict(annotations)
    bed.api("POST", JOBSETS, {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": name, "namespace": bed.NAMESPACE},
        "spec": {"replicatedJobs": [
            replicated("driver", 1, 1, 5, annotations, cpu="1"),
            replicated("workers", 2, 2, 5, annotations)], **spec}})


def pods_of(label, name):
    return [p for p in bed.pods()
            if p["metadata"].get("labels", {}).get(label) == name]


def members(name):
    return pods_of("jobset.sigs.k8s.io/jobset-name", name)


def running(pods):
    return [p for p in pods if p["status"].get("phase") == "Running" and
            "deletionTimestamp" not in p["metadata"]]


def wait_running(find, count, seconds=60):
    def all_run():
        pods = running(find())
        return pods if len(pods) == count else None
    return wait_for(f"{count} Pods to run", all_run, seconds)


def job_of(pods):
    uids = {gangs.uid_of(pod) for pod in pods}
    equal(len(uids), 1, f"gangs ({uids})")
    return gangs.job_of(uids.pop())


def wait_state(uid, state, seconds=60):
    def there():
        job = gangs.job_of(uid)
        return job if job and state in job["job_state"] else None
    return wait_for(f"the job of {uid} to be {state}", there, seconds)


def condition(path, kind):
    status = bed.api("GET", path).get("status", {})
    return any(c["type"] == kind and c["status"] == "True"
               for c in status.get("conditions", []))


@case
def jobset_succeeds():
    """a JobSet is one job of 5 tasks; it completes, and so does the job"""
    jobset("js")
    pods = wait_running(lambda: members("js"), 5)
    job = job_of(pods)
    equal(job["tasks"]["number"], 5, "tasks")
    equal(job["name"], "js", "JobName")
    equal(sorted(int(p["metadata"]["annotations"][gangs.RANK]) for p in pods),
          list(range(5)), "ranks")
    driver = [p for p in pods if "-driver-" in p["metadata"]["name"]]
    equal(driver[0]["metadata"]["annotations"][gangs.RANK], "0",
          "the driver's rank")
    bed.end(*(p["metadata"]["name"] for p in pods))
    wait_state(gangs.uid_of(pods[0]), "COMPLETED")
    wait_for("the JobSet to complete",
             lambda: condition(f"{JOBSETS}/js", "Completed"))


@case
def jobset_fails():
    """a Pod that fails fails the JobSet: the job ends with its exit code"""
    jobset("bad", {"sandbox/exit": "4"})
    pods = wait_running(lambda: members("bad"), 5)
    uid = gangs.uid_of(pods[0])
    victim = next(p for p in pods if "-workers-0-1" in p["metadata"]["name"])
    bed.end(victim["metadata"]["name"])
    wait_for("the JobSet to fail",
             lambda: condition(f"{JOBSETS}/bad", "Failed"), 60)
    job = wait_state(uid, "FAILED")
    equal(bed.exit_of(job), "4:0", "exit code")


@case
def jobset_restarts():
    """with restarts each attempt is a gang and a job of its own"""
    jobset("again", {"sandbox/exit": "4"}, failurePolicy={"maxRestarts": 1})
    pods = wait_running(lambda: members("again"), 5)
    first = gangs.uid_of(pods[0])
    check(first.endswith(".0"), first)
    bed.end(pods[0]["metadata"]["name"])

    def second():
        return [p for p in members("again")
                if gangs.uid_of(p) == first[:-1] + "1"]
    pods = wait_running(second, 5, 90)
    wait_state(first, "FAILED")
    check("RUNNING" in job_of(pods)["job_state"], "the second")


@case
def jobset_deleted():
    """a deleted JobSet's job is CANCELLED"""
    jobset("gone")
    uid = gangs.uid_of(wait_running(lambda: members("gone"), 5)[0])
    bed.api("DELETE", f"{JOBSETS}/gone", {"propagationPolicy": "Background"})
    wait_state(uid, "CANCELLED")


@case
def jobset_cancelled_by_slurm():
    """scancel ends all Pods of a JobSet"""
    jobset("slurm")
    pods = wait_running(lambda: members("slurm"), 5)
    uid = gangs.uid_of(pods[0])
    bed.run("scancel", str(gangs.job_of(uid)["job_id"]))
    wait_for("no Pod of it to run", lambda: not [
        p for p in running(members("slurm")) if gangs.uid_of(p) == uid])


@case
def jobset_preempted():
    """a JobSet that has to give way is evicted as a whole"""
    jobset("low", {bed.PARTITION: "low"})
    uid = gangs.uid_of(wait_running(lambda: members("low"), 5)[0])
    gangs.preempt()
    wait_state(uid, "PREEMPTED")
    wait_for("no Pod of it to run", lambda: not [
        p for p in running(members("low")) if gangs.uid_of(p) == uid])


@case
def jobset_depends_on():
    """dependsOn makes later Jobs when earlier ones are ready: gang-min lets them
    join"""
    controller("jobset")
    least = {gangs.MINIMUM: "1"}
    first = replicated("driver", 1, 1, 3, least, cpu="2")
    later = replicated("workers", 1, 2, 3, least, cpu="2")
    later["dependsOn"] = [{"name": "driver", "status": "Ready"}]
    bed.api("POST", JOBSETS, {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "order", "namespace": bed.NAMESPACE},
        "spec": {"replicatedJobs": [first, later]}})
    pods = wait_running(lambda: members("order"), 3)
    equal(job_of(pods)["tasks"]["number"], 3, "tasks")


# ---- LeaderWorkerSet


def lws(name, replicas=2, annotations=(), **spec):
    controller("lws")
    bed.api("POST", LWS, {
        "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": bed.NAMESPACE},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {
            "size": 3, "workerTemplate": _always(
                template("2", dict(annotations)))}, **spec}})


def _always(body):
    body["spec"]["restartPolicy"] = "Always"  # as a StatefulSet wants it
    return body


def serving(name):
    return pods_of("leaderworkerset.sigs.k8s.io/name", name)


@case
def lws_groups():
    """each group of a LeaderWorkerSet is a job of 3 tasks, the leader's rank is 0"""
    lws("serve")
    pods = wait_running(lambda: serving("serve"), 6)
    groups = {}
    for pod in pods:
        groups.setdefault(gangs.uid_of(pod), []).append(pod)
    equal(sorted(len(g) for g in groups.values()), [3, 3], "groups")
    for group in groups.values():
        job = job_of(group)
        equal(job["tasks"]["number"], 3, "tasks")
        for pod in group:
            index = pod["metadata"]["labels"][
                "leaderworkerset.sigs.k8s.io/worker-index"]
            equal(pod["metadata"]["annotations"][gangs.RANK], index, "rank")
    remove_lws("serve", groups)


@case
def lws_leader_ready():
    """startupPolicy LeaderReady: the leader starts in a job for all, workers join"""
    lws("ready", replicas=1, startupPolicy="LeaderReady")
    pods = wait_running(lambda: serving("ready"), 3)
    equal(job_of(pods)["tasks"]["number"], 3, "tasks")
    remove_lws("ready", {gangs.uid_of(pods[0])})


@case
def lws_group_is_made_anew():
    """a Pod of a group that is deleted: LWS makes the group anew, and it runs"""
    # One that is gone at once may be made again before LWS has looked.
    lws("heal", replicas=1, annotations={"sandbox/stop": "2s"})
    pods = wait_running(lambda: serving("heal"), 3)
    old = {p["metadata"]["uid"] for p in pods}
    bed.delete("heal-0-1")

    def new():
        return [p for p in serving("heal") if p["metadata"]["uid"] not in old]
    wait_running(new, 3, 90)
    remove_lws("heal", {gangs.uid_of(pods[0])})


@case
def lws_preempted():
    """a group that has to give way is evicted as a whole, and waits again"""
    lws("low", replicas=1, annotations={bed.PARTITION: "low"})
    pods = wait_running(lambda: serving("low"), 3)
    old = {p["metadata"]["uid"] for p in pods}
    first = job_of(pods)["job_id"]
    gangs.preempt()
    wait_for("the group to be evicted", lambda: not old & {
        p["metadata"]["uid"] for p in running(serving("low"))}, 60)
    equal(bed.jobs()[first]["job_state"][0], "PREEMPTED", "the first job")
    bed.api("DELETE", f"{LWS}/low", {"propagationPolicy": "Background"})
    wait_for("its Pods to go", lambda: not serving("low"), 60)


@case
def lws_cancelled_by_slurm():
    """scancel ends the Pods of a group; LWS makes it anew with a new job"""
    lws("cancel", replicas=1)
    pods = wait_running(lambda: serving("cancel"), 3)
    old = {p["metadata"]["uid"] for p in pods}
    bed.run("scancel", str(job_of(pods)["job_id"]))
    wait_running(lambda: [p for p in serving("cancel")
                          if p["metadata"]["uid"] not in old], 3, 120)
    remove_lws("cancel", {gangs.uid_of(pods[0])})


def remove_lws(name, uids):
    bed.api("DELETE", f"{LWS}/{name}", {"propagationPolicy": "Background"})
    wait_for("its Pods to go", lambda: not serving(name), 60)
    for uid in uids:
        wait_state(uid, "CANCELLED")


def clean():
    for path in (JOBSETS, LWS):
        try:
            for item in bed.api("GET", path)["items"]:
                bed.api("DELETE", f"{path}/{item['metadata']['name']}",
                        {"propagationPolicy": "Background"})
        except (bed.ApiError, ValueError):
            pass  # there is no such kind: its controller has not run yet
    bed.clean()


def words():
    return "\n".join([bed.last_words()] + [f"== {name}\n{made.log()}"
                                           for name, made in _running.items()])


try:
    run(before_each=clean, after_each=bed.nothing_left, after_failure=words)
finally:
    for made in _running.values():
        made.stop()
