#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How batch jobs end that do not end by themselves: state and exit code of a
Pod's are those of a job of slurmd's. And what Slurm has no way to do."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import batch_ways
import bed
import real_nodes
from tap import case, check, equal, run, wait_for

TRAP = ("#!/bin/sh\ntrap 'echo got TERM; exit 5' TERM\necho ready\n"
        "while :; do sleep 0.2; done\n")
# busybox's awk, of which cgroups take only the process that is too large.
HUNGRY = ("#!/bin/sh\nawk 'BEGIN { s = \"0123456789\"; while (1) s = s s }'\n"
          "echo \"it got $?\"\nexit {code}\n")


def submit(way, name, script, *options):
    bed.inside("install", "-d", "-m", "777", f"{way.directory}/{name}")
    path = f"{batch_ways.SITE}/{way.partition}-{name}"
    bed.inside("sh", "-c", f"cat > {path}", stdin=script)
    return way.submit(name, [path], "-o", "out", *options)


def output(way, name):
    return bed.inside("cat", f"{way.directory}/{name}/out", check=False)


def end_of(way, name):
    """As sacct has it."""
    facts = batch_ways.accounted(way, name)
    return tuple(facts[f"sacct {field}"] for field in
                 ("State", "ExitCode", "DerivedExitCode"))


def wait_ready(both, name):
    for way in both:
        wait_for(f"{name} to be ready in {way.partition}",
                 lambda way=way: "ready" in output(way, name), 60)


@case
def ended_from_outside():
    """scancel, the time limit and the loss of a node: TERM comes first, and state
    and exit code are the same"""
    real_nodes.need_one()
    with batch_ways.site():
        both = batch_ways.ways()
        for way in both:
            for name in ("cancelled", "late"):
                submit(way, name, TRAP)
        for name in ("cancelled", "late"):
            wait_ready(both, name)
        for way in both:
            bed.run("scancel", str(way.jobs["cancelled"]), user="alice")
            bed.run("scontrol", "update", f"jobid={way.jobs['late']}",
                    "EndTime=now+3")
        batch_ways.wait_ended(both, 60)
        native, pod = both
        alice = bed.inside("id", "-u", "alice").strip()
        for name, state in (("cancelled", f"CANCELLED by {alice}"),
                            ("late", "TIMEOUT")):
            equal(end_of(native, name), (state, "0:0", "0:0"), f"{name}, native")
            equal(end_of(pod, name), end_of(native, name), f"{name}, as a Pod")
            for way in both:
                check("got TERM" in output(way, name), output(way, name))
        for way in both:
            submit(way, "lost", TRAP, "--no-requeue")
        wait_ready(both, "lost")
        try:
            for way in both:
                bed.run("scontrol", "update", f"nodename={way.node}",
                        "state=down", "reason=test")
            batch_ways.wait_ended(both, 60)
        finally:
            for way in both:  # where slurmd answers it is back already
                bed.run("scontrol", "update", f"nodename={way.node}",
                        "state=resume", check=False)
        equal(end_of(native, "lost"), ("NODE_FAIL", "1:0", "0:0"),
              "lost, native")
        equal(end_of(pod, "lost"), end_of(native, "lost"), "lost, as a Pod")


@case
def out_of_memory():
    """a script one of whose processes was killed for its memory ends as
    OUT_OF_MEMORY, also when it goes on and exits with 0: as slurmd has it where
    cgroups limit memory"""
    real_nodes.need_one()
    with batch_ways.site():
        pod = batch_ways.ways()[1]
        for code in (0, 7):
            submit(pod, f"hungry{code}", HUNGRY.replace("{code}", str(code)),
                   "--mem=32")
        batch_ways.wait_ended([pod], 60)
        for name in ("hungry0", "hungry7"):
            equal(end_of(pod, name), ("OUT_OF_MEMORY", "0:125", "0:0"),
                  f"{name}, with {output(pod, name)}")


@case
def requeue():
    """a Pod's job cannot be requeued: scontrol says so, and it goes on"""
    real_nodes.need_one()
    with batch_ways.site():
        pod = batch_ways.ways()[1]
        number = submit(pod, "kept", TRAP)
        wait_ready([pod], "kept")
        for command in ("requeue", "requeuehold"):
            said = bed.run("scontrol", command, str(number), user="alice",
                           check=False)
            check("disabled" in said, said)
        equal(bed.jobs()[number]["job_state"], ["RUNNING"], "state")
        equal(bed.jobs()[number]["restart_cnt"], 0, "restarts")


run(after_each=bed.nothing_left, after_failure=bed.last_words)
