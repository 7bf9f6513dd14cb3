#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmk8s explain and status: each Pod's story in words, from the real Slurm;
and what is said on Pods while the queue moves, counted in Events."""
import datetime
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from agent_conf import changed
from asking import make_namespace
from tap import case, check, equal, never, run, wait_for

UNKNOWN = 3  # exit status
WRONG_CALL = 2


def slurmk8s(*words, status=0, command="slurmk8s"):
    """What it prints, on either stream; its exit status must be this one."""
    done = subprocess.run([command, *words], text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    equal(done.returncode, status, f"exit status of {command} {words}: "
          f"{done.stdout}")
    return done.stdout


def explain(what, *options):
    return json.loads(slurmk8s("explain", "--json", *options, what))


def waits_for(name, reason, seconds=30):
    """Until Slurm says this reason, and explain with it."""
    def said():
        story = explain(f"{bed.NAMESPACE}/{name}")
        return story if story.get("job", {}).get("reason") == reason else None
    return wait_for(f"{name} to wait for {reason}", said, seconds, every=0.5)


def waiting_events(name):
    uid = bed.get(name)["metadata"]["uid"]
    return [event["note"] for event in bed.events_of(uid)
            if event["reason"] == "FailedScheduling"]


def kwok_nodes():
    nodes = json.loads(bed.run("scontrol", "show", "nodes", "--json"))["nodes"]
    return [node for node in nodes if "kwok" in node["partitions"]]


def fill_nodes():
    """A Pod that takes all CPUs, on each kwok node; their names."""
    names = []
    for number, node in enumerate(kwok_nodes()):
        names.append(f"full-{number}")
        bed.create(bed.pod(names[-1], cpu=str(node["cpus"])))
    for name in names:
        bed.wait_phase(name, "Running")
    return names


@case
def running():
    """a running Pod: job, node, whom it runs as, and what it asked"""
    bed.create(bed.pod("runs", cpu="1500m", memory="1Gi",
                       annotations={bed.TIMELIMIT: "1:00:00"}))
    bed.wait_job("runs", "RUNNING")
    pod = bed.wait_phase("runs", "Running")

    story = wait_for("the agent to see it run", lambda: (
        lambda s: s if "Pod to end" in s["agent"]["now"] else None)(
            explain("runs")))

    job = bed.job_of("runs")
    node = pod["spec"]["nodeName"]
    check(f"on node {node}" in story["summary"], story["summary"])
    equal(story["job"]["jobId"], job["job_id"], "JobId")
    equal(story["job"]["state"], "RUNNING", "state")
    equal(story["job"]["nodes"], node, "nodes")
    equal(story["job"]["user"], "alice", "user")
    equal(story["job"]["account"], job["account"], "account")
    equal(story["job"]["partition"], "kwok", "partition")
    equal(story["job"]["qos"], job["qos"], "QOS")
    equal(story["job"]["timeLimitMinutes"], 60, "time limit")
    check("cpu=2" in story["job"]["asked"] and "mem=1G" in story["job"]["asked"],
          story["job"]["asked"])
    check("k8s" in story["job"]["features"], story["job"]["features"])
    equal(story["pods"][0]["asks"]["cpuMilli"], 1500, "the Pod's CPU")
    equal(story["agent"]["now"], "It waits for the Pod to end.", "agent")


@case
def found_by_each_name():
    """NAME, NAMESPACE/NAME, -n, the JobId, and kubectl slurm mean the same Pod"""
    bed.create(bed.pod("named"))
    job = bed.wait_job("named", "RUNNING")["job_id"]

    for words in (["named"], ["test/named"], ["-n", "test", "named"],
                  ["named", "--namespace", "test"], [str(job)]):
        said = slurmk8s("explain", *words)
        check(f"Slurm job {job}" in said and "test/named" in said, said)
    said = bed.run("kubectl", "slurm", "explain", "-n", "test", "named")
    check(f"Slurm job {job}" in said, said)


@case
def waiting_for_resources():
    """at the head of the queue: Resources; behind it: Priority; each with what it
    means, and with the start that backfill expects"""
    fill_nodes()
    cpus = str(kwok_nodes()[0]["cpus"])
    bed.create(bed.pod("head", cpu=cpus, annotations={bed.TIMELIMIT: "10"}))
    waits_for("head", "Resources")
    bed.create(bed.pod("behind", cpu=cpus))

    head = waits_for("head", "Resources")
    behind = waits_for("behind", "Priority")

    check("head of the queue" in head["job"]["reasonMeaning"], head)
    check("higher priority" in behind["job"]["reasonMeaning"], behind)
    check("Wait" in head["remedy"], head["remedy"])
    equal(head["agent"]["now"], "It waits for Slurm to allocate the job.",
          "agent")
    expected = wait_for("backfill to know when", lambda: explain("head")["job"]
                        .get("expectedStart"), 60, every=1)
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", expected), expected)
    text = slurmk8s("explain", "head")
    check("Expected start" in text and "Resources" in text, text)
    # What the agent knows of it comes with the next list of jobs.
    wait_for("status to say why",
             lambda: "waiting: Resources" in slurmk8s("status"), 60)


@case
def moving_queue_is_no_storm():
    """a reason that changes with the queue is said once, in one Event; a hold is
    another, and its release a third"""
    full = fill_nodes()
    cpus = str(kwok_nodes()[0]["cpus"])
    bed.create(bed.pod("head", cpu=cpus))
    waits_for("head", "Resources")
    bed.create(bed.pod("moves", cpu=cpus))
    waits_for("moves", "Priority")
    bed.wait_words("moves", "Slurm job", "is waiting: ")
    version = bed.get("moves")["metadata"]["resourceVersion"]

    bed.delete(full.pop())  # head starts, and moves is the next
    bed.wait_phase("head", "Running")
    waits_for("moves", "Resources")
    never("a second Event", lambda: len(waiting_events("moves")) > 1, 12)
    equal(bed.get("moves")["metadata"]["resourceVersion"], version,
          "writes to the Pod")

    job = str(bed.job_of("moves")["job_id"])
    bed.run("scontrol", "hold", job)
    bed.wait_words("moves", "JobHeldAdmin")
    story = explain("moves")
    equal(story["remedy"], f"An administrator: scontrol release {job}.",
          "remedy")
    bed.run("scontrol", "release", job)
    wait_for("the queue's words again", lambda: "JobHeld" not in
             bed.condition("moves").get("message", ""), 30)
    wait_for("its Event", lambda: len(waiting_events("moves")) == 3, 30)
    never("a fourth Event", lambda: len(waiting_events("moves")) > 3, 12)


@case
def held_by_its_user():
    """a job that its user holds says so, with the command that lets it go"""
    fill_nodes()
    bed.create(bed.pod("mine", cpu=str(kwok_nodes()[0]["cpus"])))
    job = str(bed.wait_job("mine", "PENDING")["job_id"])
    bed.run("scontrol", "hold", job, user="alice")

    story = waits_for("mine", "JobHeldUser")

    equal(story["remedy"], f"scontrol release {job}.", "remedy")


@case
def no_node_is_up():
    """with all its nodes drained: Slurm's details name them, and the remedy sinfo"""
    names = ",".join(node["name"] for node in kwok_nodes())
    bed.run("scontrol", "update", f"NodeName={names}", "State=DRAIN",
            "Reason=explained")
    try:
        bed.create(bed.pod("nowhere"))
        bed.wait_job("nowhere", "PENDING")
        story = wait_for("Slurm to say why", lambda: (
            lambda s: s if s.get("job", {}).get("reasonDetails") else None)(
                explain("nowhere")), 30, every=0.5)
        check("DRAIN" in story["job"]["reasonDetails"].upper() or
              "UnavailableNodes" in story["job"]["reasonDetails"],
              story["job"])
        text = slurmk8s("explain", "nowhere")
        check("Slurm says" in text, text)
    finally:
        bed.run("scontrol", "update", f"NodeName={names}", "State=RESUME")
    bed.wait_phase("nowhere", "Running")


@case
def limit_of_a_partition():
    """a time limit longer than the partition's, when slurmctld keeps such jobs, or
    its refusal: either way the words name the limit"""
    bed.run("scontrol", "update", "PartitionName=kwok", "MaxTime=10")
    try:
        bed.create(bed.pod("long", annotations={bed.TIMELIMIT: "1-0"}))
        story = wait_for("the words", lambda: (
            lambda s: s if "ime limit" in json.dumps(s) or
            "PartitionTimeLimit" in json.dumps(s) else None)(explain("long")),
            30, every=0.5)
        check(story["remedy"], story)
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok",
                "MaxTime=UNLIMITED")


@case
def refused():
    """a Pod that Slurm takes no job for: its refusal, and what to change"""
    bed.create(bed.pod("wide", cpu="12", real=True))  # its partition has less
    bed.wait_words("wide", "Slurm")

    story = wait_for("the story", lambda: (
        lambda s: s if s["agent"]["lastFailure"] else None)(explain("wide")))

    check("job" not in story, "it has no job")
    check("cpu=12" in story["summary"], story["summary"])
    check("tries again to ask Slurm for a job" in story["agent"]["now"],
          story["agent"])
    check("Pod" in story["remedy"], story["remedy"])


@case
def too_large():
    """a Pod that no node could hold: its number, the largest node's, and a
    remedy; nothing is tried again and again"""
    bed.create(bed.pod("huge", cpu="10000"))
    bed.wait_words("huge", "No node is large enough")

    story = explain("huge")

    check("cpu=10000" in story["summary"] and "cpu=16" in story["summary"],
          story["summary"])
    equal((story["agent"]["failures"], "job" in story), (0, False), "tries")
    check(story["remedy"].startswith("Delete the Pod and create it again"),
          story["remedy"])


@case
def nobody_to_run_as():
    """in a namespace without a user, and without DefaultUser, the remedy is a
    command, which works"""
    make_namespace("of-nobody-yet")
    with changed(lambda text: "".join(
            line for line in text.splitlines(True)
            if not line.startswith("DefaultUser="))):
        bed.create(bed.pod("whose", namespace="of-nobody-yet",
                           annotations={"sandbox/run": "100ms"}))
        story = wait_for("the remedy", lambda: (
            lambda s: s if "kubectl" in s["remedy"] else None)(
                explain("of-nobody-yet/whose")))
        command = re.search(r"kubectl annotate namespace of-nobody-yet "
                            r"slurmk8s/user=USER", story["remedy"])
        check(command, story["remedy"])
        check(command[0] in story["summary"], story["summary"])
        bed.run(*command[0].replace("USER", "alice").split())
        wait_for("it to run", lambda: (bed.get("whose", "of-nobody-yet")["status"]
                                       ["phase"]) == "Succeeded", 60)
    bed.delete("whose", "of-nobody-yet")


@case
def cancelled():
    """after scancel: since when the containers have had to stop, until when at
    most, and what comes then"""
    bed.create(bed.pod("slow", annotations={"sandbox/stop": "10m"},
                       terminationGracePeriodSeconds=600))
    bed.wait_phase("slow", "Running")
    job = bed.wait_job("slow", "RUNNING")["job_id"]
    bed.run("scancel", str(job))

    now = wait_for("it to say until when", lambda: (
        lambda said: said if "killed" in said else None)(
            explain("slow")["agent"]["now"]))

    said = re.search(r"since (\S+Z) for the containers to stop. They are killed "
                     r"(\d+) s after that, at (\S+Z)", now)
    check(said, now)
    since, until = (datetime.datetime.fromisoformat(said[i]) for i in (1, 3))
    equal((until - since).seconds, int(said[2]), "its grace period")
    check(f"job {job} leaves COMPLETING" in now, now)
    bed.play("slow", stop="1ms")
    bed.wait_ended("slow", "CANCELLED", seconds=60)


@case
def status_is_sorted():
    """status has a row for each Pod, in the order of their names"""
    for name in ("c", "a", "b"):
        bed.create(bed.pod(name))
    for name in ("c", "a", "b"):
        bed.wait_phase(name, "Running")

    lines = slurmk8s("status").splitlines()

    head = next(i for i, line in enumerate(lines) if line.startswith("POD "))
    equal([line.split()[0] for line in lines[head + 1:]],
          ["test/a", "test/b", "test/c"], "the rows")


@case
def containers_in_the_way():
    """a Pod whose node is still used names the job whose containers have to stop"""
    nodes = kwok_nodes()
    full = fill_nodes()
    slow = "slow"
    bed.delete(full[-1])
    bed.wait_gone(full[-1])
    bed.create(bed.pod(slow, cpu=str(nodes[0]["cpus"]),
                       annotations={"sandbox/stop": "10m"},
                       terminationGracePeriodSeconds=600))
    bed.wait_phase(slow, "Running")
    job = bed.wait_job(slow, "RUNNING")["job_id"]
    bed.run("scancel", str(job))
    bed.create(bed.pod("next", cpu=str(nodes[0]["cpus"])))

    story = wait_for("next to wait for them", lambda: (
        lambda s: s if s["agent"]["blockers"] else None)(explain("next")))

    equal(story["agent"]["blockers"][0]["jobId"], job, "whose containers")
    equal(story["agent"]["blockers"][0]["gang"], f"test/{slow}", "of")
    check(f"job {job} (test/{slow})" in story["agent"]["now"], story["agent"])
    bed.play(slow, stop="1ms")
    bed.wait_phase("next", "Running", 40)


@case
def gated():
    """a Pod with scheduling gates says who has to act"""
    bed.create(bed.pod("gated", schedulingGates=[{"name": "example.com/wait"}]))

    story = wait_for("the story", lambda: (
        lambda s: s if s["pods"] else None)(explain("gated")), 10)

    check("scheduling gates" in story["summary"], story["summary"])
    check("remove" in story["remedy"], story["remedy"])


@case
def over():
    """a job whose Pod is gone is told from Slurm's record"""
    bed.create(bed.pod("short", annotations={"sandbox/run": "100ms"}))
    job = bed.wait_ended("short", "COMPLETED", "0:0")["job_id"]
    bed.delete("short")
    bed.wait_gone("short")

    said = slurmk8s("explain", str(job))

    check("test/short" in said and "COMPLETED" in said, said)


@case
def unknown():
    """an unknown Pod, an unknown JobId and somebody else's job are a sentence and
    exit status 3; nonsense is a wrong call"""
    check("no Pod nobody" in slurmk8s("explain", "nobody", status=UNKNOWN),
          "Pod")
    check("knows job 4000000" in
          slurmk8s("explain", "4000000", status=UNKNOWN), "JobId")
    bed.run("sbatch", "-p", "native", "-D", "/tmp", "--wrap", "true",
            user="alice")
    native = max(bed.jobs())
    check("does not belong to a Pod" in
          slurmk8s("explain", str(native), status=UNKNOWN), "native job")
    for words in ([], ["explain"], ["explain", "a", "b"], ["status", "x"],
                  ["dance"], ["explain", "-n", "a", "b/c"], ["explain", ""]):
        check("Usage:" in slurmk8s(*words, status=WRONG_CALL), words)
    check("explain POD" in slurmk8s("--help"), "help")


@case
def hostile_words():
    """what users wrote cannot move the terminal's cursor, in text and in JSON"""
    bed.create(bed.pod("evil", annotations={
        bed.TIMELIMIT: "\x1b]0;owned\x07\x9b31m\u202e1"}))
    bed.wait_words("evil", "timelimit")

    for said in (slurmk8s("explain", "evil"), slurmk8s("status"),
                 slurmk8s("explain", "--json", "evil"),
                 slurmk8s("status", "--json")):
        check("owned" in said, said)
        bad = re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)
        equal(bad, [], f"control characters in {said!r}")
    check("owned" in explain("evil")["agent"]["said"], "JSON means the same")


@case
def slurmctld_away():
    """without slurmctld the story is what was heard last, and says so; status
    names the problem"""
    bed.create(bed.pod("heard"))
    bed.wait_job("heard", "RUNNING")
    bed.ctl("stop", "slurmctld")  # a kill might lose the job
    try:
        story = explain("heard")
        equal(story["job"]["state"], "RUNNING", "state")
        check(story["slurmError"], story)
        check("could not be asked" in slurmk8s("explain", "heard"), "text")
        wait_for("status to name it", lambda: "problem: slurmctld" in
                 subprocess.run(["slurmk8s", "status"], text=True,
                                stdout=subprocess.PIPE).stdout, 60, every=1)
    finally:
        bed.ctl("start", "slurmctld")
    wait_for("slurmctld again", lambda: explain("heard").get("job", {}).get(
        "user") == "alice", 60, every=1)


@case
def agent_away():
    """without the agent: one sentence, exit status 1"""
    bed.ctl("kill", "slurmk8sd")
    try:
        check("does not answer" in slurmk8s("explain", "x", status=1), "explain")
        check("does not answer" in slurmk8s("status", status=1), "status")
    finally:
        bed.ctl("start", "slurmk8sd")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
