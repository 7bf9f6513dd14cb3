# SPDX-License-Identifier: GPL-2.0-or-later
"""A sandbox with two controllers, `up --backup`: control goes to the second one
and back."""
import contextlib
import json
import re
import time

import bed
import faults
import hybrid
from tap import wait_for

LEASE = "/apis/coordination.k8s.io/v1/namespaces/slurm-k8s-bridge/leases/slurmk8sd"
CONTROL = "Running as primary controller"
# Slurm 26.05 answers REQUEST_CONTROL after 29 s with "backup not completely done
# relinquishing control. Old state possible", whatever plugins it has: the second
# one saves its state just as the first one reads it, which may find none.
LOST = "No job state file"


class StateLost(Exception):
    """The first slurmctld has begun without any job."""


def holder():
    return bed.api("GET", LEASE)["spec"].get("holderIdentity", "")


def in_control(daemon, since):
    wait_for(f"{daemon} to be in control",
             lambda: CONTROL in bed.log_since(daemon, since), 90)


def serves(host, daemon):
    if not faults.alive(daemon):
        bed.ctl("start", daemon)
    wait_for(f"the agent of {host} to have the Lease",
             lambda: holder().startswith(host + "_"), 90)


def agents_die():
    for daemon in ("slurmk8sd", "slurmk8sd2"):
        if faults.alive(daemon):
            bed.ctl("kill", daemon)


def save():
    bed.run("scontrol", "reconfigure")
    wait_for("slurmctld to be back",
             lambda: "ctl is UP" in bed.run("scontrol", "ping", check=False))


def take_over():
    since = bed.log_size("slurmctld2")
    bed.ctl("kill", "slurmctld")
    in_control("slurmctld2", since)


def start_first():
    """What it says until it is in control."""
    since = bed.log_size("slurmctld")
    bed.ctl("start", "slurmctld")
    in_control("slurmctld", since)
    return bed.log_since("slurmctld", since)


def wait_saved():
    """Until slurmctld has written all that it did before this call. What the
    second one has not written when it gives control back is lost: a job that it
    has just launched is launched once more, and slurmd refuses that."""
    began = time.time()
    (place,) = re.findall(r"StateSaveLocation *= (.*)",
                          bed.run("scontrol", "show", "config"))
    job = bed.run("squeue", "--noheader", "--format=%i").split()[0]

    def written():
        # A change, or there may be nothing to write any more.
        bed.run("scontrol", "update", f"JobId={job}", f"Comment={time.time()}")
        return float(bed.inside("stat", "--format=%.Y",
                                f"{place}/job_state")) > began + 1

    wait_for("slurmctld to write its jobs", written)


def give_back():
    wait_saved()
    if LOST in start_first():
        raise StateLost


def with_state_kept(attempt, tidy):
    """What attempt() returns where Slurm itself loses no job; at most three times,
    with tidy() in between."""
    for _ in range(2):
        try:
            return attempt()
        except StateLost:
            print(f"# slurmctld said {LOST!r} when it came back: once more",
                  flush=True)
            tidy()
    return attempt()


def fail_over():
    """To the second one, which finds all jobs. Its agent is away, so nobody tells
    it which nodes are clean."""
    save()
    agents_die()
    take_over()


def first_serves():
    """The first one and its agent, whatever came before."""
    if not faults.alive("slurmctld"):
        start_first()
    serves("ctl", "slurmk8sd")


@contextlib.contextmanager
def both():
    """A second controller, and nodes with slurmd and kubelet; then the sandbox is
    without them."""
    hybrid.sandbox_up("--hybrid", "--backup")
    try:
        yield
    finally:
        if not faults.alive("slurmctld"):
            start_first()
        hybrid.sandbox_up("--no-hybrid", "--no-backup")


def drained():
    shown = json.loads(bed.run("scontrol", "show", "nodes", "--json"))
    return [n["name"] for n in shown["nodes"] if "DRAIN" in n["state"]]


def last_words():
    return bed.last_words() + "".join(
        f"\n== {name}\n{bed.log(name, 40)}"
        for name in ("slurmctld2", "slurmk8sd2"))


def state(job):
    return bed.jobs()[job]["job_state"]


def restarts(job):
    return bed.jobs()[job]["restart_cnt"]
