#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugins and agent of two releases: those of the release before with these, both
ways. Builds the release before, from the history of this checkout, in the
sandbox; that takes some minutes."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import agent_conf
import batch
import bed
import slurmctld
from tap import case, check, equal, run, wait_for

BEFORE = "7d40a22"  # the commit of the release before; raise it with each one
SOURCE = bed.SANDBOX / "release-before"
PLUGINS = "/usr/lib/x86_64-linux-gnu/slurm-wlm"
AGENT = "/usr/sbin/slurmk8sd"
NAMES = ("prep_k8s.so", "job_submit_k8s.so", "burst_buffer_k8s.so",
         "node_features_k8s.so")
KEPT = "/var/tmp/this-release"
# What the release before does not know: an administrator adds it to k8s.conf when
# all programs are of the new one.
LATER_KEYS = ("MaxGracePeriod=",)
BUILD = f"""set -e
cd {SOURCE}/tree
./bootstrap
mkdir -p ../build && cd ../build
../tree/configure --prefix=/usr --sysconfdir=/etc --localstatedir=/var \\
    --libdir=/usr/lib/x86_64-linux-gnu CXX='ccache g++' CXXFLAGS=-O2
make -j2
make install DESTDIR={SOURCE}/root
"""


def build():
    """Once for a sandbox: $SANDBOX/release-before/root."""
    done = SOURCE / BEFORE
    if done.exists():
        return
    tree = SOURCE / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    # git is no part of the sandbox
    packed = SOURCE / "tree.tar"
    archived = subprocess.run(["git", "-C", str(bed.TOP), "archive", "-o",
                               str(packed), BEFORE], check=False,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    if archived.returncode != 0:
        print(f"1..0 # SKIP this checkout's history has no {BEFORE}")
        sys.exit()
    subprocess.run(["tar", "-xf", str(packed), "-C", str(tree)], check=True)
    bed.run(str(bed.TOP / "contribs/sandbox/exec"), "bash", "-c", BUILD,
            timeout=7200)
    done.touch()


def keep():
    bed.inside("sh", "-c", f"rm -rf {KEPT} && mkdir {KEPT} && "
               f"cp {AGENT} " + " ".join(f"{PLUGINS}/{n}" for n in NAMES) +
               f" {KEPT}")


def install(plugins, agent):
    """From these directories; slurmctld and the agent begin with them. Never
    over a file that is mapped: by rename."""
    bed.ctl("stop", "slurmctld")
    bed.ctl("stop", "slurmk8sd")
    commands = [f"cp {agent} {AGENT}.new && mv {AGENT}.new {AGENT}"]
    commands += [f"cp {plugins}/{n} {PLUGINS}/{n}.new && "
                 f"mv {PLUGINS}/{n}.new {PLUGINS}/{n}" for n in NAMES]
    bed.inside("sh", "-ec", "\n".join(commands))
    bed.ctl("start", "slurmctld")
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent to serve", bed.serves, 60)
    pid = bed.ctl("pid", "slurmk8sd").strip()
    bed.inside("cmp", agent, f"/proc/{pid}/exe")


def without_later_keys(conf):
    return "".join(line for line in conf.splitlines(True)
                   if not line.startswith(LATER_KEYS))


def old_plugins():
    return f"{SOURCE}/root{PLUGINS}"


def old_agent():
    return f"{SOURCE}/root{AGENT}"


class Batch:
    """Jobs of sbatch as Pods that other programs have taken, or run: one runs, one
    is held, and of an array one task runs and one waits for it."""

    def __init__(self):
        self.running = batch.submit()
        self.pod = batch.wait_running(self.running)
        self.held = batch.submit("--hold")
        self.array = batch.submit("--array=1-2%1")
        self.first_task = self.task_runs(1)

    def task_runs(self, index):
        (pod,) = wait_for(f"task {index} to have its Pod", lambda:
                          batch.pods_of_task(self.array, index), 60)
        wait_for("it to run", lambda: bed.get(
            pod["metadata"]["name"], batch.NS)["status"]["phase"] == "Running",
            60)
        return pod

    def check(self):
        """All end as they would have."""
        equal(batch.uids([batch.pod_of(self.running)]), batch.uids([self.pod]),
              "the Pod of the batch job")
        batch.end(self.pod)
        batch.wait_state(self.running, "COMPLETED")
        bed.run("scontrol", "release", str(self.held))
        batch.end(batch.wait_running(self.held))
        batch.wait_state(self.held, "COMPLETED")
        batch.end(self.first_task)
        batch.end(self.task_runs(2))
        wait_for("both tasks to end", lambda: [
            job["job_state"] for job in bed.jobs().values()
            if job["array_job_id"].get("number") == self.array] ==
            [["COMPLETED"], ["COMPLETED"]], 60)


def all_works(before):
    """Pods from before the upgrade, and new ones of all fates."""
    before.keeps_its_job()
    bed.create(bed.pod("works", annotations={"sandbox/run": "300ms"}))
    bed.wait_ended("works", "COMPLETED", "0:0", 60)
    bed.create(bed.pod("fails", annotations={"sandbox/run": "300ms",
                                             "sandbox/exit": "3"}))
    bed.wait_ended("fails", "FAILED", "3:0", 60)
    bed.create(bed.pod("cancelled"))
    bed.wait_phase("cancelled", "Running", 60)
    bed.run("scancel", str(bed.job_of("cancelled")["job_id"]))
    bed.wait_ended("cancelled", "CANCELLED", seconds=60)
    # A job of each kind that is no Pod's.
    said = bed.run("sbatch", "--parsable", "-p", "native", "-D", "/tmp",
                   "-o", "none", "--wrap", "true", user="bob")
    job = int(said.strip().splitlines()[-1])
    wait_for("bob's job to end", lambda: bed.jobs()[job]["job_state"] ==
             ["COMPLETED"], 60)
    # Both forget and begin anew.
    slurmctld.save()
    slurmctld.restart()
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent to serve", bed.serves, 60)
    before.keeps_its_job()
    Batch().check()


def with_release(plugins, agent):
    bed.create(bed.pod("before"))
    before, jobs = slurmctld.Running("before"), Batch()
    slurmctld.save()
    install(plugins(), agent())
    try:
        jobs.check()
        all_works(before)
        jobs = Batch()
        slurmctld.save()
    finally:
        install(KEPT, f"{KEPT}/slurmk8sd")
    before.keeps_its_job()
    jobs.check()


@case
def plugins_before():
    """the plugins of the release before with this agent"""
    with_release(old_plugins, lambda: f"{KEPT}/slurmk8sd")


@case
def agent_before():
    """the agent of the release before with these plugins"""
    with_release(lambda: KEPT, old_agent)


@case
def gate_file():
    """both releases read what the other one leaves in k8s_gate"""
    def text():
        return bed.json.loads(bed.inside("cat", f"{slurmctld.STATE}/k8s_gate"))
    bridge = text()["bridge"]
    check(bridge, "there are bridge nodes")
    install(old_plugins(), f"{KEPT}/slurmk8sd")
    try:
        equal(text()["bridge"], bridge, "bridge nodes, as the older one has them")
    finally:
        install(KEPT, f"{KEPT}/slurmk8sd")
    equal(text()["bridge"], bridge, "bridge nodes, as this one has them")


build()
keep()
agent_conf.edit(without_later_keys)
run(before_each=lambda: batch.clear("alice"), after_each=bed.nothing_left,
    after_failure=bed.last_words)
