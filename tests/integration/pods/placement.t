#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a Pod may run: nodeSelector, node affinity, taints and tolerations,
each as a Slurm feature that only the right nodes have, also while Nodes change
under what waits."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import asking as namespaces
import bed
import slurmctld
from bed import land, node_of
from tap import case, check, equal, never, run, wait_for

MERGE = "application/merge-patch+json"
LINGER = 5  # FeatureLinger here, seconds
MOST = 50  # MaxNodeSelectionsPerNamespace here
ALL = {"kn1", "kn2", "kn3", "kn4"}
UNTAINTED = "k8s-untainted"

LABELS = {
    "kn1": {"test/disk": "ssd", "test/zone": "a", "test/mem": "64"},
    "kn2": {"test/disk": "hdd", "test/zone": "a", "test/mem": "128",
            "test/gpu": ""},
    "kn3": {"test/disk": "ssd", "test/zone": "b", "test/mem": "256"},
    "kn4": {"test/zone": "b", "test/mem": "lots", "test/gpu": "a100"},
}
TAINTS = {
    "kn3": [{"key": "test/slow", "effect": "PreferNoSchedule"}],
    "kn4": [{"key": "test/dedicated", "value": "ml", "effect": "NoSchedule"}],
}


# ---- Words of Pods


def rule(key, operator, *values):
    one = {"key": key, "operator": operator}
    return {**one, "values": list(values)} if values else one


def term(*rules, fields=()):
    return {"matchExpressions": list(rules), "matchFields": list(fields)}


def required(*terms):
    return {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": list(terms)}}}}


def preferred(*weighted):
    return {"affinity": {"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": weight, "preference": preference}
            for weight, preference in weighted]}}}


def selector(**labels):
    return {"nodeSelector": {f"test/{key}": value
                             for key, value in labels.items()}}


def tolerating(*tolerations):
    return {"tolerations": list(tolerations)}


ML = {"key": "test/dedicated", "operator": "Equal", "value": "ml",
      "effect": "NoSchedule"}
DISK = "test/disk"
UNTAINTED_NODES = ALL - {"kn4"}

# What a Pod asks, in words; its spec; where it may land. Nowhere: it waits.
TABLE = [
    ("nothing", {}, UNTAINTED_NODES),
    ("a label", selector(disk="hdd"), {"kn2"}),
    ("a label of two nodes", selector(disk="ssd"), {"kn1", "kn3"}),
    ("two labels", selector(disk="ssd", zone="b"), {"kn3"}),
    ("two labels that no node has together", selector(disk="hdd", zone="b"),
     set()),
    ("a value that no node has", selector(disk="tape"), set()),
    ("an empty value", selector(gpu=""), {"kn2"}),
    ("its host by label", {"nodeSelector": {"kubernetes.io/hostname": "kn3"}},
     {"kn3"}),
    ("an operating system", {"nodeSelector": {"kubernetes.io/os": "linux"}},
     UNTAINTED_NODES),
    ("another operating system",
     {"nodeSelector": {"kubernetes.io/os": "windows"}}, set()),
    ("In", required(term(rule(DISK, "In", "hdd", "tape"))), {"kn2"}),
    ("In of several", required(term(rule("test/zone", "In", "a", "b"))),
     UNTAINTED_NODES),
    ("NotIn", required(term(rule(DISK, "NotIn", "ssd"))), {"kn2"}),
    ("NotIn a label that some lack",
     {**required(term(rule(DISK, "NotIn", "ssd", "hdd"))), **tolerating(ML)},
     {"kn4"}),
    ("Exists", required(term(rule("test/gpu", "Exists"))), {"kn2"}),
    ("DoesNotExist", required(term(rule("test/gpu", "DoesNotExist"))),
     {"kn1", "kn3"}),
    ("Gt", required(term(rule("test/mem", "Gt", "128"))), {"kn3"}),
    ("Lt", required(term(rule("test/mem", "Lt", "128"))), {"kn1"}),
    ("between", required(term(rule("test/mem", "Gt", "64"),
                              rule("test/mem", "Lt", "256"))), {"kn2"}),
    ("Gt of a label that is no number",
     {**required(term(rule("test/gpu", "In", "a100"),
                      rule("test/mem", "Gt", "1"))), **tolerating(ML)}, set()),
    ("expressions of a term are anded",
     required(term(rule(DISK, "In", "ssd"), rule("test/zone", "In", "a"))),
     {"kn1"}),
    ("terms are ored", required(term(rule(DISK, "In", "hdd")),
                                term(rule("test/zone", "In", "b"))),
     {"kn2", "kn3"}),
    ("an empty term is nobody's",
     required(term(), term(rule(DISK, "In", "hdd"))), {"kn2"}),
    ("a selector and an affinity",
     {**selector(disk="ssd"), **required(term(rule("test/zone", "In", "b")))},
     {"kn3"}),
    ("a name", required(term(fields=[rule("metadata.name", "In", "kn2")])),
     {"kn2"}),
    ("any name but one",
     required(term(rule(DISK, "In", "ssd"),
                   fields=[rule("metadata.name", "NotIn", "kn1")])), {"kn3"}),
    ("a name or a label",
     required(term(fields=[rule("metadata.name", "In", "kn2")]),
              term(rule("test/mem", "Gt", "200"))), {"kn2", "kn3"}),
    ("a name that is none",
     required(term(fields=[rule("metadata.name", "In", "nowhere")])), set()),
    ("a tainted node, not tolerated", selector(gpu="a100"), set()),
    ("a tainted node, tolerated", {**selector(gpu="a100"), **tolerating(ML)},
     {"kn4"}),
    ("a tainted node, tolerated by its key",
     {**selector(gpu="a100"), **tolerating({"key": "test/dedicated",
                                            "operator": "Exists"})}, {"kn4"}),
    ("a tainted node, all tolerated",
     {**selector(gpu="a100"), **tolerating({"operator": "Exists"})}, {"kn4"}),
    ("a tainted node, another value tolerated",
     {**selector(gpu="a100"), **tolerating({**ML, "value": "web"})}, set()),
    ("a tainted node, another effect tolerated",
     {**selector(gpu="a100"), **tolerating({**ML, "effect": "NoExecute"})},
     set()),
    ("a toleration alone forces nothing", tolerating(ML), ALL),
    ("a taint that only asks is none", selector(mem="256"), {"kn3"}),
    ("tolerations of a Node's health",
     tolerating({"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                 "effect": "NoExecute", "tolerationSeconds": 5}),
     UNTAINTED_NODES),
    ("a preference that a node has",
     preferred((1, term(rule(DISK, "In", "hdd")))), {"kn2"}),
    ("the heavier preference",
     preferred((1, term(rule(DISK, "In", "hdd"))),
               (50, term(rule("test/mem", "Gt", "200")))), {"kn3"}),
    ("a preference that no node has",
     preferred((1, term(rule(DISK, "In", "tape")))), UNTAINTED_NODES),
    ("a preference for a node that is tainted",
     preferred((1, term(rule("test/gpu", "In", "a100")))), UNTAINTED_NODES),
    ("a preference on top of what is required",
     {"affinity": {"nodeAffinity": {
         **required(term(rule(DISK, "In", "ssd")))["affinity"]["nodeAffinity"],
         **preferred((9, term(rule("test/zone", "In", "b"))))["affinity"][
             "nodeAffinity"]}}}, {"kn3"}),
]

# What is still refused, and the word that says so.
REFUSED = [
    ("hostPort", {"containers": [{
        "name": "main", "image": "busybox:stable",
        "ports": [{"containerPort": 80, "hostPort": 80}]}]}, "hostPort"),
    ("required Pod affinity", {"affinity": {"podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "test/zone"}]}}}, "affinity"),
    ("required Pod anti-affinity", {"affinity": {"podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "test/zone"}]}}}, "affinity"),
    ("a spread with DoNotSchedule", {"topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "test/zone",
         "whenUnsatisfiable": "DoNotSchedule"}]}, "DoNotSchedule"),
]


# ---- Nodes


def patch_node(node, body):
    bed.api("PATCH", f"/api/v1/nodes/{node}", body, MERGE)


def label(node, **labels):
    patch_node(node, {"metadata": {"labels": {
        f"test/{key}": value for key, value in labels.items()}}})


def taint(node, *taints):
    patch_node(node, {"spec": {"taints": list(taints) or None}})


def set_condition(node, kind, is_so):
    """As its kubelet says; Kubernetes taints the Node for it."""
    bed.api("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [
        {"type": kind, "status": str(is_so), "reason": "Test",
         "message": "as the test wants"}]}},
        "application/strategic-merge-patch+json")


def slurm_node(name):
    shown = bed.run("scontrol", "show", "node", name, "--json")
    return bed.json.loads(shown)["nodes"][0]


def features(node):
    return set(slurm_node(node)["features"])


def predicates(node):
    """Those of the features that stand for what Pods ask."""
    return {f for f in features(node) if re.fullmatch("k8s-[a-z2-9]{12}", f)}


def as_labelled():
    """The Nodes have what LABELS and TAINTS say, and nothing else of ours."""
    keys = {key for labels in LABELS.values() for key in labels}
    for node in sorted(ALL):
        labels = {key: LABELS[node].get(key) for key in keys}
        patch_node(node, {
            "metadata": {"labels": labels},
            "spec": {"taints": TAINTS.get(node), "unschedulable": None}})
    wait_for("the untainted nodes to be known as such", lambda:
             ALL & untainted() == UNTAINTED_NODES)


def untainted():
    shown = bed.json.loads(bed.run("scontrol", "show", "nodes", "--json"))
    return {node["name"] for node in shown["nodes"]
            if UNTAINTED in node["features"]}


def nodes_as_before():
    for node in sorted(ALL):
        patch_node(node, {"metadata": {"labels": {
            key: None for key in LABELS[node]}}, "spec": {"taints": None}})


# ---- The table


def make(name, spec, cpu="1"):
    return bed.create(bed.pod(name, cpu=cpu, **spec))


def waits(name):
    words = bed.wait_words(name, "No Node")
    equal(bed.jobs_of(name), [], "its jobs")
    return words


def row_case(number, words, spec, nodes):
    name = f"row-{number}"

    def body():
        make(name, spec)
        if nodes:
            check(land(name) in nodes, f"on {node_of(name)}, not {nodes}")
        else:
            waits(name)
            equal(node_of(name), None, "its node")
    body.__name__ = name.replace("-", "_")
    where = "on " + " or ".join(sorted(nodes)) if nodes else "nowhere"
    body.__doc__ = f"{words}: {where}"
    return case(body)


for _number, _row in enumerate(TABLE, 1):
    row_case(_number, *_row)


def refused_case(number, words, spec, said):
    def body():
        name = f"refused-{number}"
        try:
            make(name, spec)
        except bed.ApiError as error: # the policies are installed
            check(said in error.message, error.message)
            return
        bed.wait_words(name, said, "not supported")
        equal(bed.jobs_of(name), [], "its jobs")
    body.__name__ = f"refused_{number}"
    body.__doc__ = f"refused with a sentence: {words}"
    return case(body)


for _number, _row in enumerate(REFUSED, 1):
    refused_case(_number, *_row)


# ---- Nodes that change


def fill(node):
    """A Pod that leaves no room there."""
    make(f"fill-{node}", {"nodeSelector": {"kubernetes.io/hostname": node},
                          **tolerating({"operator": "Exists"})}, cpu="16")
    equal(land(f"fill-{node}"), node, "its node")


def free(node):
    bed.delete(f"fill-{node}", grace=1)


def wait_pending(name):
    return bed.wait_job(name, "PENDING")


@case
def relabelled_while_none():
    """a Pod that no Node satisfies lands as soon as one is labelled"""
    make("late", selector(disk="tape"))
    waits("late")
    label("kn2", disk="tape")
    equal(land("late"), "kn2", "its node")


@case
def relabelled_while_pending():
    """a Node is relabelled while a job waits for it: the job goes elsewhere"""
    fill("kn2")
    make("moved", selector(disk="hdd"))
    first = wait_pending("moved")["job_id"]
    label("kn2", disk="other")
    bed.wait_words("moved", "No Node satisfies test/disk=hdd")
    free("kn2")
    wait_for("kn2 to be free", lambda: not bed.allocated_cpus("kn2"))
    never("bound to a Node without the label", lambda: node_of("moved"), 3)
    label("kn3", disk="hdd")
    equal(land("moved", 60), "kn3", "its node")
    equal([job["job_id"] for job in bed.jobs_of("moved")], [first], "its jobs")


@case
def tainted_while_pending():
    """a taint comes while a job waits: the Pod lands elsewhere, or waits"""
    for node in sorted(ALL):
        fill(node)
    make("plain", {})
    make("tolerant", tolerating(ML))
    wait_pending("plain")
    wait_pending("tolerant")
    taint("kn2", TAINTS["kn4"][0])
    wait_for("kn2 to be known as tainted",
             lambda: UNTAINTED not in features("kn2"))
    free("kn2")
    equal(land("tolerant"), "kn2", "the tolerant Pod's node")
    equal(node_of("plain"), None, "the other's")
    free("kn1")
    equal(land("plain"), "kn1", "its node")


@case
def all_tainted():
    """all Nodes are tainted while a Pod waits: it says so, and goes on when a
    taint is gone"""
    others = {node["metadata"]["name"]
              for node in bed.api("GET", "/api/v1/nodes")["items"]} - ALL
    for node in sorted(ALL | others):
        taint(node, TAINTS["kn4"][0])
    try:
        wait_for("all nodes to be known as tainted", lambda: not any(
            UNTAINTED in features(node) for node in ALL | others))
        make("plain", {})
        bed.wait_words("plain", "No Node without a taint")
        taint("kn3")
        equal(land("plain"), "kn3", "its node")
    finally:
        for node in others:
            taint(node)


@case
def taint_is_no_drain():
    """a taint of its own does not drain a node, and running Pods stay"""
    make("stays", selector(disk="hdd"))
    equal(land("stays"), "kn2", "its node")
    bed.wait_phase("stays", "Running")
    taint("kn2", TAINTS["kn4"][0])
    wait_for("kn2 to be known as tainted",
             lambda: UNTAINTED not in features("kn2"))
    check("kn2" in slurmctld.nodes(), "kn2 is drained")
    equal(bed.get("stays")["status"]["phase"], "Running", "phase")


@case
def relabelled_while_running():
    """a Node is relabelled under a running Pod whose job is then lost: it is
    adopted where it is"""
    slurmctld.keep_state()
    make("adopted", selector(disk="hdd"))
    running = slurmctld.Running("adopted")
    label("kn2", disk="other")
    taint("kn2", TAINTS["kn4"][0])
    slurmctld.bring_state_back()
    equal(running.is_adopted()["nodes"], "kn2", "the node of its new job")


@case
def unused_dropped():
    """a feature that no Pod asks for any more is taken off the nodes"""
    fill("kn2")
    make("once", selector(disk="hdd"))
    feature = asked(wait_pending("once")["job_id"])
    check(feature in predicates("kn2"), f"{feature} of {features('kn2')}")
    free("kn2")
    equal(land("once"), "kn2", "its node")
    wait_for("the features to go", lambda: not any(
        predicates(node) for node in ALL), LINGER + 30)
    check(UNTAINTED in features("kn2"), "the one that stays")


@case
def agent_restart():
    """the agent is killed while jobs wait for their features: they keep them"""
    fill("kn2")
    make("kept", selector(disk="hdd"))
    job = wait_pending("kept")["job_id"]
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent to serve", bed.serves)
    check(asked(job) in features("kn2"), f"{asked(job)} of {features('kn2')}")
    free("kn2")
    equal(land("kept"), "kn2", "its node")
    equal(len(bed.jobs_of("kept")), 1, "jobs")


def asked(job):
    """The predicate that the job asks for."""
    return bed.jobs()[job]["features"].split("&")[-1].rstrip(")")


@case
def slurmctld_restart():
    """slurmctld is killed while jobs wait for their features: they start"""
    fill("kn2")
    make("kept", selector(disk="hdd"))
    wait_pending("kept")
    bed.run("scontrol", "update", "NodeName=kn2", "Features=k8s,kwok",
            "ActiveFeatures=k8s,kwok")
    slurmctld.restart()
    wait_for("the feature to be back", lambda: predicates("kn2"), 60)
    free("kn2")
    equal(land("kept", 60), "kn2", "its node")


@case
def forgotten_feature():
    """slurmctld comes back from before the agent set a feature, and without the job
    that asks for it: the next job is asked for when it is there, and not held"""
    fill("kn2")
    label("kn2", disk="new")
    slurmctld.keep_state()
    make("again", selector(disk="new"))
    wait_pending("again")
    seen = bed.log_size("slurmk8sd")
    slurmctld.bring_state_back()
    wait_for("another job", lambda:
             "submitted" in bed.log_since("slurmk8sd", seen), 60)
    never("held", lambda:
          bed.job_of("again")["state_reason"] == "BadConstraints", 3)
    free("kn2")
    equal(land("again", 15), "kn2", "its node")


@case
def short_of_memory():
    """a Node that is short of memory takes what tolerates that, and nothing else
    until it is no longer; it is not drained, and what runs there runs on"""
    make("before", selector(disk="hdd"))
    land("before")
    set_condition("kn2", "MemoryPressure", True)
    try:
        wait_for("kn2 to be short of memory",
                 lambda: UNTAINTED not in features("kn2"), 60)
        check("DRAIN" not in str(slurm_node("kn2")["state"]), "kn2 is drained")
        make("careful", selector(disk="hdd"))
        waits("careful")
        make("bold", {**selector(disk="hdd"), **tolerating(
            {"key": "node.kubernetes.io/memory-pressure",
             "operator": "Exists", "effect": "NoSchedule"})})
        equal(land("bold"), "kn2", "its node")
        check(bed.phase_is("before", "Running"), "what ran there")
    finally:
        set_condition("kn2", "MemoryPressure", False)
    equal(land("careful", 60), "kn2", "its node")


@case
def many():
    """forty Pods with a wish of their own each, at once"""
    for i in range(40):
        make(f"many-{i}", required(
            term(rule(DISK, "In", "ssd"), rule("test/none", "NotIn", f"v{i}"))),
            cpu="500m")
    for i in range(40):
        name = f"many-{i}"
        wait_for(f"{name} to be placed or to wait",
                 lambda n=name: node_of(n) or bed.job_of(n), 60)
        check(node_of(name) in (None, "kn1", "kn3"), f"on {node_of(name)}")


@case
def its_share():
    """a namespace has 50 different selections, and its next Pods say so and come
    when others go; Pods without one, and other namespaces, do not wait for that"""
    names = [f"one-of-{i}" for i in range(MOST + 2)]
    for i, name in enumerate(names):
        make(name, selector(disk=f"tape-{i}"), cpu="100m")

    def said(words):
        return {pod["metadata"]["name"] for pod in bed.pods()
                for one in pod["status"].get("conditions", [])
                if one["type"] == "PodScheduled" and
                words in one.get("message", "")} & set(names)
    wait_for("50 to be looked for, 2 to wait", lambda:
             len(said("No Node")) == MOST and
             len(said(f"MaxNodeSelectionsPerNamespace={MOST}")) == 2, 60)
    jobs = bed.jobs_by_pod()
    equal([name for name in names if jobs[name]], [], "who has a job")
    make("plain", {})
    land("plain")
    namespaces.make_namespace("other")
    try:
        bed.create(bed.pod("theirs", namespace="other", **selector(disk="hdd")))
        wait_for("another namespace's Pod to run", lambda:
                 bed.get("theirs", "other")["spec"].get("nodeName") == "kn2")
        for name in sorted(said("No Node"))[:2]:
            names.remove(name)
            bed.delete(name)
        wait_for("the two to have their turn", lambda:
                 len(said("No Node")) == MOST, LINGER + 60)
    finally:
        namespaces.clean_namespaces("other")


@case
def too_long():
    """what is absurdly long is refused with a sentence"""
    make("long", required(term(rule(
        DISK, "In", *(f"a-rather-long-value-{i}" for i in range(1000))))))
    bed.wait_words("long", "16384")
    equal(bed.jobs_of("long"), [], "its jobs")


def before_each():
    as_labelled()
    bed.clean()


# What lands does so since the agent heard of something, not since it looked
# again at all there is.
agent_conf.edit(lambda conf: conf.replace("ResyncInterval=15",
                                          "ResyncInterval=300") +
                f"\nFeatureLinger={LINGER}\n"
                f"MaxNodeSelectionsPerNamespace={MOST}\n", nodes_as_before)
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
