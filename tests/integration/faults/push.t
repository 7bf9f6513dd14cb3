#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The push from slurmctld is what binds; without it a resync still does, once.
And slurmctld never waits for the agent."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, never, run, wait_for

CONF = "/etc/slurm/k8s.conf"


def actions(kind):
    """How many actions of a kind the agent has carried out."""
    return bed.metric(f'actions_total{{action="{kind}"')


def scheduled_events(name):
    uid = bed.get(name)["metadata"]["uid"]
    return [e for e in bed.events_of(uid) if e["reason"] == "Scheduled"]


@case
def pushed():
    """the push binds: of fifty Pods none is found by the bulk state load"""
    found = bed.metric('events_total{event="found_by_poll"}')
    pushes = bed.metric('events_total{event="allocated"}')
    for i in range(50):
        bed.create(bed.pod(f"quick-{i}"))

    wait_for("all to be bound", lambda: all(
        p["spec"].get("nodeName") for p in bed.pods()))

    equal(bed.metric('events_total{event="found_by_poll"}'), found, "found by a poll")
    check(bed.metric('events_total{event="allocated"}') >= pushes + 50, "pushes")


@case
def socket_cut():
    """with the socket cut a resync binds the Pod, once, and its end is recorded;
    when the socket is back the held prolog opens"""
    conf = bed.inside("cat", CONF)
    bed.inside("sh", "-c", f"cat > {CONF}",
               stdin=conf + "\nSocket=/run/slurmk8s/elsewhere.sock\n")
    bed.ctl("kill", "slurmk8sd")
    # It is not ready by its own measure: no plugin.
    starting = subprocess.Popen(
        [str(bed.TOP / "contribs/sandbox/ctl"), "start", "slurmk8sd"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        bed.create(bed.pod("cut", annotations={"sandbox/run": "1s"}))
        bed.create(bed.pod("stays"))
        bed.wait_phase("stays", "Running", 40)
        bed.wait_ended_or_completing("cut", "COMPLETED", 40)
        equal(len(bed.jobs_of("cut")), 1, "jobs")
        wait_for("its binding to be told", lambda: scheduled_events("cut"))
        equal(len(scheduled_events("cut")), 1, "bindings")
        check("CONFIGURING" in bed.state_of(bed.job_of("stays")),
              "its prolog is held: nobody could say start")
    finally:
        bed.inside("sh", "-c", f"cat > {CONF}", stdin=conf)
        starting.kill()
        bed.ctl("restart", "slurmk8sd")
    wait_for("the prolog to open", lambda: "CONFIGURING" not in
             bed.state_of(bed.job_of("stays")))
    check(bed.get("stays")["status"]["phase"] == "Running", "the Pod lives")
    bed.wait_ended("cut", "COMPLETED", "0:0")


@case
def nothing_for_a_waiting_pod():
    """Pods that wait cost no RPC each: only the bulk loads go on"""
    for i in range(4):
        bed.create(bed.pod(f"filler-{i}", cpu="16"))
    wait_for("the nodes to be full", lambda: len(
        [j for j in bed.jobs().values() if "RUNNING" in j["job_state"]]) == 4)
    for i in range(30):
        bed.create(bed.pod(f"waits-{i:02}"))
    wait_for("all to wait", lambda: len(
        [j for j in bed.jobs().values() if "PENDING" in j["job_state"]]) == 30)
    wait_for("all to say so", lambda: all(
        "is waiting" in bed.condition(f"waits-{i:02}").get("message", "")
        for i in range(30)))
    before = None

    def no_more_looks():
        nonlocal before
        last, before = before, actions("look")
        return last == before
    wait_for("what came of the words to be over", no_more_looks, every=2)
    never("single-job loads while nothing changes",
          lambda: actions("look") != before, 7)


@case
def agent_stopped():
    """with the agent stopped by SIGSTOP slurmctld answers, and jobs that are not
    ours are allocated and end"""
    bed.create(bed.pod("held"))
    bed.wait_phase("held", "Running")
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
    try:
        made = bed.run("sbatch", "--external", "-n1", "-p", "kwok",
                       "-t", "10", check=False)
        ids = [word for word in made.split() if word.isdigit()]
        check(ids, f"sbatch --external: {made}")
        wait_for("it to run", lambda: "RUNNING" in
                 bed.jobs()[int(ids[-1])]["job_state"])
        check("CONFIGURING" not in bed.jobs()[int(ids[-1])]["job_state"],
              "its prolog is not held")
        bed.run("scancel", ids[-1])
        wait_for("it to end", lambda: bed.jobs()[int(ids[-1])]["job_state"] ==
                 ["CANCELLED"])
        bed.run("scontrol", "ping")
    finally:
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
    bed.delete("held")
    bed.wait_ended("held", "CANCELLED")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
