#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Slow stoppers (users.md, failure test 4): what a container still uses is given
to nobody else, be it a Pod or an ordinary job on a node of both slurmd and
kubelet; one slow stopper does not stop a whole node; and nothing opens wrongly
when the agent or slurmctld dies meanwhile."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slurmctld
from tap import case, check, equal, never, run, wait_for

NODE = "real1"  # of 2 CPUs or more; here it has both slurmd and kubelet
CONF = "/etc/slurm/k8s.conf"
GATE_REASON = "slurmk8sd: Pods of ended jobs do not stop"
STOPPERS = bed.SANDBOX / "stoppers"  # a file for each that shall stop


def sandbox_up(*options):
    """Some seconds: nothing is built."""
    done = subprocess.run([str(bed.TOP / "contribs/sandbox/up"), *options],
                          env=dict(os.environ, SANDBOX_BUILD="no"), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, f"up {options}: {done.stdout}")


def node_of(name=NODE):
    return json_of("scontrol", "show", "node", name, "--json")["nodes"][0]


def json_of(*command):
    return bed.json.loads(bed.run(*command))


CPUS = None  # of the hybrid node, set below


def pod(name, cpus, grace=2, command="sleep 600", **spec):
    return bed.pod(name, real=True, cpu=str(cpus), command=command,
                   annotations={bed.PARTITION: "hybrid"},
                   terminationGracePeriodSeconds=grace, **spec)


def stops(name="stopper"):
    """Its container does, which has ignored TERM."""
    (STOPPERS / name).touch()


def lives(name):
    """Containers of it may run."""
    found = bed.get(name)
    return bool(found) and found["status"].get("phase") not in (
        "Succeeded", "Failed")


def stopper(cpus, name="stopper"):
    """A Pod of a job that has ended, which lives on until stops()."""
    end_job_of(stubborn(cpus, name))


def stubborn(cpus, name="stopper"):
    """A running Pod that lives on when it is told to end, until stops()."""
    STOPPERS.mkdir(exist_ok=True)
    (STOPPERS / name).unlink(missing_ok=True)
    body = pod(name, cpus, 600, "trap '' TERM; "
               f"until [ -e /stoppers/{name} ]; do sleep 0.2; done")
    body["spec"]["volumes"] = [{"name": "stoppers", "hostPath": {
        "path": str(STOPPERS)}}]
    body["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "stoppers", "mountPath": "/stoppers"}]
    bed.create(body)
    bed.wait_phase(name, "Running")
    return name


def end_job_of(name):
    bed.run("scancel", str(bed.job_of(name)["job_id"]))
    bed.wait_job(name, "CANCELLED")


def sbatch(cpus, *options, partition="hybrid", script="sleep 1"):
    return int(bed.run("sbatch", "--parsable", "--chdir=/tmp", "--output=none",
                       f"--ntasks={cpus}", f"--partition={partition}", *options,
                       "--wrap", script, user="alice"))


def state(job_id):
    return bed.jobs()[job_id]["job_state"]


def is_held(job_id):
    return "CONFIGURING" in state(job_id)


def wait_held(job_id):
    wait_for(f"job {job_id} to be held", lambda: is_held(job_id))


def wait_done(job_id, seconds=30):
    wait_for(f"job {job_id} to complete",
             lambda: state(job_id) == ["COMPLETED"], seconds)


def opens_only_after(opened, name, seconds=60):
    """Until opened(); it is asked first, so that the Pod is seen living only if
    it lived when the gate had opened."""
    def is_open():
        if not opened():
            return False
        check(not lives(name), f"it started while {name} was living")
        return True
    wait_for(f"the gate to open after {name}", is_open, seconds)


def opens_when_it_stops(opened):
    """Not before the stopper's container is gone, and then."""
    never("it opens while the stopper lives", opened, 4)
    stops()
    opens_only_after(opened, "stopper")


def native_job_runs():
    """On a node without Pods nobody waits."""
    wait_done(sbatch(1, partition="native", script="true"))


def set_conf(*lines):
    """Writes k8s.conf with these lines at its end; returns how it was."""
    conf = bed.inside("cat", CONF)
    bed.inside("sh", "-c", f"cat > {CONF}",
               stdin=conf + "\n" + "\n".join(lines) + "\n")
    return conf


def reconfigure():
    """slurmctld executes itself anew: prep/k8s reads k8s.conf, and connects."""
    since = bed.log_size("slurmk8sd")
    bed.run("scontrol", "reconfigure")
    wait_for("slurmctld to answer", lambda: "is UP" in
             bed.run("scontrol", "ping", check=False))
    wait_for("its plugin to be connected", lambda:
             "slurmctld's plugin connected" in
             bed.log_since("slurmk8sd", since))


def save_state():
    """slurmctld's, which it does when it is told to read its settings again. What
    was saved before is what a crash brings back: a job that had ended runs again,
    and one that was completing keeps its node for minutes."""
    reconfigure()


def clean():
    bed.run("scancel", "--user=alice", "--partition=hybrid")
    bed.run("scancel", "--user=alice", "--partition=native")
    if STOPPERS.exists():
        stops()
    bed.clean()


@case
def hybrid_node():
    """a node with slurmd and kubelet runs Pods and ordinary jobs side by side"""
    bed.create(pod("beside", 1))
    bed.wait_phase("beside", "Running")
    equal(bed.job_of("beside")["nodes"], NODE, "the Pod's node")
    job = sbatch(1, script="test $(hostname) = real1 && id -un")
    wait_done(job)
    equal(bed.jobs()[job]["nodes"], NODE, "the job's node")
    check(bed.phase_is("beside", "Running"), "the Pod lives")
    features = node_of()["features"]
    check("k8s" in features, f"features {features}")


@case
def next_pod_waits():
    """a Pod ignores TERM; after scancel the next Pod that needs its CPUs is bound
    when its last container is gone, and says why it waits"""
    stopper(CPUS)
    bed.create(pod("next", CPUS))
    bed.wait_job("next", "CONFIGURING")
    bed.wait_words("next", "waits until containers of ended jobs stop")
    check(lives("stopper"), "the stopper lives")
    native_job_runs()
    opens_when_it_stops(lambda: bed.get("next")["spec"].get("nodeName"))
    bed.wait_phase("next", "Running")


@case
def next_job_waits():
    """after scancel the next ordinary job that needs the CPUs starts when the last
    container is gone"""
    stopper(CPUS)
    job = sbatch(CPUS)
    wait_held(job)
    check(lives("stopper"), "the stopper lives")
    native_job_runs()
    opens_when_it_stops(lambda: not is_held(job))
    wait_done(job)
    equal(node_of()["reason"], "", "the reason of a drain")


@case
def opens_early():
    """beside a slow stopper a small job starts at once and a small Pod too, the
    next one waits"""
    stopper(CPUS - 1)
    bed.inside("rm", "-f", "/tmp/early-ends")
    early = sbatch(1, script="until [ -e /tmp/early-ends ]; do sleep 0.2; done")
    wait_for("the small job to run", lambda: state(early) == ["RUNNING"])
    late = sbatch(1)
    wait_held(late)
    bed.inside("touch", "/tmp/early-ends")
    wait_done(early)
    # what the small job had is free again, and nobody tells the agent
    wait_for("the next one to run", lambda: not is_held(late))
    wait_done(late)
    bed.create(pod("small", 1))
    bed.wait_phase("small", "Running")
    check(lives("stopper"), "the stopper lives")


@case
def timeout():
    """after GateTimeout the node is drained and only then the job requeued, which
    runs elsewhere; the Pod is left alone; the node is resumed when it is clean"""
    filler = sbatch(2, partition="native", script="sleep 600")
    wait_for("native1 to be full", lambda: state(filler) == ["RUNNING"])
    conf = set_conf("GateTimeout=4")
    try:
        reconfigure()
        stopper(CPUS)
        since = bed.log_size("slurmctld")
        job = sbatch(min(CPUS, 2), partition="hybrid,native")
        wait_for("the job to be requeued", lambda:
                 bed.jobs()[job]["restart_cnt"] == 1)
        check("DRAIN" in node_of()["state"], "the node is drained first")
        equal(node_of()["reason"], GATE_REASON, "reason")
        log = bed.log_since("slurmctld", since)
        check(re.search(rf"drained {NODE}(?s:.*)JobId={job} has waited for "
                        "GateTimeout: requeueing it", log),
              f"the order of things: {log}")
        check(lives("stopper"), "the stopper lives")
        bed.run("scancel", str(filler))
        # Slurm itself lets a requeued job wait for two minutes.
        bed.run("scontrol", "update", f"JobId={job}", "StartTime=now")
        wait_done(job)
        equal(bed.jobs()[job]["nodes"], "native1", "its second node")
        opens_when_it_stops(lambda: "DRAIN" not in node_of()["state"])
    finally:
        bed.inside("sh", "-c", f"cat > {CONF}", stdin=conf)
        reconfigure()


@case
def bind_timeout():
    """a Pod whose node stays dirty for BindTimeout gets another job: first the
    node is drained, so that it comes elsewhere"""
    conf = set_conf("BindTimeout=10")
    bed.ctl("kill", "--signal", "HUP", "slurmk8sd")
    try:
        for i in range(4):
            bed.create(bed.pod(f"filler-{i}", cpu="16",
                               terminationGracePeriodSeconds=600,
                               annotations={"sandbox/stop":
                                            "10m" if i == 0 else "1s"}))
        for i in range(4):
            bed.wait_phase(f"filler-{i}", "Running")
        slow = bed.job_of("filler-0")
        bed.run("scancel", str(slow["job_id"]))
        bed.create(bed.pod("next", cpu="16"))
        first, _ = wait_for("a new job", lambda: (
            lambda jobs: jobs if len(jobs) == 2 else None)(
                bed.jobs_of("next")), 40)
        equal(first["nodes"], slow["nodes"], "its node")
        equal(node_of(slow["nodes"])["reason"], GATE_REASON, "reason")
        check(lives("filler-0"), "the slow one lives")
        bed.delete("filler-1")
        bed.wait_phase("next", "Running")
        check(bed.job_of("next")["nodes"] != slow["nodes"], "it went elsewhere")
        never("the node is resumed while the slow one lives", lambda: "DRAIN"
              not in node_of(slow["nodes"])["state"], 3)
        bed.play("filler-0", stop="1ms")
        wait_for("the node to be resumed", lambda: "DRAIN" not in
                 node_of(slow["nodes"])["state"], 60)
        check(not lives("filler-0"), "resumed when it was clean")
    finally:
        bed.inside("sh", "-c", f"cat > {CONF}", stdin=conf)
        bed.ctl("kill", "--signal", "HUP", "slurmk8sd")


@case
def agent_killed():
    """the agent is killed while a node is dirty, and started again: the gate stays
    closed until the last container is gone"""
    stopper(CPUS)
    bed.ctl("kill", "slurmk8sd")
    try:
        job = sbatch(1)
        wait_held(job)
        native_job_runs()
    finally:
        bed.ctl("start", "slurmk8sd")
    check(lives("stopper"), "the stopper lives")
    opens_when_it_stops(lambda: not is_held(job))
    wait_done(job)


@case
def slurmctld_killed():
    """slurmctld is killed while a node is dirty, with the agent down too: the gate
    is closed for bridge nodes until the agent is back, other nodes never wait"""
    stopper(CPUS)
    save_state()
    bed.ctl("kill", "slurmk8sd")
    try:
        bed.ctl("kill", "slurmctld")
        bed.ctl("start", "slurmctld")
        job = sbatch(1)
        wait_held(job)
        native_job_runs()
        check(is_held(job), "it is still held")
    finally:
        bed.ctl("start", "slurmk8sd")
    check(lives("stopper"), "the stopper lives")
    opens_when_it_stops(lambda: not is_held(job))
    wait_done(job)


@case
def slurmctld_killed_alone():
    """slurmctld is killed while a node is dirty and the agent lives: nothing opens
    before the last container is gone, other nodes never wait"""
    stopper(CPUS)
    save_state()
    bed.ctl("kill", "slurmctld")
    bed.ctl("start", "slurmctld")
    job = sbatch(1)
    wait_held(job)
    native_job_runs()
    check(lives("stopper"), "the stopper lives")
    opens_when_it_stops(lambda: not is_held(job))
    wait_done(job)


@case
def end_lost():
    """a crash of slurmctld loses the end of a stubborn Pod's job: it runs again,
    and its CPUs are nobody else's before the last container is gone"""
    name = stubborn(CPUS)
    ended = bed.job_of(name)["job_id"]
    slurmctld.keep_state()
    end_job_of(name)
    slurmctld.bring_state_back()
    equal(state(ended), ["RUNNING"], "the job that had ended")
    job = sbatch(1)
    native_job_runs()
    opens_when_it_stops(lambda: state(job) in (["RUNNING"], ["COMPLETED"]))
    wait_done(job)
    wait_for("the Pod's job to end", lambda: state(ended) != ["RUNNING"])


@case
def job_lost():
    """a crash of slurmctld loses the job of a running Pod: no ordinary job gets
    its CPUs, agent up or down"""
    save_state()
    older = "/var/spool/slurmctld.older"
    slurmctld.copy_state(older)
    bed.create(pod("healthy", CPUS, 1))
    bed.wait_phase("healthy", "Running")
    lost = bed.job_of("healthy")["job_id"]
    bed.ctl("kill", "slurmk8sd")
    try:
        bed.ctl("kill", "slurmctld")
        bed.inside("sh", "-c", "rm -rf /var/spool/slurmctld && "
                   f"mv {older} /var/spool/slurmctld")
        bed.ctl("start", "slurmctld")
        check(lost not in bed.jobs(), "slurmctld has forgotten it")
        job = sbatch(CPUS)
        wait_held(job)
        native_job_runs()
        check(is_held(job), "it is still held")
    finally:
        bed.ctl("start", "slurmk8sd")
    check(bed.phase_is("healthy", "Running"), "the Pod lives")
    never("the job started beside the Pod", lambda: not is_held(job), 8)
    check(bed.phase_is("healthy", "Running"), "the Pod lives")
    bed.delete("healthy")
    opens_only_after(lambda: not is_held(job), "healthy")
    wait_done(job)


sandbox_up("--hybrid")
CPUS = node_of()["cpus"]
try:
    run(before_each=clean, after_each=bed.nothing_left,
        after_failure=bed.last_words)
finally:
    sandbox_up("--no-hybrid")
