#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image --array: Slurm's own array, each task of which runs as a
Pod."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch_arrays
import bed
import faults
import slurmctld
from batch import (IMAGE, NS, SCRIPT, clear, drop_files, end, files,
                   pods_of_task, sbatch, submit, variables_of)
from batch_arrays import (adopters, forget_starts, names_of, states, tasks,
                          wait_state)
from tap import case, check, equal, run, wait_for


def wait_running(array, index):
    """The task's Pod, on its node."""
    batch_arrays.wait_running(array, index)
    found = pods_of_task(array, index)
    equal(len(found), 1, f"Pods of task {array}_{index}")
    return found[0]


def run_all(array, *indexes, **how):
    for index in indexes:
        end(wait_running(array, index), **how)


def sacct(array):
    """State and exit code by task, as sacct prints them."""
    lines = bed.run("sacct", "-nPX", "-j", str(array), "-o",
                    "JobID,State,ExitCode").split("\n")
    return {line.split("|")[0]: tuple(line.split("|")[1:])
            for line in lines if line}


def before_each():
    clear("alice")


@case
def tasks_run_as_pods():
    """each task is a Pod of its own, told which it is, no more of them at once than
    --array says; and sacct has each one's end"""
    array = submit("--array=1-7:2%2", "-o", "/tmp/%A-%a-%j.txt")

    first, second = wait_running(array, 1), wait_running(array, 3)
    shown = bed.run("squeue", "-h", "-j", str(array), "-o", "%i").split()
    check(f"{array}_1" in shown and any("[5,7%2]" in one for one in shown),
          shown)
    equal(len(bed.pods(NS)), 2, "Pods")
    said = variables_of(first)
    own = tasks(array)[1]["job_id"]
    for entry in (f"SLURM_ARRAY_JOB_ID={array}", "SLURM_ARRAY_TASK_ID=1",
                  "SLURM_ARRAY_TASK_COUNT=4", "SLURM_ARRAY_TASK_MIN=1",
                  "SLURM_ARRAY_TASK_MAX=7", "SLURM_ARRAY_TASK_STEP=2",
                  f"SLURM_JOB_ID={own}"):
        check(f"'{entry}'" in said, f"{entry} is not in {said}")
    check(f"/tmp/{array}-1-{own}.txt" in said, said)
    equal(first["metadata"]["name"].rsplit("-", 1)[0], f"job-{array}-1", "name")
    end(first, exit="3")
    third = wait_running(array, 5)
    check(states(array, 7) != ["RUNNING"], "three run at once")
    end(second)
    end(third)
    run_all(array, 7)

    for index, ended in ((1, "FAILED"), (3, "COMPLETED"), (7, "COMPLETED")):
        wait_state(array, index, ended)
    wait_for("sacct to have it", lambda: sacct(array).get(f"{array}_1") ==
             ("FAILED", "3:0"))
    equal(sacct(array).get(f"{array}_5"), ("COMPLETED", "0:0"), "task 5")
    wait_for("the Secrets to be gone", lambda: not names_of("secrets"))


@case
def the_script_stays_for_the_last():
    """the script's file is there until the last task has ended, and goes then"""
    before = files()  # perhaps of the case before
    array = submit("--array=0-2%1")
    kept = files() - before

    run_all(array, 0, 1)
    wait_state(array, 1, "COMPLETED")
    bed.ctl("restart", "slurmk8sd")  # it lists all jobs, as from time to time
    pod = wait_running(array, 2)
    check(kept and kept <= files(), "the file is gone")
    end(pod)
    wait_state(array, 2, "COMPLETED")
    bed.ctl("restart", "slurmk8sd")

    wait_for("the file to be gone", lambda: not kept & files(), 60)
    equal(names_of("secrets"), [], "Secrets")


@case
def scancel():
    """scancel ends a task that runs, one that waits, and all of them"""
    array = submit("--array=0-5%2")
    pod, other = wait_running(array, 0), wait_running(array, 1)

    bed.run("scancel", f"{array}_0", f"{array}_4", user="alice")

    wait_state(array, 0, "CANCELLED")
    end(other)
    wait_running(array, 3)
    equal(pods_of_task(array, 4), [], "Pods of a task that was cancelled")
    bed.run("scancel", str(array), user="alice")
    for index in (2, 3):
        wait_state(array, index, "CANCELLED")
    wait_for("the Pods to end", lambda: all(
        item["status"]["phase"] in ("Succeeded", "Failed")
        for item in bed.pods(NS)), 60)
    equal(pods_of_task(array, 5), [], "Pods of a task that was cancelled")
    equal(pods_of_task(array, 0)[0]["metadata"]["uid"], pod["metadata"]["uid"],
          "Pod")


@case
def dependencies():
    """afterok, afternotok and aftercorr see how the tasks ended"""
    good, bad = submit("--array=0-1"), submit("--array=0-1")
    after = {words: submit("--array=0-1", f"--dependency={words}")
             for words in (f"afterok:{good}", f"afterok:{bad}",
                           f"afternotok:{bad}", f"aftercorr:{bad}")}

    run_all(good, 0, 1)
    end(wait_running(bad, 0))
    end(wait_running(bad, 1), exit="1")

    run_all(after[f"afterok:{good}"], 0, 1)
    run_all(after[f"afternotok:{bad}"], 0, 1)
    run_all(after[f"aftercorr:{bad}"], 0)
    reason = lambda words: bed.run("squeue", "-h", "-j", str(after[words]),
                                   "-o", "%r")
    for words in (f"afterok:{bad}", f"aftercorr:{bad}"):
        wait_for(f"{words} never to be", lambda w=words:
                 "DependencyNeverSatisfied" in reason(w))
    bed.run("scancel", "--user=alice")


@case
def refusals():
    """what slurmctld would not take as an array it does not take as Pods either, and
    arrays are refused, in words, where burst_buffer/k8s is not loaded"""
    said = sbatch(IMAGE, "--array=0-2000000000", check=False)
    check("Invalid job array specification" in said, said)
    said = sbatch(IMAGE, "--array=3-1", check=False)
    check("nvalid" in said and "Submitted" not in said, said)
    slurmctld.save()  # the ends of the case before, whose Pods are deleted
    with slurmctld.changed_conf(lambda text: "\n".join(
            line for line in text.split("\n")
            if not line.startswith("BurstBufferType")) + "\n"):
        wait_for("slurmctld to be up", slurmctld.is_up)
        said = sbatch(IMAGE, "--array=0-1", check=False)
    wait_for("slurmctld to be up", slurmctld.is_up)
    check("BurstBufferType" in said and "Submitted" not in said, said)
    drop_files()


@case
def throttle():
    """slurmctld changes the throttle before our plugin can refuse that"""
    array = submit("--array=1-4%1")
    said = bed.run("scontrol", "update", f"JobId={array}", "ArrayTaskThrottle=2",
                   user="alice", check=False)

    check("ArrayTaskThrottle of a job that stands for Kubernetes Pods cannot be "
          "changed" in said, said)
    check("ArrayTaskThrottle=2" in bed.run("scontrol", "show", "job", str(array)),
          "it is 2 now")
    bed.run("scancel", str(array))


def forget_tasks(agent_too):
    array = submit("--array=0-3%3", "--hold")
    slurmctld.keep_state()
    bed.run("scontrol", "release", str(array))
    living = wait_running(array, 0)
    over = wait_running(array, 1)
    end(over, exit="5")
    last = wait_running(array, 3)
    equal(tasks(array)[3]["job_id"], array, "JobId of the last task")
    wait_state(array, 1, "FAILED")

    forget_starts(array, 1, (0, 2, 3), agent_too)
    equal(len(bed.pods(NS)), 4, "Pods")
    wait_for("the Pods that run to be adopted", lambda: len(adopters()) == 3, 60)
    for pod in (living, last):
        now = bed.get(pod["metadata"]["name"], NS)
        equal(now["metadata"]["uid"], pod["metadata"]["uid"], "Pod")
        equal(now["status"]["phase"], "Running", "phase")
    for pod in bed.pods(NS):
        end(pod)


@case
def slurmctld_forgets_a_task():
    """a crash of slurmctld that takes back the start of tasks, also of the last,
    which has the array's own JobId: none runs twice, and no other is lost"""
    forget_tasks(agent_too=False)


@case
def slurmctld_and_the_agent_forget():
    """the same, where the agent is killed, too"""
    forget_tasks(agent_too=True)


@case
def ordinary_jobs():
    """an array without --k8s-image stays slurmd's, and a job of one Pod is none of an
    array's"""
    ordinary = int(bed.run("sbatch", "--hold", "-p", "native", "-D", "/tmp",
                           "--array=0-1", user="alice", stdin=SCRIPT)
                   .split()[-1])
    shown = bed.run("scontrol", "show", "job", str(ordinary))
    check("BatchFlag=1" in shown, shown)
    number = submit()
    wait_for("it to run", lambda: bed.jobs()[number]["job_state"] ==
             ["RUNNING"])
    pod, = bed.pods(NS)
    check(pod["metadata"]["name"].startswith(f"job-{number}-"),
          pod["metadata"]["name"])
    end(pod)
    bed.run("scancel", str(ordinary))


@case
def killed_at_each_write():
    """kill -9 of the agent after each write for a task: one Pod each. (sbatch/basics.t
    has all points.)"""
    known = faults.points()
    bed.ctl("kill", "slurmk8sd")
    array = submit("--array=0-3")
    for point in ("create_pod:after", "put_secret:after", "set_tag:after"):
        check(point in known, point)
        faults.Fault(point).wait_dead(60)
    bed.ctl("start", "slurmk8sd")

    run_all(array, *range(4))
    for index in range(4):
        wait_state(array, index, "COMPLETED")
    equal(len(bed.pods(NS)), 4, "Pods")


admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
