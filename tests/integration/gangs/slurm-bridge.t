#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What users of Slinky's slurm-bridge have is taken as it is: workloads of the shape
of its examples, with its scheduler's name and its annotations where its users
write them, and what is left in a cluster when it goes."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import gangs
import pod_groups
from controllers import Controller
from tap import case, check, equal, run, wait_for

NEW, OLD = "slurmjob.slinky.slurm.net/", "slinky.slurm.net/"
SCHEDULER = "slurm-bridge-scheduler"
FINALIZER = "scheduler.slinky.slurm.net/finalizer"
TAINT = "slinky.slurm.net/managed-node"
JOBS = "/apis/batch/v1/namespaces/test/jobs"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/test/jobsets"
LWS = "/apis/leaderworkerset.x-k8s.io/v1/namespaces/test/leaderworkersets"
BINDING = ("/apis/admissionregistration.k8s.io/v1/"
           "validatingadmissionpolicybindings/slurm-k8s-bridge-owned-metadata")
PAGE = bed.TOP / "doc/admin/migrate-from-slurm-bridge.md"
_running = {}
_installed = False


def controller(name):
    if name not in _running:
        _running[name] = Controller(name)
        _running[name].start()


def template(run="200ms", containers=1, **spec):
    """The Pods of a workload: nothing of them is for Slurm but the scheduler's
    name, and where the sandbox's kwok nodes are."""
    body = bed.pod("x", scheduler=SCHEDULER, memory="100Mi",
                   annotations={"sandbox/run": run} if run else {}, **spec)
    main = body["spec"]["containers"][0]
    main["resources"]["limits"] = dict(main["resources"]["requests"])
    body["spec"]["containers"] = [{**main, "name": f"worker{i}"}
                                  for i in range(1, containers + 1)]
    return {"metadata": {"annotations": body["metadata"]["annotations"]},
            "spec": body["spec"]}


def named(name):
    """Of this run: slurmctld remembers the jobs of the last one."""
    return f"{name}-{gangs.BEGAN}"


def jobs_named(name):
    return [job for job in bed.jobs().values() if job["name"] == name]


def wait_jobs(name, count, state, seconds=60):
    """So many jobs of that name, all of them in that state."""
    def there():
        jobs = jobs_named(name)
        return jobs if len(jobs) == count and all(
            state in job["job_state"] and "COMPLETING" not in job["job_state"]
            for job in jobs) else None
    return wait_for(f"{count} jobs {name} to be {state}", there, seconds)


def meta(name, annotations=None):
    return {"name": name, "namespace": bed.NAMESPACE,
            "annotations": annotations or {}}


@case
def pod():
    """a Pod with annotations: the job has its name and its time limit, and ends as
    the Pod"""
    body = template()
    body["metadata"].update(name="pod-single", namespace=bed.NAMESPACE)
    body["metadata"]["annotations"].update({
        NEW + "job-name": named("sb-pod"), NEW + "timelimit": "1",
        NEW + "exclusive": "false"})
    bed.create(body)
    job, = wait_jobs(named("sb-pod"), 1, "COMPLETED")
    equal(job["time_limit"]["number"], 1, "time limit")
    bed.wait_phase("pod-single", "Succeeded")


@case
def job():
    """a Job whose annotations are on the Job: each of its Pods is a job with them"""
    bed.api("POST", JOBS, {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": meta("job-sleep-large", {NEW + "job-name": named("sb-job")}),
        "spec": {"completions": 3, "parallelism": 2, "template": template()}})
    for one in wait_jobs(named("sb-job"), 3, "COMPLETED"):
        equal(one["tasks"]["number"], 1, "tasks")
    wait_for("the Job to complete", lambda: bed.api(
        "GET", f"{JOBS}/job-sleep-large")["status"].get("succeeded") == 3)


@case
def jobset():
    """a JobSet with its older annotations: all of its Pods are one job"""
    controller("jobset")
    bed.api("POST", JOBSETS, {
        "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": meta("jobset-large", {OLD + "job-name": named("sb-jobset")}),
        "spec": {"replicatedJobs": [{"name": "workers", "replicas": 4, "template": {
            "spec": {"parallelism": 4, "completions": 4, "backoffLimit": 0,
                     "template": template(containers=2)}}}]}})
    job, = wait_jobs(named("sb-jobset"), 1, "COMPLETED")
    equal(job["tasks"]["number"], 16, "tasks")


@case
def lws():
    """a LeaderWorkerSet: each group is one job"""
    controller("lws")
    role = template(run=None, restartPolicy="Always")
    role["spec"]["containers"][0].pop("resources")
    leader = {**role, "metadata": {**role["metadata"],
                                   "labels": {"role": "leader"}}}
    bed.api("POST", LWS, {
        "apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
        "metadata": meta("vllm"), "spec": {"replicas": 2, "leaderWorkerTemplate": {
            "size": 3, "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": leader, "workerTemplate": role}}})
    pods = wait_for("6 Pods to run", lambda: len(found := [
        p for p in bed.pods() if p["status"].get("phase") == "Running"]) == 6
        and found, 60)
    groups = {gangs.uid_of(pod) for pod in pods}
    equal(len(groups), 2, f"groups ({groups})")
    for uid in groups:
        equal(gangs.job_of(uid)["tasks"]["number"], 3, "tasks")


@case
def pod_group():
    """a PodGroup of scheduler-plugins and its Pods are one job"""
    global _installed
    pod_groups.install_crd()
    _installed = True
    pod_groups.create(pod_groups.PLUGINS, named("sb-group"), 2)
    for i in (1, 2):
        body = template()
        body["metadata"].update(
            name=f"sleep{i}", namespace=bed.NAMESPACE,
            labels={"app": named("sb-group"), gangs.POD_GROUP: named("sb-group")})
        bed.create(body)
    job, = wait_jobs(named("sb-group"), 1, "COMPLETED")
    equal(job["tasks"]["number"], 2, "tasks")


@case
def workload():
    """a PodGroup of Kubernetes that a Job's template names is one job"""
    pod_groups.create(pod_groups.WORKLOAD, "sb-workers", 2)
    bed.api("POST", JOBS, {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": meta("training-job", {NEW + "job-name": named("sb-workload")}),
        "spec": {"completions": 2, "parallelism": 2,
                 "completionMode": "NonIndexed", "template": template(
                     schedulingGroup={"podGroupName": "sb-workers"})}})
    job, = wait_jobs(named("sb-workload"), 1, "COMPLETED")
    equal(job["tasks"]["number"], 2, "tasks")
    wait_for("the PodGroup to be scheduled", lambda: (
        pod_groups.condition("sb-workers") or "")[0] == "True")


def from_the_page(words):
    """Runs the commands of that page among which these words are."""
    # Every second of these is a block, with its language in the first line.
    blocks = re.split("^```", PAGE.read_text(), flags=re.M)[1::2]
    block, = [b.partition("\n")[2] for b in blocks if words in b]
    return subprocess.run(["bash", "-c", block], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def left_behind(name):
    """A Pod as slurm-bridge leaves it that has waited."""
    body = template(run=None,
                    nodeSelector={"kubernetes.io/hostname": "kn1"},
                    tolerations=[{"key": TAINT, "operator": "Equal",
                                  "value": SCHEDULER, "effect": "NoExecute"}])
    body["metadata"].update(
        name=name, namespace=bed.NAMESPACE, finalizers=[FINALIZER, "test/other"],
        labels={bed.JOB_LABEL: "4242", "app": "kept"})
    body["metadata"]["annotations"][bed.NODE_ANNOTATION] = "kn9"
    return body


def taints(node):
    return [(taint["key"], taint["effect"]) for taint in
            bed.api("GET", f"/api/v1/nodes/{node}")["spec"].get("taints", [])]


@case
def move():
    """what slurm-bridge leaves, after the commands of the page about the move: Pods
    that wait become jobs, Nodes take Pods, and nothing keeps them from going"""
    bed.ctl("stop", "slurmk8sd")
    bed.api("DELETE", BINDING)
    try:
        def made():
            try:
                return bed.create(left_behind("waits"))
            except bed.ApiError as error:
                check(error.status == 403, error)  # the policy is still known
        wait_for("a Pod as slurm-bridge leaves it", made)
        bed.run("kubectl", "taint", "node", "kn1",
                f"{TAINT}={SCHEDULER}:NoExecute")

        done = from_the_page("deleteFromPrimitiveList")
        equal(done.returncode, 0, done.stdout)
        from_the_page("NoExecute-")  # Nodes without it make it fail
        pod = bed.get("waits")["metadata"]
        equal(pod.get("finalizers"), ["test/other"], "finalizers")
        equal(pod["labels"], {"app": "kept"}, "labels")
        check(bed.NODE_ANNOTATION not in pod["annotations"], pod)
        equal(taints("kn1"), [(TAINT, "NoSchedule")], "taints")
    finally:
        admission.apply()
        bed.run("kubectl", "taint", "node", "kn1", f"{TAINT}:NoExecute-",
                check=False)
        bed.ctl("start", "slurmk8sd")
    bed.create(bed.pod("new", nodeSelector={"kubernetes.io/hostname": "kn1"}))
    for name in ("waits", "new"):
        bed.wait_phase(name, "Running", 60)
    labels = bed.get("waits")["metadata"]["labels"]
    equal(labels[bed.JOB_LABEL], str(bed.job_of("waits")["job_id"]), "JobId")
    forget_finalizers()


def forget_finalizers():
    if bed.get("waits"):
        bed.api("PATCH", f"/api/v1/namespaces/{bed.NAMESPACE}/pods/waits",
                {"metadata": {"finalizers": None}}, admission.MERGE)


def clean():
    forget_finalizers()
    for path in (JOBSETS, LWS, JOBS):
        try:
            for item in bed.api("GET", path)["items"]:
                bed.api("DELETE", f"{path}/{item['metadata']['name']}",
                        {"propagationPolicy": "Background"})
        except (bed.ApiError, ValueError):
            pass  # there is no such kind, or its owner is gone
    bed.clean()
    pod_groups.remove_all()


try:
    run(before_each=clean, after_each=bed.nothing_left,
        after_failure=bed.last_words)
finally:
    forget_finalizers()
    for made in _running.values():
        made.stop()
    if _installed:
        pod_groups.remove_crd()
