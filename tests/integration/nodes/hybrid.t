#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hybrid nodes: ordinary jobs of a real slurmd and Pods on one node at once.
CPUs and memory come from one ledger, both sides agree on it, and nothing is
given to two, whoever comes or goes. kh1's kubelet is played by kwok, so that the
node has 16 CPUs whatever the machine has; nodes/gate.t has the real one."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import hybrid
import world
from hybrid import CPUS, LOW, MEMORY, NODE, PARTITION, pod, sbatch
from tap import case, check, equal, never, run, wait_for


def state(job_id):
    return bed.jobs()[job_id]["job_state"]


def wait_runs(job_id, seconds=30):
    wait_for(f"job {job_id} to run", lambda: state(job_id) == ["RUNNING"],
             seconds)


def wait_over(job_id, seconds=60):
    wait_for(f"job {job_id} to be over", lambda: not set(state(job_id)) & {
        "PENDING", "RUNNING", "COMPLETING", "CONFIGURING"}, seconds)


def wait_all_run(*names):
    for name in names:
        bed.wait_phase(name, "Running")


def slurm_node(name=NODE):
    return world.read().slurm_nodes[name]


def given():
    """CPUs and MiB that Slurm has given away of the node."""
    node = slurm_node()
    return node.cpus, node.memory


def waits(name):
    return not (bed.get(name)["spec"].get("nodeName"))


def cancel_jobs():
    for partition in (PARTITION, LOW):
        bed.run("scancel", "--user=alice", f"--partition={partition}")


def clean():
    cancel_jobs()
    bed.clean()
    wait_for("the node to be idle", lambda: given() == (0, 0))


@case
def what_slurm_gives_away():
    """Slurm gives away what the kubelet has: cores and memory kept for the system
    are not among it"""
    node = slurm_node()
    equal((node.usable_cpus, node.usable_memory), (CPUS, MEMORY), "usable")
    check(node.has_slurmd and "k8s" in node.features, f"{node}")
    for command in (["--ntasks=1", f"--cpus-per-task={CPUS + 1}"],
                    ["--ntasks=1", f"--mem={MEMORY + 1}"]):
        said = bed.run("sbatch", "--chdir=/tmp", f"--partition={PARTITION}",
                       *command, "--wrap", "true", user="alice", check=False)
        check("not available" in said or "cannot be satisfied" in said,
              f"{command}: {said}")


@case
def gives_away_too_much():
    """a kubelet that has less than Slurm gives away: slurmk8s status names the
    line of slurm.conf with the numbers, and Slurm gives away no more of it"""
    allocatable = bed.api("GET", f"/api/v1/nodes/{NODE}")["status"]["allocatable"]

    def set_cpus(cpus):
        bed.api("PATCH", f"/api/v1/nodes/{NODE}/status",
                {"status": {"allocatable": {"cpu": cpus}}},
                "application/merge-patch+json")
    set_cpus(str(CPUS - 2))
    try:
        words = (f"may allocate {CPUS} CPUs", f"has {CPUS - 2} CPUs and",
                 "CoreSpecCount")
        wait_for("the sentence", lambda: all(
            word in bed.run("slurmk8s", "status") for word in words))
        wait_for("what is missing to be held", lambda: given()[0] == 2)
    finally:
        set_cpus(allocatable["cpu"])
    wait_for("nothing to be held", lambda: given() == (0, 0), 60)
    wait_for("no sentence", lambda:
             "may allocate" not in bed.run("slurmk8s", "status"))


@case
def side_by_side():
    """a job and three Pods run on one node at once, and Slurm, the Pods and the job
    agree on what is theirs"""
    job = sbatch(5, memory=4000)
    for name, cpu, memory in (("three", 3, "1Gi"), ("two", 2, "2000Mi"),
                              ("half", "500m", "100Mi")):
        bed.create(pod(name, cpu, memory))
    wait_runs(job)
    wait_all_run("three", "two", "half")
    now = world.read()
    equal({p["spec"]["nodeName"] for p in bed.pods()}, {NODE}, "Pods' node")
    # a Pod has whole CPUs
    equal(given(), (5 + 3 + 2 + 1, 4000 + 1024 + 2000 + 100), "given away")
    equal(sum(j.nodes[NODE][0] for j in now.jobs if NODE in j.nodes), 11,
          "CPUs of all jobs")
    bed.run("scancel", str(job))
    wait_for("the job's part to be free", lambda: given() == (6, 3124))
    wait_all_run("three", "two", "half")


@case
def full_by_cpus():
    """when a job and Pods have all CPUs, the next job and the next Pod wait, and the
    end of either makes room for either"""
    job = sbatch(10)
    wait_runs(job)
    bed.create(pod("rest", CPUS - 10))
    bed.wait_phase("rest", "Running")
    equal(given()[0], CPUS, "CPUs given away")

    bed.create(pod("next", 4))
    bed.wait_job("next", "PENDING")
    bed.wait_words("next", "Resources")
    later = sbatch(4)
    check(state(later) == ["PENDING"] and waits("next"), "both wait")
    bed.delete("rest")  # 6 CPUs: the Pod came first
    bed.wait_phase("next", "Running")
    equal(state(later), ["PENDING"], "the job")
    bed.run("scancel", str(job))
    wait_runs(later)
    check(bed.phase_is("next", "Running"), "the Pod lives")


@case
def full_by_memory():
    """memory too is given away once, with CPUs to spare"""
    job = sbatch(1, memory=20000)
    wait_runs(job)
    bed.create(pod("rest", 1, f"{MEMORY - 20000}Mi"))
    bed.wait_phase("rest", "Running")
    equal(given(), (2, MEMORY), "given away")
    bed.create(pod("next", 1, "1Mi"))
    bed.wait_job("next", "PENDING")
    bed.wait_words("next", "Resources")
    bed.run("scancel", str(job))
    bed.wait_phase("next", "Running")


@case
def many_of_both():
    """thirty jobs and thirty Pods come at once and go: at no look have they more
    than the node, and all come to their end"""
    for i in range(30):
        bed.create(pod(f"many-{i}", 1 + i % 5,
                       annotations={"sandbox/run": f"{1 + i % 3}s"}))
    one = ("sbatch --parsable --chdir=/tmp --output=none --mem=64 "
           f"--partition={PARTITION} --ntasks=$((1 + i % 4)) "
           "--wrap 'sleep 2'")
    made = bed.inside("sh", "-c", f"for i in $(seq 30); do {one}; done",
                      user="alice")
    jobs = [int(word) for word in made.split()]
    looks = []

    def all_over():
        looks.append(hybrid.together())
        check(looks[-1][0] <= CPUS, f"CPUs, jobs, Pods: {looks[-1]}")
        ended = bed.jobs()
        return all(world.is_over(p) for p in bed.pods()) and \
            all(ended[job]["job_state"] == ["COMPLETED"] for job in jobs)

    wait_for("all to be over", all_over, 180)
    print(f"# {len(looks)} looks, most CPUs at once {max(looks)[0]}")
    check(any(j and p for _, j, p in looks), f"jobs beside Pods: {looks}")
    equal({p["status"]["phase"] for p in bed.pods()}, {"Succeeded"}, "phases")


@case
def a_pod_preempts_a_job():
    """a Pod preempts an ordinary job, which is requeued and runs again when the
    Pod is over"""
    job = sbatch(CPUS, partition=LOW)
    wait_runs(job)
    bed.create(pod("urgent", CPUS))
    bed.wait_phase("urgent", "Running")
    wait_for("the job to be requeued", lambda: "PENDING" in state(job))
    equal(bed.jobs()[job]["restart_cnt"], 1, "restarts")
    bed.delete("urgent")
    # Slurm itself lets a requeued job wait for two minutes.
    wait_for("the job to have left COMPLETING", lambda: state(job) == ["PENDING"])
    bed.run("scontrol", "update", f"JobId={job}", "StartTime=now")
    wait_runs(job)


@case
def a_job_preempts_a_pod():
    """an ordinary job preempts a Pod, and begins when its containers are gone, not
    before"""
    bed.create(pod("victim", CPUS, partition=LOW, terminationGracePeriodSeconds=600,
                   annotations={"sandbox/stop": "10m"}))
    bed.wait_phase("victim", "Running")
    job = sbatch(CPUS)
    bed.wait_job("victim", "PREEMPTED")
    wait_for("the job to be held", lambda: "CONFIGURING" in state(job))

    def opened():
        if "CONFIGURING" in state(job):
            return False
        found = bed.get("victim")
        check(not found or world.is_over(found), "it began beside the Pod")
        return True
    never("it begins before the Pod has stopped", opened, 3)
    bed.play("victim", stop="1ms")
    wait_for("the job to begin", opened, 40)
    equal(state(job), ["RUNNING"], "the job")


@case
def drained_for_both():
    """a cordoned Node takes neither jobs nor Pods; both go on when it is
    uncordoned"""
    def cordon(value):
        bed.api("PATCH", f"/api/v1/nodes/{NODE}",
                {"spec": {"unschedulable": value}},
                "application/merge-patch+json")
    cordon(True)
    try:
        wait_for("the drain", lambda: "DRAIN" in slurm_node().states)
        bed.create(pod("waits", 1))
        job = sbatch(1)
        bed.wait_job("waits", "PENDING")
        check(state(job) == ["PENDING"] and waits("waits"), "both wait")
    finally:
        cordon(None)
    wait_runs(job)
    bed.wait_phase("waits", "Running")


@case
def restarts():
    """slurmctld and the agent are killed while both sides use the node: all go on,
    and the ledger is the same"""
    job = sbatch(6, memory=2000)
    bed.create(pod("goes-on", 4, "1000Mi"))
    wait_runs(job)
    bed.wait_phase("goes-on", "Running")
    before = given()
    # what slurmctld has not saved a crash forgets; that is faults/slurmctld.t
    bed.run("scontrol", "reconfigure")
    wait_for("slurmctld to answer",
             lambda: "is UP" in bed.run("scontrol", "ping", check=False))
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("kill", "slurmctld")
    bed.ctl("start", "slurmctld")
    bed.ctl("start", "slurmk8sd")
    wait_for("the same ledger", lambda: given() == before)
    check(bed.phase_is("goes-on", "Running"), "the Pod lives")
    equal(state(job), ["RUNNING"], "the job")
    bed.create(pod("next", CPUS - 10))
    bed.wait_phase("next", "Running")
    equal(given()[0], CPUS, "CPUs given away")


with hybrid.hybrid_nodes():
    run(before_each=clean, after_each=cancel_jobs,
        after_failure=bed.last_words)
