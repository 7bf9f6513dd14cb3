#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One Pod from kubectl apply to sacct, on the real kubelet and on kwok nodes."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import real_nodes
from tap import case, check, equal, run, wait_for


@case
def runs_in_a_container():
    """a Pod runs in a container on the real kubelet and its job is COMPLETED 0:0"""
    bed.create(bed.pod("hello", real=True, cpu="100m",
                       command="echo hello from Slurm"))

    pod = bed.wait_phase("hello", "Succeeded")

    job = bed.wait_ended("hello", "COMPLETED", "0:0")
    check(pod["spec"]["nodeName"] in (real_nodes.FIRST, real_nodes.SECOND),
          pod["spec"]["nodeName"])
    equal(job["nodes"], pod["spec"]["nodeName"], "NodeList")
    equal(bed.run("kubectl", "logs", "-n", bed.NAMESPACE, "hello"),
          "hello from Slurm\n", "kubectl logs")


@case
def containers_on_two_nodes():
    """Pods on two real kubelets reach each other by Pod IP"""
    with real_nodes.both():
        def on(node, name, command):
            bed.create(bed.pod(
                name, real=True, cpu="100m", command=command,
                nodeSelector={"kubernetes.io/hostname": node}))

        on(real_nodes.SECOND, "serves",
           "while true; do echo I am $(hostname) | nc -l -p 8000; done")
        server = bed.wait_phase("serves", "Running")
        address = server["status"]["podIP"]
        on(real_nodes.FIRST, "asks",
           f"until nc -w 5 {address} 8000 < /dev/null; do sleep 0.2; done")
        bed.wait_ended("asks", "COMPLETED", "0:0", 60)

        for name, node in (("serves", real_nodes.SECOND),
                           ("asks", real_nodes.FIRST)):
            equal(bed.get(name)["spec"]["nodeName"], node, f"node of {name}")
        equal(bed.run("kubectl", "logs", "-n", bed.NAMESPACE, "asks"),
              "I am serves\n", "what the one heard of the other")


@case
def exit_code_becomes_the_jobs():
    """exit 7 in a real container makes the job FAILED 7:0, in sacct too"""
    bed.create(bed.pod("seven", real=True, cpu="100m", command="exit 7"))

    bed.wait_phase("seven", "Failed")

    job = bed.wait_ended("seven", "FAILED", "7:0")
    wait_for("sacct to have it", lambda: "FAILED|7:0" in bed.run(
        "sacct", "-nPX", "-j", str(job["job_id"]), "-o", "State,ExitCode"))


@case
def binding_stamps_the_pod():
    """the binding writes JobId, SLUID, node and generation in one write, and the
    Event names the job"""
    bed.create(bed.pod("stamped"))

    pod = bed.wait_phase("stamped", "Running")

    job = bed.job_of("stamped")
    meta = pod["metadata"]
    equal(meta["labels"][bed.JOB_LABEL], str(job["job_id"]), "job label")
    equal(meta["annotations"][bed.NODE_ANNOTATION], job["nodes"], "node")
    check(meta["annotations"][bed.SLUID_ANNOTATION].startswith("s"), "SLUID")
    equal(meta["annotations"][bed.GENERATION_ANNOTATION], "0", "generation")
    equal(bed.condition("stamped")["status"], "True", "PodScheduled")
    event = wait_for("the Event", lambda: [
        e for e in bed.events_of(meta["uid"]) if e["reason"] == "Scheduled"])[0]
    check(f"Slurm job {job['job_id']}" in event["note"], event["note"])


@case
def job_looks_ordinary():
    """the job in squeue has the Pod's name, its user, and exactly what it asks"""
    bed.create(bed.pod("asks", cpu="1500m", memory="1Gi"))

    job = bed.wait_job("asks", "RUNNING")

    equal(job["name"], "asks", "JobName")
    equal(job["user_name"], "alice", "user")
    equal(job["cpus"]["number"], 2, "CPUs: whole ones, rounded up")
    equal(job["memory_per_node"]["number"], 1024, "memory, MiB")
    equal(job["flags"].count("EXTERNAL_JOB"), 1, "external")


@case
def running_means_bound():
    """a job is RUNNING only when its Pod is on its node"""
    for i in range(8):
        bed.create(bed.pod(f"many-{i}"))

    def all_running():
        running = [j for j in bed.jobs().values()
                   if "RUNNING" in j["job_state"]
                   and "CONFIGURING" not in j["job_state"]]
        for job in running:
            name = job["name"]
            check(bed.get(name)["spec"].get("nodeName"), f"{name} is not bound")
        return len(running) == 8

    wait_for("all to run", all_running)


@case
def without_requests():
    """a Pod that requests nothing gets one CPU and the least memory"""
    bed.create(bed.pod("nothing", cpu=None, memory=None))

    job = bed.wait_job("nothing", "RUNNING")

    equal(job["cpus"]["number"], 1, "CPUs")
    equal(job["memory_per_node"]["number"], 1, "memory, MiB")


@case
def init_and_sidecar_requests():
    """init containers and sidecars count as the API defines it"""
    body = bed.pod("sidecar", cpu="1", memory="64Mi")
    body["spec"]["initContainers"] = [
        {"name": "side", "image": "busybox:stable", "restartPolicy": "Always",
         "resources": {"requests": {"cpu": "2", "memory": "64Mi"}}},
        {"name": "init", "image": "busybox:stable",
         "resources": {"requests": {"cpu": "5", "memory": "1Mi"}}}]
    bed.create(body)

    job = bed.wait_job("sidecar", "RUNNING")

    equal(job["cpus"]["number"], 7, "CPUs: the init container beside the sidecar")
    equal(job["memory_per_node"]["number"], 128, "memory, MiB")


@case
def alias_name():
    """Pods of the other scheduler name in k8s.conf are taken too"""
    bed.create(bed.pod("alias", scheduler="slurm-bridge-scheduler",
                       annotations={"sandbox/run": "200ms"}))

    bed.wait_ended("alias", "COMPLETED", "0:0")


@case
def strangers_are_left_alone():
    """a Pod of another scheduler gets no job, no condition and no Event"""
    bed.create(bed.pod("stranger", scheduler="somebody-else"))
    bed.create(bed.pod("ours", annotations={"sandbox/run": "200ms"}))

    bed.wait_ended("ours", "COMPLETED")

    equal(bed.job_of("stranger"), None, "job")
    equal(bed.condition("stranger"), {}, "condition")


@case
def time_limit():
    """the time limit comes from the annotation, else from activeDeadlineSeconds"""
    bed.create(bed.pod("annotated", annotations={bed.TIMELIMIT: "1-02:00:00"}))
    bed.create(bed.pod("deadline", activeDeadlineSeconds=61))

    equal(bed.wait_job("annotated", "RUNNING")["time_limit"]["number"], 26 * 60,
          "minutes")
    equal(bed.wait_job("deadline", "RUNNING")["time_limit"]["number"], 2,
          "minutes, rounded up")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
