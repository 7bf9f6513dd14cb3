#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""srun in the script of a batch job of several nodes, on two real kubelets: its
tasks run in the Pods of the job, and end with the step, the script, or the job."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import bed
import real_nodes
import slurmctld
from batch import NS, clear, job, wait_state
from tap import case, check, equal, run, skip_all, wait_for

NODES = [real_nodes.FIRST, real_nodes.SECOND]
TASKS_THAT_STAY = "srun sh -c 'echo up $SLURM_PROCID; exec sleep 1000'\n"


def submit(script, *options):
    """Of two nodes with two tasks each, however many CPUs these have."""
    return batch.submit("--output=/dev/null", "-N2", "--ntasks=4",
                        "--ntasks-per-node=2", *options,
                        script="#!/bin/sh\n" + script,
                        partition=real_nodes.PARTITION)


def pods_of(number):
    """By their ranks."""
    return {batch.rank_of(pod): pod for pod in batch.pods_of(number)}


def output(number):
    """What script and srun have printed; empty while no container has run."""
    pod = pods_of(number).get(0)
    return "" if pod is None else bed.run(
        "kubectl", "logs", "-n", NS, pod["metadata"]["name"], check=False)


def ended(number, state, code="0:0"):
    """Its output."""
    wait_state(number, state)
    equal(bed.exit_of(job(number)), code, f"exit code: {output(number)}")
    return output(number)


def all_up(number):
    wait_for("all tasks to run", lambda: sorted(
        line for line in output(number).splitlines()
        if line.startswith("up ")) == [f"up {n}" for n in range(4)], 60)


def all_gone(number):
    """No container of the job lives, the workers' Pods have gone, and the nodes
    are free."""
    wait_for("the workers' Pods to go", lambda: list(pods_of(number)) == [0], 60)
    wait_for("the script's container to end", lambda: pods_of(number)[0]
             ["status"]["phase"] in ("Succeeded", "Failed"), 60)
    wait_for("the job to leave COMPLETING",
             lambda: "COMPLETING" not in job(number)["job_state"], 60)


@case
def tasks():
    """each task runs in the Pod of its node, as the user, with its own number and
    its node's name"""
    number = submit(
        "srun --label sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME $(hostname) "
        "$(id -u) $SLURM_NTASKS'\n"
        "srun -N2 -n2 sh -c 'wc -c < /slurmk8s/step.key'\n"
        "srun -n2 --ntasks-per-node=1 hostname &\n"  # several at once
        "srun -n4 true && wait\n")

    lines = ended(number, "COMPLETED").splitlines()

    alice = bed.inside("id", "-u", "alice").strip()
    wanted = [f"{n}: {n} {NODES[n // 2]} {NODES[n // 2]} {alice} 4"
              for n in range(4)]
    equal(sorted(line for line in lines if ": " in line), wanted, "tasks")
    equal(lines.count("64"), 2, f"keys: {lines}")
    equal(sorted(line for line in lines if line in NODES), sorted(NODES),
          "host names")
    all_gone(number)


@case
def exit_codes():
    """srun ends with the highest exit code, and says which task failed where; so
    the job ends as its script makes of it"""
    number = submit("srun sh -c 'exit $SLURM_PROCID'\n"
                    "echo srun said $?\n"
                    "exec srun sh -c '[ $SLURM_PROCID != 2 ] || exit 9'\n")

    said = ended(number, "FAILED", "9:0")

    check("srun said 3\n" in said, said)
    for words in (f"{NODES[1]}: task 3: Exited with exit code 3",
                  f"{NODES[1]}: task 2: Exited with exit code 9"):
        check(f"srun: error: {words}" in said, said)
    all_gone(number)


@case
def a_task_is_killed():
    """a task that a signal ends is said, and the others are not touched"""
    number = submit("srun sh -c '[ $SLURM_PROCID != 3 ] || kill -9 $$; "
                    "echo done $SLURM_PROCID'\nexit $?\n")

    said = ended(number, "FAILED", "137:0")

    check(f"{NODES[1]}: task 3: Killed" in said, said)
    for task in range(3):
        check(f"done {task}\n" in said, said)


@case
def cancelled():
    """scancel while srun runs ends the tasks on both nodes"""
    number = submit(TASKS_THAT_STAY)
    all_up(number)

    bed.run("scancel", str(number), user="alice")

    wait_state(number, "CANCELLED")
    all_gone(number)


@case
def time_limit():
    """so does the time limit"""
    number = submit(TASKS_THAT_STAY)
    all_up(number)

    bed.run("scontrol", "update", f"jobid={number}", "EndTime=now+3")

    wait_state(number, "TIMEOUT")
    all_gone(number)


@case
def a_worker_is_killed():
    """a worker that is killed fails the job, and all tasks end. What is seen
    first is its end, or that of the script by srun, which has ended the tasks
    beside it"""
    number = submit("srun sh -c 'echo up $SLURM_PROCID; "
                    "[ $SLURM_PROCID = 3 ] || exec sleep 1000; "
                    "sleep 1; kill -9 $(pidof srun)'\n")

    wait_state(number, "FAILED")
    code, words = bed.exit_of(job(number)), job(number)["comment"]
    check(code == "143:0" or (code == "137:0" and f"node {NODES[1]}" in words),
          f"{code}: {words}: {output(number)}")
    wait_for("the script's container to end", lambda: pods_of(number)[0]
             ["status"]["phase"] in ("Succeeded", "Failed"), 60)


@case
def a_workers_pod_is_deleted():
    """so does one whose Pod is deleted"""
    number = submit(TASKS_THAT_STAY)
    all_up(number)

    # Time enough for tasks and worker to end at SIGTERM, whoever is faster.
    bed.delete(pods_of(number)[1]["metadata"]["name"], NS, grace=30)

    wait_state(number, "FAILED")
    code, words = bed.exit_of(job(number)), job(number)["comment"]
    # The worker ends with 0, which is a failure here; srun with its tasks' 143.
    check(code in ("1:0", "143:0") and "Pod of" in words,
          f"{code}: {words}: {output(number)}")
    all_gone(number)


@case
def an_agent_that_starts_anew():
    """a step goes on while the agent is away"""
    number = submit("srun sh -c 'echo up $SLURM_PROCID; sleep 8; echo end'\n")
    all_up(number)

    bed.ctl("kill", "slurmk8sd")
    wait_for("the tasks to end", lambda: output(number).count("end\n") == 4, 60)
    bed.ctl("start", "slurmk8sd")

    ended(number, "COMPLETED")
    all_gone(number)


def before_each():
    clear("alice")


real_nodes.all_need_one()
if not batch.srun_sum():
    skip_all("this system has no static libraries")
admission.apply()
with real_nodes.both():
    NODES = slurmctld.in_order(NODES)
    try:
        run(before_each=before_each, after_each=bed.nothing_left,
            after_failure=bed.last_words)
    finally:
        clear("alice")  # before the second node goes
