#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What Pods ask of Slurm by annotation: each annotation with what scontrol shows
of the job, or with the sentence on the Pod."""
import atexit
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import asking
import bed
from asking import asks, sentence, shows
from tap import case, check, equal, run, wait_for

NODE_PARTITIONS = "scheduler.slinky.slurm.net/external-node-partitions"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"

asking.with_slurm_conf("""Licenses=foo:4,bar:2
TrackWCKey=yes
PartitionName=admins Nodes=kwok RootOnly=YES
PartitionName=also Nodes=kwok""")
agent_conf.edit(lambda text: text + """
PriorityClass=test-urgent nice=-70
PriorityClass=test-idle nice=70 qos=normal
MaxPendingJobs=15
MaxPendingJobsPerNamespace=8
""")


def give_features(node, features):
    bed.api("PATCH", f"/api/v1/nodes/{node}",
            {"metadata": {"annotations": {NODE_PARTITIONS: features}}},
            content_type="application/merge-patch+json")
    wait_for(f"{node} to have {features} in Slurm", lambda: all(
        name in asking.features(node) for name in features.split(",")))


give_features("kn1", "kwok,ssd")
give_features("kn2", "kwok,nvme")
atexit.register(lambda: (give_features("kn1", "kwok"),
                         give_features("kn2", "kwok")))

def joined(constraint):
    return lambda features: features.startswith(constraint + "&k8s&k8s-")


# Pods that run: what they ask for, and what their jobs show.
TAKEN = {
    "account": (dict(account="physics"), dict(account="physics")),
    "comment": (dict(comment='für "Müller" $(id)'),
                dict(comment='für "Müller" $(id)')),
    "constraints": (dict(constraints="ssd"),
                    dict(features=joined("(ssd)"), nodes="kn1")),
    "constraints-or": (dict(constraints="ssd|nvme"),
                       dict(features=joined("(ssd|nvme)"),
                            nodes=lambda node: node in ("kn1", "kn2"))),
    "constraints-groups": (dict(constraints="(ssd|nvme)&nvme"),
                           dict(features=joined("(ssd|nvme)&nvme"),
                                nodes="kn2")),
    "contiguous": (dict(contiguous="true"), dict(contiguous=True)),
    "cpu-per-task": (dict(cpu_per_task="3"), dict(cpus_per_task=3, cpus=3)),
    "deadline": (dict(deadline="now+2hours"),
                 dict(deadline=lambda when: when > 1700000000)),
    "exclusive": (dict(exclusive="true"), dict(cpus=16)),
    "exclusive-not": (dict(exclusive="false"), dict(cpus=1)),
    "job-name": (dict(job_name="my job"), dict(name="my job")),
    "licenses": (dict(licenses="foo:2,bar"), dict(licenses="foo:2,bar")),
    "max-nodes": (dict(max_nodes="3"), dict(node_count=1)),
    "mcs-label": (dict(mcs_label="red"), {}),
    "mem-per-node": (dict(mem_per_node="1Gi"), dict(memory_per_node=1024)),
    "min-nodes": (dict(min_nodes="1"), dict(node_count=1)),
    "nice": (dict(nice="50"), dict(nice=50)),
    "partition": (dict(partition="also"), dict(partition="also")),
    "partitions": (dict(partition="also,kwok"),
                   dict(partition=lambda name: name in ("also", "kwok"))),
    "qos": (dict(qos="normal"), dict(qos="normal")),
    "switches": (dict(switches="1@5"),
                 dict(required_switches=1, maximum_switch_wait_time=300)),
    "timelimit": (dict(timelimit="0:10:30"), dict(time_limit=11)),
    "wckey": (dict(wckey="key"), dict(wckey="key")),
}

# Pods that the agent refuses: the annotation is named, no job is asked for.
REFUSED = {
    "account": "a b", "begin": "tomorrow", "comment": "two\nlines",
    "constraints": "[ssd|nvme]", "contiguous": "perhaps", "cpu-per-task": "70000",
    "deadline": "2026-13-01", "dependency": "expand:1", "exclusive": "yes",
    "gres": "gpu:1", "group-id": "wheel", "licenses": "foo:x",
    "max-nodes": "0", "mcs-label": "$(id)", "mem-per-node": "1Mi",
    "min-nodes": "2", "nice": "-1", "partition": "kwok;", "priority": "100",
    "qos": "a\tb", "reservation": "\x1b[2J", "segment": "4", "switches": "-1",
    "timelimit": "soon", "user-id": "bob", "wckey": "*",
    "moon-phase": "full",
}

# Pods that Slurm refuses: its words, and what was asked for.
REFUSED_BY_SLURM = {
    "license": (dict(licenses="none:1"), "license", "licenses=none:1"),
    "reservation": (dict(reservation="nowhere"), "reservation"),
    "feature": (dict(constraints="no-such-feature"), "feature"),
    "gres": (dict(gres="net:1"), "gres=net:1"),
    "part": (dict(partition="nowhere"), "partition"),
    "dependency": (dict(dependency="afterok:999999"), "dependency"),
    "too-much": (dict(mem_per_node="9Ti"), "mem-per-node=9Ti"),
}


@case
def taken():
    """23 Pods, each with one annotation: scontrol shows it on the job"""
    for name, (wishes, _) in TAKEN.items():
        asks(name, run="1s", **wishes)
    for name, (_, fields) in TAKEN.items():
        shows(bed.wait_ended(name, "COMPLETED", "0:0", 90), **fields)


@case
def prefixes():
    """Slinky's prefixes, the newer one and the older one, say the same"""
    for number, prefix in enumerate(asking.PREFIXES):
        asks(f"p{number}", prefix=prefix, wckey="key", licenses="foo:1",
             timelimit="7", exclusive="false", cpu_per_task="2")
    for number in range(len(asking.PREFIXES)):
        shows(bed.wait_ended(f"p{number}", "COMPLETED", "0:0"), wckey="key",
              licenses="foo:1", time_limit=7, cpus=2)


@case
def refused():
    """27 Pods with a value that cannot be: each names its annotation, and none
    has a job"""
    for wish, value in REFUSED.items():
        asks(wish, **{wish: value})
    for wish, value in REFUSED.items():
        message = sentence(wish, f"annotation slurmk8s/{wish} ")
        check("\x1b" not in message and "\n" not in message, repr(message))


@case
def refused_by_slurm():
    """Pods that Slurm refuses say its words and what was asked for"""
    for name, (wishes, *_) in REFUSED_BY_SLURM.items():
        asks(name, **wishes)
    for name, (_, *words) in REFUSED_BY_SLURM.items():
        sentence(name, *words)


@case
def begin():
    """begin: the job waits for its time, by the Pod's own age or by the clock"""
    asks("later", begin="now+1hour")
    asks("date", begin="2099-01-01T12:00:00Z")
    asks("past", begin="2001-01-01Z")
    bed.wait_words("later", "BeginTime")
    shows(bed.job_of("date"), eligible_time=4070952000)
    bed.wait_ended("past", "COMPLETED", "0:0")


@case
def hold():
    """priority 0: the job is held until it is released"""
    asks("held", priority="0")
    bed.wait_words("held", "JobHeldUser")
    bed.run("scontrol", "release", str(bed.job_of("held")["job_id"]),
            user="alice")
    bed.wait_ended("held", "COMPLETED", "0:0")


@case
def dependency():
    """dependency: the job waits for another one, by its JobId"""
    asks("first", run=None)
    first = bed.wait_job("first", "RUNNING")["job_id"]
    asks("second", dependency=f"afterok:{first}")
    asks("third", dependency=f"afternotok:{first}")
    second = bed.wait_job("second", "PENDING")
    check(str(first) in second["dependency"], second["dependency"])
    bed.wait_job("third", "PENDING")
    bed.end("first")
    bed.wait_ended("first", "COMPLETED", "0:0")
    bed.wait_ended("second", "COMPLETED", "0:0")
    bed.wait_words("third", "Dependency")


@case
def deadline():
    """a deadline that is over: the Pod ends, and says why"""
    asks("late", deadline="2001-01-01Z")
    wait_for("a sentence or an end", lambda:
             bed.phase_is("late", "Failed") or
             "deadline" in bed.condition("late").get("message", "").lower())


@case
def reservation():
    """a reservation: its user's Pods get in, others' do not"""
    bed.run("scontrol", "create", "reservation", "ReservationName=alices",
            "StartTime=now", "Duration=60", "Nodes=kn3", "Users=alice")
    bed.run("scontrol", "create", "reservation", "ReservationName=bobs",
            "StartTime=now", "Duration=60", "Nodes=kn4", "Users=bob")
    try:
        asks("in", reservation="alices")
        asks("out", reservation="bobs")
        shows(bed.wait_ended("in", "COMPLETED", "0:0"), resv_name="alices",
              nodes="kn3")
        sentence("out", "reservation")
    finally:
        for name in ("in", "out"):
            bed.delete(name, grace=1)
        for name in ("alices", "bobs"):
            wait_for(f"the reservation {name} to go", lambda name=name: "rror"
                     not in bed.run("scontrol", "delete",
                                    f"ReservationName={name}", check=False))


@case
def exclusive():
    """exclusive: nobody else gets on the node while it lives"""
    asks("alone", run=None, exclusive="true", constraints="ssd")
    bed.wait_phase("alone", "Running")
    asks("beside", run=None, constraints="ssd")
    bed.wait_words("beside", "Resources")
    bed.delete("alone")
    bed.wait_phase("beside", "Running", 60)


@case
def root_only():
    """a partition that is RootOnly is refused where a Pod names it: the agent
    submits as SlurmUser, who might"""
    asks("root", partition="admins")
    asks("among", partition="kwok,admins")
    sentence("root", "admins", "RootOnly")
    sentence("among", "admins", "RootOnly")


def workload(kind, name, annotations, template_annotations):
    body = bed.pod(name, annotations={"sandbox/run": "100ms"})
    template = {"metadata": {"annotations": {**body["metadata"]["annotations"],
                                             **template_annotations},
                             "labels": {"of": name}},
                "spec": body["spec"]}
    spec = {"template": template}
    if kind == "Deployment":
        template["spec"]["restartPolicy"] = "Always"
        template["metadata"]["annotations"].pop("sandbox/run")
        spec.update(selector={"matchLabels": {"of": name}}, replicas=1)
    group, plural = {"Job": ("batch", "jobs"),
                     "Deployment": ("apps", "deployments")}[kind]
    path = f"/apis/{group}/v1/namespaces/{bed.NAMESPACE}/{plural}"
    bed.api("POST", path, {"metadata": {"name": name,
                                        "annotations": annotations},
                           "spec": spec})
    return f"{path}/{name}"


def job_of_workload(name):
    def found():
        for job in bed.jobs().values():
            if f'"{bed.NAMESPACE}/{name}-' in job.get("admin_comment", ""):
                return job
        return None
    return wait_for(f"a job of {name}", found)


@case
def owners():
    """what a Job or a Deployment asks for counts for its Pods, unless they say
    something themselves"""
    paths = [
        workload("Job", "owner-a", {"slurmk8s/wckey": "of-job",
                                    "slurmk8s/nice": "5"}, {}),
        workload("Job", "owner-b", {"slurmk8s/wckey": "of-job",
                                    "slurmk8s/nice": "5"},
                 {"slinky.slurm.net/wckey": "of-pod", "slurmk8s/nice": ""}),
        workload("Deployment", "owner-c",
                 {"slurmjob.slinky.slurm.net/wckey": "of-deployment"}, {})]
    try:
        shows(job_of_workload("owner-a"), wckey="of-job", nice=5)
        shows(job_of_workload("owner-b"), wckey="of-pod", nice=0)
        shows(job_of_workload("owner-c"), wckey="of-deployment")
    finally:
        for path in paths:
            bed.api("DELETE", path, {"propagationPolicy": "Background"})


def remove_classes():
    for name in ("test-urgent", "test-idle", "test-unknown"):
        bed.run("kubectl", "delete", "--ignore-not-found", "priorityclass", name)


def taken_with(name, priority_class, **wishes):
    try:
        return asks(name, spec={"priorityClassName": priority_class}, **wishes)
    except bed.ApiError as error:
        equal(error.status, 403, str(error))
        return None


@case
def priority_class():
    """a PriorityClass of k8s.conf's table means a nice value and a QoS"""
    atexit.register(remove_classes)
    for name, value in (("test-urgent", 1000), ("test-idle", 1),
                        ("test-unknown", 5)):
        try:
            bed.api("POST", CLASSES, {"metadata": {"name": name},
                                      "value": value})
        except bed.ApiError as error:
            check(error.status == 409, str(error))
        wait_for("the API server to know the class",
                 lambda name=name: taken_with(name, name))
    taken_with("own", "test-urgent", nice="9")
    for name, nice in (("test-urgent", -70), ("test-idle", 70),
                       ("test-unknown", 0), ("own", 9)):
        shows(bed.wait_ended(name, "COMPLETED", "0:0"), nice=nice, qos="normal")


@case
def pending_limits():
    """MaxPendingJobsPerNamespace=8, MaxPendingJobs=15 with a reserve of 3: further
    Pods say so, and come in turn when there is room"""
    asking.make_namespace("other")
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        names = [f"n{i}" for i in range(10)]
        others = [f"o{i}" for i in range(6)]
        for name in names:
            asks(name)
        wait_for("8 jobs", lambda: len(waiting()) == 8)
        said = [name for name in names if "MaxPendingJobsPerNamespace=8" in
                bed.wait_words(name, "Slurm")]
        equal(len(said), 2, "Pods that say so")
        for name in others:
            asks(name, namespace="other")
        wait_for("12 jobs", lambda: len(waiting()) == 12)
        wait_for("two of the others to say so", lambda: sum(
            "MaxPendingJobs=15" in bed.condition(name, "other")
            .get("message", "") for name in others) == 2)
        wait_for("four in the line", lambda:
                 bed.metric('pending_jobs{where="line"}') == 4)
        bed.delete(said[0])  # whoever leaves the line changes nothing
        bed.wait_gone(said[0])
        equal(len(waiting()), 12, "jobs")
        names.remove(said[0])
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    for name in names:
        bed.wait_ended(name, "COMPLETED", "0:0", 60)
    for name in others:
        bed.wait_ended(name, "COMPLETED", "0:0", 60)
    asking.clean_namespaces("other")


def waiting():
    return bed.run("squeue", "-h", "-t", "PD", "-o", "%i").split()


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
