#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Control goes to the second slurmctld, back, and to it once more. The second one
stays the same process all the time: what it held, it must forget when it gives
control back, and a second takeover must begin like the first.

Adds a second controller and nodes with slurmd and kubelet to the sandbox, and
takes them away again."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import hybrid
from tap import case, check, equal, never, run, wait_for
from two_controllers import (both, drained, fail_over, first_serves, give_back,
                             last_words, restarts, serves, state,
                             with_state_kept)

DROPPED = "dropped what this one had asked for"
GATE_TIMEOUT = 40  # seconds, of the second controller alone


def wait_held(job):
    wait_for(f"job {job} to be held", lambda: "CONFIGURING" in state(job), 60)


def wait_runs(job):
    wait_for(f"job {job} to run", lambda: state(job) == ["RUNNING"], 60)


def native_job():
    """On a node without Pods: our plugins have no part in it."""
    return hybrid.sbatch(1, partition="native", script="sleep 900")


def lives(name, uid):
    pod = bed.get(name)
    check(pod and pod["metadata"]["uid"] == uid and
          "deletionTimestamp" not in pod["metadata"] and
          pod["status"]["phase"] == "Running", f"Pod {name} lives on")


@case
def there_and_back():
    """a job that the second slurmctld holds when it gives control back is run
    once, by the first; the second takeover closes the gate like the first, and
    neither Pods nor ordinary jobs notice"""
    with_state_kept(go_there_and_back, tidy)


def go_there_and_back():
    bed.create(hybrid.pod("lives", 1))
    bed.run("scontrol", "update", "PartitionName=low", "State=DOWN")
    bed.create(bed.pod("waits", annotations={bed.PARTITION: "low"}))
    uid = bed.wait_phase("lives", "Running")["metadata"]["uid"]
    waiting = bed.wait_job("waits", "PENDING")["job_id"]
    native = native_job()
    wait_runs(native)

    fail_over()
    job = hybrid.sbatch(1)
    wait_held(job)

    given = bed.log_size("slurmctld2")
    give_back()
    serves("ctl", "slurmk8sd")
    wait_runs(job)
    wait_for("the second slurmctld to forget it", lambda: DROPPED in
             bed.log_since("slurmctld2", given), 30)

    # It used to open its gate, or to drain nodes, after GateTimeout: slurmd
    # refused the second launch, and the job was requeued and held.
    never("the job is touched", lambda: state(job) != ["RUNNING"] or
          restarts(job) != 0, GATE_TIMEOUT + 5)
    said = bed.log_since("slurmctld2", given)
    for words in ("Configuration for", "drained", "requeueing"):
        check(words not in said, f"on standby it says {words!r}: {said}")

    # The second takeover.
    fail_over()
    late = hybrid.sbatch(1)
    wait_held(late)
    never("the gate opens before the agent is there",
          lambda: "CONFIGURING" not in state(late), 5)
    serves("ctl2", "slurmk8sd2")
    wait_runs(late)

    give_back()
    serves("ctl", "slurmk8sd")
    lives("lives", uid)
    for each in (job, late, native):
        equal((state(each), restarts(each)), (["RUNNING"], 0), f"job {each}")
    equal(state(waiting), ["PENDING"], "the job of the Pod that waits")
    equal(len(bed.jobs_of("lives")), 1, "jobs of the Pod")
    equal(drained(), [], "drained nodes")


def configure_second():
    """Its plugin reads this when slurmctld2 starts."""
    pid = bed.run(str(bed.TOP / "contribs/sandbox/ctl"), "pid", "ctl2").strip()
    bed.inside("nsenter", "--target", pid, "--mount", "sh", "-c",
               f"echo GateTimeout={GATE_TIMEOUT} >> /etc/slurm/k8s.conf")
    bed.ctl("restart", "slurmctld2")


def before_each():
    first_serves()
    bed.clean()


def after_each():
    bed.run("scontrol", "update", "PartitionName=low", "State=UP")
    bed.run("scancel", "--user=alice", check=False)
    bed.nothing_left()


def tidy():
    after_each()
    before_each()


with both():
    configure_second()
    run(before_each=before_each, after_each=after_each,
        after_failure=last_words)
