#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image with --signal, --input, --constraint and --prefer: they mean
what they mean elsewhere."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import batch
import bed
import real_nodes
from batch import (clear, end, job, logs, pod_of, submit, wait_running,
                   wait_state)
from tap import case, check, equal, run, wait_for

ENDS = "slurmk8s/sbatch-ends"


def wait_ended(number, code):
    wait_for(f"job {number} to end",
             lambda: not {"RUNNING", "CONFIGURING", "PENDING"}
             & set(job(number)["job_state"]), 60)
    equal(bed.exit_of(job(number)), code, "exit code")


def sbatch(*options, **more):
    """What sbatch says of a job with an image."""
    return batch.sbatch(batch.IMAGE, *options, **more)


def quick_to_look():
    return agent_conf.changed(lambda text: "\n".join(
        [line for line in text.splitlines()
         if not line.startswith("ReasonInterval=")] + ["ReasonInterval=1", ""]))


def before_each():
    clear("alice")


@case
def constraints():
    """a user's constraint and preference are joined with ours; what cannot be
    joined is refused"""
    numbers = [submit(*options) for options in (
        ("-C", "kwok|k8s"), ("-C", "k8s", "--prefer=kwok"))]
    pods = [wait_running(number) for number in numbers]
    equal(job(numbers[0])["features"], "(kwok|k8s)&k8s&k8s-untainted",
          "constraint")
    equal(job(numbers[1])["features"], "(kwok)&k8s&k8s-untainted",
          "preference, which is in use")
    for number, pod in zip(numbers, pods):
        end(pod)
        wait_state(number, "COMPLETED")
    for option in ("-C", "--prefer"):
        said = sbatch(option, "[k8s|k8s-untainted]", check=False)
        check("Submitted" not in said and "must be features" in said, said)


@case
def end_on_the_pod():
    """when the job ends stands on the Pod of one that wants a signal before, and
    follows its time limit"""
    with quick_to_look():
        number = submit("-t", "10", "--signal=B:USR1@60")
        other = submit("-t", "10", "--signal=USR1@60")

        pods = [wait_running(n) for n in (number, other)]

        def ends():
            return int(pod_of(number)["metadata"]["annotations"][ENDS])
        wait_for("the end to be right",
                 lambda: ends() == job(number)["end_time"]["number"])
        before = ends()
        bed.run("scontrol", "update", f"jobid={number}", "TimeLimit=30")
        wait_for("the end to move", lambda: ends() == before + 20 * 60)
        check(ENDS not in pod_of(other)["metadata"]["annotations"],
              "the annotation of a job without B:")
        for pod in pods:
            end(pod)
        wait_state(number, "COMPLETED")


@case
def nobody_else_sets_the_end():
    """users do not set that annotation"""
    body = bed.pod("forged", annotations={ENDS: "1"})
    try:
        bed.create(body)
        raise AssertionError("it was created")
    except bed.ApiError as error:
        check("only slurmk8sd may set" in error.message, error.message)


def looping(seconds):
    return ("#!/bin/sh\ntrap 'echo got it; exit 4' USR1\necho ready\ni=0\n"
            f"while [ $i -lt {seconds * 5} ]; do sleep 0.2; i=$((i + 1)); "
            "done\nexit 9\n")


@case
def signals():
    """on the real kubelet the script gets its signal so long before its end, with
    and without an output file; one without B: gets none; and a time limit that is
    raised moves it"""
    real_nodes.need_one()
    with quick_to_look():
        began = time.monotonic()
        numbers = [submit("-t", "1", f"--signal={signal}", *options,
                          script=looping(15), partition="real")
                   for signal, options in (
                       ("B:USR1@48", ()), ("B:USR1@48", ("-o", "/dev/null")),
                       ("USR1@55", ()), ("B:10@48", ()))]
        wait_running(numbers[3])
        bed.run("scontrol", "update", f"jobid={numbers[3]}", "TimeLimit=5")
        for number in numbers[:2]:
            wait_ended(number, "4:0")
            equal(logs(number).splitlines()[-1], "got it", "its last words")
        took = time.monotonic() - began
        check(8 < took < 30, f"the signals came after {took} s")
        for number in numbers[2:]:
            wait_ended(number, "9:0")


@case
def standard_input():
    """the script reads what --input names; where that cannot be opened the job
    fails, and says so"""
    real_nodes.need_one()
    script = "#!/bin/sh\ncat\n"
    number = submit("--input=/slurmk8s/script", script=script, partition="real")
    other = submit("-i", "no-%j", script=script, partition="real")
    neither = submit(script=script, partition="real")

    wait_ended(number, "0:0")
    equal(logs(number), script, "kubectl logs")
    wait_ended(other, "53:0")
    check(f"could not open /tmp/no-{other}" in logs(other), logs(other))
    wait_ended(neither, "0:0")
    equal(logs(neither), "", "kubectl logs")


admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
