#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gangs whose size an object says: the PodGroups of scheduler-plugins, those of
Kubernetes' own Workload API, and JobSets."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import gangs
import pod_groups
from controllers import Controller
from pod_groups import PLUGINS, WORKLOAD, condition, member
from tap import case, check, equal, never, run, wait_for

JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/test/jobsets"
JOBS = "/apis/batch/v1/namespaces/test/jobs"
CONTROLLER_TIME = 10  # seconds: what scheduler-plugins' controller has to speak
OTHER = "test-other"  # a namespace
TIMES = 10  # that an API goes and comes
_installed = False
_controller = None


def plugins():
    """Their CRD is there from the first use to the end of the script. The agent
    notices it without a restart, when the first Pod names such a PodGroup."""
    global _installed
    if _installed:
        return
    pod_groups.install_crd()
    _installed = True


def create(api, gang, numbers, **options):
    names = [f"{gang}-{i}" for i in numbers]
    for name in names:
        bed.create(member(api, name, gang, **options))
    return names


def uid_of(api, gang):
    kind = "podgroup" if api == PLUGINS else "workload"
    return f"{bed.NAMESPACE}/{kind}/{gang}"


def job_of(api, gang):
    return gangs.job_of(uid_of(api, gang))


def job_of_pod(name):
    """The job that has put the Pod where it is."""
    labels = bed.get(name)["metadata"].get("labels", {})
    return bed.jobs().get(int(labels.get(bed.JOB_LABEL, 0)))


def bound(names):
    return [name for name in names
            if (bed.get(name) or {"spec": {}})["spec"].get("nodeName")]


def wait_running(names, seconds=30):
    for name in names:
        bed.wait_phase(name, "Running", seconds)


def wait_state(api, gang, state, seconds=30):
    def found():
        job = job_of(api, gang)
        states = job["job_state"] if job else []
        # One whose Pods are being bound is RUNNING, CONFIGURING.
        return state in states and "CONFIGURING" not in states and job
    return wait_for(f"the job of {gang} to be {state}", found, seconds)


def fill():
    """Somebody has every CPU."""
    for i in range(4):
        bed.create(bed.pod(f"full-{i}", cpu="16"))
    wait_running([f"full-{i}" for i in range(4)])


def make_room():
    for i in range(4):
        bed.delete(f"full-{i}")


def waits_for_its_group(api):
    """Pods wait for their PodGroup, and for as many as it says"""
    before = job_of(api, "g")  # of an earlier run
    pods = create(api, "g", range(2))
    bed.wait_words("g-0", "PodGroup g does not exist yet")
    pod_groups.create(api, "g", 3)
    for name in pods:
        bed.wait_words(name, "2 of 3 Pods of gang g exist")
    equal(job_of(api, "g"), before, "job")
    pods += create(api, "g", [2])
    wait_running(pods)
    job = wait_state(api, "g", "RUNNING")
    equal(job["tasks"]["number"], 3, "tasks")
    equal(sorted(bed.get(name)["metadata"]["annotations"][gangs.RANK]
                 for name in pods), ["0", "1", "2"], "ranks")
    for name in pods:
        equal(job_of_pod(name)["job_id"], job["job_id"], f"the job of {name}")
        bed.delete(name)
    wait_state(api, "g", "CANCELLED")


def group_goes_while_it_waits(api):
    """a PodGroup deleted while its job waits: the job is given back, nothing
    fails"""
    fill()
    pod_groups.create(api, "gone", 2)
    pods = create(api, "gone", range(2))
    wait_state(api, "gone", "PENDING")
    pod_groups.delete(api, "gone")
    if api == WORKLOAD:  # it stays, deleting, for as long as its Pods do
        bed.api("PATCH", pod_groups.path(api, "gone"),
                {"metadata": {"finalizers": None}}, admission.MERGE)
    wait_state(api, "gone", "CANCELLED")
    for name in pods:
        bed.wait_words(name, "PodGroup gone does not exist yet")


def more_than_it_says(api):
    """more Pods than it says: the first are the gang, each other one gets a job
    of its own once the gang runs; the agent's restart changes nothing"""
    pod_groups.create(api, "many", 2)
    pods = create(api, "many", range(4))
    wait_running(pods)
    job = wait_state(api, "many", "RUNNING")
    equal(job["tasks"]["number"], 2, "tasks")
    ids = [job_of_pod(name)["job_id"] for name in pods]
    equal(len(set(ids)), 3, f"jobs ({ids})")
    equal(ids.count(job["job_id"]), 2, "Pods of the gang's job")

    bed.ctl("restart", "slurmk8sd")
    pods += create(api, "many", [4])
    wait_running(pods)
    equal([job_of_pod(name)["job_id"] for name in pods[:4]], ids, "the jobs")
    equal(job_of(api, "many")["job_id"], job["job_id"], "the gang's job")


@case
def no_such_api():
    """where the API server has no PodGroups of scheduler-plugins the label means
    nothing: such Pods are alone, and nothing is wrong"""
    if pod_groups.served(PLUGINS):
        pod_groups.remove_crd()
        bed.ctl("restart", "slurmk8sd")
    pods = create(PLUGINS, "alone", range(2))
    wait_running(pods)
    check(job_of_pod(pods[0])["job_id"] != job_of_pod(pods[1])["job_id"],
          "two jobs")
    equal(bed.status()["problems"], {}, "problems")
    equal(bed.status()["featuresOff"], {}, "features off")


@case
def comes_later():
    """the API comes while the agent runs: new Pods are gangs, those that run go
    on as they are"""
    pods = create(PLUGINS, "before", range(2))
    wait_running(pods)
    ids = [job_of_pod(name)["job_id"] for name in pods]
    plugins()
    bed.create(member(PLUGINS, "new", "later"))
    bed.wait_words("new", "PodGroup later does not exist yet")
    bed.ctl("restart", "slurmk8sd")
    never("a Pod that ran before loses its job", lambda: [
        job_of_pod(name)["job_id"] for name in pods] != ids, 3)


def plugins_go():
    """The CRD goes, and the agent has noticed."""
    size = bed.log_size("slurmk8sd")
    pod_groups.remove_crd()
    wait_for("the agent to notice", lambda: (
        "an API of Pod groups is gone" in bed.log_since("slurmk8sd", size)), 60)


@case
def comes_and_counts():
    """an API counts for Pods that are made right after it, each time that it comes;
    Pods that wait when it goes, wait for it"""
    plugins()
    create(PLUGINS, "first", [0])  # the agent knows the API
    bed.wait_words("first-0", "PodGroup first does not exist yet")
    for i in range(TIMES):
        group = f"round-{i}"
        plugins_go()
        pod_groups.begin_crd()
        # Whoever makes objects so does not ask whether the API is there.
        wait_for("the PodGroup to be taken", lambda: pod_groups.try_create(
            PLUGINS, group, 2), every=0.01)
        pods = create(PLUGINS, group, range(2))
        wait_running(pods)
        job = wait_state(PLUGINS, group, "RUNNING")
        equal(job["tasks"]["number"], 2, f"tasks of {group}")
        equal({job_of_pod(name)["job_id"] for name in pods}, {job["job_id"]},
              f"jobs of {group}")
        for name in pods:
            bed.delete(name)
    bed.wait_words("first-0", "PodGroup first does not exist yet")
    pod_groups.create(PLUGINS, "first", 1)
    wait_running(["first-0"])


@case
def goes():
    """an API that goes: Pods that run go on, and new ones are alone"""
    plugins()
    pod_groups.create(PLUGINS, "runs", 2)
    pods = create(PLUGINS, "runs", range(2))
    wait_running(pods)
    job = wait_state(PLUGINS, "runs", "RUNNING")
    plugins_go()
    try:
        new = create(PLUGINS, "new", range(2))
        wait_running(new)
        equal(len({job_of_pod(name)["job_id"] for name in new}), 2, "jobs")
        equal({job_of_pod(name)["job_id"] for name in pods}, {job["job_id"]},
              "the gang's job")
    finally:
        pod_groups.install_crd()


@case
def plugins_wait():
    plugins()
    waits_for_its_group(PLUGINS)


plugins_wait.__doc__ = "scheduler-plugins: " + waits_for_its_group.__doc__


@case
def plugins_more():
    plugins()
    more_than_it_says(PLUGINS)


@case
def plugins_goes():
    plugins()
    group_goes_while_it_waits(PLUGINS)


@case
def plugins_made_anew():
    """scheduler-plugins: Pods of a PodGroup made anew under its name do not join
    the job of the former one"""
    plugins()
    pod_groups.create(PLUGINS, "again", 2)
    first = create(PLUGINS, "again", range(2))
    wait_running(first)
    job = wait_state(PLUGINS, "again", "RUNNING")
    bed.delete("again-1")  # its task is free
    pod_groups.delete(PLUGINS, "again")
    pod_groups.create(PLUGINS, "again", 2)
    second = create(PLUGINS, "again", (2, 3))
    bed.wait_words("again-2", "PodGroup again was recreated")
    equal(bound(second), [], "Pods bound")
    bed.delete("again-0")
    wait_running(second, 60)
    check(job_of(PLUGINS, "again")["job_id"] != job["job_id"], "another job")


@case
def plugins_refused():
    """scheduler-plugins: a minMember beyond MaxGangSize is refused on the Pod;
    lowered to what can be, the gang runs"""
    plugins()
    pod_groups.create(PLUGINS, "huge", 2147483647,
                      minResources={"cpu": "1000000"})
    pods = create(PLUGINS, "huge", range(2))
    bed.wait_words("huge-0", "MaxGangSize")
    bed.api("PATCH", pod_groups.path(PLUGINS, "huge"),
            {"spec": {"minMember": 2}}, admission.MERGE)
    wait_running(pods)


def wait_status(name, phase, **counts):
    """Until its status is that; what it is then."""
    def reached():
        status = pod_groups.status(name)
        return status.get("phase") == phase and status
    status = wait_for(f"PodGroup {name} to be {phase}", reached)
    for what, count in counts.items():
        wait_for(f"{count} {what} in PodGroup {name}",
                 lambda: pod_groups.status(name).get(what) == count)
    return status


def version(name):
    return bed.api("GET", pod_groups.path(PLUGINS, name))["metadata"][
        "resourceVersion"]


@case
def plugins_status():
    """scheduler-plugins without its controller: the agent keeps the status, from
    Pending to Finished, and its restart writes nothing"""
    plugins()
    fill()
    pod_groups.create(PLUGINS, "kept", 2)
    pods = create(PLUGINS, "kept", [0])
    check("scheduleStartTime" not in wait_status("kept", "Pending"), "a start")
    pods += create(PLUGINS, "kept", [1])
    started = wait_status("kept", "Scheduling", running=0)["scheduleStartTime"]
    make_room()
    wait_running(pods)
    wait_status("kept", "Running", running=2)
    equal(pod_groups.status_writers("kept"), {"slurmk8sd"}, "writers")

    before = version("kept")
    bed.ctl("restart", "slurmk8sd")
    never("a PodGroup is written that says all there is to say",
          lambda: version("kept") != before, CONTROLLER_TIME + 3)
    bed.end(*pods)
    wait_status("kept", "Finished", running=0, succeeded=2)
    equal(pod_groups.status("kept")["scheduleStartTime"], started, "start")
    for name in pods:
        bed.delete(name)
    wait_status("kept", "Finished", succeeded=2)


@case
def plugins_status_failed():
    """scheduler-plugins without its controller: a Pod that fails is counted, and
    its owner is named"""
    plugins()
    body = bed.pod("x", annotations={"sandbox/run": "1ms", "sandbox/exit": "7"})
    pod_groups.create(PLUGINS, "fails", 1)
    bed.api("POST", JOBS, {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "owner", "namespace": bed.NAMESPACE},
        "spec": {"backoffLimit": 0, "template": {"metadata": {
            "labels": {gangs.POD_GROUP: "fails"},
            "annotations": body["metadata"]["annotations"]},
            "spec": body["spec"]}}})
    equal(wait_status("fails", "Failed", failed=1)["occupiedBy"], "test/owner",
          "owner")


@case
def plugins_status_foreign():
    """scheduler-plugins with its controller: the agent leaves the status to it,
    also when it comes later"""
    plugins()
    pod_groups.create(PLUGINS, "theirs", 1)
    pod_groups.set_status("theirs", phase="Pending")
    pods = create(PLUGINS, "theirs", [0])
    pod_groups.create(PLUGINS, "later", 1)
    pods += create(PLUGINS, "later", [0])
    wait_running(pods)
    wait_status("later", "Running", running=1)
    pod_groups.set_status("later", phase="Unknown", running=7)

    before = [version(name) for name in ("theirs", "later")]
    bed.end("later-0")
    bed.wait_phase("later-0", "Succeeded")
    never("a status is written that is its controller's", lambda: [
        version(name) for name in ("theirs", "later")] != before,
        CONTROLLER_TIME + 3)
    equal(pod_groups.status_writers("theirs"), {"controller"}, "writers")


@case
def workload_waits():
    waits_for_its_group(WORKLOAD)


workload_waits.__doc__ = "Kubernetes' own: " + waits_for_its_group.__doc__


@case
def workload_more():
    more_than_it_says(WORKLOAD)


@case
def workload_goes():
    group_goes_while_it_waits(WORKLOAD)


for _function, _same in ((plugins_more, more_than_it_says),
                         (plugins_goes, group_goes_while_it_waits)):
    _function.__doc__ = "scheduler-plugins: " + _same.__doc__
for _function, _same in ((workload_more, more_than_it_says),
                         (workload_goes, group_goes_while_it_waits)):
    _function.__doc__ = "Kubernetes' own: " + _same.__doc__


@case
def workload_condition():
    """the PodGroup's condition: why it waits, then True, and True for good"""
    fill()
    pod_groups.create(WORKLOAD, "said", 2)
    create(WORKLOAD, "said", [0])
    wait_for("the words of the Pods", lambda: condition("said") == (
        "False", "Unschedulable", "1 of 2 Pods of gang said exist."))
    create(WORKLOAD, "said", [1])
    wait_for("Slurm's words", lambda: (condition("said") or "")[0] == "False"
             and "is waiting" in condition("said")[2], 60)
    make_room()
    wait_for("True", lambda: condition("said") == ("True", "Scheduled", ""), 60)

    fill_rest = bed.pod("rest", cpu="16")
    for i in range(4):
        fill_rest["metadata"]["name"] = f"rest-{i}"
        bed.create(fill_rest)
    create(WORKLOAD, "said", [2], cpu="16")
    bed.wait_words("said-2", "is waiting", seconds=60)
    equal(condition("said"), ("True", "Scheduled", ""), "the condition")


@case
def workload_basic():
    """the policy basic: each Pod is a job of its own"""
    pod_groups.create(WORKLOAD, "basic", None)
    pods = create(WORKLOAD, "basic", range(2))
    wait_running(pods)
    check(job_of_pod(pods[0])["job_id"] != job_of_pod(pods[1])["job_id"],
          "two jobs")
    equal(job_of(WORKLOAD, "basic"), None, "a gang's job")


@case
def workload_of_a_job():
    """an Indexed Job is a gang by the PodGroup that Kubernetes makes for it; it
    completes, and so does its Slurm job"""
    body = bed.pod("x", cpu="2", annotations={"sandbox/run": "2s"})
    # 1.36 makes a gang of each, 1.37 only of one that says so.
    gang = {} if WORKLOAD.endswith("v1alpha2") else {
        "scheduling": {"schedulingPolicy": {"gang": {"minCount": 3}}}}
    bed.api("POST", JOBS, {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "steps", "namespace": bed.NAMESPACE},
        "spec": {**gang, "parallelism": 3, "completions": 3, "backoffLimit": 0,
                 "completionMode": "Indexed",
                 "template": {"metadata": {
                     "annotations": body["metadata"]["annotations"]},
                     "spec": body["spec"]}}})
    pods = wait_for("its Pods", lambda: (
        len(found := [p for p in bed.pods() if p["metadata"]["name"].startswith(
            "steps-")]) == 3 and found))
    group = pods[0]["spec"]["schedulingGroup"]["podGroupName"]
    job = wait_for("its job", lambda: job_of(WORKLOAD, group))
    equal(job["tasks"]["number"], 3, "tasks")
    wait_for("True", lambda: condition(group) == ("True", "Scheduled", ""))
    for pod in bed.pods():
        index = pod["metadata"]["labels"][
            "batch.kubernetes.io/job-completion-index"]
        equal(pod["metadata"]["annotations"][gangs.RANK], index, "rank")
    wait_state(WORKLOAD, group, "COMPLETED")
    wait_for("the Job to complete", lambda: bed.api("GET", f"{JOBS}/steps")[
        "status"].get("succeeded") == 3)


@case
def our_word_goes_first():
    """an Indexed Job with our annotation is our gang, whatever PodGroup it has"""
    body = bed.pod("x", annotations={gangs.SIZE: "2"})
    bed.api("POST", JOBS, {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "ours", "namespace": bed.NAMESPACE},
        "spec": {"parallelism": 2, "completions": 2,
                 "completionMode": "Indexed",
                 "template": {"metadata": {
                     "annotations": body["metadata"]["annotations"]},
                     "spec": body["spec"]}}})
    wait_for("2 Pods to run", lambda: len(
        [p for p in bed.pods() if p["status"].get("phase") == "Running"]) == 2)
    uid = gangs.uid_of(bed.pods()[0])
    check(uid.startswith("test/job/"), uid)
    equal(gangs.job_of(uid)["tasks"]["number"], 2, "tasks")


@case
def foreign_group():
    """a PodGroup of another namespace is nobody's here, and its owner's Pods do
    not count"""
    admission.namespace(OTHER)
    try:
        pod_groups.create(WORKLOAD, "far", 2, namespace=OTHER)
        body = member(WORKLOAD, "far-0", "far", namespace=OTHER)
        bed.create(body)
        create(WORKLOAD, "far", [0])
        bed.wait_words("far-0", "PodGroup far does not exist yet")
        pod_groups.create(WORKLOAD, "far", 2)
        bed.wait_words("far-0", "1 of 2 Pods of gang far exist")
    finally:
        admission.forget_namespace(OTHER)
        wait_for("the namespace to go", lambda: not bed.pods(OTHER), 60)


@case
def ends_together():
    """scancel of a PodGroup's job ends its Pods, and theirs alone"""
    pod_groups.create(WORKLOAD, "end", 2)
    pods = create(WORKLOAD, "end", range(3))
    wait_running(pods)
    job = wait_state(WORKLOAD, "end", "RUNNING")
    mine = [name for name in pods
            if job_of_pod(name)["job_id"] == job["job_id"]]
    equal(len(mine), 2, "Pods of the gang's job")
    bed.run("scancel", str(job["job_id"]))
    for name in mine:
        bed.wait_phase(name, "Failed")
    late = (set(pods) - set(mine)).pop()
    equal(bed.get(late)["status"]["phase"], "Running", f"{late}, of its own job")


def jobset_controller():
    """Runs from its first use to the end of the script; the agent notices its API
    without a restart."""
    global _controller
    if _controller:
        return
    made = Controller("jobset")
    made.start()
    _controller = made


def jobsets_served():
    try:
        bed.api("GET", JOBSETS)
        return True
    except (bed.ApiError, ValueError):
        return False


def jobset(name, annotations, depends=False):
    """A driver and 2 × 2 workers."""
    def job(kind, replicas, parallelism):
        body = bed.pod("x", annotations=annotations)
        return {"name": kind, "replicas": replicas, "template": {"spec": {
            "parallelism": parallelism, "completions": parallelism,
            "backoffLimit": 0, "template": {
                "metadata": {"annotations": body["metadata"]["annotations"]},
                "spec": body["spec"]}}}}
    jobs = [job("driver", 1, 1), job("workers", 2, 2)]
    if depends:
        jobs[1]["dependsOn"] = [{"name": "driver", "status": "Ready"}]
    bed.api("POST", JOBSETS, {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": name, "namespace": bed.NAMESPACE},
        "spec": {"replicatedJobs": jobs}})


def jobs_of_jobset(count):
    """The ids of their Slurm jobs, when so many Pods run."""
    wait_for(f"{count} Pods to run", lambda: len(
        [p for p in bed.pods() if p["status"].get("phase") == "Running"])
        == count, 60)
    return {p["metadata"]["labels"][bed.JOB_LABEL] for p in bed.pods()}


@case
def jobset_size():
    """a JobSet without any annotation is one job of all its Pods, which ends with
    them"""
    jobset_controller()
    jobset("js", {"sandbox/run": "3s"})
    ids = jobs_of_jobset(5)
    equal(len(ids), 1, f"jobs ({ids})")
    uid = gangs.uid_of(bed.pods()[0])
    equal(gangs.job_of(uid)["tasks"]["number"], 5, "tasks")
    wait_for("its end", lambda: "COMPLETED" in gangs.job_of(uid)["job_state"])


@case
def jobset_later():
    """dependsOn: the driver starts in a job with room for all, the workers join"""
    jobset_controller()
    jobset("order", {}, depends=True)
    ids = jobs_of_jobset(5)
    equal(len(ids), 1, f"jobs ({ids})")
    equal(bed.jobs()[int(ids.pop())]["tasks"]["number"], 5, "tasks")


@case
def jobset_alone():
    """gang-size 0: each Pod of a JobSet is a job of its own"""
    jobset_controller()
    jobset("free", {gangs.SIZE: "0"})
    equal(len(jobs_of_jobset(5)), 5, "jobs")


def remove(path):
    """What a controller makes again, or removes itself, may be gone by then."""
    for item in bed.api("GET", path)["items"]:
        try:
            bed.api("DELETE", f"{path}/{item['metadata']['name']}",
                    {"propagationPolicy": "Background"})
        except bed.ApiError as error:
            if error.status != 404:
                raise


def clean():
    if jobsets_served():
        remove(JOBSETS)
    remove(JOBS)
    wait_for("all Jobs to go", lambda: not bed.api("GET", JOBS)["items"])
    bed.clean()
    pod_groups.remove_all()


try:
    run(before_each=clean, after_each=bed.nothing_left,
        after_failure=bed.last_words)
finally:
    if _controller:
        _controller.stop()
    if _installed:
        pod_groups.remove_crd()
