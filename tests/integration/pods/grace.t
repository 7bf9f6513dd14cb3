#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long containers have after the end of their job: MaxGracePeriod bounds it.
A Pod with a longer grace period gets no job, since a real kubelet that has begun
to stop a container goes on with what it began with. One that runs already when
the bound is lowered is told to end within it. Without the bound each of these
Pods would live on for an hour that Slurm does not count."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
from tap import case, check, equal, never, run, wait_for

HOUR = 3600
MOST = 4  # MaxGracePeriod here, seconds
IGNORES = "trap 'echo TERM' TERM; while :; do sleep 1; done"


def slow(name, grace=HOUR, **options):
    """A Pod on a kwok node that takes all of its grace period to stop."""
    annotations = {"sandbox/stop": "2h", **options.pop("annotations", {})}
    bed.create(bed.pod(name, annotations=annotations,
                       terminationGracePeriodSeconds=grace, **options))
    bed.wait_phase(name, "Running")
    bed.wait_job(name, "RUNNING")


def bounded():
    """For as long as the block lasts."""
    return agent_conf.changed(lambda text: text.replace(
        "MaxGracePeriod=3600", f"MaxGracePeriod={MOST}"))


def by_kill_wait():
    """The same without MaxGracePeriod."""
    return agent_conf.changed(lambda text: text.replace(
        "MaxGracePeriod=3600\n", ""))


def wait_refused(name, asked, most):
    """Until the Pod says that it gets no job, and why."""
    wait_for("the Pod to say why", lambda: all(
        words in bed.condition(name).get("message", "") for words in (
            f"is {asked}, and {most} is the most", "MaxGracePeriod")))


def wait_ends_in_vain(name):
    """Until its containers, which ignore TERM, are being stopped."""
    wait_for("TERM", lambda: "TERM" in bed.run(
        "kubectl", "logs", name, "-n", bed.NAMESPACE, check=False), 60)


def scancel(name):
    bed.run("scancel", str(bed.job_of(name)["job_id"]))


def warnings(uid):
    return [e["reason"] for e in bed.events_of(uid)]


@case
def refused():
    """a Pod with an hour's grace gets no job, and says why; when MaxGracePeriod is
    raised and the agent restarted, it goes on"""
    raised = agent_conf.read(agent_conf.CONF)
    with by_kill_wait():
        most = int(kill_wait_of_slurm())
        bed.create(bed.pod("greedy", terminationGracePeriodSeconds=most + 1))
        bed.create(bed.pod("modest", terminationGracePeriodSeconds=most))
        bed.wait_phase("modest", "Running")
        wait_refused("greedy", most + 1, most)
        equal(bed.jobs_of("greedy"), [], "its jobs")
        agent_conf.write(agent_conf.CONF, raised)
        bed.ctl("kill", "slurmk8sd")
        bed.ctl("start", "slurmk8sd")
        bed.wait_phase("greedy", "Running")
        bed.wait_job("greedy", "RUNNING")


@case
def refused_by_a_probe():
    """a liveness probe may have a grace period of its own; it counts, too"""
    with bounded():
        bed.create(bed.pod("greedy", containers=[{
            "name": "main", "image": "busybox:stable",
            "resources": {"requests": {"cpu": "1", "memory": "64Mi"}},
            "livenessProbe": {"exec": {"command": ["true"]},
                              "terminationGracePeriodSeconds": HOUR}}]))
        wait_refused("greedy", HOUR, 30)
        check("of a probe" in bed.condition("greedy")["message"], "which")
    bed.wait_phase("greedy", "Running")


@case
def that_says_nothing():
    """a Pod that asks for nothing has 30 s by the API server, and always gets a
    job"""
    body = bed.pod("plain")
    del body["spec"]["terminationGracePeriodSeconds"]
    with bounded():
        bed.create(body)
        bed.wait_phase("plain", "Running")
        bed.wait_job("plain", "RUNNING")


@case
def grace_time():
    """GraceTime of a partition allows as much"""
    bed.run("scontrol", "update", "PartitionName=low", "GraceTime=90")
    try:
        with bounded():
            bed.create(bed.pod("slow", terminationGracePeriodSeconds=90))
            bed.create(bed.pod("slower", terminationGracePeriodSeconds=91))
            bed.wait_phase("slow", "Running")
            wait_refused("slower", 91, 90)
    finally:
        bed.run("scontrol", "update", "PartitionName=low", "GraceTime=0")


@case
def waits_when_it_is_lowered():
    """the job of a Pod that waits is cancelled when MaxGracePeriod is lowered; the
    Pod is refused, and has another job when it is raised"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        bed.create(bed.pod("waits", terminationGracePeriodSeconds=HOUR))
        job = bed.wait_job("waits", "PENDING")["job_id"]
        with bounded():
            wait_refused("waits", HOUR, 30)
            equal(bed.jobs()[job]["job_state"], ["CANCELLED"], "its job")
            equal(bed.get("waits")["status"]["phase"], "Pending", "phase")
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.wait_phase("waits", "Running")
    check(bed.wait_job("waits", "RUNNING")["job_id"] != job, "another job")


@case
def runs_when_it_is_lowered():
    """a Pod that runs when MaxGracePeriod is lowered runs on, over a restart of the
    agent, too"""
    slow("before")
    with bounded():
        bed.ctl("kill", "slurmk8sd")
        bed.ctl("start", "slurmk8sd")
        uid = bed.get("before")["metadata"]["uid"]
        never("it ends", lambda: not bed.get("before") or bed.get("before")
              ["metadata"]["uid"] != uid or bed.get("before")["metadata"]
              .get("deletionTimestamp"), 2)
        bed.wait_job("before", "RUNNING")


@case
def time_limit():
    """a Pod with an hour's grace that does not stop is gone soon after its time
    limit, and its job is TIMEOUT"""
    slow("greedy", annotations={bed.TIMELIMIT: "1"})
    with bounded():
        uid = bed.get("greedy")["metadata"]["uid"]

        bed.wait_gone("greedy", 180)

        bed.wait_ended("greedy", "TIMEOUT")
        check("SlurmJobEnded" in warnings(uid), f"Events {warnings(uid)}")


@case
def scancelled():
    """the same after scancel"""
    slow("greedy")
    with bounded():
        scancel("greedy")

        bed.wait_gone("greedy")
        bed.wait_ended("greedy", "CANCELLED")


@case
def kill_wait():
    """without MaxGracePeriod, KillWait of slurm.conf counts"""
    slow("greedy")
    with by_kill_wait():
        scancel("greedy")

        wait_for("its deletion", lambda: bed.get("greedy")["metadata"]
                 .get("deletionGracePeriodSeconds"))
        equal(bed.get("greedy")["metadata"]["deletionGracePeriodSeconds"],
              int(kill_wait_of_slurm()), "its grace")
    bed.play("greedy", stop="1ms")
    bed.wait_ended("greedy", "CANCELLED")


def kill_wait_of_slurm():
    for line in bed.run("scontrol", "show", "config").splitlines():
        name, _, value = line.partition("=")
        if name.strip() == "KillWait":
            return value.split()[0]
    raise AssertionError("scontrol says no KillWait")


@case
def short_grace():
    """a Pod whose own grace period is short enough keeps its object"""
    with bounded():
        slow("modest", grace=MOST)

        scancel("modest")

        pod = bed.wait_phase("modest", "Failed")
        equal(pod["status"]["reason"], "DeadlineExceeded", "reason")
        bed.wait_ended("modest", "CANCELLED")


@case
def deletion_under_way():
    """a user's deletion with a long grace counts as long as the job does, and is
    shortened when the job ends"""
    slow("deleted")
    with bounded():
        bed.delete("deleted", grace=2 * HOUR)
        wait_for("the deletion", lambda: bed.get("deleted")["metadata"]
                 .get("deletionTimestamp"))
        never("it is shortened while its job runs", lambda: bed.get("deleted")
              ["metadata"]["deletionGracePeriodSeconds"] != 2 * HOUR, 2)
        bed.wait_job("deleted", "RUNNING")

        scancel("deleted")

        bed.wait_gone("deleted")
        bed.wait_ended("deleted", "CANCELLED")


@case
def own_deadline():
    """a Pod that its user's activeDeadlineSeconds is ending already is deleted with
    the bound, too; a real kubelet does not obey (doc/admin/secure.md)"""
    slow("deadline", activeDeadlineSeconds=1)
    with bounded():
        scancel("deadline")

        bed.wait_gone("deadline", 60)
        bed.wait_ended("deadline", "CANCELLED")


def rude(name="rude", grace=HOUR, **spec):
    """A Pod on the real kubelet that ignores TERM, and says so; its body."""
    return bed.pod(name, real=True, cpu="100m",
                   terminationGracePeriodSeconds=grace, command=IGNORES, **spec)


@case
def on_the_real_kubelet():
    """a container of the real kubelet that ignores TERM is killed, and its job
    does not stay COMPLETING"""
    bed.create(rude())
    bed.wait_phase("rude", "Running")
    bed.wait_job("rude", "RUNNING")
    with bounded():
        scancel("rude")

        bed.wait_gone("rude", 60)
        bed.wait_ended("rude", "CANCELLED")


def stopped_already(stop=lambda: None, grace=30, **spec):
    """The real kubelet stops the container of a Pod that ignores TERM, for as
    long as a Pod may ask for, when its job ends. Then the Pod is over in that
    time, and its job does not stay COMPLETING."""
    with by_kill_wait():
        bed.create(rude("greedy"))  # with an hour it never comes so far
        wait_refused("greedy", HOUR, kill_wait_of_slurm())
        bed.create(rude(grace=grace, **spec))
        bed.wait_phase("rude", "Running")
        bed.wait_job("rude", "RUNNING")
        stop()
        wait_ends_in_vain("rude")

        scancel("rude")

        wait_for("it to be over", lambda: (bed.get("rude") or {}).get(
            "status", {}).get("phase", "Failed") == "Failed", 60)
        bed.wait_ended("rude", "CANCELLED")


@case
def deleted_on_the_real_kubelet():
    """a Pod of the real kubelet whose user has deleted it before its job ends is
    gone in the time that a Pod may ask for"""
    stopped_already(lambda: bed.delete("rude"))


@case
def at_its_deadline_on_the_real_kubelet():
    """the same for one whose own activeDeadlineSeconds has passed"""
    # The kubelet counts from when it saw the Pod, and says Failed as soon as the
    # time is over: it must be long enough for the container to be seen running.
    stopped_already(activeDeadlineSeconds=20)


@case
def by_its_probe_on_the_real_kubelet():
    """the same for one whose probe has failed"""
    body = rude()["spec"]["containers"][0]
    stopped_already(grace=2, containers=[{
        **body, "livenessProbe": {
            "exec": {"command": ["false"]}, "failureThreshold": 1,
            "periodSeconds": 1, "terminationGracePeriodSeconds": 30}}])


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
