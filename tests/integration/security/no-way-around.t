#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every known way around Slurm's ledger, tried by somebody who may edit one
namespace and is alice in Slurm, or by a machine that has fallen behind: work that
nobody counts, work beyond its time, work outside of the queue, and work that is
done twice or not at all. Each attempt is printed with its answer, and must be
refused or harmless.

    EXPECT=open    prints what gets through and fails for none of it: for an
                   older installation, whose policies are left as they are. It is
                   run in a directory that has contribs/kubernetes of that release,
                   and contribs/sandbox and tests of this one: what calls `up`
                   there does not bring today's policies back. SANDBOX_BUILD=no
                   keeps the programs, whose `make install` was before.
    STANDBY=yes    adds a second controller and tries that, too.
"""
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import asking
import batch
import bed
import claims
import devices
import faults
import hybrid
import real_nodes
import slurmctld
from admission import As, pods_path
from claims import request, with_claims
from tap import Skip, case, check, run, wait_for

OPEN = os.environ.get("EXPECT") == "open"
GREEDY = "greedy"  # a namespace of another user
NODE = "kn1"
FIRST = 0xfffffffd  # the priority of jobs that adopt
GATE_TIMEOUT = 4
MOST_PENDING = 20
CLASSES = {claims.A100: f"device.driver == '{devices.DRIVER}' && "
           f"device.attributes['{devices.DRIVER}'].model == 'A100'"}
users = {}


def way(function):
    """A case that returns what the attempt got, or "" where it was refused or did
    no harm. It prints by itself what was answered."""
    @functools.wraps(function)
    def attempt():
        got = function()
        print(f"# {function.__name__}: " +
              (f"GOT THROUGH: {got}" if got else "refused or harmless"),
              flush=True)
        check(OPEN or not got, f"this got through: {got}")
    return case(attempt)


def note(what, answer):
    print(f"# {what}: {str(answer).strip()}", flush=True)


def tries(what, function, *arguments):
    """Whether the API server does it; prints the answer."""
    try:
        function(*arguments)
    except bed.ApiError as error:
        check(error.status in (400, 403, 409, 422), f"{what}: {error}")
        note(what, error)
        return False
    note(what, "allowed")
    return True


def within(seconds, condition):
    """Whether it becomes true by then."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if condition():
            return True
        time.sleep(0.2)
    return bool(condition())


def user(namespace=bed.NAMESPACE):
    if namespace not in users:
        admission.namespace(namespace)
        users[namespace] = As(admission.editor(namespace), dry=False)
    return users[namespace]


def make(name, namespace=bed.NAMESPACE, **options):
    """A Pod that the user makes."""
    bed.remember(user(namespace).create(
        pods_path(ns=namespace),
        bed.pod(name, namespace=namespace, **options)))


def running(name, **options):
    """One for Slurm, with its job; returns the JobId."""
    make(name, **options)
    bed.wait_phase(name, "Running")
    return bed.wait_job(name, "RUNNING")["job_id"]


def as_alice(*command):
    said = bed.run(*command, user="alice", check=False)
    note("alice: " + " ".join(command), said or "done")
    return said


def state(job):
    found = bed.jobs().get(job)
    return found["job_state"] if found else ["gone"]


def is_there(name):
    """Whether it may have containers."""
    pod = bed.get(name)
    return pod and pod["status"].get("phase") not in ("Succeeded", "Failed")


# ---- Outside of the queue


def beside(name, **spec):
    """What a Pod of another scheduler gets on Slurm's Node."""
    body = bed.pod(name, cpu="8", scheduler="default-scheduler", **spec)
    if not tries(f"a Pod with {json.dumps(spec)}", user().create, pods_path(),
                 body):
        return ""
    if "nodeName" in spec:
        return f"a Pod with nodeName is on {bed.get(name)['spec']['nodeName']}"
    return "a Pod that kube-scheduler may put on every Node of Slurm"


@way
def by_node_name():
    """a Pod that names its Node, for another scheduler"""
    return beside("free", nodeName=NODE)


@way
def by_toleration_of_all():
    """a Pod that tolerates every taint"""
    return beside("free", tolerations=[{"operator": "Exists"}])


@way
def by_toleration_of_ours():
    """a Pod that tolerates the taint of Slurm's Nodes"""
    return beside("free", tolerations=[{
        "key": "slinky.slurm.net/managed-node", "operator": "Exists"}])


@way
def close_the_queue():
    """one namespace has so many held Pods that no other one gets a job"""
    try:
        for i in range(MOST_PENDING + 5):
            make(f"held-{i}", GREEDY, annotations={"slurmk8s/priority": "0"})
        within(20, lambda: len(bed.run(
            "squeue", "-h", "-t", "PD", "-o", "%i").split()) >= MOST_PENDING)
        make("mine")
        got_a_job = within(30, lambda: bed.jobs_of("mine"))
        note("another namespace's Pod", bed.condition("mine").get(
            "message", "has a job") or "has a job")
        return "" if got_a_job else "no other namespace gets a job"
    finally:
        asking.clean_namespaces(GREEDY)


# ---- Beyond its time


def by_own_hour(**spec):
    """A Pod with a time limit of a minute, and an hour to stop."""
    # The site's own bound, as without the line that the sandbox has for tests.
    with agent_conf.changed(lambda text: text.replace("MaxGracePeriod=3600\n",
                                                      "")):
        make("greedy", annotations={bed.TIMELIMIT: "1", "sandbox/stop": "2h"},
             **spec)
        wait_for("an answer", lambda: bed.jobs_of("greedy") or
                 "terminationGracePeriodSeconds" in
                 bed.condition("greedy").get("message", ""))
        note("the Pod", bed.condition("greedy").get("message"))
        if not bed.jobs_of("greedy"):
            return ""
        job = bed.wait_job("greedy", "RUNNING")["job_id"]
        wait_for("the time limit", lambda: "TIMEOUT" in state(job), 150)
        note("the job", state(job))
        # What kwok says of a Pod, a real kubelet may not keep to.
        ends = within(60, lambda: not is_there("greedy") if spec.get("real")
                      else has_at_most(60))
    note("the Pod", "ends soon" if ends else "has most of its hour left")
    if spec.get("real"):
        bed.delete("greedy", grace=0)
    else:
        bed.play("greedy", stop="1ms")
    return "" if ends else "an hour for the price of a minute"


def has_at_most(seconds):
    """Whether it is over, or is given no more than that to stop."""
    meta = (bed.get("greedy") or {"metadata": {}})["metadata"]
    return not is_there("greedy") or \
        meta.get("deletionGracePeriodSeconds", 3600) <= seconds


@way
def by_grace_period():
    """an hour's grace period after a time limit of a minute"""
    return by_own_hour(terminationGracePeriodSeconds=3600)


@way
def by_deadline():
    """the same, and the Pod's own deadline passes before: its kubelet, which has
    begun to stop it, will not hear of less"""
    return by_own_hour(terminationGracePeriodSeconds=3600,
                       activeDeadlineSeconds=55)


@way
def by_probe():
    """the same by a probe, which has a grace period of its own, on a real node: kwok
    knows no probes"""
    real_nodes.need_one()
    return by_own_hour(real=True, containers=[{
        "name": "main", "image": "busybox:stable",
        "command": ["sh", "-c", "trap '' TERM; while :; do sleep 1; done"],
        "resources": {"requests": {"cpu": "1", "memory": "16Mi"}},
        "livenessProbe": {"exec": {"command": ["false"]}, "periodSeconds": 1,
                          "failureThreshold": 1,
                          "terminationGracePeriodSeconds": 3600}}])


def by_stopping(what, function, *arguments):
    """A running Pod is made to stop slowly, and then its job ends."""
    job = running("greedy", annotations={"sandbox/stop": "2h"})
    if not tries(what, function, *arguments):
        check("RUNNING" in state(job), f"its job is {state(job)}")
        return ""
    as_alice("scancel", str(job))
    # The agent shortens it, but a real kubelet goes on with what it had.
    long = bed.get("greedy")["metadata"]["deletionGracePeriodSeconds"]
    note("the Pod", f"has {long} s")
    bed.play("greedy", stop="1ms")
    return "an hour after the end of the job" if long > 60 else ""


@way
def by_slow_deletion():
    """kubectl delete --grace-period=3600, shortly before the job ends"""
    return by_stopping("kubectl delete --grace-period=3600", user().delete,
                       pods_path("greedy"), {"gracePeriodSeconds": 3600})


@way
def by_slow_eviction():
    """the same by an eviction"""
    body = admission.eviction("greedy")
    body["deleteOptions"] = {"gracePeriodSeconds": 3600}
    return by_stopping("an eviction within an hour", user().create,
                       pods_path("greedy", sub="eviction"), body)


@way
def by_suspending():
    """the job of a running Pod is suspended: neither its time nor its use count"""
    job = running("sleeper")
    as_alice("scontrol", "suspend", str(job))
    within(5, lambda: state(job) != ["RUNNING"])
    counted = within(30, lambda: state(job) == ["RUNNING"] or
                     not is_there("sleeper"))
    note("the job", state(job))
    if not counted:
        bed.run("scontrol", "resume", str(job))
    return "" if counted else "the Pod runs, and its job is SUSPENDED"


@way
def by_force():
    """a Pod that does not stop is deleted by force: its job ends at once"""
    job = running("stubborn", terminationGracePeriodSeconds=600,
                  annotations={"sandbox/stop": "10m"})
    if not tries("kubectl delete --force", user().delete, pods_path("stubborn"),
                 {"gracePeriodSeconds": 0}):
        check("RUNNING" in state(job), f"its job is {state(job)}")
        bed.play("stubborn", stop="1ms")
        return ""
    gone = within(15, lambda: not bed.get("stubborn") and
                  "RUNNING" not in state(job))
    return "the containers run, and their job has ended" if gone else ""


# ---- Uncounted


def used():
    """How many A100 of the node Slurm has given away."""
    found = re.search(r"gpu:a100:(\d+)", devices.slurm_node(NODE)["gres_used"])
    return int(found[1]) if found else 0


def share(first_limit="1"):
    """Pods a, of a minute, and b, of a week, with one claim; returns a's job."""
    devices.wait_gres(NODE, "gpu:a100:2")
    bed.api("POST", claims.path("resourceclaims"), {
        "metadata": {"name": "both"},
        "spec": claims.spec(request(count=2, device_class=claims.A100))},
        token=user().token)
    here = {"kubernetes.io/hostname": NODE}
    first = running("a", nodeSelector=here, **with_claims("both"),
                    annotations={bed.TIMELIMIT: first_limit})
    running("b", nodeSelector=here, **with_claims("both"),
            annotations={bed.TIMELIMIT: "7-0"})
    return first


@way
def by_shared_claim():
    """a first Pod of a minute gets devices, a second one of a week uses them"""
    first = share()
    bed.end("a")
    bed.wait_phase("a", "Succeeded")
    lost = within(10, lambda: used() == 0)
    note("after the first Pod", f"{used()} devices in use; job {first} is "
         f"{state(first)}")
    if lost and is_there("b"):
        return "Pod b uses two devices, and Slurm counts none"
    wait_for("the time limit", lambda: "RUNNING" not in state(first), 150)
    ends = within(60, lambda: not is_there("b"))
    note("after the time limit", f"job {first} is {state(first)}, b " +
         ("ends" if ends else "runs on"))
    return "" if ends else "Pod b uses two devices, and Slurm counts none"


@way
def by_taking_the_claim_away():
    """the same, and the user deletes the claim under the Pods, finalizer and all"""
    first = share("30")
    merge = admission.MERGE
    if tries("no finalizers", user().patch, claims.path("resourceclaims", "both"),
             {"metadata": {"finalizers": None}}, merge):
        tries("delete the claim", user().delete,
              claims.path("resourceclaims", "both"))
    bed.end("a")
    bed.wait_phase("a", "Succeeded")
    lost = within(10, lambda: used() == 0)
    note("after the first Pod", f"{used()} devices in use; job {first} is "
         f"{state(first)}")
    return "Pod b uses two devices, and Slurm counts none" \
        if lost and is_there("b") else ""


# ---- As another machine


@way
def as_a_kubelet():
    """a kubelet that somebody has taken over gives its Node another name in
    Slurm, and opens other partitions to it"""
    got = []
    for kind, key in (
            ("label", "slinky.slurm.net/slurm-nodename=c7"),
            ("annotate",
             "scheduler.slinky.slurm.net/external-node-partitions=secret")):
        said = bed.run("kubectl", kind, "node", NODE, "--overwrite", key,
                       "--dry-run=server", f"--as=system:node:{NODE}",
                       "--as-group=system:nodes",
                       "--as-group=system:authenticated", check=False)
        note(f"{NODE}'s kubelet: {kind} {key}", said)
        if "labeled" in said or "annotated" in said:
            got.append(key)
    return "; ".join(got)


# ---- Twice, or not at all


@way
def an_adoption_behind_others():
    """slurmctld forgets the job of a running Pod and the feature of its node: the
    job that adopts the Pod is held, and comes behind all others"""
    slurmctld.keep_state()
    running("lives")
    node = bed.node_of("lives")
    bed.ctl("kill", "slurmk8sd")
    slurmctld.bring_state_back()
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        bed.ctl("start", "slurmk8sd")
        job = str(bed.wait_job("lives", "PENDING", 60)["job_id"])
        bed.ctl("kill", "slurmk8sd")
        bed.run("scontrol", "update", f"NodeName={node}", "Features=k8s,kwok",
                "ActiveFeatures=k8s,kwok")
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
        wait_for("the job to be held", lambda: bed.job_of("lives")[
            "state_reason"] == "BadConstraints", 60)
        bed.ctl("start", "slurmk8sd")
        released = within(60, lambda: bed.job_of("lives")["state_reason"] !=
                          "BadConstraints")
        first = released and within(5, lambda: int(bed.run(
            "squeue", "-h", "-o", "%Q", "-j", job).strip() or 0) == FIRST)
        note("the job that adopts", "is first again" if first else "is not")
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    wait_for("the Pod to have a job", lambda: "RUNNING" in bed.state_of(
        bed.job_of("lives")), 120)
    return "" if first else "running work is uncounted while others come first"


@way
def an_older_agent():
    """job_submit/k8s is of a later release than the agent: a queued batch job
    with a part that the agent does not know"""
    bed.ctl("kill", "slurmk8sd")
    job = batch.submit()
    tag = json.loads(bed.jobs()[job]["admin_comment"])
    path = f"{batch.SCRIPTS}/{tag['sbatch']}"
    bed.inside("sed", "-i", r"0,/\x00/s//\x00later=1\x00/", path)
    if OPEN:  # an older agent is not healthy then, and `ctl` waits for that
        subprocess.Popen([str(bed.TOP / "contribs/sandbox/ctl"), "start",
                          "slurmk8sd"], stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    else:
        bed.ctl("start", "slurmk8sd")
        wait_for("the problem", lambda: any(
            "later release" in json.dumps(found)
            for found in bed.status()["problems"]))
        note("/healthz", bed.inside(
            "curl", "-sf", f"http://{bed.web_address()}/healthz"))
    failed = within(30, lambda: "FAILED" in state(job))
    note("the job", f"{state(job)} {bed.jobs()[job]['comment']}")
    bed.run("scancel", str(job))
    wait_for("the job to end", lambda: "COMPLETING" not in state(job) and
             "CONFIGURING" not in state(job) and
             "PENDING" not in state(job), 60)
    return "the queued job has FAILED" if failed else ""


def overdue_on(node):
    """A node with containers of an ended job, of which one is not over yet, and a
    job that waits there until GateTimeout."""
    bed.create(hybrid.pod("stopper", hybrid.CPUS, annotations={
        "sandbox/stop": "10m"}, terminationGracePeriodSeconds=600))
    bed.wait_phase("stopper", "Running")
    bed.run("scancel", str(bed.job_of("stopper")["job_id"]))
    wait_for("its end", lambda: "RUNNING" not in bed.state_of(
        bed.job_of("stopper")))
    job = hybrid.sbatch(hybrid.CPUS, f"--nodelist={node}")
    wait_for("the job to be held", lambda: "CONFIGURING" in state(job), 60)
    return job


@way
def cancelled_and_run():
    """a batch job is cancelled while it is given up for a node that does not
    become clean: it must not be requeued, and run"""
    with hybrid.hybrid_nodes(), agent_conf.changed(
            lambda text: f"{text}\nGateTimeout={GATE_TIMEOUT}\n"):
        bed.run("scontrol", "reconfigure")
        since = bed.log_size("slurmctld")
        job = overdue_on(hybrid.NODE)
        wait_for("the drain", lambda: f"drained {hybrid.NODE}" in
                 bed.log_since("slurmctld", since), 60)
        as_alice("scancel", str(job))
        again = within(15, lambda: bed.jobs()[job]["restart_cnt"] != 0 and
                       "CANCELLED" not in state(job))
        note("the job", f"{state(job)}, requeued "
             f"{bed.jobs()[job]['restart_cnt']} times")
        bed.run("scancel", str(job), check=False)
        bed.play("stopper", stop="1ms")
        wait_for("the node to be open", lambda: "DRAIN" not in
                 devices.slurm_node(hybrid.NODE)["state"], 60)
    bed.run("scontrol", "reconfigure")
    return "the cancelled job is in the queue again" if again else ""


@way
def by_a_standby():
    """a slurmctld that has given control back goes on with what it held: it
    opens, drains or requeues"""
    if os.environ.get("STANDBY") != "yes":
        raise Skip("faults/give-back.t does it; STANDBY=yes tries it here, too")
    hybrid.sandbox_up("--hybrid", "--backup")
    try:
        pid = bed.run(str(bed.TOP / "contribs/sandbox/ctl"), "pid",
                      "ctl2").strip()
        bed.inside("nsenter", "--target", pid, "--mount", "sh", "-c",
                   "echo GateTimeout=40 >> /etc/slurm/k8s.conf")
        bed.ctl("restart", "slurmctld2")
        # So that the file of the gate has the nodes of which it is not known
        # whether Pods live there.
        bed.run("scontrol", "reconfigure")
        wait_for("slurmctld to be back", lambda: "ctl is UP" in bed.run(
            "scontrol", "ping", check=False))
        for daemon in ("slurmk8sd", "slurmk8sd2"):
            if faults.alive(daemon):
                bed.ctl("kill", daemon)
        bed.ctl("kill", "slurmctld")
        wait_for("the second one to be in control", lambda: "ctl2 is UP" in
                 bed.run("scontrol", "ping", check=False), 90)
        job = [0]
        wait_for("a job to be taken", lambda: job.__setitem__(
            0, hybrid.sbatch(1)) or True, 60)
        wait_for("it to be held", lambda: "CONFIGURING" in state(job[0]), 60)
        bed.ctl("start", "slurmctld")
        wait_for("the first one to be back", lambda: "ctl is UP" in bed.run(
            "scontrol", "ping", check=False), 90)
        since = bed.log_size("slurmctld2")
        check("CONFIGURING" in state(job[0]), "it is still held")
        bed.ctl("start", "slurmk8sd")
        wait_for("the job to run", lambda: state(job[0]) == ["RUNNING"], 120)
        within(50, lambda: state(job[0]) != ["RUNNING"])
        said = [words for words in ("Configuration for", "drained",
                                    "requeueing", "ending its prolog")
                if words in bed.log_since("slurmctld2", since)]
        note("the job", state(job[0]))
        note("the standby", said or "does nothing")
        touched = state(job[0]) != ["RUNNING"] or \
            bed.jobs()[job[0]]["restart_cnt"] != 0
        bed.run("scancel", str(job[0]), check=False)
        return "a standby acts on jobs of the other one" \
            if touched or said else ""
    finally:
        if not faults.alive("slurmctld"):
            bed.ctl("start", "slurmctld")
        hybrid.sandbox_up("--no-hybrid", "--no-backup")


def before_each():
    for daemon in ("slurmctld", "slurmk8sd"):
        if not faults.alive(daemon):
            bed.ctl("start", daemon)
    bed.clean()


if not OPEN:
    admission.apply()
devices.begin(f"DeviceGres={claims.A100}:gpu:a100\n"
              f"MaxPendingJobs={MOST_PENDING}\n", CLASSES, (NODE,))
asking.with_slurm_conf("AccountingStorageEnforce=associations,limits,qos,safe")
user()
if not OPEN:  # the last of the policies that admission.apply() has changed
    wait_for("the policies to act", lambda: not tries(
        "a trial", As(user().token).create, pods_path(),
        bed.pod("trial", scheduler="default-scheduler", nodeName=NODE)), 60)
else:
    bed.leaves_violations("an older installation breaks them")
run(before_each=before_each, after_failure=bed.last_words)
