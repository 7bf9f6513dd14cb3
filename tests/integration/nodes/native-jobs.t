#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ordinary jobs, started by slurmd, beside Pods: they are nothing to us,
whatever becomes of the agent. And what stands for a Pod is nothing that users
could make or change by way of Slurm."""
import collections
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slurmctld
import user_database
from tap import case, check, equal, run, wait_for

K8S_CONF = "/etc/slurm/k8s.conf"
NATIVE = "native"  # the partition of slurmd's node
POD_PARTITIONS = ("k8s", "kwok", "real", "high", "low")
STANDS_FOR_PODS = "of a job that stands for Kubernetes Pods cannot be changed"


def native_node():
    return bed.run("sinfo", "--noheader", f"--partition={NATIVE}",
                   "--format=%N").strip()


def submit(script, *options, partition=NATIVE):
    """An ordinary batch job of alice's; its id."""
    return int(bed.run("sbatch", "--parsable", "--chdir=/tmp",
                       f"--partition={partition}", *options, "--wrap", script,
                       user="alice"))


def wait_state(job_id, *state):
    """Until the job is in exactly this state; returns the job."""
    def there():
        job = bed.jobs()[job_id]
        return job if sorted(job["job_state"]) == sorted(state) else None
    return wait_for(f"job {job_id} to be {state}", there)


def accounted(job_id):
    """What sacct knows of the job: state, exit code, node."""
    return bed.run("sacct", "--noheader", "--parsable2", "--allocations",
                   f"--jobs={job_id}", "--format=State,ExitCode,NodeList").strip()


def active(job):
    return any(word in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")
               for word in job["job_state"])


def asks():
    """slurmctld answers, after so many seconds."""
    began = time.monotonic()
    check(" is UP" in bed.run("scontrol", "ping"), "scontrol ping")
    bed.run("squeue")
    return time.monotonic() - began


def twenty_jobs_run(usual):
    """Twenty ordinary jobs become COMPLETED, and slurmctld answers meanwhile, as
    on a machine where it usually takes so many seconds."""
    one = (f"sbatch --parsable --chdir=/tmp --partition={NATIVE} "
           "--output=/dev/null --wrap true")
    made = bed.inside("sh", "-c", f"for i in $(seq 20); do {one}; done",
                      user="alice")
    ids = [int(word) for word in made.split()]
    equal(len(ids), 20, "jobs")
    slowest = 0

    def all_ended():
        nonlocal slowest
        slowest = max(slowest, asks())
        known = bed.jobs()
        return not any(active(known[job_id]) for job_id in ids)

    wait_for("twenty jobs to end", all_ended, 60)
    known = bed.jobs()
    for job_id in ids:
        equal(known[job_id]["job_state"], ["COMPLETED"], f"job {job_id}")
        equal(known[job_id]["nodes"], native_node(), f"node of job {job_id}")
    check(slowest < max(5, 10 * usual), f"scontrol ping and squeue took "
          f"{slowest:.1f} s, not {usual:.1f}")


def a_placeholder_ends_unheard(name):
    """With no agent to hear of it: its epilog is held, and its node is dirty."""
    bed.run("scancel", str(bed.job_of(name)["job_id"]))
    bed.wait_job(name, "CANCELLED")
    check("COMPLETING" in bed.state_of(bed.job_of(name)), "its epilog is held")


@case
def ends():
    """batch jobs run, write their output, and end with the right exit code"""
    for script, state, code in (("id -un", "COMPLETED", "0:0"),
                                ("exit 7", "FAILED", "7:0"),
                                ("kill -KILL $$", "FAILED", "0:9")):
        job_id = submit(script, "--output=native-%j.out")
        job = wait_state(job_id, state)
        equal(bed.exit_of(job), code, f"exit code of {script}")
        wait_for("sacct to know", lambda: accounted(job_id) ==
                 f"{state}|{code}|{native_node()}")
        if code == "0:0":
            equal(bed.inside("cat", f"/tmp/native-{job_id}.out"), "alice\n",
                  "its output")


@case
def beside_pods():
    """a job and its steps run beside a Pod of the same user, which lives on"""
    bed.create(bed.pod("beside"))
    bed.wait_phase("beside", "Running")
    wait_state(submit("srun true && srun --ntasks=2 true", "--ntasks=2"),
               "COMPLETED")
    check(bed.phase_is("beside", "Running"), "the Pod lives")
    equal(bed.state_of(bed.job_of("beside")), ["RUNNING"], "the Pod's job")


@case
def agent_stopped():
    """with the agent stopped by SIGSTOP twenty jobs complete, and slurmctld
    answers"""
    bed.create(bed.pod("unheard"))
    bed.wait_phase("unheard", "Running")
    usual = asks()
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
    try:
        a_placeholder_ends_unheard("unheard")
        twenty_jobs_run(usual)
    finally:
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
    bed.wait_ended("unheard", "CANCELLED")


@case
def agent_dead():
    """with the agent killed twenty jobs complete, and slurmctld answers"""
    bed.create(bed.pod("unheard"))
    bed.wait_phase("unheard", "Running")
    usual = asks()
    bed.ctl("kill", "slurmk8sd")
    try:
        a_placeholder_ends_unheard("unheard")
        twenty_jobs_run(usual)
    finally:
        bed.ctl("start", "slurmk8sd")
    bed.wait_ended("unheard", "CANCELLED")


def look_ups(jobs):
    """What slurmctld asks the user database of alice for while ordinary jobs of
    hers run and are changed; how often."""
    wait_for("slurmctld", slurmctld.is_up, 60)
    wait_for("its node", lambda: "idle" in bed.run("sinfo", "-hn", native_node(),
                                                   "--format=%t"), 60)
    before = len(user_database.asked("slurmctld"))
    for _ in range(jobs):
        job_id = submit("true", "--hold", "--output=/dev/null")
        bed.run("scontrol", "update", f"JobId={job_id}", "Comment=changed",
                user="alice")
        bed.run("scontrol", "release", str(job_id))
        wait_state(job_id, "COMPLETED")
    own = {bed.inside("id", "-u", "alice").strip(), "alice"}
    return collections.Counter(
        look_up for look_up in user_database.asked("slurmctld")[before:]
        if look_up.split()[1] in own)


@case
def no_user_is_looked_up():
    """slurmctld asks the user database no more often than it does without us: it
    holds its locks meanwhile"""
    jobs = 3
    without = re.compile("^(PrEpPlugins|JobSubmitPlugins)=.*\n", re.MULTILINE)
    with user_database.slow(0.01):
        bed.ctl("stop", "slurmctld")
        bed.ctl("start", "slurmctld")
        ours = look_ups(jobs)
        with slurmctld.changed_conf(lambda conf: without.sub("", conf), "stop"):
            usual = look_ups(jobs)
    check(usual, "slurmctld asks this user database")
    check(ours <= usual, f"look-ups: {dict(ours)}, without us {dict(usual)}")


@case
def files_do_not_answer():
    """while a read of k8s.conf hangs, as on a file server that is away, slurmctld
    takes and runs ordinary jobs"""
    bed.inside("sh", "-c", f"mv {K8S_CONF} {K8S_CONF}.kept && mkfifo {K8S_CONF} && "
               f"chmod 644 {K8S_CONF}")
    try:
        for _ in range(3):
            said = bed.inside("timeout", "20", "sbatch", "--parsable",
                              "--chdir=/tmp", f"--partition={NATIVE}",
                              "--output=/dev/null", "--wrap", "true", user="alice",
                              check=False).strip()
            check(said.isdigit(), f"sbatch says within 20 s: {said!r}")
            wait_state(int(said), "COMPLETED")
    finally:  # who reads gets the settings
        bed.inside("sh", "-c", f"mv {K8S_CONF} {K8S_CONF}.fifo; mv {K8S_CONF}.kept "
                   f"{K8S_CONF}; timeout 10 cp {K8S_CONF} {K8S_CONF}.fifo; "
                   f"rm -f {K8S_CONF}.fifo")


@case
def no_job_on_external_nodes():
    """ordinary jobs are refused where only Pods can run, and take the other
    partition when they name two"""
    for partition in POD_PARTITIONS:
        said = bed.run("sbatch", "--chdir=/tmp", f"--partition={partition}",
                       "--wrap", "true", user="alice", check=False)
        check("error" in said and "Submitted" not in said,
              f"sbatch --partition={partition}: {said}")
    for command in ("srun", "salloc"):
        said = bed.run(command, "--partition=kwok", "true", user="alice",
                       check=False)
        check("error" in said and "Granted" not in said, f"{command}: {said}")

    for both in ("k8s,native", "native,kwok"):
        job = wait_state(submit("true", partition=both), "COMPLETED")
        equal(job["nodes"], native_node(), f"where {both} led to")

    for job in bed.jobs().values():
        elsewhere = job["partition"] in ("hybrid", "khybrid", "khlow")
        if "EXTERNAL_JOB" not in job["flags"] and job["nodes"] and \
                not elsewhere:
            equal(job["nodes"], native_node(), f"node of {job['job_id']}")


ONLY_PODS = "only for Kubernetes Pods: no Slurm job can start there"
OF_PODS_ALONE = {  # what is asked for: what the refusal names
    ("--partition=kwok",): "partition kwok",
    ("--partition=kwok,k8s",): "partitions kwok, k8s",
    (): "partition k8s",  # Slurm's default
    ("--partition=kwok", "--array=1-3"): "partition kwok",
    ("--partition=kwok", "--hold"): "partition kwok",
    ("--partition=kwok", "--begin=now+1hour"): "partition kwok",
    ("--partition=native", "--nodelist=kn1"): "Node kn1",
}


@case
def told_why():
    """a job that could start nowhere but on nodes for Pods is refused with a
    sentence: sbatch, arrays, held ones, srun, salloc, heterogeneous jobs"""
    wait_for("slurmctld's plugin to have seen the nodes", lambda: ONLY_PODS in
             bed.run("sbatch", "--chdir=/tmp", "--partition=kwok", "--wrap",
                     "true", user="alice", check=False))
    for options, name in OF_PODS_ALONE.items():
        said = bed.run("sbatch", "--chdir=/tmp", *options, "--wrap", "true",
                       user="alice", check=False)
        check(f"{name} " in said and ONLY_PODS in said and
              "kubectl apply" in said, f"sbatch {options}: {said}")
    for command in ("srun", "salloc"):
        said = bed.run(command, "--partition=kwok", "true", user="alice",
                       check=False)
        check(ONLY_PODS in said, f"{command}: {said}")
    said = bed.run("sbatch", "--chdir=/tmp", f"--partition={NATIVE}", ":",
                   "--partition=kwok", "--wrap", "true", user="alice",
                   check=False)
    check(ONLY_PODS in said, f"heterogeneous: {said}")
    # of features it is sure when it has looked again
    wait_for("--constraint=k8s to be refused in words", lambda:
             "has the feature k8s:" in bed.run(
                 "sbatch", "--chdir=/tmp", f"--partition={NATIVE}",
                 "--constraint=k8s", "--wrap", "true", user="alice",
                 check=False))
    # of jobs that slurmctld has refused itself it keeps records
    equal(bed.run("squeue", "--noheader"), "", "jobs")


@case
def not_for_long():
    """a feature that the node has been given a moment ago is asked for, and the
    job is taken at once"""
    node = native_node()
    bed.run("scontrol", "update", f"NodeName={node}", "Features=k8s.new",
            "ActiveFeatures=k8s.new")
    try:
        wait_state(submit("true", "--constraint=k8s.new"), "COMPLETED")
    finally:
        bed.run("scontrol", "update", f"NodeName={node}", "Features=",
                "ActiveFeatures=")


@case
def told_why_later():
    """a waiting job cannot be moved to where it could never start"""
    job_id = submit("true", "--hold")
    for setting, words in (("Partition=kwok", "partition kwok"),
                           ("ReqNodeList=kn1", "Node kn1")):
        said = bed.run("scontrol", "update", f"JobId={job_id}", setting,
                       user="alice", check=False)
        check(words in said, f"{setting}: {said}")
    bed.run("scontrol", "release", str(job_id), user="alice")
    job = wait_state(job_id, "COMPLETED")
    equal(job["partition"], NATIVE, "its partition")


@case
def no_pod_on_native_nodes():
    """a Pod that asks for a partition without Pod nodes runs nowhere"""
    bed.create(bed.pod("astray", annotations={bed.PARTITION: NATIVE}))

    wait_for("it to be told", lambda:
             bed.condition("astray").get("status") == "False")

    check(not bed.get("astray")["spec"].get("nodeName"), "it is bound")
    for job in bed.jobs_of("astray"):
        equal(job["nodes"], "", f"nodes of job {job['job_id']}")
    equal(bed.allocated_cpus(native_node()), 0, "CPUs of slurmd's node")


@case
def no_external_job_of_users():
    """a user's sbatch --external is refused, and told to apply a Pod"""
    before = set(bed.jobs())
    for partition in ("kwok", NATIVE):
        said = bed.run("sbatch", "--external", "--ntasks=1",
                       f"--partition={partition}", user="alice", check=False)
        check("stand for Kubernetes Pods" in said and "Apply a Pod" in said,
              f"sbatch --external: {said}")
    equal(set(bed.jobs()) - before, set(), "new jobs")


FORBIDDEN = {  # what scontrol takes: what the refusal must name
    "Partition=native": "Partition", "NodeList=kn2": "ReqNodeList",
    "ReqNodeList=kn2": "ReqNodeList", "ExcNodeList=kn1": "ExcNodeList",
    "JobName=other": "JobName", "NumNodes=2": "NumNodes",
    "NumCPUs=2": "NumCPUs", "MinMemoryNode=1": "MinMemory",
    "Features=real": "Features", "Gres=gpu:1": "TresPerNode",
    "Account=physics": "Account", "QOS=normal": "QOS",
    "Dependency=singleton": "Dependency", "Extra=other": "Extra",
    "WorkDir=/tmp": "WorkDir", "OverSubscribe=yes": "OverSubscribe",
}


def update(job_id, *settings):
    """What scontrol said to alice, whose job it is: "" is yes."""
    return bed.run("scontrol", "update", f"JobId={job_id}", *settings,
                   user="alice", check=False).strip()


def nothing_forbidden_changes(job_id):
    before = bed.jobs()[job_id]
    for setting, name in FORBIDDEN.items():
        said = update(job_id, setting)
        check(name in said and STANDS_FOR_PODS in said, f"{setting}: {said}")
    said = update(job_id, "JobName=other", "TimeLimit=1", "Partition=native")
    check("JobName, Partition " + STANDS_FOR_PODS in said, f"three: {said}")
    # Slurm itself keeps it to operators.
    check("denied" in update(job_id, "AdminComment=other"), "AdminComment")

    after = bed.jobs()[job_id]
    for field in ("partition", "required_nodes", "excluded_nodes", "name",
                  "node_count", "cpus", "features", "account", "qos", "extra",
                  "admin_comment", "time_limit", "current_working_directory"):
        equal(after[field], before[field], field)


@case
def placeholder_of_a_running_pod():
    """the owner of a running Pod's job can lower its time limit, and change
    nothing else"""
    bed.create(bed.pod("runs", annotations={bed.TIMELIMIT: "60"}))
    bed.wait_phase("runs", "Running")
    job_id = bed.job_of("runs")["job_id"]

    nothing_forbidden_changes(job_id)
    equal(update(job_id, "TimeLimit=30"), "", "a lower time limit")
    check("denied" in update(job_id, "TimeLimit=90"), "a higher time limit")

    equal(bed.jobs()[job_id]["time_limit"]["number"], 30, "time limit")
    check(bed.phase_is("runs", "Running"), "the Pod lives")


@case
def placeholder_of_a_waiting_pod():
    """the owner of a waiting Pod's job can hold and release it and lower its
    time limit, and change nothing else; others can do nothing"""
    for i in range(4):
        bed.create(bed.pod(f"filler-{i}", cpu="16"))
    wait_for("the nodes to be full", lambda: len(
        [j for j in bed.jobs().values() if "RUNNING" in j["job_state"]]) == 4)
    bed.create(bed.pod("waits", annotations={bed.TIMELIMIT: "60"}))
    job_id = bed.wait_job("waits", "PENDING")["job_id"]

    nothing_forbidden_changes(job_id)
    equal(update(job_id, "TimeLimit=30"), "", "a lower time limit")
    equal(bed.jobs()[job_id]["time_limit"]["number"], 30, "time limit")
    bed.run("scontrol", "hold", str(job_id), user="alice")
    check(bed.jobs()[job_id]["hold"], "held")
    bed.run("scontrol", "release", str(job_id), user="alice")
    check(not bed.jobs()[job_id]["hold"], "released")

    said = bed.run("scontrol", "update", f"JobId={job_id}", "TimeLimit=1",
                   user="bob", check=False)
    check("Invalid user" in said, f"bob: {said}")
    bed.delete("filler-0")
    bed.wait_phase("waits", "Running")


@case
def forged_in_the_environment():
    """our mark in a user's environment does nothing: the jobs run, though there
    is no agent to let them"""
    forged = ("env", "K8S_GANG=forged", "SPANK_K8S_GANG=forged")
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
    try:
        for command in ("srun", "salloc"):
            bed.inside(*forged, command, f"--partition={NATIVE}", "true",
                       user="alice")
        job_id = bed.inside(*forged, "sbatch", "--parsable", "--chdir=/tmp",
                            f"--partition={NATIVE}", "--wrap", "true",
                            user="alice")
        wait_state(int(job_id), "COMPLETED")
    finally:
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")


# Submits a job with our mark where slurmctld would show it to our hooks.
FORGE = r"""
#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
    char *environment[] = {"PATH=/usr/bin:/bin"}, *mark[] = {"K8S_GANG=forged"};
    job_desc_msg_t job;
    submit_response_msg_t *made;
    slurm_init(NULL);
    slurm_init_job_desc_msg(&job);
    job.user_id = geteuid();
    job.group_id = getegid();
    job.partition = "native";
    job.work_dir = "/tmp";
    job.script = "#!/bin/sh\n";
    job.environment = environment;
    job.env_size = 1;
    job.spank_job_env = mark;
    job.spank_job_env_size = 1;
    if (slurm_submit_batch_job(&job, &made) != SLURM_SUCCESS) {
        fprintf(stderr, "%s\n", slurm_strerror(errno));
        return 1;
    }
    printf("%u\n", made->step_id.job_id);
    return 0;
}
"""


@case
def forged_by_a_program():
    """our mark in the request itself is taken off a user's job; an
    administrator's job with it is held for the agent"""
    bed.inside("sh", "-c", "cat > /tmp/forge.c && gcc -o /tmp/forge "
               "/tmp/forge.c -L\"$(ls -d /usr/lib/*/slurm-wlm)\" -lslurm",
               stdin=FORGE)
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
    try:
        wait_state(int(bed.inside("/tmp/forge", user="alice")), "COMPLETED")
        held = int(bed.inside("/tmp/forge"))
        wait_state(held, "RUNNING", "CONFIGURING")
    finally:
        bed.run("scancel", "--user=root")
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
    wait_state(held, "CANCELLED")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
