#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gangs: Pods that get one Slurm job, all or none of them."""
import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import faults
import gangs
import real_nodes
from tap import case, check, equal, run, wait_for

JOB = "/apis/batch/v1/namespaces/test/jobs"
NODES = ["kn1", "kn2", "kn3", "kn4"]  # of 16 CPUs


def names(gang, count):
    return [f"{gang}-{i}" for i in range(count)]


def create(gang, count, size=None, annotations=None, **options):
    """Pods of that gang, of 4 CPUs each; their names."""
    options.setdefault("cpu", "4")
    for name in names(gang, count):
        bed.create(gangs.member(name, gang, size or count,
                                annotations=annotations, **options))
    return names(gang, count)


def job_of(gang):
    return gangs.job_of(f"{bed.NAMESPACE}/gang/{gang}")


def wait_job(gang, state, seconds=30):
    def there():
        job = job_of(gang)
        return job if job and state in job["job_state"] and \
            "CONFIGURING" not in job["job_state"] else None
    return wait_for(f"the job of gang {gang} to be {state}", there, seconds)


def wait_ended(gang, state, code=None):
    job = wait_job(gang, state)
    if code:
        equal(bed.exit_of(job), code, "exit code")
    wait_for("it to leave COMPLETING",
             lambda: "COMPLETING" not in job_of(gang)["job_state"])
    return job


def wait_running(gang, count, seconds=30):
    for name in names(gang, count):
        bed.wait_phase(name, "Running", seconds)
    return wait_job(gang, "RUNNING")


def bound(pods):
    return [name for name in pods
            if (bed.get(name) or {"spec": {}})["spec"].get("nodeName")]


def annotation(name, which):
    return bed.get(name)["metadata"]["annotations"].get(which)


@case
def one_job_in_rank_order():
    """12 Pods of 4 CPUs are one job on 3 nodes, ranks in the order of the nodes,
    and each Pod knows its rank and the nodes"""
    pods = create("train", 12)

    job = wait_running("train", 12)
    equal(job["tasks"]["number"], 12, "tasks")
    equal(job["cpus"]["number"], 48, "CPUs")
    where = [bed.get(name)["spec"]["nodeName"] for name in pods]
    # In slurmctld's order, which is not that of the names where nodes were made
    # anew.
    order = annotation("train-7", gangs.NODES).split(",")
    equal(sorted(order), sorted(set(where)), "nodes on the Pod")
    equal(where, sorted(where, key=order.index), "the nodes in rank order")
    equal(len(order), 3, "nodes")
    equal([annotation(name, gangs.RANK) for name in pods],
          [str(i) for i in range(12)], "ranks")
    bed.end(*pods)
    wait_ended("train", "COMPLETED", "0:0")


@case
def incomplete():
    """3 of 4 Pods exist: each says so, and there is no job until the last comes"""
    pods = create("slow", 3, size=4)
    for name in pods:
        bed.wait_words(name, "3 of 4 Pods of gang slow exist")
    equal(job_of("slow"), None, "job")

    bed.create(gangs.member("slow-3", "slow", 4, cpu="4"))
    wait_running("slow", 4)


@case
def running_means_all_bound():
    """a gang's job is RUNNING only when all its Pods are on their nodes"""
    for i in range(6):
        create(f"g{i}", 8, cpu="1")

    def all_run():
        jobs = [job_of(f"g{i}") for i in range(6)]
        for i, job in enumerate(jobs):
            if job and "RUNNING" in job["job_state"] and \
                    "CONFIGURING" not in job["job_state"]:
                equal(len(bound(names(f"g{i}", 8))), 8, f"Pods of g{i} bound")
        return all(job and job["job_state"] == ["RUNNING"] for job in jobs)
    wait_for("all gangs to run", all_run, 60)


@case
def too_large_waits_whole():
    """a gang that does not fit waits as a whole, with Slurm's reason on each Pod,
    and starts when there is room"""
    first = create("first", 12)
    wait_running("first", 12)
    second = create("second", 8)
    for name in second:
        bed.wait_words(name, "is waiting: ", seconds=60)
    equal(bound(second), [], "Pods bound")

    for name in first:
        bed.delete(name)
    wait_running("second", 8)
    wait_ended("first", "CANCELLED")


@case
def unequal():
    """Pods of unequal size: tasks of the largest, said on the smaller ones"""
    bed.create(gangs.member("driver", "mix", 3, cpu="6"))
    for i in range(2):
        bed.create(gangs.member(f"worker-{i}", "mix", 3, cpu="1"))

    for name in ("driver", "worker-0", "worker-1"):
        bed.wait_phase(name, "Running")
    equal(wait_job("mix", "RUNNING")["cpus"]["number"], 18, "CPUs")
    uid = bed.get("worker-0")["metadata"]["uid"]
    wait_for("the Event", lambda: [
        e for e in bed.events_of(uid) if e["reason"] == "Scheduled" and
        "asks for 1 CPUs" in e["note"] and "has 6" in e["note"]])


@case
def spread_and_exclusive():
    """min-nodes spreads a gang, exclusive keeps others off its nodes"""
    wide = create("wide", 2, annotations={"slurmk8s/min-nodes": "2",
                                          "slurmk8s/exclusive": "true"})
    wait_running("wide", 2)
    equal(len({bed.get(name)["spec"]["nodeName"] for name in wide}), 2, "nodes")
    equal(job_of("wide")["cpus"]["number"], 32, "CPUs")


@case
def refused():
    """sizes that contradict each other, or are none, are refused with a sentence"""
    bed.create(gangs.member("a", "odd", 2))
    bed.create(gangs.member("b", "odd", 3))
    bed.create(gangs.member("c", "none", "many"))
    bed.create(gangs.member("d", "huge", 100000))

    bed.wait_words("a", "different sizes")
    bed.wait_words("b", "different sizes")
    bed.wait_words("c", "gang-size must be a number")
    bed.wait_words("d", "MaxGangSize")


@case
def member_deleted_while_waiting():
    """a Pod deleted from a waiting gang: its job is given back, the others say
    how many there are; the new Pod makes it whole"""
    first = create("first", 16)
    wait_running("first", 16)
    create("queue", 4)
    wait_job("queue", "PENDING")
    bed.delete("queue-1")
    wait_job("queue", "CANCELLED")
    bed.wait_words("queue-0", "3 of 4 Pods")

    bed.create(gangs.member("queue-1", "queue", 4, cpu="4"))
    wait_job("queue", "PENDING")
    for name in first:
        bed.delete(name)
    wait_running("queue", 4)


@case
def first_failure_by_rank():
    """the job ends when all Pods are over, with the exit code of the first that
    failed in rank order"""
    for i, code in enumerate((0, 7, 9)):
        bed.create(gangs.member(f"end-{i}", "end", 3, annotations={
            "sandbox/run": f"{(3 - i) * 400}ms", "sandbox/exit": str(code)}))
    wait_ended("end", "FAILED", "7:0")


@case
def scancel_ends_all():
    """scancel ends all Pods of a gang; the time limit does too"""
    pods = create("gone", 4)
    job = wait_running("gone", 4)
    bed.run("scancel", str(job["job_id"]))
    for name in pods:
        bed.wait_phase(name, "Failed")
    wait_ended("gone", "CANCELLED")


@case
def preempted():
    """a gang that has to give way is evicted as a whole"""
    create("low", 4, annotations={bed.PARTITION: "low"})
    wait_running("low", 4)
    gangs.preempt()
    for name in names("low", 4):
        bed.wait_gone(name)
    wait_ended("low", "PREEMPTED")


@case
def on_the_real_kubelet():
    """two Pods of a gang on one real kubelet are bound and start within a second of
    each other, or within the time that it takes to start one; they know their rank
    and their nodes by the downward API"""
    real_nodes.need_one()
    for i in range(2):
        body = gangs.member(f"pair-{i}", "pair", 2, real=True, cpu="100m",
                            command="echo rank $RANK of $NODES; sleep 2",
                            nodeSelector={"kubernetes.io/hostname": real_nodes.FIRST})
        body["spec"]["containers"][0]["env"] = [
            {"name": name, "valueFrom": {"fieldRef": {
                "fieldPath": f"metadata.annotations['{which}']"}}}
            for name, which in (("RANK", gangs.RANK), ("NODES", gangs.NODES))]
        bed.create(body)
    pods = [bed.wait_phase(f"pair-{i}", "Succeeded", 60) for i in range(2)]
    wait_ended("pair", "COMPLETED", "0:0")
    moment = datetime.datetime.fromisoformat
    bound = [moment(c["lastTransitionTime"]) for p in pods
             for c in p["status"]["conditions"] if c["type"] == "PodScheduled"]
    starts = [moment(
        p["status"]["containerStatuses"][0]["state"]["terminated"]["startedAt"])
        for p in pods]
    apart = max(datetime.timedelta(seconds=1), min(starts) - min(bound))
    check(abs(bound[0] - bound[1]) <= apart and
          abs(starts[0] - starts[1]) <= apart,
          f"bound at {bound}, started at {starts}")
    for i in range(2):
        equal(bed.run("kubectl", "logs", "-n", bed.NAMESPACE, f"pair-{i}"),
              f"rank {i} of real1\n", "what it saw")


@case
def scancel_while_pending():
    """scancel of a waiting gang fails all its Pods, and no job follows"""
    create("first", 16)
    wait_running("first", 16)
    pods = create("queue", 4)
    job = wait_job("queue", "PENDING")
    bed.run("scancel", str(job["job_id"]))
    for name in pods:
        found = bed.wait_phase(name, "Failed")
        equal(found["status"]["reason"], "SlurmJobCancelled", "reason")
    equal(job_of("queue")["job_id"], job["job_id"], "the newest job")


@case
def killed_while_binding():
    """kill -9 between the bindings of a gang: the next life binds the rest"""
    for point in ("bind:before", "bind:after", "send_start:before"):
        check(point in faults.points(), f"no fault point {point}")
        if faults.alive():
            bed.ctl("kill", "slurmk8sd")
        gang = "cut-" + point.replace(":", "-").replace("_", "-")
        create(gang, 6)
        faults.Fault(point).wait_dead()
        bed.ctl("start", "slurmk8sd")
        job = wait_running(gang, 6)
        equal(len(gangs.jobs_of(f"{bed.NAMESPACE}/gang/{gang}")), 1, "jobs")
        for name in names(gang, 6):
            equal(annotation(name, bed.SLUID_ANNOTATION),
                  job["step_id"]["sluid"], "SLUID")
            bed.delete(name)
        wait_ended(gang, "CANCELLED")


@case
def job_made_again():
    """a Job that is a gang by annotation: a Pod that fails is made again, and
    joins the gang while it runs"""
    template = gangs.member("x", "x", 3, cpu="4")
    template["metadata"] = {"annotations": template["metadata"]["annotations"]}
    bed.api("POST", JOB, {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "steps", "namespace": bed.NAMESPACE},
        "spec": {"parallelism": 3, "completions": 3, "backoffLimit": 4,
                 "completionMode": "Indexed", "template": template}})

    def pods():
        return [p for p in bed.pods() if p["metadata"].get("labels", {}).get(
            "batch.kubernetes.io/job-name") == "steps"]

    def running():
        return [p for p in pods() if p["status"].get("phase") == "Running"]
    first = wait_for("3 Pods to run", lambda: (
        lambda there: there if len(there) == 3 else None)(running()))
    uid = gangs.uid_of(first[0])
    job = gangs.job_of(uid)
    equal(job["name"], "steps", "JobName")

    victim = first[1]["metadata"]["name"]
    rank = annotation(victim, gangs.RANK)
    bed.api("PATCH", f"/api/v1/namespaces/test/pods/{victim}/status",
            {"status": {"phase": "Failed"}}, "application/merge-patch+json")
    wait_for("a new Pod to run in its place", lambda: [
        p for p in running() if p["metadata"]["name"] != victim and
        p["metadata"]["annotations"].get(gangs.RANK) == rank], 60)
    equal(gangs.job_of(uid)["job_id"], job["job_id"], "the job")
    check("RUNNING" in gangs.job_of(uid)["job_state"], "it runs on")

    bed.api("DELETE", JOB + "/steps", {"propagationPolicy": "Foreground"})
    wait_for("its Slurm job to end", lambda: {"CANCELLED", "FAILED"} & set(
        gangs.job_of(uid)["job_state"]))


@case
def more_completions_than_pods():
    """a Job of 4 completions, two at a time: the next two are one job again, and
    no job of another size is submitted and cancelled before"""
    template = gangs.member("x", "x", 2, cpu="1")
    template["metadata"] = {"annotations": template["metadata"]["annotations"]}
    made = bed.api("POST", JOB, {
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "rounds", "namespace": bed.NAMESPACE},
        "spec": {"parallelism": 2, "completions": 4, "template": template}})

    def running():
        found = [p["metadata"]["name"] for p in bed.pods()
                 if p["status"].get("phase") == "Running"]
        return found if len(found) == 2 else None
    for _ in range(2):
        bed.end(*wait_for("two Pods to run", running))
        wait_for("them to end", lambda: not running())
    mine = gangs.jobs_of(f"{bed.NAMESPACE}/job/{made['metadata']['uid']}")
    check(mine, "its jobs are known")
    for job in mine:
        wait_for("it to end", lambda job=job: bed.jobs()[job["job_id"]]
                 ["job_state"] == ["COMPLETED"])
    equal({job["tasks"]["number"] for job in mine}, {2}, "their tasks")


@case
def starts_early_with_a_minimum():
    """gang-min: the first Pod starts in a job with room for all, others join"""
    bed.create(gangs.member("lead", "early", 3, minimum=1, cpu="4"))
    bed.wait_phase("lead", "Running")
    job = wait_job("early", "RUNNING")
    equal(job["cpus"]["number"], 12, "CPUs")
    for i in range(2):
        bed.create(gangs.member(f"late-{i}", "early", 3, minimum=1, cpu="4"))
        bed.wait_phase(f"late-{i}", "Running")
    equal(job_of("early")["job_id"], job["job_id"], "the job")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
