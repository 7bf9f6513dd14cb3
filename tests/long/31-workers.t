#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers in Kubernetes for a slurmctld that stays on its host, in a sandbox of
`up --operator`: slurmk8s-operator makes the Pods of a NodeSet on two real
kubelets, slurmd in them registers, the agent beside slurmctld answers for their
nodes. Nothing is played."""
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "0", "--operator")

import agent_conf
import bed
import slinky
import slurmctld
import slurmd_pods
from operator_process import Operator, install, uninstall
from slurmd_pods import PARTITION
from tap import case, check, equal, last_case, run, wait_for

NAMESPACE = "workers"
SETS = f"{slinky.API}/namespaces/{NAMESPACE}/nodesets"
MERGE = "application/merge-patch+json"
PROTECT = "nodeset.slinky.slurm.net/pod-protect"
SLURMD = "registry.example.com/slurm/slurmd:26.05"
MANIFEST = f"kind: NodeSet\nspec:\n  slurmd:\n    image: {SLURMD}\n"


def make_objects():
    slurmd_pods.make_key(NAMESPACE)
    where = {"host": slurmd_pods.slurmctld_address(),
             "port": slurmd_pods.slurmctld_port()}
    bed.api("POST", f"{slinky.API}/namespaces/{NAMESPACE}/controllers", {
        "apiVersion": f"{slinky.GROUP}/v1beta1", "kind": "Controller",
        "metadata": {"name": "slurm"}, "spec": {
            "external": True, "externalConfig": where,
            "slurmKeyRef": {"name": slurmd_pods.KEY, "key": "slurm.key"}}})


def make_set():
    bed.api("POST", SETS, {
        "apiVersion": f"{slinky.GROUP}/v1beta1", "kind": "NodeSet",
        "metadata": {"name": "w"}, "spec": {
            "controllerRef": {"name": "slurm"}, "replicas": 2, "slurmd": {
                "image": SLURMD, "imagePullPolicy": "IfNotPresent",
                "resources": {"requests": {"cpu": "500m", "memory": "200Mi"}}}}})


def scale(replicas):
    bed.api("PATCH", f"{SETS}/w/scale", {"spec": {"replicas": replicas}}, MERGE)


def pods():
    return {pod["metadata"]["name"]: pod for pod in bed.pods(NAMESPACE)
            if pod["metadata"].get("ownerReferences")}


def is_true(pod, kind):
    return any(one["type"] == kind and one["status"] == "True"
               for one in pod["status"].get("conditions", []))


def registered():
    return sorted(name for name, pod in pods().items()
                  if is_true(pod, "slurmk8s/Registered"))


def wait_registered(*names):
    wait_for(f"{', '.join(names)} to be registered",
             lambda: registered() == sorted(names), 90)


def answers_probes(pod):
    """Its kubelet has reached slurmd, and has not restarted it."""
    (status,) = pod["status"]["containerStatuses"]
    equal(status["restartCount"], 0, f"restarts of {pod['metadata']['name']}")
    return status["started"] and status["ready"]


def host_of(name):
    return pods()[name]["spec"]["hostname"]


def node(name):
    return bed.json.loads(bed.run("scontrol", "show", "node", name,
                                  "--json"))["nodes"][0]


def wait_idle(name):
    wait_for(f"{name} to be idle", lambda: node(name)["state"][:1] == ["IDLE"] and
             not set(node(name)["state"]) & {"DRAIN", "NOT_RESPONDING",
                                             "COMPLETING"}, 60)


def sbatch(script, *words):
    made = bed.run("sbatch", "--parsable", "-D", "/tmp", "-o", "none", "-p",
                   PARTITION, "-n1", "-t", "10", *words, "--wrap", script,
                   user="alice")
    return int(made.strip().splitlines()[-1])


def state_of(job):
    return bed.jobs()[job]["job_state"]


def wait_runs(job, seconds=60):
    wait_for(f"job {job} to run", lambda: state_of(job) == ["RUNNING"], seconds)


operator = None


@case
def two_workers():
    """a NodeSet of two has a slurmd on each of the kubelets, both register, and
    srun runs on both"""
    global operator
    install()
    bed.run(str(TOP / "contribs/sandbox/ctl"), "name-images", stdin=MANIFEST)
    slinky.namespace(NAMESPACE)
    bed.inside("sh", "-c", f"cat > {slurmctld.CONF}",
               stdin=slurmd_pods.with_workers(bed.inside("cat", slurmctld.CONF)))
    slurmctld.restart()
    agent_conf.edit(lambda text: text + f"\nWorkerNamespace={NAMESPACE}\n")
    make_objects()
    operator = Operator().start().leads()
    make_set()
    wait_for("two Pods", lambda: len(pods()) == 2)
    wait_registered("w-0", "w-1")
    wait_for("slurmd to answer the kubelets' probes",
             lambda: all(map(answers_probes, pods().values())), 50)
    equal(len({pod["spec"]["nodeName"] for pod in pods().values()}), 2,
          "Nodes of the Pods")
    for name in pods():
        wait_idle(host_of(name))
    said = bed.run("srun", "-p", PARTITION, "-N2", "-D", "/tmp", "hostname",
                   user="alice")
    hosts = [line for line in said.splitlines() if not line.startswith("srun:")]
    equal(sorted(hosts), sorted(host_of(name) for name in pods()),
          "srun hostname")


@case
def scale_in():
    """one replica less while both nodes have jobs: the job of the Pod that goes ends
    by itself, its Pod goes after that, the other job and its Pod stay"""
    hosts = {name: host_of(name) for name in pods()}
    for host in hosts.values():
        wait_idle(host)
    jobs = {name: sbatch("sleep 20; exit 3", "-w", host)
            for name, host in hosts.items()}
    for job in jobs.values():
        wait_runs(job)
    wait_for("both to be protected", lambda: all(
        pod["metadata"]["labels"].get(PROTECT) == "true"
        for pod in pods().values()))
    scale(1)
    gone = wait_for("a request", lambda: next(
        (name for name, pod in pods().items() if "slurmk8s/worker-request" in
         pod["metadata"].get("annotations", {})), None))
    wait_for("its node to be drained", lambda:
             "DRAIN" in node(hosts[gone])["state"])
    (stays,) = set(hosts) - {gone}
    while gone in pods():
        ended = "RUNNING" not in state_of(jobs[gone])
        there = gone in pods() and \
            "deletionTimestamp" not in pods()[gone]["metadata"]
        check(there or ended, "the Pod goes before its job has ended")
    for job in jobs.values():
        wait_for(f"job {job} to end", lambda job=job: state_of(job) ==
                 ["FAILED"], 60)
        equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 3,
              f"exit code of job {job}")
        equal(bed.jobs()[job]["restart_cnt"], 0, f"restarts of job {job}")
    equal(list(pods()), [stays], "Pods")


@case
def scale_out():
    """and back: the node of that name is there again, and takes jobs"""
    scale(2)
    wait_registered("w-0", "w-1")
    for name in pods():
        wait_idle(host_of(name))
        job = sbatch("true", "-w", host_of(name))
        wait_for(f"job {job} to end", lambda job=job: state_of(job) ==
                 ["COMPLETED"], 60)


@case
def cordon():
    """a drain by scontrol shows on the Pod, a cordon of the Pod drains in Slurm, and
    its end resumes the node"""
    host = host_of("w-0")
    bed.run("scontrol", "update", f"NodeName={host}", "State=DRAIN",
            "Reason=bad fan", user="slurm")
    wait_for("the condition", lambda: is_true(pods()["w-0"],
                                              "SlurmNodeStateDrain"), 10)
    bed.run("scontrol", "update", f"NodeName={host}", "State=RESUME",
            user="slurm")
    annotation = "nodeset.slinky.slurm.net/pod-cordon"
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/w-0"
    for value in ("true", None):
        bed.api("PATCH", path, {"metadata": {"annotations": {annotation: value}}},
                MERGE)
        wait_for("Slurm to follow", lambda value=value:
                 ("DRAIN" in node(host)["state"]) == (value is not None), 10)


@case
def deleted_without_asking():
    """kubectl delete of a busy worker: its job is requeued, and runs again on
    another"""
    first, second = (host_of(name) for name in ("w-0", "w-1"))
    wait_idle(first)
    wait_idle(second)
    job = sbatch("sleep 300", "--requeue", "-w", first)
    wait_runs(job)
    bed.delete("w-0", NAMESPACE)
    wait_for("the job to leave it", lambda: state_of(job) != ["RUNNING"], 60)
    bed.run("scontrol", "update", f"JobId={job}", "ReqNodeList=" + second,
            check=False)
    wait_registered("w-0", "w-1")
    wait_for("the job to run again", lambda: state_of(job) == ["RUNNING"] and
             bed.jobs()[job]["restart_cnt"] == 1, 180)
    bed.run("scancel", str(job))
    wait_idle(first)


@case
def set_is_deleted():
    """a NodeSet that is deleted: its Pods go when no job is there any more"""
    host = host_of("w-1")
    wait_idle(host)
    job = sbatch("sleep 15; exit 4", "-w", host)
    wait_runs(job)
    bed.api("DELETE", f"{SETS}/w", {})
    wait_for("the Pods to be gone", lambda: not pods(), 120)
    equal(bed.jobs()[job]["exit_code"]["return_code"]["number"], 4,
          "the job's exit code")
    slurmctld.restart()
    wait_for("slurmctld to answer", slurmctld.is_up)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(operator.stop(), 0, "its exit status")
    slinky.delete_namespace(NAMESPACE)
    uninstall()


def last_words():
    said = [operator.log.read_text()[-2000:] if operator else "",
            bed.log("slurmk8sd")]
    for name in pods():
        log = bed.run("kubectl", "logs", "-n", NAMESPACE, name, "-c", "slurmd",
                      "--tail=30", check=False)
        said.append(f"== {name}\n{log}")
    return "\n".join([*said, bed.last_words()])


run(after_failure=last_words)
