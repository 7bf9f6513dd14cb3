#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two agents: an old one that was stopped, or cut off, wakes up after a new one
took over and writes nothing any more; a live one is not disturbed."""
import contextlib
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import faults
from tap import case, check, equal, never, run, wait_for

CONF = "/etc/slurm/k8s.conf"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/slurm-k8s-bridge/leases/slurmk8sd"
AGENT = ["setpriv", "--reuid=slurm", "--regid=slurm", "--init-groups",
         "slurmk8sd"]


def lease():
    return bed.api("GET", LEASE)


def holder():
    return lease()["spec"].get("holderIdentity", "")


class Second:
    """Another agent, started by hand beside the daemon: with web pages of its
    own, and if a host is given, as if it were of another host, with a socket
    of its own."""

    def __init__(self, host=None):
        port = int(os.environ["SANDBOX_API"].rsplit(":", 1)[1]) + 16
        self.web = f"127.0.0.1:{port}"
        lines = [line for line in bed.inside("cat", CONF).splitlines()
                 if not line.startswith("WebAddress=")]
        lines.append(f"WebAddress={self.web}")
        if host:
            lines.append("Socket=/run/slurmk8s/second.sock")
        self.conf = "/run/slurmk8s/second.conf"
        bed.inside("sh", "-c", f"cat > {self.conf}", stdin="\n".join(lines))
        self.log = open(bed.SANDBOX / "log" / "second.log", "w+")
        script = (f"hostname {host}; " if host else "") + (
            f"echo $$ > {self.conf}.pid; exec {' '.join(AGENT)} -f {self.conf}")
        command = [*(["unshare", "--uts"] if host else []), "sh", "-c", script]
        self.process = subprocess.Popen(
            [str(bed.TOP / "contribs/sandbox/exec"), *command],
            stdout=self.log, stderr=subprocess.STDOUT)

    def said(self):
        return pathlib.Path(self.log.name).read_text()

    def status(self):
        text = bed.run(str(bed.TOP / "contribs/sandbox/exec"), "curl", "-s",
                       "--max-time", "2", f"http://{self.web}/status",
                       check=False)
        return bed.json.loads(text) if text.startswith("{") else {}

    def wait_serving(self):
        wait_for("the second agent to serve",
                 lambda: self.status().get("serving"), 60)

    def end(self):
        """A clean stop, unless it has ended."""
        bed.inside("sh", "-c", f"kill $(cat {self.conf}.pid) || true")
        self.process.wait(120)


@contextlib.contextmanager
def second_agent(host=None):
    second = Second(host)
    try:
        yield second
    finally:
        second.end()


def restore():
    """One agent again, the daemon."""
    if faults.alive():
        bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")


def wait_end(daemon="slurmk8sd"):
    wait_for("the old agent's end", lambda: not faults.alive(daemon), 30)


def pods_of_all_kinds():
    """One that runs on, one that ends in a moment, one that waits."""
    bed.run("scontrol", "update", "PartitionName=low", "State=DOWN")
    bed.create(bed.pod("runs-on"))
    bed.create(bed.pod("ends", annotations={"sandbox/run": "1s"}))
    bed.create(bed.pod("waits", annotations={bed.PARTITION: "low"}))
    bed.wait_phase("runs-on", "Running")
    bed.wait_job("waits", "PENDING")


def all_is_well():
    """What the new agent makes of them."""
    bed.create(bed.pod("new", annotations={"sandbox/run": "200ms"}))
    bed.wait_ended("new", "COMPLETED", "0:0", 60)
    bed.wait_ended("ends", "COMPLETED", "0:0", 60)
    equal(bed.get("runs-on")["status"]["phase"], "Running", "runs-on")
    bed.run("scontrol", "update", "PartitionName=low", "State=UP")
    bed.wait_phase("waits", "Running", 60)
    for name in ("new", "ends", "runs-on", "waits"):
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


@case
def live_agent_stays():
    """a second agent on the socket of a live one refuses to start, and slurmctld
    stays connected to the first"""
    before = bed.log_size("slurmk8sd")
    with second_agent() as second:
        second.process.wait(60)
        equal(second.process.returncode, 1, "exit status")
        check("already listens" in second.said(), second.said())
    bed.create(bed.pod("works", annotations={"sandbox/run": "100ms"}))
    bed.wait_ended("works", "COMPLETED", "0:0")
    check("went away" not in bed.log_since("slurmk8sd", before),
          "slurmctld's plugin was disturbed")


@case
def restart_is_quick():
    """a clean stop gives the Lease back; after kill -9 the next agent has it and
    serves within 3 s all the same"""
    def start():
        began = time.monotonic()
        bed.ctl("start", "slurmk8sd")
        wait_for("the agent to serve", bed.serves)
        return time.monotonic() - began

    bed.ctl("stop", "slurmk8sd")
    equal(holder(), "", "holder after a clean stop")
    free = start()
    bed.ctl("kill", "slurmk8sd")
    check(holder(), "a killed agent gives nothing back")
    took = start()
    print(f"# serving {took:.1f} s after the start, {free:.1f} s with the Lease "
          "given back")
    # a machine that is busy takes its time for both
    check(took < max(3, 3 * free), f"it took {took:.1f} s, not {free:.1f}")


@case
def stopped_and_replaced():
    """an agent that is stopped loses its socket and the Lease to another one; it
    wakes up, writes nothing and ends"""
    pods_of_all_kinds()
    old = holder()
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
    size = bed.log_size("slurmk8sd")
    with second_agent() as second:
        second.wait_serving()
        check(holder() not in ("", old), "the Lease has changed hands")
        new = holder()
        versions = lease()["spec"]["leaseTransitions"]
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
        wait_end()
        check("does not act any more" in bed.log_since("slurmk8sd", size),
              bed.log_since("slurmk8sd", size))
        equal(holder(), new, "holder")
        equal(lease()["spec"]["leaseTransitions"], versions, "transitions")
        all_is_well()
    restore()


def stopped_at(point, pod, wrote):
    """The agent is stopped at a write for this Pod, another one takes over and
    does it; the first wakes up and must not do it again."""
    bed.ctl("kill", "slurmk8sd")
    fault = faults.Fault(point + ":1:stop")
    try:
        bed.create(pod)
        fault.wait_reached()
        size = bed.log_size("slurmk8sd")
        with second_agent() as second:
            second.wait_serving()
            wrote()
            bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
            wait_end()
            said = bed.log_since("slurmk8sd", size)
            check("does not act any more" in said, said)
            write = point.split(":")[0]
            check(f'"a write was not made" err="{write}: ' in said, said)
    finally:
        fault.start.kill()
        restore()


def runs_once(name, point):
    stopped_at(point, bed.pod(name), lambda: bed.wait_phase(name, "Running"))

    bed.end(name)
    bed.wait_ended(name, "COMPLETED", "0:0", 60)
    equal(len(bed.jobs_of(name)), 1, "jobs")


@case
def stopped_before_submit():
    """stopped right before a submit: the new agent's job stays the only one"""
    runs_once("late-submit", "submit:before")


@case
def stopped_before_bind():
    """stopped right before a binding: the Pod is bound once, to its job's node"""
    runs_once("late-bind", "bind:before")


@case
def stopped_before_complete():
    """stopped right before the end of a job: its exit code is written once"""
    name = "late-end"
    stopped_at("complete:before", bed.pod(name, annotations={
        "sandbox/run": "500ms", "sandbox/exit": "4"}),
        lambda: bed.wait_ended(name, "FAILED", "4:0", 60))

    bed.wait_ended(name, "FAILED", "4:0")


@case
def another_host_waits():
    """an agent of another host stands by, says who has the Lease, and takes over
    when the first is cut off for longer than the Lease lasts"""
    pods_of_all_kinds()
    with second_agent("elsewhere") as second:
        wait_for("the second agent to stand by", lambda: "ctl has the Lease" in
                 second.status().get("standby", ""), 20)
        check(not second.status()["serving"], "it does not serve")
        old = holder()
        bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
        since = time.monotonic()
        never("the Lease changes hands while it may be in use",
              lambda: holder() != old, 8)
        wait_for("the Lease to change hands", lambda: holder() != old, 20)
        print(f"# after {time.monotonic() - since:.0f} s")
        check(holder().startswith("elsewhere_"), holder())
        second.wait_serving()

        size = bed.log_size("slurmk8sd")
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
        wait_end()
        check("elsewhere has taken the Lease" in
              bed.log_since("slurmk8sd", size), "it says who")

        # It begins anew, as systemd would have it, and stands by.
        bed.ctl("start", "slurmk8sd")
        wait_for("the first agent to stand by", lambda: "elsewhere has" in
                 bed.status().get("standby", ""))
        said = bed.run("slurmk8s", "status", check=False)
        check("on standby: elsewhere has the Lease" in said, said)
    wait_for("the first agent to serve again",
             bed.serves, 20)
    bed.run("scontrol", "update", "PartitionName=low", "State=UP")
    all_is_well()


@case
def no_right_to_the_lease():
    """without the right to use the Lease nothing is done, and it says what to
    apply"""
    path = ("/apis/rbac.authorization.k8s.io/v1/namespaces/slurm-k8s-bridge/"
            "rolebindings/slurmk8sd")
    binding = bed.api("GET", path)
    bed.ctl("kill", "slurmk8sd")
    bed.api("DELETE", path, {})
    starting = None
    try:
        starting = subprocess.Popen(
            [str(bed.TOP / "contribs/sandbox/ctl"), "start", "slurmk8sd"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        bed.create(bed.pod("patient", annotations={"sandbox/run": "100ms"}))
        said = wait_for("the problem", lambda: (
            lambda words: words if "contribs/kubernetes" in words else None)(
                bed.run("slurmk8s", "status", check=False)), 20)
        check("problem: Lease:" in said, said)
        equal(bed.jobs_of("patient"), [], "jobs")
    finally:
        for key in ("resourceVersion", "uid", "creationTimestamp",
                    "managedFields"):
            binding["metadata"].pop(key, None)
        bed.api("POST", path.rsplit("/", 1)[0], binding)
    bed.wait_ended("patient", "COMPLETED", "0:0", 60)
    starting.wait()


def before_each():
    if not faults.alive():
        bed.ctl("start", "slurmk8sd")
    bed.run("scontrol", "update", "PartitionName=low", "State=UP")
    bed.clean()


run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
