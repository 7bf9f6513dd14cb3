#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image with components: a heterogeneous job has a Pod on each node of
each of them; that of the first runs the script, and its end is the end of all."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import bed
import faults
import slurmctld
from batch import (IMAGE, clear, drop_files, end, files, pods_of, sbatch,
                   submit, uids, variables_of, wait_state)
from tap import case, check, equal, run, wait_for

SMALL = ["-n1", ":", "-n1"]  # two components of one Pod each


def components(number):
    """In the order of their offsets."""
    return sorted((one for one in bed.jobs().values()
                   if (one["het_job_id"] or {}).get("number") == number),
                  key=lambda one: one["het_job_offset"]["number"])


def wait_states(number, state, seconds=60):
    return wait_for(f"all components of {number} to be {state}", lambda: all(
        one["job_state"] == [state] for one in components(number)) and
        components(number), seconds)


def wait_running(number, count):
    """The job's Pods, each on a node of its component, and said to be its."""
    parts = wait_states(number, "RUNNING")
    pods = pods_of(number)
    equal(len(pods), count, "Pods")
    equal([(pod["spec"]["nodeName"], pod["metadata"]["labels"][bed.JOB_LABEL])
           for pod in pods],
          [(node, str(one["job_id"])) for one in parts
           for node in slurmctld.nodes_of(one)],
          "nodes, and JobIds")
    wait_for("all of them to run", lambda: all(
        pod["status"]["phase"] == "Running" for pod in pods_of(number)))
    return pods


def wait_over(number, state, first, left=1):
    """All components are over, and of the Pods only the first is left, and those
    that had ended by themselves."""
    parts = wait_states(number, state)
    wait_for("the workers' Pods to go", lambda: len(pods_of(number)) == left)
    equal(pods_of(number)[0]["metadata"]["uid"], first["metadata"]["uid"], "Pod")
    wait_for("the script's file to be gone", lambda: not files())
    return parts


def before_each():
    clear("alice")
    wait_for("the scripts' files to be gone", lambda: not files(), 60)


@case
def a_pod_on_each_node_of_each_component():
    """components of one and two nodes are three Pods, each as large as its component
    has it; the script knows all of them, and its end is the end of all"""
    number = submit("-n1", "-c4", "--mem=100", ":", "-N2", "-n2", "-c2",
                    "--mem=50")

    pods = wait_running(number, 3)

    first, second = components(number)
    equal([(pod["spec"]["containers"][0]["resources"]["limits"][what])
           for pod in pods for what in ("cpu", "memory")],
          ["4", "100Mi", "2", "50Mi", "2", "50Mi"], "limits")
    said = variables_of(pods[0])
    for entry in ("SLURM_HET_SIZE=2", f"SLURM_JOB_ID={number}",
                  f"SLURM_JOB_NODELIST={first['nodes']}",
                  "SLURM_JOB_NUM_NODES=1", "SLURM_JOB_CPUS_PER_NODE=4",
                  f"SLURM_JOB_ID_HET_GROUP_1={second['job_id']}",
                  f"SLURM_JOB_NODELIST_HET_GROUP_0={first['nodes']}",
                  f"SLURM_JOB_NODELIST_HET_GROUP_1={second['nodes']}",
                  "SLURM_JOB_NUM_NODES_HET_GROUP_1=2",
                  "SLURM_JOB_CPUS_PER_NODE_HET_GROUP_1=2(x2)",
                  "SLURM_TASKS_PER_NODE_HET_GROUP_1=1(x2)",
                  "SLURM_MEM_PER_NODE_HET_GROUP_1=50"):
        check(f"'{entry}'" in said, f"{entry}: {said}")
    end(pods[0], exit="7")
    for one in wait_over(number, "FAILED", pods[0]):
        equal(bed.exit_of(one), "7:0", "exit code")
    wait_for("sacct to have both", lambda: "FAILED|7:0|1\nFAILED|7:0|2" in bed.run(
        "sacct", "-nPX", "-j", str(number), "-o", "State,ExitCode,NNodes"))


@case
def components_in_the_script():
    """#SBATCH hetjob is as good as a colon"""
    number = submit(script="#!/bin/sh\n#SBATCH -n1 -c2\n#SBATCH hetjob\n"
                           "#SBATCH -n1 -c3\nexit 0\n")

    pods = wait_running(number, 2)

    equal([pod["spec"]["containers"][0]["resources"]["limits"]["cpu"]
           for pod in pods], ["2", "3"], "CPUs")
    end(pods[0])
    wait_over(number, "COMPLETED", pods[0])


@case
def refusals():
    """what components cannot have is refused by sbatch, in words, and leaves no job"""
    before = set(bed.jobs())
    for options, words in (
            ([IMAGE, "-n1", ":", "--k8s-image=other:1", "-n1"], "the first"),
            ([IMAGE, "-n1", ":", "-n1", "--no-kill"], "--no-kill"),
            ([IMAGE, "-n1", ":", "-n1", "--requeue"], "--requeue"),
            ([IMAGE, "-n1", ":", "-N5000"], "MaxGangSize")):
        said = sbatch(*options, check=False)
        check(words in said and "Submitted" not in said, f"{options}: {said}")
    equal([number for number, one in bed.jobs().items() if number not in before
           and one["job_state"] != ["CANCELLED"]], [], "jobs")
    drop_files()


@case
def a_component_ends():
    """scancel of one component, or the end of one of its Pods, ends all"""
    cancelled, failed = submit(*SMALL), submit(*SMALL)
    pods = wait_running(cancelled, 2)
    others = wait_running(failed, 2)

    bed.run("scancel", str(components(cancelled)[1]["job_id"]), user="alice")
    end(others[1], exit="0")

    wait_states(cancelled, "CANCELLED")
    wait_for("its worker to go", lambda: len(pods_of(cancelled)) == 1)
    parts = wait_over(failed, "FAILED", others[0], left=2)
    equal(bed.exit_of(parts[0]), "1:0", "exit code")
    check("Pod of" in parts[0]["comment"], parts[0]["comment"])
    equal(pods_of(cancelled)[0]["metadata"]["uid"], pods[0]["metadata"]["uid"],
          "the first Pod")


@case
def cancelled_while_it_waits():
    """scancel of a job that waits leaves no Pod and no file"""
    number = submit("--hold", *SMALL)
    equal(len(files()), 1, "files of scripts")

    bed.run("scancel", str(number), user="alice")

    wait_states(number, "CANCELLED")
    bed.ctl("restart", "slurmk8sd")  # it lists the jobs then
    wait_for("the script's file to be gone", lambda: not files())
    equal(pods_of(number), [], "Pods")


@case
def part_of_nothing():
    """a component that slurmctld keeps of a job that it has refused is cancelled: as it
    leaves one that only a limit of its user's has refused"""
    tag = json.dumps({"slurmk8s": 1, "sbatch": "0" * 32, "components": 1})
    number = int(bed.run("sbatch", "-p", "kwok", "-n1", "--external", "--hold",
                         user="slurm").split()[-1])
    bed.run("scontrol", "update", f"JobId={number}", f"AdminComment={tag}")
    wait_state(number, "PENDING")

    bed.ctl("restart", "slurmk8sd")  # it lists the jobs then

    wait_state(number, "CANCELLED")


@case
def killed_at_each_write():
    """kill -9 after writes of the agent for a job of two components: a Pod for each,
    bound once"""
    bed.ctl("kill", "slurmk8sd")
    numbers = []
    for point in ("create_pod:after", "set_tag:after", "bind:after",
                  "send_start:after"):
        numbers.append(submit(*SMALL))
        faults.Fault(point).wait_dead(60)
    bed.ctl("start", "slurmk8sd")

    for number in numbers:
        pods = wait_running(number, 2)
        equal(len(components(number)), 2, "components")
        end(pods[0])
    for number in numbers:
        wait_states(number, "COMPLETED")
        wait_for("the worker's Pod to go", lambda n=number: len(pods_of(n)) == 1)


@case
def slurmctld_starts_anew():
    """such a job outlives a crash of slurmctld, and one whose allocation that takes back
    goes on, each Pod with a job of its own, and ends with the script's"""
    number = submit("--hold", *SMALL)
    slurmctld.keep_state()
    bed.run("scontrol", "release", str(number))
    pods = wait_running(number, 2)
    slurmctld.save()
    slurmctld.restart()
    wait_for("slurmctld to be up", slurmctld.is_up)
    equal(uids(wait_running(number, 2)), uids(pods), "Pods")

    slurmctld.bring_state_back()

    own = [one["job_id"] for one in components(number)]
    wait_for("slurmctld to be up", slurmctld.is_up)
    others = batch.wait_adopted(number, pods, own)
    wait_states(number, "CANCELLED")
    end(pods[0], exit="7")
    wait_state(others[0], "FAILED")
    wait_state(others[1], "COMPLETED")
    wait_for("the worker's Pod to go", lambda: len(pods_of(number)) == 1)


admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
