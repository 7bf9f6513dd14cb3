#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kill -9 before and after each of the agent's writes: one job and one binding
for each Pod, the right ends, and nothing left.

Each case is a chain: a Pod is made for a point, the agent is started and dies
there, the next one dies at the next point with the Pods of all the points
before it in its hands, and the last one lives."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import faults
import gangs
import node_moves as moves
import pod_groups
import slurmctld
import volumes
from tap import Skip, case, check, equal, run, wait_for

# Nothing in the agent does these yet.
UNUSED = {"send_fail": "no held prolog is failed by the agent"}
# Tried where there are devices, and batch jobs.
ELSEWHERE = {"set_extra": "devices/inventory.t",
             **dict.fromkeys(("patch_worker", "set_down"),
                             "workers/answers.t"),
             "reconfigure": "tests/long/32-cluster.t",
             "submit_het": "gangs/heterogeneous.t",
             "set_partitions": "faults/slurmctld.t",
             "write_claim": "devices/claims.t", "write_claim_status": "devices/claims.t",
             **dict.fromkeys(("create_claim", "delete_claim",
                              "set_extended_claim"),
                             "devices/extended-resources.t"),
             **dict.fromkeys(("create_pod", "put_secret", "delete_secret",
                              "set_tag"), "sbatch/basics.t"),
             **dict.fromkeys(("create_service", "create_config_map"),
                             "sbatch/nodes.t")}

reached = set()
FIRST = 0xfffffffd  # the highest priority of a job: highest_priority in common/slurm/job.h
RUNS = {"sandbox/run": "300ms"}


def kill_agent():
    if faults.alive():
        bed.ctl("kill", "slurmk8sd")


def chain(writes, make):
    """Kills the agent before and after each of these writes; make(name) does
    what leads there, while no agent lives. Returns the names."""
    known = faults.points()
    kill_agent()
    names = []
    for point in [f"{write}:{side}" for write in writes
                  for side in ("before", "after")]:
        check(point in known, f"there is no fault point {point}")
        name = point.replace(":", "-").replace("_", "-")
        make(name)
        faults.Fault(point).wait_dead()
        names.append(name)
        reached.add(point)
    bed.ctl("start", "slurmk8sd")
    return names


def one_job(name):
    equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")


def bound_once(name):
    pod, job = bed.get(name), bed.job_of(name)
    equal(pod["metadata"]["labels"][bed.JOB_LABEL], str(job["job_id"]),
          f"the job of {name}")
    equal(pod["spec"]["nodeName"], job["nodes"], f"the Node of {name}")


@case
def pods_that_run():
    """Pods that run and exit: killed at the Lease, the submit, the binding, the start, the
    Event, the end of the job and of its epilog"""
    names = chain(("lease", "submit", "bind", "send_start", "post_event", "complete",
                   "send_clean"),
                  lambda name: bed.create(bed.pod(name, annotations=RUNS)))
    for name in names:
        bed.wait_ended(name, "COMPLETED", "0:0", 60)
        one_job(name)
        bound_once(name)


@case
def pods_that_fail():
    """Pods that fail with words: killed at the job's comment"""
    names = chain(("set_comment",), lambda name: bed.create(
        bed.pod(name, activeDeadlineSeconds=1)))
    for name in names:
        bed.wait_ended(name, "FAILED", seconds=60)
        one_job(name)
        wait_for("the comment", lambda: "DeadlineExceeded" in
                 bed.job_of(name).get("comment", ""))
        bound_once(name)


@case
def suspended_jobs():
    """jobs that were suspended while no agent lived: killed as it resumes them"""
    names = [f"resume-job-{side}" for side in ("before", "after")]
    for name in names:
        bed.create(bed.pod(name))
    for name in names:
        bed.wait_phase(name, "Running")
        bed.wait_job(name, "RUNNING")
    equal(chain(("resume_job",), lambda name: bed.run(
        "scontrol", "suspend", str(bed.job_of(name)["job_id"]))), names, "names")
    for name in names:
        bed.wait_job(name, "RUNNING", 60)
        one_job(name)
        bound_once(name)


class low_is_down:
    """Jobs of the partition low wait for as long as the block lasts."""

    def __enter__(self):
        bed.run("scontrol", "update", "PartitionName=low", "State=DOWN")

    def __exit__(self, *_):
        bed.run("scontrol", "update", "PartitionName=low", "State=UP")


def waiting_pod(name):
    bed.create(bed.pod(name, annotations={bed.PARTITION: "low"}))


def waiting_jobs(names):
    """One for each name, of Pods that wait; leaves no agent behind."""
    for name in names:
        waiting_pod(name)
    for name in names:
        bed.wait_job(name, "PENDING")
    kill_agent()


@case
def waiting_pods():
    """Pods that wait: killed as it says why"""
    with low_is_down():
        names = chain(("set_unscheduled",), waiting_pod)
        for name in names:
            bed.wait_words(name, "is waiting", seconds=60)
            one_job(name)
        for name in names:
            bed.delete(name)
        for name in names:
            bed.wait_ended(name, "CANCELLED", seconds=60)


@case
def deleted_while_waiting():
    """Pods deleted while they wait: killed as it cancels the job"""
    names = ["cancel-before", "cancel-after"]
    with low_is_down():
        waiting_jobs(names)
        chain(("cancel",), bed.delete)
        for name in names:
            bed.wait_ended(name, "CANCELLED", seconds=60)
            one_job(name)
            check(bed.get(name) is None, "the Pod is gone")


@case
def cancelled_while_waiting():
    """jobs cancelled while they wait: killed as it fails the Pod"""
    names = ["fail-pod-before", "fail-pod-after"]
    with low_is_down():
        waiting_jobs(names)
        chain(("fail_pod",), lambda name: bed.run(
            "scancel", str(bed.job_of(name)["job_id"])))
        for name in names:
            pod = bed.wait_phase(name, "Failed", 60)
            equal(pod["status"]["reason"], "SlurmJobCancelled", "reason")
            one_job(name)


@case
def cancelled_while_running():
    """jobs cancelled while their Pods run: killed as it ends the Pod"""
    names = ["expire-pod-before", "expire-pod-after"]
    for name in names:
        bed.create(bed.pod(name))
    for name in names:
        bed.wait_phase(name, "Running")
    chain(("expire_pod",), lambda name: bed.run(
        "scancel", str(bed.job_of(name)["job_id"])))
    for name in names:
        bed.wait_phase(name, "Failed", 60)
        bed.wait_ended(name, "CANCELLED", seconds=60)
        one_job(name)


@case
def cancelled_before_the_start():
    """jobs cancelled while their Pods are bound and nothing has started: killed
    as it deletes the Pod"""
    names = ["delete-pod-before", "delete-pod-after"]
    bed.ctl("kill", "--signal", "STOP", "kwok")
    try:
        for name in names:
            bed.create(bed.pod(name))
        for name in names:
            bed.wait_job(name, "RUNNING")
        chain(("delete_pod",), lambda name: bed.run(
            "scancel", str(bed.job_of(name)["job_id"])))
    finally:
        bed.ctl("kill", "--signal", "CONT", "kwok")
    for name in names:
        bed.wait_gone(name, 60)
        bed.wait_ended(name, "CANCELLED", seconds=60)
        one_job(name)


@case
def preempted():
    """Pods that give way to others: killed as it says so on them and evicts
    them"""
    victims = [f"victim-{i}" for i in range(4)]
    winners = [f"{write}-{side}" for write in ("set-disrupted", "evict-pod")
               for side in ("before", "after")]
    for name in victims:
        bed.create(bed.pod(name, cpu="16", annotations={bed.PARTITION: "low"}))
    for name in victims:
        bed.wait_phase(name, "Running")
    bed.run("scontrol", "update", "PartitionName=high", "State=DOWN")
    try:
        for name in winners:
            bed.create(bed.pod(name, cpu="16",
                               annotations={bed.PARTITION: "high"}))
        for name in winners:
            job = bed.wait_job(name, "PENDING")["job_id"]
            bed.run("scontrol", "hold", str(job))
    finally:
        bed.run("scontrol", "update", "PartitionName=high", "State=UP")

    def give_way(name):
        ended = len(preempted_jobs())
        bed.run("scontrol", "release", str(bed.job_of(name)["job_id"]))
        wait_for("a preemption", lambda: len(preempted_jobs()) > ended)

    def preempted_jobs():
        return [name for name in victims if "PREEMPTED" in
                bed.state_of(bed.job_of(name))]

    chain(("set_disrupted", "evict_pod"), give_way)
    for name in winners:
        bed.wait_phase(name, "Running", 60)
        one_job(name)
        bound_once(name)
    for name in victims:
        bed.wait_gone(name, 60)
        bed.wait_ended(name, "PREEMPTED", seconds=60)
        one_job(name)


@case
def another_job():
    """the Node of a job failed before its Pod was bound: killed as it asks for
    another job"""
    def lose_the_node(name):
        """Slurm allocates while no agent lives, and the node goes DOWN."""
        job = bed.job_of(name)["job_id"]
        bed.run("scontrol", "release", str(job))
        wait_for("the allocation", lambda: "CONFIGURING" in
                 bed.state_of(bed.job_of(name)))
        where = bed.job_of(name)["nodes"]
        bed.run("scontrol", "update", f"NodeName={where}", "State=DOWN",
                "Reason=test")
        wait_for("the job's end", lambda: "NODE_FAIL" in
                 bed.state_of(bed.job_of(name)))
        bed.run("scontrol", "update", f"NodeName={where}", "State=RESUME")

    names = ["stamp-before", "stamp-after"]
    with low_is_down():
        waiting_jobs(names)
        for name in names:
            bed.run("scontrol", "hold", str(bed.job_of(name)["job_id"]))
    chain(("stamp",), lose_the_node)
    for name in names:
        bed.wait_phase(name, "Running", 60)
        wait_for("the epilogs to end", lambda: not [
            job for job in bed.jobs_of(name)
            if "COMPLETING" in bed.state_of(job)])
        living = [job for job in bed.jobs_of(name)
                  if "RUNNING" in bed.state_of(job)]
        equal(len(living), 1, f"living jobs of {name}")
        bound_once(name)


@case
def adopted():
    """Pods whose jobs slurmctld has lost: killed as it submits others for them
    and writes these on the Pods"""
    names = [f"{write}-{side}" for write in ("submit", "stamp")
             for side in ("before", "after")]
    slurmctld.keep_state()
    for name in names:
        bed.create(bed.pod(name))
    lives = {name: bed.wait_phase(name, "Running")["metadata"]["uid"]
             for name in names}
    kill_agent()
    slurmctld.bring_state_back()
    equal([bed.jobs_of(name) for name in names], [[]] * 4, "lost jobs")

    chain(("submit", "stamp"), lambda name: None)
    for name in names:
        job = bed.wait_job(name, "RUNNING", 60)
        wait_for(f"Pod {name} to name its new job", lambda: bed.get(name)
                 ["metadata"]["labels"][bed.JOB_LABEL] == str(job["job_id"]))
        pod = bed.get(name)
        equal(pod["metadata"]["uid"], lives[name], "Pod")
        equal(pod["status"]["phase"], "Running", f"Pod {name}")
        one_job(name)
        bound_once(name)


@case
def adopting_job_released():
    """the job that adopts a Pod was held and released while it waits: killed as it
    puts it before all others again"""
    slurmctld.keep_state()
    bed.create(bed.pod("lives"))
    uid = bed.wait_phase("lives", "Running")["metadata"]["uid"]
    kill_agent()
    slurmctld.bring_state_back()
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        bed.ctl("start", "slurmk8sd")
        job = str(bed.wait_job("lives", "PENDING", 60)["job_id"])

        def held_and_released(_):
            bed.run("scontrol", "hold", job)
            bed.run("scontrol", "release", job)
            check(priority() < FIRST, "Slurm keeps the priority by itself")

        def priority():
            return int(bed.run("squeue", "-h", "-o", "%Q", "-j", job))

        chain(("set_priority",), held_and_released)
        wait_for("the job to be before all others",
                 lambda: priority() == FIRST)
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    bed.wait_job("lives", "RUNNING", 60)
    equal(bed.get("lives")["metadata"]["uid"], uid, "Pod")
    one_job("lives")
    wait_for("the Pod to name its new job", lambda: bed.get("lives")
             ["metadata"]["labels"][bed.JOB_LABEL] == job)


@case
def nodes():
    """Nodes made, cordoned, given back and moved: killed at each change of
    Slurm's node"""
    def cordon(yes):
        bed.api("PATCH", "/api/v1/nodes/kn4",
                {"spec": {"unschedulable": yes or None}},
                "application/merge-patch+json")

    def partitions(names):
        bed.api("PATCH", "/api/v1/nodes/kn4", {"metadata": {"annotations": {
            "scheduler.slinky.slurm.net/external-node-partitions": names}}},
            "application/merge-patch+json")

    def node():
        shown = bed.run("scontrol", "show", "nodes", "--json")
        found = [n for n in bed.json.loads(shown)["nodes"]
                 if n["name"] == "kn4"]
        return found[0] if found else None

    def state():
        return wait_for("kn4 in Slurm", node)["state"]

    def as_it_was():
        found = node()
        return found and "DRAIN" not in found["state"] and \
            set(found["features"]) == {"k8s", "k8s-untainted", "kwok"}

    def forget():
        if node():
            bed.run("scontrol", "delete", "NodeName=kn4")

    try:
        chain(("create_node",), lambda name: forget())
        wait_for("kn4 to be back", node)
        chain(("drain",), lambda name: cordon(True))
        wait_for("the drain", lambda: "DRAIN" in state())
        chain(("resume",), lambda name: cordon(False))
        wait_for("the node", lambda: "DRAIN" not in state())
        chain(("set_features",), lambda name: partitions("kwok,other"))
        wait_for("the features", lambda: set((node() or {"features": []})
                 ["features"]) == {"k8s", "k8s-untainted", "kwok", "other"})
        chain(("rebuild_partitions",), lambda name: partitions("kwok," + name))
        chain(("set_topology",), lambda name: moves.annotate(
            "kn4", **{moves.TOPOLOGY: name}))
        chain(("patch_node",), lambda name: moves.drain("kn4", name))
        wait_for("the cordon", lambda: moves.is_cordoned("kn4"))
        moves.resume("kn4")
        wait_for("its end", lambda: not moves.is_cordoned("kn4"))
    finally:
        cordon(False)
        partitions("kwok")
        moves.annotate("kn4", **{moves.TOPOLOGY: None})
    wait_for("the node as it was", as_it_was)


@case
def pods_with_volumes():
    """Pods with volumes: killed as it gives them one, and as it tells a claim its
    node"""
    def local(name):
        volumes.claim(name)
        volumes.volume(name, "kn3")
        make(name)

    def made(name):
        volumes.claim(name, volumes.MADE)
        make(name)

    def make(name):
        bed.create(bed.pod(name, **volumes.with_claims(name)))

    volumes.storage_classes("kn2")
    try:
        names = chain(("give_volume",), local)
        for name in names:
            bed.wait_phase(name, "Running", 60)
        equal({volumes.volume_of(name) for name in names}, set(names),
              "their volumes, each with one")
        more = chain(("select_node",), made)
        for name in more:
            volumes.provision(name)
            bed.wait_phase(name, "Running", 60)
        for name in names + more:
            one_job(name)
            bound_once(name)
    finally:
        bed.clean()
        volumes.clean()
        volumes.remove_classes()


@case
def pod_groups_told():
    """PodGroups: killed as it says on them that they are scheduled; it is said,
    and each has one job"""
    def make(name):
        pod_groups.create(pod_groups.WORKLOAD, name, 1)
        bed.create(pod_groups.member(pod_groups.WORKLOAD, name, name))

    names = chain(("patch_group",), make)
    for name in names:
        bed.wait_phase(name, "Running", 60)
        wait_for(f"{name} to be told", lambda: pod_groups.condition(name) ==
                 ("True", "Scheduled", ""), 60)
        equal(bed.get(name)["metadata"]["labels"][bed.JOB_LABEL],
              str(gangs.job_of(f"test/workload/{name}")["job_id"]), "the job")
    bed.clean()
    pod_groups.remove_all()


@case
def shadows_and_deletions():
    """a node that others use, and one without its Node: killed as it submits a
    shadow placeholder, and as it deletes the node; one shadow, and no node"""
    moves.make("extra-1", cpus=8)
    moves.wait_cpus("extra-1", 8)
    try:
        chain(("submit_shadow",), lambda name: moves.foreign(
            name, "extra-1", 1))
        moves.wait_cpus("extra-1", 6)
        wait_for("the shadows to go", lambda: not moves.shadows())
        for side in ("before", "after"):
            bed.delete(f"submit-shadow-{side}", grace=0)
        chain(("delete_node",), lambda name: moves.delete("extra-1"))
        wait_for("its end", lambda: not moves.in_slurm("extra-1"), 60)
    finally:
        moves.delete("extra-1")


@case
def all_points():
    """there is no write without a fault point that was tried"""
    if len(sys.argv) > 1:
        raise Skip("only some of the cases were run")
    missed = {point for point in faults.points() if point not in reached}
    unused = {f"{write}:{side}" for write in UNUSED | ELSEWHERE
              for side in ("before", "after")}
    equal(sorted(missed - unused), [], "points that no case comes to")
    equal(sorted(unused - missed), [], "points that are said to be unused")
    for write, why in (UNUSED | ELSEWHERE).items():
        print(f"# {write}: {why}")


def before_each():
    bed.ctl("start", "slurmk8sd")
    bed.clean()


agent_conf.edit(lambda conf: conf + "NodeInterval=1\nResizeDelay=1\n")
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
