#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How a Pod and its job end: by themselves, by a Kubernetes user, by a Slurm
user, by a limit."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, never, run, wait_for

ALL_CPUS = "16"  # of one kwok node


def fill_the_nodes():
    """Pods that take all kwok nodes, so that the next one waits."""
    for i in range(4):
        bed.create(bed.pod(f"filler-{i}", cpu=ALL_CPUS))
    wait_for("the nodes to be full", lambda: len(
        [j for j in bed.jobs().values() if "RUNNING" in j["job_state"]]) == 4)


def waiting_pod(name="waits"):
    fill_the_nodes()
    bed.create(bed.pod(name))
    return bed.wait_job(name, "PENDING")


@case
def exits_with_n():
    """exit n on a kwok node makes the job FAILED n:0"""
    bed.create(bed.pod("three", annotations={"sandbox/run": "100ms",
                                             "sandbox/exit": "3"}))

    bed.wait_ended("three", "FAILED", "3:0")


@case
def keeps_137():
    """an exit code above 128 stays an exit code"""
    bed.create(bed.pod("big", annotations={"sandbox/run": "100ms",
                                           "sandbox/exit": "137"}))

    bed.wait_ended("big", "FAILED", "137:0")


@case
def out_of_memory():
    """a container that is OOMKilled on the real kubelet makes its job OUT_OF_MEMORY"""
    body = bed.pod("oom", real=True, cpu="100m", memory="24Mi",
                   command="head -c 200000000 /dev/zero | tail")
    body["spec"]["containers"][0]["resources"]["limits"] = {"memory": "24Mi"}
    bed.create(body)

    bed.wait_phase("oom", "Failed")

    job = bed.wait_ended("oom", "OUT_OF_MEMORY")
    check("OOMKilled" in job["comment"], f"comment {job['comment']!r}")


@case
def killed_by_a_signal():
    """a container that ends by a signal gives the job what its kubelet says of it"""
    bed.create(bed.pod("signal", real=True, cpu="100m",
                       command="kill -9 $$"))

    pod = bed.wait_phase("signal", "Failed")

    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    if ended.get("signal"):
        code = f"0:{ended['signal']}"
    else:  # containerd reports 128 + the signal
        code = f"{ended['exitCode']}:0"
    bed.wait_ended("signal", "FAILED", code)


@case
def refused_by_kubelet():
    """a Pod that its kubelet evicts at its deadline ends the job, with the reason
    in the job's comment"""
    bed.create(bed.pod("late", real=True, cpu="100m", activeDeadlineSeconds=2,
                       command="sleep 60"))

    bed.wait_phase("late", "Failed")

    job = bed.wait_ended("late", "FAILED")
    check("DeadlineExceeded" in job["comment"], f"comment {job['comment']!r}")


@case
def deleted_while_waiting():
    """a Pod deleted while it waits: its job is CANCELLED"""
    waiting_pod()

    bed.delete("waits")

    bed.wait_gone("waits")
    bed.wait_ended("waits", "CANCELLED")


@case
def deleted_while_running():
    """a Pod deleted while it runs: the job is CANCELLED when the containers are
    gone, and not before"""
    bed.create(bed.pod("slow", annotations={"sandbox/stop": "10m"},
                       terminationGracePeriodSeconds=600))
    bed.wait_phase("slow", "Running")

    bed.delete("slow")

    never("its job ends before it", lambda: "RUNNING" not in
          bed.state_of(bed.job_of("slow")), 2)
    bed.play("slow", stop="1ms")
    bed.wait_gone("slow")
    bed.wait_ended("slow", "CANCELLED")


@case
def deleted_on_the_real_kubelet():
    """a Pod that ignores TERM keeps its allocation until its grace is over"""
    bed.create(bed.pod("stubborn", real=True, cpu="100m",
                       terminationGracePeriodSeconds=4,
                       command="trap '' TERM; while :; do sleep 1; done"))
    bed.wait_phase("stubborn", "Running")

    bed.delete("stubborn")

    # The job is read first: once it has ended, the container has.
    def ended():
        state = bed.state_of(bed.job_of("stubborn"))
        pod = bed.get("stubborn")
        if "RUNNING" in state:
            return False
        check(not pod or pod["status"]["phase"] in ("Succeeded", "Failed"),
              "the job ended before the container")
        return True

    wait_for("the job to end", ended)
    bed.wait_ended("stubborn", "CANCELLED")


@case
def scancel_while_pending():
    """scancel of a pending job fails the Pod with Slurm's words, and it is not
    submitted again"""
    job = waiting_pod("dropped")

    bed.run("scancel", str(job["job_id"]))

    pod = bed.wait_phase("dropped", "Failed")
    equal(pod["status"]["reason"], "SlurmJobCancelled", "reason")
    check(f"Slurm job {job['job_id']} ended: CANCELLED" in
          pod["status"]["message"], pod["status"]["message"])
    wait_for("the Event", lambda: [
        e for e in bed.events_of(pod["metadata"]["uid"])
        if e["reason"] == "SlurmJobCancelled"])
    equal(len(bed.jobs_of("dropped")), 1, "jobs")


@case
def scancel_on_the_real_kubelet():
    """scancel of a running job on the real kubelet stops its container by TERM;
    the object and its logs stay"""
    bed.create(bed.pod("polite", real=True, cpu="100m",
                       terminationGracePeriodSeconds=600,
                       command="echo hello; trap 'exit 0' TERM; "
                               "while :; do sleep 0.2; done"))
    bed.wait_phase("polite", "Running")

    bed.run("scancel", str(bed.job_of("polite")["job_id"]))

    pod = bed.wait_phase("polite", "Failed", seconds=60)  # well before KILL
    equal(pod["status"]["reason"], "DeadlineExceeded", "reason")
    bed.wait_ended("polite", "CANCELLED")
    equal(bed.run("kubectl", "logs", "-n", bed.NAMESPACE, "polite").strip(),
          "hello", "logs")


@case
def scancel_of_what_ignores_term():
    """a container of the real kubelet that ignores TERM keeps its job COMPLETING
    until its grace is over"""
    bed.create(bed.pod("rude", real=True, cpu="100m",
                       terminationGracePeriodSeconds=4,
                       command="trap '' TERM; while :; do sleep 1; done"))
    bed.wait_phase("rude", "Running")

    bed.run("scancel", str(bed.job_of("rude")["job_id"]))

    def ended():
        completing = "COMPLETING" in bed.state_of(bed.job_of("rude"))
        living = bed.phase_is("rude", "Running")
        check(completing or not living, "the epilog ended before the container")
        return not completing

    wait_for("the job to end", ended)
    bed.wait_ended("rude", "CANCELLED")


@case
def scancel_by_the_owner():
    """the job's own user may cancel it, another user may not"""
    bed.create(bed.pod("mine"))
    bed.wait_phase("mine", "Running")
    job = str(bed.job_of("mine")["job_id"])

    refusal = bed.run("scancel", job, user="bob", check=False)
    check("denied" in refusal.lower(), refusal)
    check(bed.get("mine"), "bob cannot end it")
    bed.run("scancel", job, user="alice")

    bed.wait_phase("mine", "Failed")
    bed.wait_ended("mine", "CANCELLED")


@case
def next_job_takes_the_place():
    """the next waiting Pod is bound as soon as one ends"""
    waiting_pod()

    bed.delete("filler-2")

    bed.wait_phase("waits", "Running")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
