#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whom Pods run as in Slurm, and that slurmctld holds them to that user's
associations, QoS and limits although SlurmUser submits for them."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import asking
import atexit
import bed
from asking import asks, make_namespace, sacctmgr, sentence, shows
from tap import case, check, equal, run, wait_for

NAMESPACES = ("of-alice", "of-bob", "of-carol", "free", "fast", "fixed",
              "rooted", "nobody")


def prepare_accounts():
    """bob has a second account, with one CPU at a time, and the QoS high, small
    and strict; alice has neither."""
    for words in (("add", "account", "chemistry"),
                  ("add", "qos", "high"), ("add", "qos", "small"),
                  ("add", "qos", "strict"),
                  ("modify", "qos", "small", "set", "MaxJobsPerUser=1"),
                  ("modify", "qos", "strict", "set", "MaxTRESPerJob=cpu=2",
                   "Flags=DenyOnLimit"),
                  ("add", "user", "bob", "account=chemistry"),
                  ("modify", "user", "bob", "set",
                   "qos=normal,high,small,strict"),
                  ("modify", "user", "alice", "set", "qos=normal"),
                  ("modify", "user", "bob", "where", "account=chemistry",
                   "set", "GrpTRES=cpu=1")):
        sacctmgr(*words, check=False)  # what is there already is an error


def undo_accounts():
    for words in (("delete", "user", "bob", "account=chemistry"),
                  ("modify", "user", "bob", "set", "qos=normal"),
                  ("delete", "account", "chemistry"),
                  ("delete", "qos", "high,small,strict")):
        sacctmgr(*words, check=False)


prepare_accounts()
atexit.register(undo_accounts)
asking.with_slurm_conf("""AccountingStorageEnforce=associations,limits,qos,safe
PartitionName=bobs Nodes=kwok AllowAccounts=chemistry
PartitionName=groups Nodes=kwok AllowGroups=bob""")
agent_conf.edit(lambda text: text + """
ChooseUser=free,rooted
ChoosePriority=fast
""")
make_namespace("of-alice", user="alice")
make_namespace("of-bob", user="bob")
make_namespace("of-carol", user="carol")
make_namespace("free", user="alice")
make_namespace("fast", user="alice")
make_namespace("fixed", user="bob", account="physics", qos="normal",
               group="alice")
make_namespace("rooted", user="alice")
make_namespace("nobody", user="no-such-user")


def before_each():
    bed.clean()
    asking.clean_namespaces(*NAMESPACES)


# Pods that run: namespace, wishes, what the job shows.
TAKEN = {
    "namespaces-user": ("of-bob", {}, dict(
        user_name="bob", group_name="bob", account="physics", qos="normal")),
    "own-account": ("of-bob", dict(account="chemistry"),
                    dict(account="chemistry")),
    "own-qos": ("of-bob", dict(qos="high"), dict(qos="high")),
    "fixed": ("fixed", {}, dict(user_name="bob", group_name="alice",
                                account="physics", qos="normal")),
    "fixed-same": ("fixed", dict(account="physics", qos="normal",
                                 user_id="bob", group_id="alice"), {}),
    "chosen-user": ("free", dict(user_id="bob"),
                    dict(user_name="bob", group_name="bob")),
    "chosen-account": ("free", dict(user_id="bob", account="chemistry",
                                    qos="high", group_id="alice"),
                       dict(user_name="bob", group_name="alice",
                            account="chemistry", qos="high")),
    "not-chosen": ("free", {}, dict(user_name="alice")),
    "priority": ("fast", dict(priority="4000"),
                 dict(priority=4000, user_name="alice")),
    "nice": ("fast", dict(nice="-40"), dict(nice=-40)),
    "allowed-account": ("of-bob", dict(partition="bobs", account="chemistry"),
                        dict(partition="bobs")),
    "allowed-group": ("of-bob", dict(partition="groups"),
                      dict(partition="groups", user_name="bob")),
}

# Pods that the agent refuses, by these words.
REFUSED = {
    "other-user": ("of-alice", dict(user_id="bob"), "user-id", "ChooseUser"),
    "other-id": ("of-alice", dict(user_id="0"), "user-id", "ChooseUser"),
    "other-group": ("of-alice", dict(group_id="bob"), "group-id"),
    "root": ("rooted", dict(user_id="root"), "AllowRoot"),
    "uid-0": ("rooted", dict(user_id="0"), "AllowRoot"),
    "gid-0": ("rooted", dict(group_id="0"), "AllowRoot"),
    "slurm-user": ("rooted", dict(user_id="slurm"), "SlurmUser", "AllowRoot"),
    "unknown-user": ("rooted", dict(user_id="no-such-user"), "no-such-user"),
    "unknown-of-namespace": ("nobody", {}, "no-such-user"),
    "other-account": ("fixed", dict(account="chemistry"), "account",
                      "ChooseUser"),
    "other-qos": ("fixed", dict(qos="high"), "qos", "ChooseUser"),
    "jumps": ("of-alice", dict(priority="4294967293"), "priority",
              "ChoosePriority"),
    "jumps-little": ("free", dict(priority="1"), "ChoosePriority"),
    "nicer": ("of-alice", dict(nice="-1"), "nice", "ChoosePriority"),
}

# Pods that Slurm refuses, in its words, for their user's sake.
REFUSED_BY_SLURM = {
    "no-association": ("of-carol", {}, "account"),
    "others-account": ("of-alice", dict(account="chemistry"), "account"),
    "no-account": ("of-alice", dict(account="no-such"), "account"),
    "others-qos": ("of-alice", dict(qos="high"), "qos"),
    "no-qos": ("of-bob", dict(qos="no-such"), "qos"),
    "others-partition": ("of-alice", dict(partition="bobs"), "account"),
    "others-group": ("of-alice", dict(partition="groups"), "group"),
    "denied-limit": ("of-bob", dict(qos="strict", cpu_per_task="3"),
                     "policy"),
}


def ask_all(table):
    for name, (namespace, wishes, *_) in table.items():
        asks(name, namespace=namespace, **wishes)


@case
def taken():
    """12 Pods run as whom their namespace, or where it may choose the Pod,
    says"""
    ask_all(TAKEN)
    for name, (*_, fields) in TAKEN.items():
        shows(bed.wait_ended(name, "COMPLETED", "0:0", 60), **fields)


@case
def refused():
    """14 Pods that name somebody, or a priority, that is not theirs are refused
    by the agent"""
    ask_all(REFUSED)
    for name, (namespace, _, *words) in REFUSED.items():
        sentence(name, *words, namespace=namespace)


@case
def refused_by_slurm():
    """8 Pods that slurmctld refuses since their user may not: associations, QoS,
    AllowAccounts, AllowGroups, DenyOnLimit"""
    ask_all(REFUSED_BY_SLURM)
    for name, (namespace, _, *words) in REFUSED_BY_SLURM.items():
        message = sentence(name, "submit", *words, namespace=namespace)
        check("Slurm" in message, message)


@case
def given_later():
    """what an administrator allows later is taken without a new Pod"""
    asks("patient", namespace="of-alice", user_id="bob")
    sentence("patient", "ChooseUser", namespace="of-alice")
    make_namespace("of-alice", user="bob")
    try:
        shows(bed.wait_ended("patient", "COMPLETED", "0:0", 60),
              user_name="bob")
    finally:
        make_namespace("of-alice", user="alice")


@case
def association_limit():
    """GrpTRES of an association: the second Pod waits, and says so in Slurm's
    words"""
    asks("one", run=None, namespace="of-bob", account="chemistry")
    wait_running("one", "of-bob")
    asks("two", namespace="of-bob", account="chemistry")
    said("two", "of-bob", "AssocGrpCpuLimit")
    bed.delete("one", "of-bob")
    bed.wait_ended("two", "COMPLETED", "0:0", 60)


@case
def qos_limit():
    """MaxJobsPerUser of a QoS, likewise; another user is not held back"""
    asks("one", run=None, namespace="of-bob", qos="small")
    wait_running("one", "of-bob")
    asks("two", namespace="of-bob", qos="small")
    asks("other", namespace="of-alice")
    said("two", "of-bob", "QOSMaxJobsPerUserLimit")
    bed.wait_ended("other", "COMPLETED", "0:0")
    bed.delete("one", "of-bob")
    bed.wait_ended("two", "COMPLETED", "0:0", 60)


@case
def not_before_others():
    """a Pod of a namespace without ChoosePriority does not jump the queue"""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        asks("fair", namespace="of-alice")
        asks("fast", namespace="fast", priority="4294967293")
        fair = bed.wait_job("fair", "PENDING")
        fast = bed.wait_job("fast", "PENDING")
        equal(asking.plain(fast["priority"]), 4294967293, "priority")
        check(asking.plain(fair["priority"]) < 4294967293, "the other's")
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    for name in ("fair", "fast"):
        bed.wait_ended(name, "COMPLETED", "0:0", 60)


def wait_running(name, namespace):
    wait_for(f"Pod {name} to run", lambda: bed.get(name, namespace)["status"]
             .get("phase") == "Running")


def said(name, namespace, words):
    wait_for(f"Pod {name} to say {words}", lambda: words in
             bed.condition(name, namespace).get("message", ""), 40)
    check(words in bed.run("slurmk8s", "explain", f"{namespace}/{name}"),
          f"explain says {words}")


run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
