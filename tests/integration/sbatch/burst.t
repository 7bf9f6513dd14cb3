#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Burst in k8s.conf: plain batch jobs of the partition native may start in burst,
too, which has the slurmd of kh1. slurmctld, its plugin and both slurmds are real;
tests/long/41-burst.t has a worker in Kubernetes instead."""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import hybrid
from tap import case, check, equal, run, wait_for

OWN, BURST, BOTH = "native", "burst", "native,burst"
TOLD = ("slurmk8s: the job may also start in partition burst (workers in "
        "Kubernetes), by Burst=native:burst of k8s.conf")
RULES = "\nBurst=native:burst\nBurst=kwok:burst\nBurst=native:lost\n"
NATIVE_CPUS = 2


def sbatch(*options, script="sleep 600", partition=OWN, check=True):
    """What sbatch says to alice."""
    where = (f"--partition={partition}",) if partition else ()
    return bed.run("sbatch", "--chdir=/tmp", "--output=none", *where, *options,
                   "--wrap", script, user="alice", check=check)


def number(said):
    return int(said.split("Submitted batch job")[1].split()[0])


def submit(*options, **how):
    return number(sbatch(*options, **how))


def job(job_id):
    return bed.jobs()[job_id]


def runs(job_id, partition, node):
    """It runs there, and slurmctld says where."""
    wait_for(f"job {job_id} to run", lambda: job(job_id)["job_state"] ==
             ["RUNNING"])
    equal((job(job_id)["partition"], job(job_id)["nodes"]), (partition, node),
          f"where job {job_id} runs")


def waits_in_its_own(job_id):
    """Slurm has tried to start it, though there is room in the other partition."""
    wait_for(f"job {job_id} to have been looked at", lambda:
             job(job_id)["state_reason"] in ("Resources", "Priority"))
    equal(job(job_id)["job_state"], ["PENDING"], "its state")
    equal(job(job_id)["partition"], OWN, "its partitions")


def accounted(job_id):
    return bed.run("sacct", "-nXP", f"--jobs={job_id}",
                   "--format=Partition,NodeList,State").strip()


def fill_native():
    """A job that has all of the node, and nothing of another."""
    filler = submit("--ntasks=2", "--k8s-no-burst")
    runs(filler, OWN, "native1")
    return filler


def partitions_of(*options, **how):
    """Those that slurmctld gives a job with these options; "" if it refuses it."""
    said = sbatch("--hold", *options, check=False, **how)
    if "Submitted" not in said:
        return ""
    job_id = number(said)
    given = job(job_id)["partition"]
    equal(given == BOTH, TOLD in said, f"{options}: sbatch says {said}")
    bed.run("scancel", str(job_id))
    return given


def seen(expected, *options):
    """Until the plugin knows what has changed in slurmctld. What it refuses itself
    makes it look again."""
    def there():
        sbatch(partition="kwok", check=False)
        return partitions_of(*options) == expected
    wait_for(f"a job with {options} to have the partitions {expected}", there, 60)


@contextlib.contextmanager
def changed(now, before):
    """The partition burst is otherwise in this block."""
    bed.run("scontrol", "update", f"PartitionName={BURST}", now)
    try:
        yield
    finally:
        bed.run("scontrol", "update", f"PartitionName={BURST}", before)


@case
def second_job():
    """the first job starts in its own partition, the second one, for which there is
    no room, in the other; sbatch, squeue and sacct say so"""
    seen(BOTH)
    said = sbatch("--ntasks=2")
    check(TOLD in said, said)
    first = number(said)
    runs(first, OWN, "native1")
    second = submit("--ntasks=2", script="srun sh -c 'echo $SLURMD_NODENAME' > "
                    "/tmp/burst.out; echo $SLURM_JOB_PARTITION >> /tmp/burst.out; "
                    "sleep 600")
    runs(second, BURST, "kh1")
    wait_for("its steps", lambda: bed.inside("cat", "/tmp/burst.out").split() ==
             ["kh1", "kh1", BURST])
    equal(bed.run("squeue", "-hj", str(second), "-o", "%P").strip(), BURST,
          "squeue")
    wait_for("sacct to know", lambda: accounted(second) ==
             f"{BURST}|kh1|RUNNING")
    equal(accounted(first), f"{OWN}|native1|RUNNING", "sacct of the first")


@case
def no_room_anywhere():
    """a job waits for both, and starts in its own when that is free first"""
    filler = fill_native()
    bed.run("scontrol", "update", "NodeName=kh1", "State=DRAIN", "Reason=test")
    try:
        waiting = submit("--ntasks=1")
        wait_for("it to be looked at", lambda: job(waiting)["state_reason"] in
                 ("Resources", "ReqNodeNotAvail"))
        equal(bed.run("squeue", "-hj", str(waiting), "-o", "%P").strip(), BOTH,
              "squeue")
        bed.run("scancel", str(filler))
        runs(waiting, OWN, "native1")
    finally:
        bed.run("scontrol", "update", "NodeName=kh1", "State=RESUME")


@case
def array():
    """the tasks of an array start in both"""
    head = submit("--ntasks=1", "--array=1-4")
    def tasks():
        return sorted((j["partition"], j["nodes"]) for j in bed.jobs().values()
                      if j["array_job_id"]["number"] == head and
                      j["job_state"] == ["RUNNING"])
    wait_for("two tasks in each", lambda: tasks() ==
             [(BURST, "kh1")] * 2 + [(OWN, "native1")] * NATIVE_CPUS)


@case
def user_says_no():
    """--k8s-no-burst and SBATCH_K8S_NO_BURST keep a job in its partition, and
    scontrol brings it back there"""
    fill_native()
    stays = submit("--k8s-no-burst")
    waits_in_its_own(stays)
    said = bed.inside("env", "SBATCH_K8S_NO_BURST=1", "sbatch", "--chdir=/tmp",
                      "--output=none", f"--partition={OWN}", "--wrap", "true",
                      user="alice")
    check(TOLD not in said, said)
    equal(job(number(said))["partition"], OWN, "by the environment")
    held = submit("--hold")
    equal(job(held)["partition"], BOTH, "partitions")
    bed.run("scontrol", "update", f"JobId={held}", f"Partition={OWN}",
            user="alice")
    bed.run("scontrol", "release", str(held), user="alice")
    waits_in_its_own(held)
    check("--k8s-no-burst" in bed.run("sbatch", "--help", user="alice"), "--help")


@case
def other_jobs():
    """jobs that name their place, or are no plain batch jobs, stay as they are"""
    equal(partitions_of(partition="native,khybrid"), "native,khybrid", "a list")
    equal(partitions_of(partition="native,native"), "native,native", "it twice")
    equal(partitions_of(partition="khybrid"), "khybrid", "without a rule")
    equal(partitions_of("--nodelist=native1"), OWN, "a node list")
    bed.run("scontrol", "create", "ReservationName=ours", "StartTime=now",
            "Duration=60", "Nodes=native1", "Users=alice")
    try:
        equal(partitions_of("--reservation=ours"), OWN, "a reservation")
    finally:
        bed.run("scontrol", "delete", "ReservationName=ours")
    said = bed.run("sbatch", "--hold", "--chdir=/tmp", f"--partition={OWN}", ":",
                   f"--partition={OWN}", "--wrap", "true", user="alice")
    leader = number(said)
    equal([job(n)["partition"] for n in (leader, leader + 1)], [OWN, OWN],
          "components")
    said = bed.run("srun", f"--partition={OWN}", "sh", "-c",
                   "echo at=$SLURM_JOB_PARTITION", user="alice")
    check("at=native" in said and TOLD not in said, said)
    said = bed.run("salloc", f"--partition={OWN}", "sh", "-c",
                   "echo at=$SLURM_JOB_PARTITION", user="alice")
    check("at=native" in said and TOLD not in said, said)


@case
def pods_of_sbatch():
    """a job with --k8s-image stays in the partition of Pods"""
    equal(partitions_of("--k8s-image=busybox:stable", partition="kwok"), "kwok",
          "partitions")


@case
def what_does_not_fit():
    """a job that the other partition would not take is not refused for it: limits,
    groups, sizes, state, with EnforcePartLimits=ALL"""
    check("= ALL" in bed.run("sh", "-c", "scontrol show config | grep Enforce"),
          "EnforcePartLimits")
    for now, before, options in (
            ("MaxTime=5", "MaxTime=UNLIMITED", ("--time=6",)),
            ("MinNodes=2", "MinNodes=0", ()),
            ("AllowGroups=root", "AllowGroups=ALL", ()),
            ("AllocNodes=elsewhere", "AllocNodes=ALL", ()),
            ("RootOnly=YES", "RootOnly=NO", ()),
            ("ReqResv=YES", "ReqResv=NO", ()),
            ("MaxMemPerNode=100", "MaxMemPerNode=0", ("--mem=200",)),
            ("State=DOWN", "State=UP", ()),
            ("Nodes=", "Nodes=kh1", ())):
        seen(BOTH, *options)
        with changed(now, before):
            seen(OWN, *options)
            check("Submitted" in sbatch("--hold", *options), f"{now}: refused")
    seen(BOTH)
    equal(partitions_of("--gres=gpu:1"), OWN, "a GRES that no node has")
    equal(partitions_of("--time=6"), BOTH, "a time limit")


@case
def groups():
    """AllowGroups of the other partition: alice is in a group that allows her, by
    her primary group, as soon as that is looked up, and not in bob's"""
    seen(BOTH)
    with changed("AllowGroups=bob", "AllowGroups=ALL"):
        seen(OWN)
        bed.run("scontrol", "update", f"PartitionName={BURST}",
                "AllowGroups=alice")
        seen(BOTH)
        check(TOLD in sbatch("--hold"), "alice is in the group alice")
    bed.run("scancel", "--user=alice")
    seen(BOTH)


@case
def association_of_a_partition():
    """a user with an association of one of the partitions, whose jobs slurmctld
    refuses when they name several, is not given another"""
    alice = ("user", "alice", "account=physics", f"partition={OWN}")
    bed.run("sacctmgr", "-i", "add", *alice)
    try:
        wait_for("slurmctld to know", lambda:
                 "Submitted" not in sbatch("--hold", partition=BOTH,
                                           check=False))
        equal(partitions_of(), OWN, "partitions")
    finally:
        bed.run("scancel", "--user=alice")
        bed.run("sacctmgr", "-i", "delete", "user", "alice", "where",
                "account=physics", f"partition={OWN}")
    wait_for("slurmctld to know", lambda: partitions_of() == BOTH)


@case
def default_partition():
    """a job that names no partition is of the default one"""
    bed.run("scontrol", "update", f"PartitionName={OWN}", "Default=YES")
    try:
        wait_for("the plugin to have seen it", lambda:
                 sbatch(partition="kwok", check=False) and
                 partitions_of(partition=None) == BOTH, 60)
        fill_native()
        runs(submit(partition=None), BURST, "kh1")
    finally:
        bed.run("scontrol", "update", "PartitionName=k8s", "Default=YES")


@case
def unknown_partition():
    """a rule with a partition that does not exist is told in slurmctld's log, once,
    and by slurmk8s check"""
    words = "names partition lost, which does not exist"
    seen(BOTH)
    seen(BOTH, "--time=1")
    check(words in (bed.SANDBOX / "log/slurmctld.log").read_text(), "no line")
    check(bed.log_since("slurmctld", start).count(words) <= 1, "many lines")
    said = bed.inside("slurmk8s", "check", check=False)
    check("Burst=native:lost" in said and "Burst=native:burst" not in said, said)


def clean():
    bed.run("scancel", "--user=alice")
    bed.clean()
    bed.run("scontrol", "update", f"PartitionName={BURST}", "State=UP")


with hybrid.hybrid_nodes():
    start = bed.log_size("slurmctld")
    bed.run("scontrol", "create", f"PartitionName={BURST}", "Nodes=kh1",
            "PriorityTier=1", "State=UP")
    try:
        with agent_conf.changed(lambda text: text + RULES):
            run(before_each=clean, after_each=lambda: bed.run(
                "scancel", "--user=alice"), after_failure=bed.last_words)
    finally:
        bed.clean()
        bed.run("scontrol", "delete", f"PartitionName={BURST}")
