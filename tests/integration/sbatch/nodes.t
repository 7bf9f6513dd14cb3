#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image --nodes: a job of several nodes has a Pod on each of them;
one runs the script, and its end is the job's."""
import base64
import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import bed
import faults
import slurmctld
from batch import (NS, clear, end, files, forget_srun_maps, job, pods_of,
                   secret, secret_texts, srun_maps, srun_sum, submit, uids,
                   wait_state)
from tap import case, check, equal, run, wait_for

HOSTS = "slurmk8s/sbatch-hosts"
ROLE = (f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NS}/roles/"
        "slurmk8sd-sbatch")


def sbatch(*options, **more):
    """What sbatch says of a job with an image."""
    return batch.sbatch(batch.IMAGE, *options, **more)


def nodes_of(number):
    return slurmctld.nodes_of(job(number))


def wait_clean(number):
    wait_for(f"job {number} to leave COMPLETING",
             lambda: "COMPLETING" not in job(number)["job_state"])


def wait_running(number, count):
    """The job's Pods, each on its own node."""
    wait_for(f"job {number} to run",
             lambda: job(number)["job_state"] == ["RUNNING"], 60)
    return batch.placed(job(number), lambda: pods_of(number), count)


def command_of(pod):
    return pod["spec"]["containers"][0]["command"]


def wait_for_hosts(number):
    """The script's Pod says where all are."""
    return wait_for("the script's Pod to be told", lambda: pods_of(number)[0]
                    ["metadata"]["annotations"].get(HOSTS))


def wait_over(number, state, first, left=1):
    """All of the job is over, and of its Pods only the first is left, and those
    that had ended by themselves."""
    wait_state(number, state)
    wait_clean(number)
    wait_for("the workers' Pods to go", lambda: len(pods_of(number)) == left)
    for pod in pods_of(number):
        check(pod["status"]["phase"] in ("Succeeded", "Failed"), "it lives")
    equal(pods_of(number)[0]["metadata"]["uid"], first["metadata"]["uid"], "Pod")
    wait_for("the Secret to be gone", lambda: not secret(first))
    wait_for("the script's file to be gone", lambda: not files())


def before_each():
    clear("alice")
    wait_for("the scripts' files to be gone", lambda: not files(), 60)


@case
def a_pod_on_each_node():
    """three nodes are three Pods, with what the job has on each; the script has
    the variables of Slurm, and its end is the end of all"""
    number = submit("-N3", "-n5", "-c2", "--mem=100")

    pods = wait_running(number, 3)

    variables = secret_texts(pods[0])["run"]
    cpus = []
    for pod in pods:
        container = pod["spec"]["containers"][0]
        equal(container["image"], "busybox:stable", "image")
        equal(container["resources"]["limits"]["memory"], "100Mi", "memory")
        cpus.append(int(container["resources"]["limits"]["cpu"]))
        equal(pod["metadata"]["labels"][bed.JOB_LABEL], str(number), "JobId")
        equal(pod["spec"]["hostname"], pod["spec"]["nodeName"], "host name")
        equal(pod["spec"]["securityContext"]["runAsUser"],
              int(bed.inside("id", "-u", "alice")), "user")
    equal(cpus, [6, 2, 2], "CPUs, as slurmctld gives them on idle nodes")
    for pod in pods[1:]:
        equal([volume["name"] for volume in pod["spec"].get("volumes", [])],
              ["slurmk8s-script", "slurmk8s-srun"]
              if srun_sum() else [], "a worker's volumes")
        equal(pod["metadata"]["ownerReferences"][0]["uid"],
              pods[0]["metadata"]["uid"], "owner")
    shown = bed.run("scontrol", "show", "job", "-d", str(number))
    for entry in ("SLURM_JOB_NUM_NODES=3", "SLURM_NNODES=3", "SLURM_NTASKS=5",
                  "SLURM_NPROCS=5", "SLURM_TASKS_PER_NODE=3,1(x2)",
                  "SLURM_JOB_CPUS_PER_NODE=6,2(x2)",
                  "SLURM_CPUS_PER_TASK=2", "SLURM_NODEID=0", "SLURM_PROCID=0",
                  f"SLURM_JOB_NODELIST={job(number)['nodes']}",
                  f"SLURMD_NODENAME={pods[0]['spec']['nodeName']}",
                  f"SLURM_CPUS_ON_NODE={cpus[0]}"):
        check(f"'{entry}'" in variables, f"{entry}: {variables} {shown}")
    end(pods[0], exit="7")
    wait_over(number, "FAILED", pods[0])
    equal(bed.exit_of(job(number)), "7:0", "exit code")
    wait_for("sacct to have it", lambda: "FAILED|7:0|3" in bed.run(
        "sacct", "-nPX", "-j", str(number), "-o", "State,ExitCode,NNodes"))


@case
def what_srun_needs():
    """the program in a ConfigMap that is made once, and anew where somebody has
    deleted it, a key in the Secret alone, and where all Pods are on that of the
    script alone"""
    number = submit("-N2")
    end(wait_running(number, 2)[0])
    wait_state(number, "COMPLETED")
    forget_srun_maps()
    numbers = [submit("-N2"), submit("-N2")]
    jobs = [wait_running(number, 2) for number in numbers]

    keys = []
    for pods in jobs:
        keys.append(secret_texts(pods[0])["step.key"])
        check(len(keys[-1]) == 64 and int(keys[-1], 16), keys[-1])
        check(keys[-1] not in str(pods), "the Pods have the key")
    check(keys[0] != keys[1], "two jobs have one key")
    if not srun_sum():
        equal(srun_maps(), [], "ConfigMaps without a program")
    else:
        found, = srun_maps()
        program = base64.b64decode(found["binaryData"]["srun"])
        equal(hashlib.sha256(program).hexdigest(), srun_sum(), "program")
        equal(found["metadata"]["name"], f"slurmk8s-srun-{srun_sum()[:16]}",
              "name")
        check(found["immutable"], "it may change")
        equal([command_of(pod) for pod in jobs[0]],
              [["/bin/sh", "/slurmk8s/run"],
               ["/slurmk8s/bin/srun", "--worker"]], "commands")
    for number, pods in zip(numbers, jobs):
        said = wait_for_hosts(number) if srun_sum() else None
        lines = "".join(f"{rank} {pod['spec']['nodeName']} "
                        f"{pod['status']['podIP']}\n"
                        for rank, pod in enumerate(pods_of(number)))
        equal([pod["metadata"]["annotations"].get(HOSTS)
               for pod in pods_of(number)],
              [lines if srun_sum() else None, None], f"addresses: {said}")
        end(pods[0])
        wait_state(number, "COMPLETED")
    equal(len(srun_maps()), 1 if srun_sum() else 0, "ConfigMaps")


@case
def names_of_the_nodes():
    """a Service without an address, which goes with the job's end, has the names
    of the nodes for a cluster's DNS"""
    number = submit("-N2")
    pods = wait_running(number, 2)
    name = pods[0]["metadata"]["name"]

    service = bed.api("GET", f"/api/v1/namespaces/{NS}/services/{name}")
    equal(service["spec"]["clusterIP"], "None", "address")
    equal(service["metadata"]["ownerReferences"][0]["uid"],
          pods[1]["metadata"]["uid"], "owner")
    for pod in pods:
        equal(pod["spec"]["subdomain"], name, "subdomain")
        equal(pod["spec"]["dnsConfig"]["searches"],
              [f"{name}.{NS}.svc.cluster.local"], "search domain")

    def endpoints():
        slices = bed.api(
            "GET", f"/apis/discovery.k8s.io/v1/namespaces/{NS}/endpointslices"
            f"?labelSelector=kubernetes.io/service-name={name}")["items"]
        return sorted((one.get("hostname"), one["addresses"][0])
                      for item in slices for one in item["endpoints"])
    wanted = sorted((pod["spec"]["nodeName"], pod["status"]["podIP"])
                    for pod in pods_of(number))
    wait_for(f"endpoints {wanted}", lambda: endpoints() == wanted)
    end(pods[0])
    wait_state(number, "COMPLETED")
    wait_for("the Service to go", lambda: name not in [
        item["metadata"]["name"] for item in
        bed.api("GET", f"/api/v1/namespaces/{NS}/services")["items"]], 60)


@case
def without_the_rights():
    """without rights to ConfigMaps and Services jobs of several nodes run, and
    status and srun say what is missing"""
    rules = [rule for rule in bed.api("GET", ROLE)["rules"]
             if "configmaps" not in rule["resources"]]
    bed.api("PATCH", ROLE, {"rules": rules}, admission.MERGE)
    forget_srun_maps()
    try:
        bed.ctl("restart", "slurmk8sd")
        wait_for("status to say so", lambda: "off: sbatch-srun: slurmk8sd may "
                 "not create services" in bed.run("slurmk8s", "status",
                                                  check=False))
        number = submit("-N2")
        pods = wait_running(number, 2)

        equal(command_of(pods[1])[:2], ["/bin/sh", "-c"], "command")
        words = secret_texts(pods[0])["no-srun"]
        check("lacks rights" in words or not srun_sum(), words)
        equal(srun_maps(), [], "ConfigMaps")
        end(pods[0])
        wait_over(number, "COMPLETED", pods[0])
    finally:
        admission.apply()
        bed.ctl("restart", "slurmk8sd")
    wait_for("it to be on again",
             lambda: "off: sbatch-srun" not in
             bed.run("slurmk8s", "status", check=False))


@case
def without_nodes_it_is_one():
    """without --nodes a job has one node, whatever its tasks are"""
    number = submit("-n4")

    pods = wait_running(number, 1)

    check("hostname" not in pods[0]["spec"], "it has a host name")
    end(pods[0])
    wait_state(number, "COMPLETED")


@case
def refusals():
    """what several nodes cannot have is refused by sbatch, in words"""
    said = sbatch("-N2", "--no-kill", check=False)
    check("--no-kill" in said and "Submitted" not in said, said)
    equal(files(), set(), "files of scripts")


@case
def a_worker_ends():
    """a worker that ends, or is deleted, before the script fails the job, and says
    on which node"""
    for deleted in (False, True):
        number = submit("-N2")
        pods = wait_running(number, 2)
        if deleted:
            bed.delete(pods[1]["metadata"]["name"], NS, grace=1)
        else:
            end(pods[1], exit="0")

        wait_state(number, "FAILED")

        # A container that its kubelet stops has 137.
        equal(bed.exit_of(job(number)), "137:0" if deleted else "1:0",
              "exit code")
        check("Pod of" in job(number)["comment"], job(number)["comment"])
        wait_over(number, "FAILED", pods[0], left=1 if deleted else 2)


@case
def scancel():
    """scancel ends all Pods"""
    number = submit("-N3")
    pods = wait_running(number, 3)

    bed.run("scancel", str(number), user="alice")

    wait_over(number, "CANCELLED", pods[0])


@case
def cancelled_before_bound():
    """a job that is cancelled while its Pods wait leaves the first alone, Failed"""
    bed.ctl("kill", "slurmk8sd")
    number = submit("-N2")
    faults.Fault("set_tag:after").wait_dead(60)
    pods = pods_of(number)
    equal([pod["spec"].get("nodeName") for pod in pods], [None, None], "nodes")
    bed.run("scancel", str(number), user="alice")
    bed.ctl("start", "slurmk8sd")

    wait_over(number, "CANCELLED", pods[0])


@case
def a_node_fails():
    """a node that is set DOWN ends the job as NODE_FAIL, and all its Pods"""
    number = submit("-N2")
    pods = wait_running(number, 2)
    node = nodes_of(number)[1]

    bed.run("scontrol", "update", f"nodename={node}", "state=down",
            "reason=test")
    try:
        wait_state(number, "NODE_FAIL")
        wait_over(number, "NODE_FAIL", pods[0])
    finally:
        bed.run("scontrol", "update", f"nodename={node}", "state=resume")


@case
def killed_at_each_write():
    """kill -9 after each write of the agent for a job of two nodes: a Pod on
    each, bound once"""
    bed.ctl("kill", "slurmk8sd")
    numbers = []
    maps = ["create_config_map:before", "create_config_map:after"]
    for point in (maps if srun_sum() else []) + [
            "create_pod:after", "create_service:after", "put_secret:after",
            "set_tag:after", "bind:after", "stamp:after"]:
        if point.startswith("create_config_map"):
            forget_srun_maps()
        numbers.append(submit("-N2"))
        faults.Fault(point).wait_dead(60)
    bed.ctl("start", "slurmk8sd")

    pods = [wait_running(number, 2) for number in numbers]
    for each in pods:
        check(secret(each[0]), "it has no Secret")
        end(each[0])
    for number, each in zip(numbers, pods):
        wait_state(number, "COMPLETED")
        wait_clean(number)
        equal(len(pods_of(number)), 1, "Pods")


@case
def slurmctld_starts_anew():
    """a job of several nodes outlives a crash of slurmctld"""
    number = submit("-N2")
    pods = wait_running(number, 2)
    slurmctld.save()

    slurmctld.restart()

    wait_for("slurmctld to be up", slurmctld.is_up)
    equal(uids(wait_running(number, 2)), uids(pods), "Pods")
    end(pods[0])
    wait_over(number, "COMPLETED", pods[0])


@case
def slurmctld_loses_the_job():
    """Pods whose allocation a crash of slurmctld takes back go on, each with a job
    of its own, and end with the script's"""
    number = submit("-N2", "--hold")
    slurmctld.keep_state()
    bed.run("scontrol", "release", str(number))
    pods = wait_running(number, 2)

    slurmctld.bring_state_back()

    wait_for("slurmctld to be up", slurmctld.is_up)
    others = batch.wait_adopted(number, pods, [number])
    equal(len(set(others)), 2, "jobs")
    wait_state(number, "CANCELLED")
    end(pods[0], exit="7")
    wait_state(others[0], "FAILED")
    equal(bed.exit_of(job(others[0])), "7:0", "exit code")
    wait_state(others[1], "COMPLETED")
    wait_for("the worker's Pod to go", lambda: len(pods_of(number)) == 1)


admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
