# SPDX-License-Identifier: GPL-2.0-or-later
"""A sandbox with two controllers, `up --backup`: control goes to the second one
and back."""
import bed
import faults
from tap import wait_for

LEASE = "/apis/coordination.k8s.io/v1/namespaces/slurm-k8s-bridge/leases/slurmk8sd"
CONTROL = "Running as primary controller"


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


def give_back():
    since = bed.log_size("slurmctld")
    bed.ctl("start", "slurmctld")
    in_control("slurmctld", since)


def state(job):
    return bed.jobs()[job]["job_state"]


def restarts(job):
    return bed.jobs()[job]["restart_cnt"]
