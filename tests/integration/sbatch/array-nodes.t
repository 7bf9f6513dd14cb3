#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image --array --nodes: each task of Slurm's array has a Pod on
each of its nodes, and is a job of several nodes of its own."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import batch_arrays
import bed
import faults
import slurmctld
from batch import NS, clear, end, secret_texts, uids
from batch import pods_of_task as pods_of
from batch_arrays import (adopters, forget_starts, names_of, states, tasks,
                          wait_state)
from tap import case, check, equal, run, wait_for

SCRIPT = "#!/bin/sh\nsrun hostname\n"
HOSTS = "slurmk8s/sbatch-hosts"


def submit(*options):
    return batch.submit(*options, script=SCRIPT)


def wait_running(array, index, count=2):
    """The task's Pods, each on its own node of the task's."""
    batch_arrays.wait_running(array, index)
    job = tasks(array)[index]
    pods = batch.placed(job, lambda: pods_of(array, index), count)
    equal({pod["metadata"]["labels"][bed.JOB_LABEL] for pod in pods},
          {str(job["job_id"])}, "JobId")
    return pods


def before_each():
    clear("alice")


@case
def tasks_are_gangs():
    """each task has its own Pods, Service and key, no more of them at once than
    --array says, and ends with its own script"""
    array = submit("--array=0-2%2", "-N2", "-n3", "-o", "/tmp/%A-%a.txt")

    jobs = [wait_running(array, 0), wait_running(array, 1)]
    equal(len(bed.pods(NS)), 4, "Pods")
    keys = []
    for index, pods in enumerate(jobs):
        first, worker = pods
        name = first["metadata"]["name"]
        equal(name.rsplit("-", 1)[0], f"job-{array}-{index}", "name")
        equal(worker["metadata"]["name"], f"{name}-1", "name of the worker")
        equal(worker["metadata"]["ownerReferences"][0]["uid"],
              first["metadata"]["uid"], "owner")
        check(name in names_of("services"), "it has no Service")
        secret = secret_texts(first)
        keys.append(secret["step.key"])
        job = tasks(array)[index]
        for entry in (f"SLURM_ARRAY_JOB_ID={array}",
                      f"SLURM_ARRAY_TASK_ID={index}",
                      "SLURM_ARRAY_TASK_COUNT=3", "SLURM_JOB_NUM_NODES=2",
                      f"SLURM_JOB_ID={job['job_id']}",
                      f"SLURM_JOB_NODELIST={job['nodes']}", "SLURM_NTASKS=3",
                      "SLURM_TASKS_PER_NODE=2,1"):
            check(f"'{entry}'" in secret["run"], f"{entry}: {secret['run']}")
        check(f"/tmp/{array}-{index}.txt" in secret["run"], secret["run"])
    check(keys[0] != keys[1], "two tasks have one key")
    for index, pods in enumerate(jobs):
        wait_for("all to know where they are", lambda index=index: all(
            HOSTS in pod["metadata"]["annotations"]
            for pod in pods_of(array, index)[:1]))  # the script's
        lines = "".join(f"{rank} {pod['spec']['nodeName']} "
                        f"{pod['status']['podIP']}\n"
                        for rank, pod in enumerate(pods_of(array, index)))
        equal([pod["metadata"]["annotations"].get(HOSTS)
               for pod in pods_of(array, index)], [lines, None], "addresses")

    end(jobs[0][0], exit="3")
    third = wait_running(array, 2)
    equal(states(array, 1), ["RUNNING"], "task 1")
    end(jobs[1][0])
    end(third[0])
    for index, ended in enumerate(("FAILED", "COMPLETED", "COMPLETED")):
        wait_state(array, index, ended)
    wait_for("the workers to go", lambda: len(bed.pods(NS)) == 3)
    wait_for("the Secrets to be gone", lambda: not names_of("secrets"))
    wait_for("sacct to have it", lambda: {
        f"{array}_0|FAILED|3:0|2", f"{array}_1|COMPLETED|0:0|2",
        f"{array}_2|COMPLETED|0:0|2"} == set(bed.run(
            "sacct", "-nPX", "-j", str(array), "-o",
            "JobID,State,ExitCode,NNodes").split()))


@case
def scancel():
    """scancel ends all Pods of one task and no others; and all of the array"""
    array = submit("--array=0-3%2", "-N2")
    first, second = wait_running(array, 0), wait_running(array, 1)

    bed.run("scancel", f"{array}_0", user="alice")
    wait_state(array, 0, "CANCELLED")
    wait_running(array, 2)
    equal(uids(wait_running(array, 1)), uids(second), "Pods of task 1")
    wait_for("the worker to go",
             lambda: uids(pods_of(array, 0)) == uids(first[:1]))

    bed.run("scancel", str(array), user="alice")
    for index in (1, 2):
        wait_state(array, index, "CANCELLED")
    wait_for("all to be over", lambda: len(bed.pods(NS)) == 3 and all(
        pod["status"]["phase"] in ("Succeeded", "Failed")
        for pod in bed.pods(NS)), 60)
    equal(pods_of(array, 3), [], "Pods of a task that was cancelled")


@case
def killed_at_each_write():
    """kill -9 of the agent after each write for a task: a Pod on each of its nodes,
    bound once"""
    bed.ctl("kill", "slurmk8sd")
    array = submit("--array=0-3", "-N2")
    for point in ("create_pod:after", "create_service:after",
                  "put_secret:after", "set_tag:after", "bind:after",
                  "stamp:after"):
        faults.Fault(point).wait_dead(60)
    bed.ctl("start", "slurmk8sd")

    found = [wait_running(array, index) for index in range(4)]
    equal(len(bed.pods(NS)), 8, "Pods")
    for pods in found:
        check(pods[0]["metadata"]["name"] in names_of("secrets"), "no Secret")
        end(pods[0])
    for index in range(4):
        wait_state(array, index, "COMPLETED")
    wait_for("the workers to go", lambda: len(bed.pods(NS)) == 4)


def forget_tasks(agent_too):
    array = submit("--array=0-2", "-N2", "--hold")
    slurmctld.keep_state()
    bed.run("scontrol", "release", str(array))
    living = {index: wait_running(array, index) for index in (0, 2)}
    over = wait_running(array, 1)
    end(over[0], exit="5")
    equal(tasks(array)[2]["job_id"], array, "JobId of the last task")
    wait_state(array, 1, "FAILED")
    wait_for("its worker to go", lambda: len(pods_of(array, 1)) == 1)

    forget_starts(array, 1, (0, 2), agent_too)
    wait_for("the Pods that run to be adopted", lambda: len(adopters()) == 4,
             60)
    equal(len(bed.pods(NS)), 5, "Pods")
    for index, pods in living.items():
        equal(uids(pods_of(array, index)), uids(pods), f"Pods of task {index}")
        for pod in pods_of(array, index):
            equal(pod["status"]["phase"], "Running", "phase")
        end(pods[0], exit="7")
    wait_for("all to be over", lambda: not adopters(), 60)
    wait_for("the workers to go", lambda: len(bed.pods(NS)) == 3)


@case
def slurmctld_forgets_a_task():
    """a crash of slurmctld that takes back the start of tasks: none runs twice,
    Pods that run go on, and what was over ends as it did"""
    forget_tasks(agent_too=False)


@case
def slurmctld_and_the_agent_forget():
    """the same, where the agent is killed, too"""
    forget_tasks(agent_too=True)


@case
def forgotten_half_way():
    """both are killed after writes for two tasks, and slurmctld forgets that it has
    started them: the next job of each gets Pods of its own, whatever was made"""
    arrays = [submit("--array=0-1%1", "-N2", "--hold") for _ in range(2)]
    slurmctld.keep_state()
    bed.ctl("kill", "slurmk8sd")
    for array, point in zip(arrays, ("create_service:after", "set_tag:after")):
        bed.run("scontrol", "release", str(array))
        faults.Fault(point).wait_dead(60)
    before = uids(bed.pods(NS))
    check(len(before) > 1, "no task has its Pods")
    check(not any(pod["spec"].get("nodeName") for pod in bed.pods(NS)),
          "a Pod is bound")

    slurmctld.bring_state_back()
    bed.ctl("start", "slurmk8sd")
    wait_for("slurmctld to be up", slurmctld.is_up)
    for array in arrays:
        bed.run("scontrol", "release", str(array))

    for index in (0, 1):
        for array in arrays:
            pods = wait_running(array, index)
            mark = pods[0]["metadata"]["annotations"]["slurmk8s/sbatch"]
            equal(mark.split()[0], str(tasks(array)[index]["job_id"]), "mark")
            check(not set(before) & set(uids(pods)), "Pods of the first job")
            check(pods[0]["metadata"]["name"] in names_of("services"),
                  "it has no Service")
            end(pods[0])
        for array in arrays:
            wait_state(array, index, "COMPLETED")


admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
