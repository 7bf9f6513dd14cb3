#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""External nodes' whole life: made, resized, put into partitions, drained and
cordoned from both sides, and deleted when nothing needs them."""
import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import node_moves as nodes
import slurmctld
from node_moves import CORDONED, LABEL, MAINTENANCE, PARTITIONS, SLURM_NAME
from tap import case, check, equal, never, run, wait_for

EXTRA = "extra-1"  # a Node of our own


def fresh():
    """The next script, too, finds no Node of ours, neither here nor in Slurm."""
    bed.clean()
    nodes.delete(EXTRA)
    nodes.delete("extra-2")
    for name in ("m1", "keeps"):  # of a case that failed
        bed.run("scontrol", "delete", f"ReservationName={name}", check=False)
    wait_for("extra nodes to be gone", lambda: not nodes.in_slurm(EXTRA) and
             not nodes.in_slurm("extra-2"), 60)


def after_each():
    nodes.delete(EXTRA)
    nodes.delete("extra-2")
    bed.nothing_left()
    fresh()


def wait_annotation(node, name, words):
    wait_for(f"Node {node} to say {words}", lambda: words in
             nodes.annotations(node).get(name, ""), 20)


def wait_cordoned(node, yes=True):
    wait_for(f"Node {node} to be {'' if yes else 'un'}cordoned",
             lambda: nodes.is_cordoned(node) == yes, 20)


def quiet(node, seconds=8):
    """Neither side answers the other's echo."""
    def both():
        slurms = nodes.in_slurm(node)
        return (nodes.is_cordoned(node), nodes.annotations(node),
                slurms["state"], slurms["reason"])
    before = both()
    never("the two sides go on", lambda: before != both(), seconds)


def reserve(name, node):
    """For maintenance, some hours from now."""
    start = datetime.datetime.now() + datetime.timedelta(hours=5)
    bed.run("scontrol", "create", "reservation", f"ReservationName={name}",
            f"StartTime={start:%Y-%m-%dT%H:%M:%S}", "Duration=60",
            f"Nodes={node}", "Users=root", "Flags=MAINT")


# ---- Drain and cordon


@case
def slurm_drain_cordons():
    """an administrator drains the Slurm node: the Node is cordoned with the
    reason, also over an agent's restart, and uncordoned after the resume"""
    nodes.drain("kn1", "broken disk")
    try:
        wait_cordoned("kn1")
        wait_annotation("kn1", CORDONED, "DRAIN: broken disk")
        quiet("kn1")
        bed.ctl("restart", "slurmk8sd")
        quiet("kn1")
        equal(nodes.in_slurm("kn1")["reason"], "broken disk", "the reason")
    finally:
        nodes.resume("kn1")
    wait_cordoned("kn1", False)
    wait_for("the mark to go", lambda: CORDONED not in nodes.annotations("kn1"))
    quiet("kn1", 3)
    check(not nodes.is_drained("kn1"), "it is drained again")


@case
def slurm_down_cordons():
    """a node that is DOWN in Slurm is cordoned too"""
    bed.run("scontrol", "update", "NodeName=kn1", "State=DOWN", "Reason=fire")
    try:
        wait_annotation("kn1", CORDONED, "DOWN: fire")
    finally:
        nodes.resume("kn1")
    wait_cordoned("kn1", False)


@case
def cordon_drains():
    """a cordoned Node is drained in Slurm with our reason, without a mark of ours
    on it, and resumed when it is uncordoned"""
    nodes.cordon("kn2")
    try:
        wait_for("the drain", lambda: nodes.is_drained("kn2", "slurmk8sd: ",
                                                       "cordoned"))
        quiet("kn2")
        check(CORDONED not in nodes.annotations("kn2"), "we marked it")
    finally:
        nodes.cordon("kn2", False)
    wait_for("the resume", lambda: not nodes.is_drained("kn2"))


@case
def both_sides():
    """drained in Slurm and cordoned, each by somebody: whoever takes his own back
    leaves the other's"""
    nodes.cordon("kn2")
    wait_for("the drain", lambda: nodes.is_drained("kn2", "slurmk8sd: "))
    nodes.drain("kn2", "mine")
    try:
        quiet("kn2")
        nodes.cordon("kn2", False)
        wait_annotation("kn2", CORDONED, "DRAIN: mine")
        equal(nodes.in_slurm("kn2")["reason"], "mine", "the reason")
    finally:
        nodes.cordon("kn2", False)
        nodes.resume("kn2")
    wait_for("all to be well", lambda: not nodes.is_drained("kn2") and
             not nodes.is_cordoned("kn2"), 20)


@case
def uncordoned_by_hand():
    """who uncordons a Node that Slurm has drained is not contradicted"""
    nodes.drain("kn1", "careful")
    try:
        wait_cordoned("kn1")
        nodes.cordon("kn1", False)
        wait_for("the mark to go", lambda: CORDONED not in
                 nodes.annotations("kn1"), 20)
        never("it is cordoned again", lambda: nodes.is_cordoned("kn1"), 8)
        check(nodes.is_drained("kn1", "careful"), "Slurm's drain stays")
    finally:
        nodes.resume("kn1")
    wait_for("no word of ours to be left", lambda: not any(
        name.startswith("slurmk8s/") and "cordon" in name
        for name in nodes.annotations("kn1")), 20)


@case
def maintenance():
    """a maintenance reservation ahead is said on its Nodes, and goes with it"""
    reserve("m1", "kn3")
    try:
        wait_annotation("kn3", MAINTENANCE, "m1 from ")
        check(MAINTENANCE not in nodes.annotations("kn4"), "kn4 has none")
    finally:
        bed.run("scontrol", "delete", "ReservationName=m1")
    wait_for("the word to go", lambda: MAINTENANCE not in
             nodes.annotations("kn3"), 20)


@case
def taint():
    """opted-in Nodes have our taint, never NoExecute; it goes with the label"""
    nodes.make(EXTRA)
    wait_for("the taint", lambda: nodes.taints(EXTRA), 20)
    equal([t["effect"] for t in nodes.taints(EXTRA)], ["NoSchedule"], "effects")
    nodes.label(EXTRA, **{LABEL: None})
    wait_for("the taint to go", lambda: not nodes.taints(EXTRA), 20)


# ---- Pods of other schedulers


@case
def foreign_pods_at_registration():
    """a Node that DaemonSets use already is smaller in Slurm by what they ask"""
    nodes.make(EXTRA, cpus=8, **{LABEL: "false"})
    nodes.foreign("daemon", EXTRA, 2)
    nodes.label(EXTRA, **{LABEL: "true"})
    nodes.wait_cpus(EXTRA, 6)


@case
def idle_node_shrinks_and_grows():
    """on an idle node what others take is held by a shadow, then the node is made
    anew without it; and grows again when they are gone"""
    nodes.make(EXTRA, cpus=8)
    nodes.wait_cpus(EXTRA, 8)
    nodes.foreign("daemon", EXTRA, 3)
    nodes.wait_cpus(EXTRA, 5)
    wait_for("the shadow to go", lambda: not nodes.shadows())
    bed.delete("daemon", grace=0)
    nodes.wait_cpus(EXTRA, 8)


@case
def busy_node_keeps_a_shadow():
    """on a busy node a shadow placeholder holds it for as long, is found again by
    the next agent, and no Pod gets that room"""
    nodes.make(EXTRA, cpus=8, **{LABEL: "true"})
    nodes.annotate(EXTRA, **{PARTITIONS: "kwok,only"})
    nodes.wait_cpus(EXTRA, 8)
    with drained("kn1", "kn2", "kn3", "kn4"):
        bed.create(bed.pod("busy", cpu="4"))
        bed.wait_job("busy", "RUNNING")
        nodes.foreign("daemon", EXTRA, 3)
        shadow = wait_for("a shadow", nodes.shadows)[0]
        wait_for("it to run", lambda: "RUNNING" in
                 bed.jobs()[shadow["job_id"]]["job_state"])
        bed.create(bed.pod("too-much", cpu="2"))
        bed.wait_job("too-much", "PENDING")
        never("it gets that room", lambda: bed.get("too-much")["spec"].get(
            "nodeName"), 5)
        bed.ctl("kill", "slurmk8sd")
        bed.ctl("start", "slurmk8sd")
        never("there is another one", lambda: len(nodes.shadows()) != 1, 5)
        equal(nodes.in_slurm(EXTRA)["cpus"], 8, "CPUs of the busy node")
        bed.delete("daemon", grace=0)
        wait_for("the shadow to go", lambda: not nodes.shadows())
        bed.wait_job("too-much", "RUNNING")
        for name in ("busy", "too-much"):
            bed.delete(name)
            bed.wait_gone(name)


@case
def full_node_keeps_its_jobs():
    """on a full node a shadow takes what is free at once, no job ends for the rest,
    and another shadow waits for it"""
    nodes.make(EXTRA, cpus=8, **{LABEL: "true"})
    nodes.annotate(EXTRA, **{PARTITIONS: "kwok,only"})
    nodes.wait_cpus(EXTRA, 8)
    with drained("kn1", "kn2", "kn3", "kn4"):
        bed.create(bed.pod("busy", cpu="6"))
        bed.wait_job("busy", "RUNNING")
        nodes.foreign("daemon", EXTRA, 4)
        wait_for("a shadow of 2 CPUs that runs, and one that waits", lambda:
                 shadow_cpus() == {"RUNNING": [2], "PENDING": [2]})
        never("the job ends for it", lambda:
              "RUNNING" not in bed.state_of(bed.job_of("busy")), 5)
        bed.delete("busy")
        # Then nobody is on the node, so that it may be made anew at once.
        wait_for("the other one to run, or the node to have 4 CPUs", lambda:
                 sum(shadow_cpus().get("RUNNING", [])) == 4 or
                 (nodes.in_slurm(EXTRA) or {}).get("cpus") == 4)
        bed.delete("daemon", grace=0)
        wait_for("the shadows to go", lambda: not nodes.shadows())


def shadow_cpus():
    """The CPUs of each shadow, by the state of the job."""
    found = {}
    for job in nodes.shadows():
        cpus = job["cpus"]
        found.setdefault(job["job_state"][0], []).append(
            cpus["number"] if isinstance(cpus, dict) else cpus)
    return found


class drained:
    """Slurm nodes that take no job, while the block lasts."""

    def __init__(self, *names):
        self.names = names

    def __enter__(self):
        for name in self.names:
            nodes.drain(name, "a test")

    def __exit__(self, *_):
        for name in self.names:
            nodes.resume(name)
        for name in self.names:
            wait_cordoned(name, False)


# ---- Partitions, names, the end


@case
def partitions_follow_the_annotation():
    """a changed annotation puts the node into another partition, without a
    reconfigure"""
    nodes.make(EXTRA)
    in_partition = lambda name: bed.run(
        "sinfo", "-h", "-p", name, "-n", EXTRA, "-o", "%D").strip() == "1"
    wait_for("it to be in kwok", lambda: in_partition("kwok"))
    nodes.annotate(EXTRA, **{PARTITIONS: "real"})
    wait_for("it to be in real", lambda: in_partition("real"))
    wait_for("it not to be in kwok", lambda: not in_partition("kwok"))
    wait_for("what helped to be gone", lambda: not nodes.in_slurm("k8s-rebuild"))


@case
def two_claims():
    """a second Node that claims a Slurm node is refused with an Event, whichever
    name it has; the first keeps it"""
    nodes.make(EXTRA)
    nodes.wait_cpus(EXTRA, 4)
    nodes.make("extra-2", cpus=2, **{SLURM_NAME: EXTRA})
    wait_for("the Event", lambda: [e for e in bed.events_of(
        "extra-2", "default") if e["reason"] == "SlurmNodeRefused"], 20)
    equal(nodes.in_slurm(EXTRA)["cpus"], 4, "CPUs of the first")
    check(not nodes.in_slurm("extra-2"), "it was made all the same")


@case
def deleted_when_idle():
    """a Node is deleted: its Slurm node is drained, stays while a reservation names
    it, and is deleted then"""
    nodes.make(EXTRA)
    nodes.wait_cpus(EXTRA, 4)
    # Else it keeps the reason of a Node that is not ready yet.
    wait_for("it to be ready", lambda: not nodes.is_drained(EXTRA))
    reserve("keeps", EXTRA)
    nodes.delete(EXTRA)
    wait_for("the drain", lambda: nodes.is_drained(EXTRA, "no Kubernetes Node"))
    never("it is deleted", lambda: not nodes.in_slurm(EXTRA), 8)
    bed.run("scontrol", "delete", "ReservationName=keeps")
    wait_for("its end", lambda: not nodes.in_slurm(EXTRA), 30)


@case
def excluded_in_vain():
    """a user's job that excludes all nodes, and waits for ever, keeps none of them
    from being made anew or deleted, and outlives a start of slurmctld"""
    nodes.make(EXTRA, cpus=8)
    nodes.wait_cpus(EXTRA, 8)
    job = int(bed.run("sbatch", "--parsable", "-H", "-p", "native", "-D", "/tmp",
                      "-x", f"{EXTRA},kn[1-4]", "--wrap", "true", user="alice"))
    try:
        nodes.foreign("daemon", EXTRA, 3)
        nodes.wait_cpus(EXTRA, 5)
        bed.delete("daemon", grace=0)
        nodes.wait_cpus(EXTRA, 8)
        nodes.delete(EXTRA)
        wait_for("its end", lambda: not nodes.in_slurm(EXTRA), 30)
        slurmctld.save()
        bed.ctl("restart", "slurmctld")
        wait_for("the agent to serve", bed.serves, 60)
        equal(bed.jobs()[job]["job_state"], ["PENDING"], "the job")
    finally:
        bed.run("scancel", str(job))
    wait_for("the job's end", lambda: "CANCELLED" in bed.jobs()[job]["job_state"])


@case
def kept_while_busy():
    """the same while a job is on it, whose Pod goes on to its end"""
    nodes.make(EXTRA)
    nodes.wait_cpus(EXTRA, 4)
    with drained("kn1", "kn2", "kn3", "kn4"):
        bed.create(bed.pod("web"))
        bed.wait_job("web", "RUNNING")
    nodes.label(EXTRA, **{LABEL: None})
    wait_for("the drain", lambda: nodes.is_drained(EXTRA, "no Kubernetes Node"))
    never("node or job go", lambda: not nodes.in_slurm(EXTRA) or
          "RUNNING" not in bed.state_of(bed.job_of("web")), 8)
    bed.delete("web")
    wait_for("its end", lambda: not nodes.in_slurm(EXTRA), 30)


@case
def label_gone():
    """the label goes: the same, and the Node is left alone from then on"""
    nodes.make(EXTRA)
    nodes.wait_cpus(EXTRA, 4)
    nodes.label(EXTRA, **{LABEL: None})
    wait_for("its end", lambda: not nodes.in_slurm(EXTRA), 30)

    def ours():
        """All that the agent could write there, and when it has written."""
        node = nodes.get(EXTRA)
        meta = node["metadata"]
        return (node["spec"].get("unschedulable"), nodes.taints(EXTRA),
                meta.get("labels"), meta.get("annotations"),
                [f for f in meta["managedFields"] if f["manager"] == "slurmk8sd"])
    wait_for("our marks to go", lambda: not any(
        name.startswith("slurmk8s/") for name in nodes.annotations(EXTRA)))
    wait_for("the taint to go", lambda: not nodes.taints(EXTRA))
    before = ours()
    nodes.drain("kn1", "x")
    try:
        wait_cordoned("kn1")
        equal(ours(), before, "a Node that is not opted in")
    finally:
        nodes.resume("kn1")
        wait_cordoned("kn1", False)


@case
def made_again():
    """a Node that comes back is a node of Slurm again"""
    nodes.make(EXTRA)
    nodes.wait_cpus(EXTRA, 4)
    nodes.delete(EXTRA)
    wait_for("the drain or the end", lambda: not nodes.in_slurm(EXTRA) or
             nodes.is_drained(EXTRA, "no Kubernetes Node"))
    nodes.make(EXTRA)
    wait_for("it to take jobs", lambda: nodes.in_slurm(EXTRA) and
             not nodes.is_drained(EXTRA), 30)


@case
def grows_for_a_pod():
    """a Pod that is too large for every node has no job; it gets one when a Node is
    made large enough"""
    nodes.make(EXTRA, cpus=20)
    nodes.wait_cpus(EXTRA, 20)
    bed.create(bed.pod("huge", cpu="40", annotations={"sandbox/run": "100ms"}))
    bed.wait_words("huge", "No node is large enough", "cpu=40",
                   f"{EXTRA} with cpu=20")
    never("a job", lambda: bed.job_of("huge"), 5)

    nodes.patch(EXTRA, {"status": {kind: {"cpu": "48"} for kind in
                                   ("allocatable", "capacity")}},
                part="/status")

    bed.wait_ended("huge", "COMPLETED", "0:0", 60)


@case
def signals():
    """with NodeAddress at a slurmd of another name a signal does no harm: nodes go
    on answering"""
    port = bed.run("scontrol", "show", "node", "native1", "--json")
    port = bed.json.loads(port)["nodes"][0]["port"]
    conf = agent_conf.read(agent_conf.CONF)
    agent_conf.write(agent_conf.CONF, conf + f"NodeAddress=127.0.0.1:{port}\n")
    try:
        bed.ctl("start", "slurmk8sd")
        nodes.make(EXTRA)
        nodes.wait_cpus(EXTRA, 4)
        equal(nodes.in_slurm(EXTRA)["port"], port, "its Port")
        wait_for("the others to be made anew", lambda: all(
            (nodes.in_slurm(f"kn{i}") or {}).get("port") == port
            for i in (1, 2, 3, 4)), 30)
        bed.create(bed.pod("web"))
        bed.wait_phase("web", "Running")
        job = bed.wait_job("web", "RUNNING")
        bed.run("scancel", "-s", "USR1", str(job["job_id"]))
        never("its node stops answering", lambda: "NOT_RESPONDING" in
              nodes.in_slurm(job["nodes"])["state"], 5)
    finally:
        agent_conf.write(agent_conf.CONF, conf)
        bed.delete("web")
        bed.ctl("start", "slurmk8sd")
    wait_for("them to be as before", lambda: all(
        (nodes.in_slurm(f"kn{i}") or {"port": port})["port"] != port
        for i in (1, 2, 3, 4)), 60)


agent_conf.edit(lambda conf: conf + "NodeInterval=1\nResizeDelay=1\n")
run(before_each=fresh, after_each=after_each, after_failure=bed.last_words)
