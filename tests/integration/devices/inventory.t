#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices of DRA drivers are GRES of external nodes, each with an index that stays
its own: whatever the driver publishes, whoever begins anew, while jobs run."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import devices
import faults
import slurmctld
from devices import device, gres, indexes, publish, wait_gres, wait_indexes
from tap import case, check, equal, last_case, never, run, wait_for

NODE, OTHER = "kn1", "kn2"
NEW = "k8s_new"  # a feature of a node that is being made
CLASSES = {"a100.devices.test": f"device.driver == '{devices.DRIVER}' && "
           f"device.attributes['{devices.DRIVER}'].model == 'A100'",
           "any.devices.test": f"device.driver == '{devices.DRIVER}'"}


def three():
    """Of interleaved types, so that an order of Slurm's own would show."""
    return [device("a0"), device("h1"), device("a2")]


def with_three():
    publish(NODE, three())
    wait_gres(NODE, "gpu:a100:2,gpu:other:1")
    wait_indexes(NODE, "a0 h1 a2")


def drop_all():
    devices.withdraw()
    for name in CLASSES:
        devices.drop("deviceclasses", name)


def none_left():
    for name in (NODE, OTHER):
        wait_gres(name, "")
        wait_indexes(name, "")


def fresh():
    bed.ctl("start", "slurmk8sd")
    bed.clean()
    devices.withdraw()
    none_left()


def holder(name, wish):
    """A Pod whose job has a device of Slurm's choice: its index is the answer. An
    administrator asks for that, since no Pod can yet."""
    (job,) = slurmctld.waiting_pods(name)
    bed.run("scontrol", "update", f"JobId={job}", f"TresPerNode=gres/{wish}")
    slurmctld.release(job)
    bed.wait_phase(name, "Running")
    return devices.index_of_job(job)


def restart_agent():
    bed.ctl("restart", "slurmk8sd")


def kill_agent():
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")


def kill_slurmctld():
    slurmctld.save()
    slurmctld.restart()


def settled(seconds=4):
    """Longer than a misfit waits: nothing is made anew."""
    before = gres(NODE), devices.extra(NODE)
    never("the node changes", lambda: before !=
          (gres(NODE), devices.extra(NODE)), seconds)


@case
def counted():
    """each device is a GRES of its class's type, with the index that the node's
    extra says; a node without devices has none"""
    with_three()
    equal(gres(OTHER), "", f"GRES of {OTHER}")
    settled()
    equal(indexes(NODE), "a0 h1 a2", "indexes")


@case
def index_is_slurms():
    """the index that Slurm gives to a job is the one that extra has for a device of
    that type"""
    with_three()
    equal(holder("first", "gpu:other:1"), "gpu:other:1(IDX:1)", "of type other")
    equal(holder("second", "gpu:a100:2"), "gpu:a100:2(IDX:0,2)", "of type a100")


@case
def busy_node():
    """a device that comes while a job runs gets an index behind the others, and is
    counted when the node is idle; one that goes keeps its index until then"""
    with_three()
    equal(holder("busy", "gpu:other:1"), "gpu:other:1(IDX:1)", "its index")
    publish(NODE, [device("new"), device("a0"), device("a2")])
    wait_indexes(NODE, "a0 -h1 a2 new")
    settled()
    publish(NODE, [device("new"), device("a2"), device("a0"), device("h1")])
    wait_indexes(NODE, "a0 h1 a2 new")
    equal(gres(NODE), "gpu:a100:2,gpu:other:1", "GRES of a busy node")
    bed.end("busy")
    wait_gres(NODE, "gpu:a100:2,gpu:other:2")
    equal(indexes(NODE), "a0 h1 a2 new", "indexes")


@case
def republished():
    """a driver that publishes anew, slice by slice and with another generation,
    moves no index, and nothing is concluded from a pool that is not complete"""
    with_three()
    publish(NODE, [device("a2")], generation=2, slices=2)
    wait_indexes(NODE, "-a0 -h1 -a2")
    settled()
    publish(NODE, [device("h1"), device("a0")], 2, 2, "more")
    wait_indexes(NODE, "a0 h1 a2")
    devices.withdraw(NODE)  # and comes back within the time a node waits
    publish(NODE, list(reversed(three())), generation=1)
    wait_indexes(NODE, "a0 h1 a2")
    equal(gres(NODE), "gpu:a100:2,gpu:other:1", "GRES")


@case
def gone():
    """a device that is gone for good, or tainted, is no GRES of an idle node any
    more, and is one again when it is back"""
    with_three()
    publish(NODE, [device("a0"), device("a2")])
    wait_gres(NODE, "gpu:a100:2")
    publish(NODE, [device("a0", "NoSchedule"), device("a2", "None")])
    wait_gres(NODE, "gpu:a100:1")
    equal(indexes(NODE), "a2", "indexes")
    publish(NODE, [device("a0"), device("a2")])
    wait_gres(NODE, "gpu:a100:2")
    wait_indexes(NODE, "a2 a0")
    devices.withdraw(NODE)
    wait_gres(NODE, "")


@case
def restarts():
    """neither a new life of the agent nor one of slurmctld moves an index, with a
    job on the node or without"""
    with_three()
    holder("busy", "gpu:a100:1")
    publish(NODE, [device("new"), *three()])
    wait_indexes(NODE, "a0 h1 a2 new")
    for restart in (restart_agent, kill_agent, slurmctld.save, kill_slurmctld):
        restart()
        wait_for("slurmctld", slurmctld.is_up)
        settled()
        equal(indexes(NODE), "a0 h1 a2 new", "indexes")
    equal(holder("next", "gpu:other:1"), "gpu:other:1(IDX:1)", "Slurm's index")
    bed.end("busy", "next")
    wait_gres(NODE, "gpu:a100:2,gpu:other:2")
    equal(holder("last", "gpu:other:2"), "gpu:other:2(IDX:1,3)", "Slurm's index")
    kill_slurmctld()
    settled()
    equal(indexes(NODE), "a0 h1 a2 new", "indexes")


@case
def killed_at_the_table():
    """the agent is killed before and after it writes a node's table: the next one
    writes it, and no index moves"""
    with_three()
    holder("busy", "gpu:a100:1")
    came = []
    for side in ("before", "after"):
        point = f"set_extra:{side}"
        check(point in faults.points(), f"there is no fault point {point}")
        if faults.alive():
            bed.ctl("kill", "slurmk8sd")
        came.append(device(f"new-{side}"))
        publish(NODE, [*came, *three()])
        faults.Fault(point).wait_dead()
    bed.ctl("start", "slurmk8sd")
    wait_indexes(NODE, "a0 h1 a2 new-before new-after")
    settled()
    equal(devices.index_of_job(bed.job_of("busy")["job_id"]),
          "gpu:a100:1(IDX:0)", "the job's index")


@case
def killed_while_it_is_made():
    """a node is made with GRES, and the agent is killed at each of the steps:
    no job starts there before its table is written, and the next agent goes on"""
    for point in ("create_node:after", "set_extra:after", "set_features:after"):
        check(point in faults.points(), f"there is no fault point {point}")
        bed.ctl("kill", "slurmk8sd")
        bed.run("scontrol", "delete", f"NodeName={NODE}")
        publish(NODE, three())
        faults.Fault(point).wait_dead()
        equal(gres(NODE), "gpu:a100:2,gpu:other:1", f"GRES at {point}")
        made = point == "set_features:after"
        equal(NEW in features(), not made, f"{NEW} in {features()} at {point}")
        check(made or "kwok" not in features(), f"features at {point}")
        bed.ctl("start", "slurmk8sd")
        wait_for("its features", lambda: NEW not in features())
        wait_indexes(NODE, "a0 h1 a2")
        equal(gres(NODE), "gpu:a100:2,gpu:other:1", f"GRES after {point}")
        equal(holder("user", "gpu:other:1"), "gpu:other:1(IDX:1)", "its index")
        fresh()


def features():
    return devices.slurm_node(NODE)["features"]


@case
def extra_is_lost():
    """what stands beside the agent's word in extra stays; a word that is lost is
    written again, and an agent that finds none believes nothing of the node's
    GRES, and makes it anew"""
    with_three()
    word = devices.extra(NODE)
    bed.run("scontrol", "update", f"NodeName={NODE}", f"Extra=rack=7 {word}")
    publish(NODE, [device("h1"), device("a0")])
    wait_gres(NODE, "gpu:a100:1,gpu:other:1")
    wait_indexes(NODE, "a0 h1")
    check("rack=7" in devices.extra(NODE), "others' words in extra are lost")
    bed.run("scontrol", "update", f"NodeName={NODE}", "Extra=rack=8")
    wait_indexes(NODE, "a0 h1")
    check("rack=8" in devices.extra(NODE), "others' words in extra are lost")
    bed.ctl("kill", "slurmk8sd")
    bed.run("scontrol", "update", f"NodeName={NODE}", "Extra=rack=9")
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent to say so", lambda: "which devices its GRES are"
             in str(bed.status()["problems"]))
    wait_indexes(NODE, "h1 a0")
    check("rack=9" in devices.extra(NODE), "others' words in extra are lost")
    wait_for("the problem to be over", lambda: "which devices"
             not in str(bed.status()["problems"]))


@case
def a_class_changes():
    """when the classes say otherwise the GRES follow"""
    with_three()
    devices.drop("deviceclasses", "a100.devices.test")
    wait_gres(NODE, "gpu:other:3")
    devices.device_class("a100.devices.test", CLASSES["a100.devices.test"])
    wait_gres(NODE, "gpu:a100:2,gpu:other:1")


@last_case
def nothing_is_left():
    """no device is left, neither in Slurm nor in Kubernetes"""
    bed.clean()
    drop_all()
    none_left()
    equal([name for name in devices.names_of("resourceslices")
           if name.endswith(devices.DRIVER)], [], "slices")


def start():
    agent_conf.edit(lambda text: text + f"DeviceGres={','.join(GRES)}\n"
                    "ResizeDelay=2\nNodeInterval=1\n", drop_all)
    drop_all()
    for name, cel in CLASSES.items():
        devices.device_class(name, cel)
    wait_for("the agent", bed.serves)


GRES = ("a100.devices.test:gpu:a100", "any.devices.test:gpu:other")
if __name__ == "__main__":
    start()
    run(before_each=fresh, after_each=bed.nothing_left,
        after_failure=bed.last_words)
