#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image with --gres and --gpus: the container gets the devices of the
job's GRES indexes, and no others."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import bed
import claims
import devices
from batch import (NS, clear, end, job, variables_of, wait_running,
                   wait_state)
from tap import case, check, equal, run, wait_for

NODES = ("kn1", "kn2")
OURS = f"device.driver == '{devices.DRIVER}'"
MODEL = f"device.attributes['{devices.DRIVER}'].model"


def submit(*options):
    return batch.submit("--mem=100", *options)


def all_claims():
    return bed.api("GET", f"{devices.API}/namespaces/{NS}/resourceclaims")[
        "items"]


def claim_of(pod):
    (one,) = [c for c in all_claims() if pod["metadata"]["uid"] in
              [o["uid"] for o in c["metadata"]["ownerReferences"]]]
    return one


def good(number):
    """The job runs, and its one claim has the devices of its indexes. The Pod."""
    pod, shown = wait_running(number), job(number)
    equal(pod["spec"]["nodeName"], shown["nodes"], "node")
    names = devices.indexes(shown["nodes"]).split()
    found = devices.gres_indexes(" ".join(shown["gres_detail"]))
    made = claim_of(pod)
    equal(sorted(claims.devices_in(made).split()),
          sorted(names[i] for i in found), "devices in Slurm and in the claim")
    equal(pod["status"]["extendedResourceClaimStatus"]["resourceClaimName"],
          made["metadata"]["name"], "the claim that the Pod's status names")
    said = variables_of(pod)
    check(f"'SLURM_JOB_GPUS={','.join(map(str, found))}'" in said, said)
    check(f"'SLURM_GPUS_ON_NODE={len(found)}'" in said, said)
    return pod


@case
def devices_of_the_job():
    """by --gres, --gpus and --gpus-per-task, with and without a type; a claim goes
    with its job"""
    for options, count in ((["--gres=gpu:a100:2"], 2), (["--gpus=1"], 1),
                           (["-n1", "--gpus-per-task=h100:2"], 2),
                           (["--gpus-per-node=3"], 3)):
        number = submit(*options)
        pod = good(number)
        made = claim_of(pod)
        equal(len(claims.devices_in(made).split()), count, f"{options}")
        if "a100" in options[0]:
            equal(claims.devices_in(made), "a0 a1", "of that type")
        end(pod)
        wait_state(number, "COMPLETED")
        wait_for("the claim to go", lambda: not all_claims())


@case
def two_beside_each_other():
    """jobs on one node get different devices, and a third waits for them"""
    first, second = (submit("-w", "kn1", "--gres=gpu:2") for _ in range(2))
    pods = [good(number) for number in (first, second)]
    got = [set(claims.devices_in(claim_of(pod)).split()) for pod in pods]
    equal(got[0] & got[1], set(), "devices of both")
    third = submit("-w", "kn1", "--gres=gpu:1")
    wait_state(third, "PENDING")
    end(pods[0], exit="3")
    wait_state(first, "FAILED")
    equal(bed.exit_of(job(first)), "3:0", "exit code")
    pods.append(good(third))
    for pod in pods[1:]:
        end(pod)
    for number in (second, third):
        wait_state(number, "COMPLETED")


@case
def without_devices():
    """a job that asks for none gets none, also with --exclusive"""
    for options in ((), ("--exclusive",)):
        number = submit(*options)
        pod = wait_running(number)
        equal(set(pod["spec"]["containers"][0]["resources"]["limits"]),
              {"cpu", "memory"}, "limits")
        check("GPUS" not in variables_of(pod), "variables")
        end(pod)
        wait_state(number, "COMPLETED")
    equal(all_claims(), [], "claims")


@case
def cancelled():
    """scancel gives the devices back"""
    number = submit("--gres=gpu:4")
    good(number)
    bed.run("scancel", str(number), user="alice")
    wait_state(number, "CANCELLED")
    wait_for("the claim to go", lambda: not all_claims())


@case
def on_several_nodes():
    """of a job of two nodes each Pod gets the devices that the job has on its node,
    and all claims go with it"""
    for options, sums in ((["--gres=gpu:3"], [3, 3]), (["--gpus=6"], [6]),
                          (["-n2", "--gpus-per-task=a100:1"], [1, 1])):
        number = submit("-N2", *options)
        wait_for(f"job {number} to run",
                 lambda n=number: job(n)["job_state"] == ["RUNNING"], 60)
        found = {pod["spec"]["nodeName"]: pod for pod in bed.pods(NS)}
        equal(set(found), set(NODES), f"{options}: nodes")
        got = []
        for node, detail in zip(NODES, job(number)["gres_detail"]):
            names = devices.indexes(node).split()
            made = claims.devices_in(claim_of(found[node])).split()
            equal(sorted(made), sorted(names[i] for i in
                                       devices.gres_indexes(detail)),
                  f"{options}: devices on {node}")
            got.append(len(made))
        equal(sum(got), sum(sums), f"{options}: devices")
        first = found[NODES[0]]
        check(f"'SLURM_GPUS_ON_NODE={got[0]}'" in variables_of(first),
              variables_of(first))
        end(first)
        wait_state(number, "COMPLETED")
        wait_for("the claims to go", lambda: not all_claims())


@case
def of_components():
    """of a heterogeneous job only the component that asks for devices gets them, and
    its Pod those of its indexes"""
    number = submit("-n1", ":", "-n1", "--mem=100", "--gres=gpu:a100:2")
    wait_for(f"job {number} to run",
             lambda: job(number)["job_state"] == ["RUNNING"], 60)
    found = {pod["spec"]["nodeName"]: pod for pod in bed.pods(NS)}
    first, second = job(number)["nodes"], job(number + 1)["nodes"]
    equal(set(found), {first, second}, "nodes")
    names = devices.indexes(second).split()
    made, = all_claims()
    equal(made["metadata"]["name"], claim_of(found[second])["metadata"]["name"],
          "the claim")
    equal(sorted(claims.devices_in(made).split()),
          sorted(names[i] for i in devices.gres_indexes(
              " ".join(job(number + 1)["gres_detail"]))), "devices")
    check("SLURM_GPUS_ON_NODE" not in variables_of(found[first]), "it has GPUs")
    end(found[first])
    wait_state(number, "COMPLETED")
    wait_for("the claims to go", lambda: not all_claims())


@case
def agent_killed():
    """an agent that is killed while the job waits for its devices makes one claim"""
    bed.ctl("kill", "slurmk8sd")
    number = submit("--gres=gpu:1")
    wait_state(number, "CONFIGURING")
    bed.ctl("start", "slurmk8sd")
    pod = good(number)
    equal(len(all_claims()), 1, "claims")
    end(pod)
    wait_state(number, "COMPLETED")


def before_each():
    bed.ctl("start", "slurmk8sd")
    clear("alice")
    wait_for("all claims to be gone", lambda: not all_claims(), 60)
    for node in NODES:
        devices.wait_gres(node, "gpu:a100:2,gpu:h100:2")


admission.apply()
devices.begin(f"DeviceGres={claims.A100}:gpu:a100,{claims.CLASS}:gpu:h100", {
    claims.A100: f"{OURS} && {MODEL} == 'A100'", claims.CLASS: OURS}, NODES)
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
