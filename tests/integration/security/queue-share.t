#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nobody closes Slurm's queue for others: users who may edit their own namespaces
fill it with as many Pods as they can, held ones above all, and a Pod of another
namespace gets its job and runs."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import asking
import bed
from admission import As, pods_path
from tap import case, check, equal, run, wait_for

# A share of 4 for each namespace, half of it for held jobs, and a reserve of 4.
MOST = 20
GREEDY = [f"greedy-{i}" for i in range(6)]

agent_conf.edit(lambda text: text + f"\nMaxPendingJobs={MOST}\n")
users = {}


def user_of(namespace):
    if namespace not in users:
        admission.namespace(namespace)
        users[namespace] = As(admission.editor(namespace), dry=False)
    return users[namespace]


def fill(namespace, count, **annotations):
    """So many Pods, made by a user of this namespace."""
    names = [f"p{i}" for i in range(count)]
    for name in names:
        user_of(namespace).create(pods_path(ns=namespace), bed.pod(
            name, namespace=namespace, annotations={
                f"slurmk8s/{key}": value
                for key, value in annotations.items()}))
    return names


def waiting():
    return len(bed.run("squeue", "-h", "-t", "PD", "-o", "%i").split())


def in_line(namespace, names, words):
    """How many of these Pods say that."""
    return sum(words in bed.condition(name, namespace).get("message", "")
               for name in names)


@case
def held_pods():
    """60 held Pods of one namespace: two of them have jobs, the others say why
    not, and Pods that are not held run, of that namespace and of others"""
    try:
        names = fill(GREEDY[0], 60, priority="0")
        wait_for("58 to say why they wait", lambda: in_line(
            GREEDY[0], names, "by their own wish") == 58, 60)
        equal(waiting(), 2, "jobs in Slurm")
        said = bed.run("slurmk8s", "explain", f"{GREEDY[0]}/{names[-1]}")
        check(f"MaxPendingJobs={MOST}" in said, said)
        check("turn" in said, said)

        bed.create(bed.pod("mine", annotations={"sandbox/run": "100ms"}))
        bed.wait_ended("mine", "COMPLETED", "0:0")
        asking.asks("theirs", namespace=GREEDY[0])
        bed.wait_ended("theirs", "COMPLETED", "0:0")
    finally:
        asking.clean_namespaces(GREEDY[0])


@case
def many_namespaces():
    """six namespaces take all that they get: another one still gets a job, and runs
    when there is a node"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        for i, namespace in enumerate(GREEDY):
            fill(namespace, 6)
            # Four shares, and then one of the reserve each.
            jobs = 4 * (i + 1) if i < 4 else 16 + i - 3
            wait_for(f"{jobs} jobs", lambda n=jobs: waiting() == n)
        bed.create(bed.pod("mine", annotations={"sandbox/run": "100ms"}))
        bed.wait_job("mine", "PENDING")
        equal(in_line(GREEDY[0], ["p5"], "its share is 4"), 1, "p5 says so")
    finally:
        for namespace in GREEDY:
            asking.clean_namespaces(namespace)
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.wait_ended("mine", "COMPLETED", "0:0")


@case
def released():
    """a job that its owner releases makes room for the next held one"""
    try:
        names = fill(GREEDY[0], 4, priority="0")
        wait_for("two to say why they wait", lambda: in_line(
            GREEDY[0], names, "by their own wish") == 2)
        ids = bed.run("squeue", "-h", "-t", "PD", "-o", "%i").split()
        bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
        bed.run("scontrol", "release", ids[0])  # so it waits, but is not held
        wait_for("a third job", lambda: waiting() == 3, 60)
    finally:
        asking.clean_namespaces(GREEDY[0])
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
