#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""srun in the script of a batch job of one node, on the real kubelet: as in jobs
of several nodes (srun/pods.t), but with nothing beside the Pod that such a
job has but the program's ConfigMap."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import bed
import faults
import real_nodes
from batch import NS, clear, job, pod_of, wait_state
from tap import case, check, equal, run, skip_all, wait_for

NODE = real_nodes.FIRST
BELIEVED = 10  # seconds, for which a ConfigMap that was seen is not looked at


def submit(script, *options):
    """With two tasks."""
    return batch.submit("--output=/dev/null", "-w", NODE, "-n2", *options,
                        script="#!/bin/sh\n" + script,
                        partition=real_nodes.PARTITION)


def output(number):
    """What script and srun have printed; empty while no container has run."""
    return "" if pod_of(number) is None else batch.logs(number, check=False)


def ended(number, state, code="0:0"):
    """Its output."""
    wait_state(number, state)
    equal(bed.exit_of(job(number)), code, f"exit code: {output(number)}")
    return output(number)


def objects(kind):
    return [item["metadata"]["name"] for item in
            bed.api("GET", f"/api/v1/namespaces/{NS}/{kind}")["items"]]


def maps():
    """Not those of earlier builds, which nobody deletes."""
    ours = f"slurmk8s-srun-{batch.srun_sum()[:16]}"
    names = [item["metadata"]["name"] for item in batch.srun_maps()]
    return [name for name in names if name == ours]


@case
def tasks():
    """tasks run beside the script, in its Pod, with their own numbers; and nothing
    is made for that but the ConfigMap"""
    number = submit(
        "srun --label sh -c 'echo $SLURM_PROCID $SLURM_LOCALID $SLURM_NTASKS "
        "$SLURM_JOB_NODELIST $SLURMD_NODENAME $SLURM_STEP_ID $(hostname)'\n"
        "echo of stdin | srun -n1 cat\n"
        "srun -o /tmp/%J.%t -n2 id -u\n"
        "cat /tmp/$SLURM_JOB_ID.2.?\n"
        "srun -n1 sh -c 'until [ -e /tmp/$SLURM_JOB_ID ]; do sleep 0.1; done; "
        "echo went' &\n"
        "srun -n1 touch /tmp/$SLURM_JOB_ID & wait\n"
        "ls /slurmk8s /slurmk8s/bin; command -v srun\n"
        "srun -N2 true; echo two nodes: $?\n"
        "srun -n9999 true; echo many tasks: $?\n"
        "srun -O -n5 sh -c 'echo over' | grep -c over\n")

    said = ended(number, "COMPLETED")
    lines = said.splitlines()

    name = pod_of(number)["metadata"]["name"]
    for task in range(2):
        check(f"{task}: {task} {task} 2 {NODE} {NODE} 0 {name}" in lines, said)
    alice = bed.inside("id", "-u", "alice").strip()
    equal(lines.count(alice), 2, said)
    for line in ("of stdin", "went", "/slurmk8s/bin/srun", "two nodes: 1",
                 "many tasks: 1", "5"):
        check(line in lines, f"no {line!r}: {said}")
    check("Only allocated 1 nodes asked for 2" in said, said)
    check("More processors requested than permitted" in said, said)
    check("step.key" not in said and "hosts" not in said, said)
    equal(len(maps()), 1, "ConfigMaps")
    check(name not in objects("services"), "it has a Service")


@case
def one_task():
    """a script with one task has srun, also where --k8s-env sets PATH; and in a job
    array each task has"""
    array = submit("srun -l sh -c 'echo up $SLURM_ARRAY_TASK_ID; "
                   "exit $SLURM_ARRAY_TASK_ID'\n", "-n1", "--array=0-2")
    number = batch.submit(
        "--output=/dev/null", "-w", NODE, "--k8s-env=PATH=/bin",
        script="#!/bin/sh\nsrun hostname\nsrun sh -c 'exit 3'\n",
        partition=real_nodes.PARTITION)

    said = ended(number, "FAILED", "3:0")
    check(pod_of(number)["metadata"]["name"] in said.splitlines(), said)
    codes = {f"{array}_{n}": f"{n}:0" for n in range(3)}
    wait_for(f"the array to end with {codes}", lambda: codes == dict(
        line.split("|")[:2] for line in bed.run(
            "sacct", "-nPX", "-j", str(array), "-o", "JobID,ExitCode,State")
        .splitlines() if line.split("|")[2] in ("COMPLETED", "FAILED")), 60)
    for index in range(3):
        pod, = batch.pods_of_task(array, index)
        said = bed.run("kubectl", "logs", "-n", NS, pod["metadata"]["name"])
        check(f"0: up {index}\n" in said, said)


@case
def exit_codes():
    """srun ends with the highest exit code, or 128 and a signal, and says which
    task failed"""
    number = submit("srun sh -c 'exit $SLURM_PROCID'\necho srun said $?\n"
                    "exec srun sh -c '[ $SLURM_PROCID = 0 ] || kill -9 $$'\n")

    said = ended(number, "FAILED", "137:0")

    for words in ("srun said 1\n", f"srun: error: {NODE}: task 1: Killed",
                  f"srun: error: {NODE}: task 1: Exited with exit code 1"):
        check(words in said, said)


@case
def signals():
    """a signal before the end comes to tasks by a trap of the script, and scancel
    ends them"""
    number = submit(
        "srun sh -c 'trap \"echo warned; exit 4\" USR1; echo up; "
        "while :; do sleep 0.2; done' & pid=$!\n"
        "trap 'kill -USR1 $pid' USR1\nwait $pid; wait $pid; exit $?\n",
        "-t1", "--signal=B:USR1@30")
    other = submit("srun sh -c 'echo up; exec sleep 1000'\n")
    wait_for("the tasks to run", lambda: output(other).count("up\n") == 2, 90)

    bed.run("scancel", str(other), user="alice")

    wait_state(other, "CANCELLED")
    wait_for("its container to end", lambda: pod_of(other)["status"]["phase"]
             == "Failed", 60)
    wait_for("the job to leave COMPLETING",
             lambda: "COMPLETING" not in job(other)["job_state"], 60)
    equal(ended(number, "FAILED", "4:0").count("warned\n"), 2, "tasks")


@case
def the_map_is_deleted():
    """a ConfigMap that an administrator deletes between two jobs is made anew"""
    ended(submit("srun true\n"), "COMPLETED")
    name, = maps()
    batch.forget_srun_maps()
    time.sleep(BELIEVED + 1)  # by the agent's clock

    ended(submit("srun true\n"), "COMPLETED")

    equal(maps(), [name], "ConfigMaps")


@case
def an_agent_that_is_killed():
    """an agent that is killed while it makes the Pod, and again while tasks run,
    leaves one Pod with srun"""
    bed.ctl("kill", "slurmk8sd")
    number = submit("srun -l sh -c 'echo up; "
                    "until [ -e /tmp/$SLURM_JOB_ID ]; do sleep 0.2; done; echo end'\n")
    faults.Fault("create_pod:after").wait_dead(60)
    bed.ctl("start", "slurmk8sd")
    wait_for("the tasks to run", lambda: output(number).count(": up\n") == 2, 60)
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    bed.run("kubectl", "exec", "-n", NS, pod_of(number)["metadata"]["name"], "--",
            "touch", f"/tmp/{number}")

    said = ended(number, "COMPLETED")

    equal(said.count(": end\n"), 2, said)
    equal(len(batch.pods_of(number)), 1, "Pods")


def before_each():
    clear("alice")


real_nodes.all_need_one()
if not batch.srun_sum():
    skip_all("this system has no static libraries")
admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
