# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch jobs that run as Pods: how they are submitted, and what became of them."""
import base64

import bed
import slurmctld
from tap import check, equal, wait_for

NS = "slurm-jobs"
IMAGE = "--k8s-image=busybox:stable"
SCRIPT = "#!/bin/sh\nexit 0\n"
SCRIPTS = f"{slurmctld.STATE}/k8s_sbatch"
SRUN = "/usr/libexec/slurm-k8s-bridge/slurmk8s-srun"


def sbatch(*options, script=SCRIPT, user="alice", partition="kwok",
           directory="/tmp", **more):
    """What sbatch says."""
    return bed.run("sbatch", "-p", partition, "-D", directory, *options,
                   user=user, stdin=script, **more)


def submit(*options, **more):
    """The JobId of a job with an image that was taken."""
    said = sbatch(IMAGE, *options, **more)
    check("Submitted" in said, said)
    return int(said.split()[-1])


def files():
    """Of scripts and environments, which slurmctld keeps until a job has ended."""
    return set(bed.inside("sh", "-c", f"ls {SCRIPTS} 2>/dev/null",
                          check=False).split())


def drop_files():
    """Of jobs that slurmctld refused after job_submit/k8s had written them."""
    bed.inside("sh", "-c", f"rm -f {SCRIPTS}/*")


def job(number):
    return bed.jobs()[number]


def wait_state(number, state, seconds=60):
    """The job, once it has the state among others."""
    return wait_for(f"job {number} to be {state}",
                    lambda: state in job(number)["job_state"] and job(number),
                    seconds)


def wait_running(number):
    """The job's Pod, on its node."""
    wait_for(f"job {number} to run",
             lambda: job(number)["job_state"] == ["RUNNING"], 60)
    return pod_of(number)


def srun_sum():
    """Of the program for Pods; empty where this build has none, for the system has
    no static libraries."""
    said = bed.inside("sh", "-c", f"test ! -e {SRUN} || sha256sum {SRUN}")
    return said.split()[0] if said.strip() else ""


def srun_maps():
    """ConfigMaps with that program, or with one of an earlier build."""
    return [item for item in bed.api(
        "GET", f"/api/v1/namespaces/{NS}/configmaps")["items"]
        if item["metadata"]["name"].startswith("slurmk8s-srun-")]


def forget_srun_maps():
    for item in srun_maps():
        bed.api("DELETE", f"/api/v1/namespaces/{NS}/configmaps/"
                f"{item['metadata']['name']}")


# ---- Their Pods


def _mark(pod):
    return pod["metadata"].get("annotations", {}).get("slurmk8s/sbatch", "")


def rank_of(pod):
    """Which of its job's Pods it is: 0 runs the script."""
    said = pod["metadata"]["annotations"].get("slurmk8s/sbatch-node", "0")
    return int(said.split()[0])


def _by_rank(pods):
    """In the order of their ranks, of which none has two."""
    ranks = [rank_of(pod) for pod in pods]
    equal(len(set(ranks)), len(ranks), f"different ones of the ranks {ranks}")
    return sorted(pods, key=rank_of)


def pods_of(number, namespace=NS):
    return _by_rank([pod for pod in bed.pods(namespace)
                     if _mark(pod).startswith(f"{number} ")])


def pod_of(number, namespace=NS):
    return next(iter(pods_of(number, namespace)), None)


def pods_of_task(array, index):
    return _by_rank([pod for pod in bed.pods(NS)
                     if _mark(pod).endswith(f" {array}_{index}")])


def uids(pods):
    return [pod["metadata"]["uid"] for pod in pods]


def placed(job, find, count):
    """So many Pods, each on its own node of the job's, once all of them run;
    find(): those of the job."""
    pods = find()
    equal(len(pods), count, "Pods")
    equal([pod["spec"]["nodeName"] for pod in pods], slurmctld.nodes_of(job),
          "nodes")
    wait_for("all of them to run", lambda: all(
        pod["status"]["phase"] == "Running" for pod in find()))
    return pods


def wait_adopted(number, pods, lost):
    """The JobIds by which the Pods of a job, which are still the same, go on once
    none has one of those that a crash of slurmctld took back."""
    def adopters():
        ids = [int(pod["metadata"]["labels"][bed.JOB_LABEL])
               for pod in pods_of(number)]
        return not set(ids) & set(lost) and ids
    others = wait_for("the Pods to be adopted", adopters, 60)
    equal(uids(pods_of(number)), uids(pods), "Pods")
    return others


def end(pod, **how):
    """On a kwok node: its containers end by themselves now."""
    bed.play(pod["metadata"]["name"], pod["metadata"]["namespace"], run="1ms",
             **how)


def logs(number, **options):
    """Of its script."""
    return bed.run("kubectl", "logs", "-n", NS,
                   pod_of(number)["metadata"]["name"], **options)


def secret(pod):
    """What slurmk8sd gave it; None when it is gone."""
    meta = pod["metadata"]
    try:
        return bed.api("GET", f"/api/v1/namespaces/{meta['namespace']}/secrets/"
                       f"{meta['name']}")
    except bed.ApiError as error:
        if error.status != 404:
            raise
        return None


def secret_texts(pod):
    """What is in it, by name."""
    return {name: base64.b64decode(text).decode()
            for name, text in secret(pod)["data"].items()}


def variables_of(pod):
    """The words in it that set the script's variables and start it."""
    return secret_texts(pod)["run"]


def clear(*users, namespaces=(NS,)):
    """No job of theirs and no Pod is left."""
    for user in users:
        bed.run("scancel", f"--user={user}")
    for namespace in namespaces:
        for pod in bed.pods(namespace):
            bed.delete(pod["metadata"]["name"], namespace, grace=1)
    bed.clean()
    wait_for("all Pods to be gone",
             lambda: not any(bed.pods(namespace) for namespace in namespaces))
