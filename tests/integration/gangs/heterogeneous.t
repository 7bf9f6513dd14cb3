#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Gangs of unequal Pods whose job is heterogeneous: a component for each size,
all or none of them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import faults
import gangs
import slurmctld
from slurmctld import nodes_of
from tap import case, check, equal, run, wait_for

HET = {gangs.HETEROGENEOUS: "true"}
LARGE, SMALL = 2, 4  # Pods: of 10 CPUs, and of 1
SLOW = 60  # seconds: backfill looks every 5 s, and starts nobody else meanwhile


last_before = 0  # the highest JobId before the case


def before_each():
    """Of an earlier run there may be gangs of the same names."""
    global last_before
    bed.clean()
    last_before = max(bed.jobs(), default=0)


def names(gang, count=LARGE + SMALL):
    return [f"{gang}-{i}" for i in range(count)]


def create(gang, annotations=None, **each):
    """The Pods of that gang, the large ones first; their names. each: further
    annotations by name of the Pod."""
    for i, name in enumerate(names(gang)):
        bed.create(gangs.member(
            name, gang, LARGE + SMALL, cpu="10" if i < LARGE else "1",
            annotations={**(HET if annotations is None else annotations),
                         **each.get(name.replace("-", "_"), {})}))
    return names(gang)


def jobs_of(gang):
    """All jobs of that gang in this case, oldest first."""
    return [job for job in gangs.jobs_of(f"{bed.NAMESPACE}/gang/{gang}")
            if job["job_id"] > last_before]


def leader_of(job):
    return (job["het_job_id"] or {}).get("number") or 0


def components(gang):
    """Those of the gang's newest job."""
    jobs = jobs_of(gang)
    newest = max(map(leader_of, jobs), default=0)
    return [job for job in jobs if newest and leader_of(job) == newest]


def wait_states(gang, state, seconds=SLOW):
    """Until both components are in that state, and nothing else; these."""
    def there():
        found = components(gang)
        return found if len(found) == 2 and all(
            job["job_state"] == [state] for job in found) else None
    return wait_for(f"both components of gang {gang} to be {state}", there,
                    seconds)


def wait_running(gang, seconds=SLOW):
    for name in names(gang):
        bed.wait_phase(name, "Running", seconds)
    return wait_states(gang, "RUNNING")


def bound(gang):
    return [name for name in names(gang)
            if (bed.get(name) or {"spec": {}})["spec"].get("nodeName")]


def annotation(name, which):
    return bed.get(name)["metadata"]["annotations"].get(which)


def sluid_of(job):
    return job["step_id"]["sluid"]


def is_by(name, job):
    """The Pod is on a node of that job, and says so."""
    found = bed.get(name)
    meta = found["metadata"]
    return (meta["labels"].get(bed.JOB_LABEL) == str(job["job_id"]) and
            meta["annotations"].get(bed.SLUID_ANNOTATION) == sluid_of(job) and
            found["spec"]["nodeName"] in nodes_of(job))


@case
def a_component_for_each_size():
    """2 Pods of 10 CPUs and 4 of 1: two components on nodes of their own, each Pod by
    its component, ranks and nodes over both; the job ends as the first that failed"""
    pods = create("het-mix", het_mix_1={"sandbox/exit": "7"})
    large, small = wait_running("het-mix")

    equal((large["tasks"]["number"], large["cpus"]["number"]), (LARGE, 20),
          "tasks and CPUs of the leader")
    equal((small["tasks"]["number"], small["cpus"]["number"]), (SMALL, SMALL),
          "tasks and CPUs of the other")
    check(not set(nodes_of(large)) & set(nodes_of(small)),
          f"{large['nodes']} and {small['nodes']} share a node")
    for i, name in enumerate(pods):
        check(is_by(name, large if i < LARGE else small), f"{name} is elsewhere")
        equal(annotation(name, gangs.RANK), str(i), "rank")
        equal(annotation(name, gangs.NODES),
              ",".join(nodes_of(large) + nodes_of(small)), "nodes")

    bed.end(*pods)
    for job in wait_states("het-mix", "FAILED"):
        equal(bed.exit_of(job), "7:0", "exit code")


@case
def one_job_without_the_wish():
    """without the annotation such Pods are one ordinary job, as ever"""
    create("het-plain", annotations={})
    (job,) = wait_for("its job", lambda: jobs_of("het-plain"))
    equal((leader_of(job), job["cpus"]["number"]), (0, 60), "leader, CPUs")


@case
def refused():
    """what cannot be is refused with a sentence: another value, other values on some
    Pods, wishes about all nodes, a gang that may be incomplete"""
    create("het-odd", annotations={gangs.HETEROGENEOUS: "maybe"})
    bed.wait_words("het-odd-0", "heterogeneous must be true or false")
    create("het-both", het_both_3={gangs.HETEROGENEOUS: "false"})
    bed.wait_words("het-both-0", "the same on all Pods")
    create("het-wide", annotations={**HET, "slurmk8s/min-nodes": "3"})
    bed.wait_words("het-wide-0", "cannot have min-nodes")
    for i in range(2):
        bed.create(gangs.member(f"het-few-{i}", "het-few", 3, minimum=2,
                                cpu=str(i + 1), annotations=HET))
    bed.wait_words("het-few-0", "needs all Pods of the gang at once: 2 of 3")
    for gang in ("het-odd", "het-both", "het-wide", "het-few"):
        equal(jobs_of(gang), [], f"jobs of {gang}")


@case
def refused_by_slurm():
    """one component that no node of its partition can hold: both are refused, in Slurm's words; what
    slurmctld keeps of the other is no word of its user's, to the next agent either"""
    for i in range(2):
        bed.create(gangs.member(f"het-big-{i}", "het-big", 2,
                                cpu="1" if i == 0 else "12",
                                annotations={**HET, bed.PARTITION: "real"}))
    bed.wait_words("het-big-0", "No Slurm job could be submitted: submit: ")
    left = [job["job_state"] for job in jobs_of("het-big")]
    check(["CANCELLED"] in left, f"slurmctld has {left}")

    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent to ask again", lambda: len(jobs_of("het-big")) > len(left),
             60)
    for i in range(2):
        equal(bed.get(f"het-big-{i}")["status"]["phase"], "Pending", f"het-big-{i}")


@case
def scancel_while_pending():
    """scancel of the leader while it waits fails all Pods, for good"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    create("het-queue")
    leader, _ = wait_states("het-queue", "PENDING")
    equal(bound("het-queue"), [], "Pods bound")
    bed.run("scancel", str(leader["job_id"]))
    for name in names("het-queue"):
        found = bed.wait_phase(name, "Failed")
        equal(found["status"]["reason"], "SlurmJobCancelled", "reason")
    wait_states("het-queue", "CANCELLED")
    equal(len(jobs_of("het-queue")), 2, "jobs")


@case
def scancel_of_the_leader():
    """scancel of the leader ends the Pods of all components"""
    create("het-gone")
    leader, _ = wait_running("het-gone")
    bed.run("scancel", str(leader["job_id"]))
    for name in names("het-gone"):
        bed.wait_phase(name, "Failed")
    wait_states("het-gone", "CANCELLED")


@case
def scancel_of_one_component():
    """scancel of one component that runs ends all: its own Pods and the others'"""
    create("het-part")
    _, small = wait_running("het-part")
    bed.run("scancel", str(small["job_id"]))
    for name in names("het-part"):
        bed.wait_phase(name, "Failed")
    wait_states("het-part", "CANCELLED")
    equal(len(jobs_of("het-part")), 2, "jobs")


@case
def node_down():
    """an administrator sets the node of one component DOWN: the Pods of both are
    ended"""
    create("het-down")
    leader, small = wait_running("het-down")
    (node,) = nodes_of(small)
    with slurmctld.node_down(node):
        for name in names("het-down"):
            bed.wait_phase(name, "Failed")
        wait_states("het-down", "NODE_FAIL")  # slurmctld fails the other, too
    equal(len(jobs_of("het-down")), 2, "jobs")


@case
def member_deleted_while_waiting():
    """a Pod deleted while the components wait: both are given back; the next Pod
    makes the gang whole"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    create("het-hole")
    first, _ = wait_states("het-hole", "PENDING")
    bed.delete("het-hole-4")
    bed.wait_words("het-hole-0", "5 of 6 Pods")
    wait_states("het-hole", "CANCELLED")

    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.create(gangs.member("het-hole-4", "het-hole", LARGE + SMALL, annotations=HET))
    leader, _ = wait_running("het-hole")
    check(leader["job_id"] != first["job_id"], "it is the first one")


@case
def made_again():
    """a Pod made again while the gang runs takes the place of its size"""
    create("het-again")
    _, small = wait_running("het-again")
    rank = annotation("het-again-4", gangs.RANK)
    bed.delete("het-again-4", grace=0)
    bed.wait_gone("het-again-4")
    # By another name: kwok deletes by name what it has seen being deleted.
    bed.create(gangs.member("het-again-x", "het-again", LARGE + SMALL, annotations=HET))
    bed.wait_phase("het-again-x", "Running")
    check(is_by("het-again-x", small), "it is by another job")
    equal(annotation("het-again-x", gangs.RANK), rank, "rank")


@case
def agent_killed():
    """kill -9 of the agent at its submit, its bindings and its start: the next one
    goes on, with the same two jobs"""
    for point in [f"{write}:{side}" for write in
                  ("submit_het", "bind", "send_start", "complete", "send_clean")
                  for side in ("before", "after")]:
        check(point in faults.points(), f"no fault point {point}")
        if faults.alive():
            bed.ctl("kill", "slurmk8sd")
        gang = "het-cut-" + point.replace(":", "-").replace("_", "-")
        ends = point.split(":")[0] in ("complete", "send_clean")
        pods = create(gang, annotations={**HET, "sandbox/run": "300ms"}
                      if ends else None)
        faults.Fault(point).wait_dead(SLOW)
        bed.ctl("start", "slurmk8sd")
        if ends:
            jobs = wait_states(gang, "COMPLETED")
        else:
            jobs = wait_running(gang)
            for i, name in enumerate(pods):
                check(is_by(name, jobs[i >= LARGE]), f"{name} is elsewhere")
        equal(len(jobs_of(gang)), 2, f"jobs of {gang}")
        for name in pods:
            bed.delete(name)
        for name in pods:
            bed.wait_gone(name)


@case
def agent_killed_with_half_a_job():
    """kill -9 of the agent as it ends the components that are left when one has
    ended: the next one ends them, and their Pods"""
    for side in ("before", "after"):
        gang = f"het-half-{side}"
        create(gang)
        _, small = wait_running(gang)
        bed.ctl("kill", "slurmk8sd")
        fault = faults.Fault(f"cancel:{side}")
        wait_for("the agent to serve", bed.serves)
        bed.run("scancel", str(small["job_id"]))
        fault.wait_dead()
        bed.ctl("start", "slurmk8sd")
        for name in names(gang):
            bed.wait_phase(name, "Failed")
        wait_states(gang, "CANCELLED")
        equal(len(jobs_of(gang)), 2, f"jobs of {gang}")


@case
def slow_to_stop():
    """a Pod of one component is slow to stop: its component's epilog is held until its
    container is gone"""
    create("het-slow", het_slow_3={"sandbox/stop": "1h"})
    leader, _ = wait_running("het-slow")
    bed.run("scancel", str(leader["job_id"]))
    for name in names("het-slow"):
        if name != "het-slow-3":
            bed.wait_phase(name, "Failed")
    check("COMPLETING" in components("het-slow")[1]["job_state"],
          "the component with a Pod that lives has let its epilog go")
    bed.play("het-slow-3", stop="1ms")
    bed.wait_phase("het-slow-3", "Failed")
    wait_states("het-slow", "CANCELLED")


@case
def slurmctld_killed():
    """kill -9 of slurmctld, while both components wait and while they run: they go
    on, and no Pod is touched"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    create("het-crash")
    wait_states("het-crash", "PENDING")
    slurmctld.save()
    slurmctld.restart()
    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    before = wait_running("het-crash")
    slurmctld.save()
    slurmctld.restart()
    wait_for("the agent to be in step", bed.serves)
    after = wait_states("het-crash", "RUNNING")
    equal([sluid_of(job) for job in after], [sluid_of(job) for job in before],
          "SLUIDs")
    for name in names("het-crash"):
        equal(bed.get(name)["status"]["phase"], "Running", name)
    bed.end(*names("het-crash"))
    wait_states("het-crash", "COMPLETED")
    equal(len(jobs_of("het-crash")), 2, "jobs")


@case
def allocation_lost():
    """slurmctld is back at a state before the components had nodes: every Pod lives on
    where it is, with a job of its own, and the components are given up"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    create("het-back")
    wait_states("het-back", "PENDING")
    slurmctld.keep_state()
    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    wait_running("het-back")
    pods = [slurmctld_pod(name) for name in names("het-back")]
    slurmctld.bring_state_back()
    bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    for pod in pods:
        is_adopted(pod)
    wait_states("het-back", "CANCELLED")


@case
def all_lost():
    """slurmctld has lost both components: every Pod lives on with a job of its own"""
    slurmctld.keep_state()
    create("het-lost")
    wait_running("het-lost")
    pods = [slurmctld_pod(name) for name in names("het-lost")]
    slurmctld.bring_state_back()
    for pod in pods:
        is_adopted(pod)
    equal(jobs_of("het-lost"), [], "jobs")


def slurmctld_pod(name):
    found = bed.get(name)
    return (name, found["metadata"]["uid"], found["spec"]["nodeName"])


def is_adopted(pod):
    """By one job of its own, on its node; the Pod was never told to end."""
    name, uid, node = pod

    def adopter():
        now = bed.get(name)
        equal(now["metadata"]["uid"], uid, f"Pod {name}")
        check("activeDeadlineSeconds" not in now["spec"], f"{name} is ended")
        equal(now["status"]["phase"], "Running", f"phase of {name}")
        jobs = slurmctld.living_jobs_of(name)
        return jobs[0] if len(jobs) == 1 and \
            jobs[0]["job_state"] == ["RUNNING"] and \
            annotation(name, bed.SLUID_ANNOTATION) == sluid_of(jobs[0]) else None
    job = wait_for(f"Pod {name} to be adopted", adopter, 90)
    equal(job["nodes"], node, f"node of the new job of {name}")


@case
def max_padding():
    """MaxPadding: a gang that would leave more idle is heterogeneous without asking,
    unless it says no"""
    agent_conf.edit(lambda conf: conf + "MaxPadding=50\n")
    create("het-idle", annotations={})  # 24 of 60 CPUs are used
    wait_running("het-idle")
    create("het-kept", annotations={gangs.HETEROGENEOUS: "false"})
    wait_for("the job of gang kept", lambda: jobs_of("het-kept"))
    equal([leader_of(job) for job in jobs_of("het-kept")], [0], "leaders")


run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
