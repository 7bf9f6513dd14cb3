#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A user who may edit one Namespace, and has an account in Slurm, tries to be
somebody else: to forge a job's id, node, user, account or QOS, and to free or
end another user's job. Every way is a case; what they attack must live on."""
import contextlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import slurmctld
from admission import As, pods_path, refused
from tap import case, check, equal, never, run, wait_for

NS = "forge"  # where the forger may edit; its Pods are bob's in Slurm
OWNED = "only slurmk8sd may set"
CHOSEN = "Slurm chooses the node"
STRICT = "spec.nodeName must be empty: only who may create pods/binding"
JOB = "slurmjob.slinky.slurm.net/"
AGENT = "system:serviceaccount:slurm-k8s-bridge:slurmk8sd"

# Accounts and QOS are nobody's secret: Slurm must enforce who has which.
enforcing = slurmctld.changed_conf(lambda text: text +
    "AccountingStorageEnforce=associations,limits,qos\n")
forger = None
victim = {}  # alice's Pod and its job


def set_up():
    if not forger:
        set_up_all()
    for item in bed.pods(NS):  # of a case that failed
        bed.delete(item["metadata"]["name"], NS, grace=0)
    wait_for("the forger's Pods to be gone", lambda: not bed.pods(NS))


def set_up_all():
    global forger, victim
    admission.apply()
    bed.clean()
    enforcing.__enter__()
    admission.namespace(NS, annotations={"slurmk8s/user": "bob"})
    forger = As(admission.editor(NS), dry=False)
    bed.create(bed.pod("victim", annotations={bed.TIMELIMIT: "60"}))
    bed.wait_phase("victim", "Running")
    victim = bed.wait_job("victim", "RUNNING")
    wait_for("the policies to act", lambda: does_act())


def does_act():
    try:
        As(forger.token).create(pods_path(ns=NS), pod(
            "t", labels={bed.JOB_LABEL: "1"}))
    except bed.ApiError as error:
        return OWNED in error.message
    return False


def victim_lives():
    found = bed.phase_is("victim", "Running")
    check(found, "the victim runs")
    check(not found["metadata"].get("deletionTimestamp"),
          "nobody deletes the victim")
    job = bed.job_of("victim")
    check(job, "the victim has its job")
    for field in ("job_id", "job_state", "user_name", "account", "nodes",
                  "cpus", "admin_comment", "time_limit", "priority", "comment"):
        equal(job[field], victim[field], f"the victim's {field}")


def pod(name, labels=None, annotations=None, scheduler="slurm", **spec):
    body = bed.pod(name, annotations=annotations, scheduler=scheduler,
                   namespace=NS, **spec)
    body["metadata"]["labels"] = labels or {}
    return body


def none_made(*names):
    there = {item["metadata"]["name"] for item in bed.pods(NS)}
    check(not there & set(names), f"made: {there}")


def create(body):
    return forger.create(pods_path(ns=NS), body)


def of_victim():
    return bed.get("victim")["metadata"]


def stolen():
    """The marks of the victim."""
    its = of_victim()
    return its["labels"][bed.JOB_LABEL], {
        key: value for key, value in its["annotations"].items()
        if key in (bed.SLUID_ANNOTATION, bed.NODE_ANNOTATION)}


@contextlib.contextmanager
def a_pod(name, **options):
    """A Pod of the forger's that waits behind a gate of its own."""
    create(pod(name, schedulingGates=[{"name": "example.com/hold"}], **options))
    try:
        yield
    finally:
        bed.delete(name, NS, grace=0)


def marks():
    label, annotations = stolen()
    yield {"labels": {bed.JOB_LABEL: label}}
    yield {"labels": {bed.JOB_LABEL: ""}}
    for key, value in annotations.items():
        yield {"annotations": {key: value}}
    yield {"annotations": {bed.GENERATION_ANNOTATION: "1"}}
    yield {"annotations": {"slurmk8s/sbatch": "1 s0000000000001 " + "0" * 32}}


# ---- by way of Kubernetes


@case
def create_with_marks():
    """1: each of the victim's marks on a new Pod"""
    for metadata in marks():
        refused(OWNED, create, pod("forged", **metadata))
    none_made("forged")


@case
def create_with_all_marks():
    """2: all of them together, so that the Pod would pass for the victim"""
    label, annotations = stolen()
    refused(OWNED, create, pod("forged", {bed.JOB_LABEL: label}, annotations))


@case
def generate_name():
    """3: with a generated name, for which admission sees none"""
    body = pod("x", {bed.JOB_LABEL: stolen()[0]})
    del body["metadata"]["name"]
    body["metadata"]["generateName"] = "victim-"
    refused(OWNED, create, body)


@case
def foreign_scheduler():
    """4: on a Pod that kube-scheduler would place"""
    label, annotations = stolen()
    for scheduler in ("default-scheduler", "mine"):
        refused(OWNED, create, pod("forged", {bed.JOB_LABEL: label},
                                   annotations, scheduler=scheduler))
        refused((OWNED, STRICT), create,
                pod("forged", {bed.JOB_LABEL: label}, annotations,
                    scheduler=scheduler, nodeName="kn1"))


@case
def patch_in():
    """5: later, by each kind of patch, by a whole update and by an apply"""
    with a_pod("own"):
        path = pods_path("own", NS)
        for metadata in marks():
            for kind in (admission.MERGE, admission.STRATEGIC):
                refused(OWNED, forger.patch, path, {"metadata": metadata}, kind)
        key = "/metadata/labels/" + bed.JOB_LABEL.replace("/", "~1")
        refused(OWNED, forger.patch, path,
                [{"op": "add", "path": "/metadata/labels", "value": {}},
                 {"op": "add", "path": key, "value": stolen()[0]}],
                admission.JSON_PATCH)
        whole = bed.get("own", NS)
        whole["metadata"].setdefault("labels", {})[bed.JOB_LABEL] = stolen()[0]
        refused(OWNED, forger.do, "PUT", path, whole)
        refused(OWNED, forger.do, "PATCH",
                path + "?fieldManager=forger&force=true",
                {"apiVersion": "v1", "kind": "Pod",
                 "metadata": {"name": "own",
                              "labels": {bed.JOB_LABEL: stolen()[0]}}},
                "application/apply-patch+yaml")


@case
def subresources():
    """6: through the subresources of a Pod"""
    with a_pod("own"):
        marked = {"metadata": {"labels": {bed.JOB_LABEL: "1"}}}
        for sub in ("status", "resize", "ephemeralcontainers"):
            refused("", forger.patch, pods_path("own", NS, sub), marked)
        equal(bed.get("own", NS)["metadata"].get("labels", {})
              .get(bed.JOB_LABEL), None, "the label")


@case
def bind():
    """7: by binding its Pod itself, by either way to bind"""
    with a_pod("own"):
        body = admission.binding("own", "kn1", {
            "labels": {bed.JOB_LABEL: stolen()[0]}}, NS)
        refused("", forger.create, pods_path("own", NS, "binding"), body)
        refused("", forger.create, f"/api/v1/namespaces/{NS}/bindings", body)
        del body["metadata"]["labels"]
        refused("", forger.create, pods_path("own", NS, "binding"), body)
        check(not bed.get("own", NS)["spec"].get("nodeName"), "it is unbound")


@case
def change_own_job():
    """8: pointing its own running Pod at the victim's job, or at none"""
    create(pod("own"))
    wait_for("it to run", lambda: (bed.get("own", NS) or {})
             .get("status", {}).get("phase") == "Running")
    path = pods_path("own", NS)
    label, annotations = stolen()
    refused(OWNED, forger.patch, path,
            {"metadata": {"labels": {bed.JOB_LABEL: label}}})
    refused(OWNED, forger.patch, path, {"metadata": {"labels": None}})
    refused(OWNED, forger.patch, path,
            {"metadata": {"annotations": annotations}})
    refused(OWNED, forger.patch, path,
            {"metadata": {"annotations": {bed.SLUID_ANNOTATION: None}}})
    bed.delete("own", NS)
    wait_for("it to be gone", lambda: not bed.get("own", NS))


def workload(path, kind_spec, name="forged", annotations=None):
    forger.create(path, {"metadata": {"name": name,
                                      "annotations": annotations or {}},
                         "spec": kind_spec})


def failed_create(name):
    """The controller's words on its object."""
    items = bed.api("GET", f"/apis/events.k8s.io/v1/namespaces/{NS}/events")
    return [e["note"] for e in items["items"]
            if e["reason"] == "FailedCreate"
            and e["regarding"]["name"].startswith(name)]


@case
def by_a_controller():
    """9: by the template of a Job, a Deployment, a StatefulSet: the controller
    is refused, in words on its object"""
    template = pod("x", {"app": "f", bed.JOB_LABEL: stolen()[0]})
    spec = {"metadata": {"labels": template["metadata"]["labels"]},
            "spec": template["spec"]}
    apps = f"/apis/apps/v1/namespaces/{NS}"
    always = {"metadata": spec["metadata"],
              "spec": {**spec["spec"], "restartPolicy": "Always"}}
    chooses = {"selector": {"matchLabels": {"app": "f"}}, "template": always}
    paths = {"job": (f"/apis/batch/v1/namespaces/{NS}/jobs",
                     {"template": spec}),
             "deploy": (f"{apps}/deployments", chooses),
             "set": (f"{apps}/statefulsets", {**chooses, "serviceName": "x"})}
    for name, (path, body) in paths.items():
        workload(path, body, name)
    try:
        for name in paths:
            wait_for(f"the words on {name}", lambda: any(
                OWNED in note for note in failed_create(name)))
        check(not bed.pods(NS), "no Pod was made")
    finally:
        for name, (path, _) in paths.items():
            bed.api("DELETE", f"{path}/{name}",
                    {"propagationPolicy": "Background"})


@case
def node_name():
    """10: choosing the node, at creation or by a template"""
    for scheduler in ("slurm", "slurm-bridge-scheduler"):
        refused(CHOSEN, create, pod("forged", scheduler=scheduler,
                                    nodeName="kn1"))
    path = f"/apis/batch/v1/namespaces/{NS}/jobs"
    workload(path, {"template": {"spec": pod("x", nodeName="kn1")["spec"]}},
             "placed")
    wait_for("the words", lambda: any(CHOSEN in note
                                      for note in failed_create("placed")))
    bed.api("DELETE", f"{path}/placed", {"propagationPolicy": "Background"})
    none_made("forged")


@case
def change_scheduler():
    """11: changing the scheduler or the node of a Pod that is there"""
    create(pod("own", scheduler="mine"))
    refused("", forger.patch, pods_path("own", NS),
            {"spec": {"schedulerName": "slurm"}})
    refused("", forger.patch, pods_path("own", NS),
            {"spec": {"nodeName": "kn1"}})
    bed.delete("own", NS, grace=0)


@case
def others_pod():
    """12: deleting, evicting, shortening, marking another user's Pod"""
    path = pods_path("victim")
    refused("cannot delete", forger.delete, path)
    refused("cannot delete", forger.delete, path, {"gracePeriodSeconds": 0})
    refused("cannot create", forger.create, pods_path("victim", sub="eviction"),
            admission.eviction("victim", of_victim()["uid"]))
    refused("cannot patch", forger.patch, path,
            {"spec": {"activeDeadlineSeconds": 1}})
    refused("cannot patch", forger.patch, path,
            {"metadata": {"labels": {bed.JOB_LABEL: None}}})
    refused("cannot patch", forger.patch, pods_path("victim", sub="status"),
            {"status": {"phase": "Failed"}})


@case
def same_name():
    """13: a Pod of the victim's name in the forger's Namespace, made and
    deleted: nothing befalls the victim's job"""
    create(pod("victim"))
    wait_for("it to run", lambda: (bed.get("victim", NS) or {})
             .get("status", {}).get("phase") == "Running")
    bed.delete("victim", NS)
    wait_for("it to be gone", lambda: not bed.get("victim", NS))
    wait_for("its job to end", lambda: len(
        [j for j in bed.jobs().values() if "RUNNING" in j["job_state"]]) == 1)
    bed._uids["victim"] = of_victim()["uid"]


@case
def same_owner():
    """14: a Pod that says it is owned by the victim's owner, or by the victim:
    the garbage collector may take it, its job is its own"""
    body = pod("own")
    body["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "Pod", "name": "victim",
         "uid": of_victim()["uid"], "controller": True}]
    create(body)

    def gone_or_its_own():
        own = bed.get("own", NS)
        label = own and own["metadata"].get("labels", {}).get(bed.JOB_LABEL)
        check(label != str(victim["job_id"]), "it has the victim's job")
        return not own or label
    wait_for("it to be gone, or to have a job of its own", gone_or_its_own)
    bed.delete("own", NS, grace=0)
    wait_for("it to be gone", lambda: not bed.get("own", NS))


@case
def identity_of_the_namespace():
    """15: the Namespace's annotations, by which its Pods have a user"""
    path = f"/api/v1/namespaces/{NS}"
    for key in ("slurmk8s/user", "slurmk8s/account"):
        refused("cannot patch", forger.patch, path,
                {"metadata": {"annotations": {key: "root"}}})
    refused("cannot create", forger.create, "/api/v1/namespaces", {
        "metadata": {"name": "forged",
                     "annotations": {"slurmk8s/user": "alice"}}})
    refused("cannot update", forger.do, "PUT", path + "/finalize", {
        "metadata": {"name": NS, "annotations": {"slurmk8s/user": "alice"}}})


def job_or_refusal(name):
    """The first job of the Pod; "refused": it says why it has none; None: neither
    yet. The words are read first: a Pod with a job has words, too."""
    words = bed.condition(name, NS).get("message")
    jobs = bed.jobs_of(name)
    return jobs[0] if jobs else words and "refused"


def job_as(annotations, name="own"):
    """The job that a Pod with these annotations gets; None: it was refused, in
    words on the Pod."""
    made = create(pod(name, annotations=annotations))
    uid = made["metadata"]["uid"]
    bed._uids[name] = uid

    found = wait_for("a job, or a refusal", lambda: job_or_refusal(name))
    bed.delete(name, NS)
    wait_for("it to be gone", lambda: not bed.get(name, NS))
    return None if found == "refused" else found


@case
def user_of_the_pod():
    """16: another user or group by annotations of the Pod: the job is bob's, or
    there is none"""
    for prefix in (JOB, "slinky.slurm.net/", "slurmk8s/"):
        for name, value in (("user-id", "0"), ("user-id", "1001"),
                            ("user", "root"), ("user", "alice"),
                            ("user-id", "00"), ("user-id", "-0"),
                            ("user-id", "root"), ("user-id", "slurm"),
                            ("user-id", "4294967295"), ("user-id", "1001 "),
                            ("group-id", "0"), ("group-id", "root"),
                            ("group", "root")):
            job = job_as({prefix + name: value})
            if job:
                equal(job["user_name"], "bob", f"user by {prefix}{name}")
                equal(job["group_name"], "bob", f"group by {prefix}{name}")


@case
def account_of_the_pod():
    """17: an account or QOS that bob does not have, by the Pod's annotations"""
    bed.run("sacctmgr", "-i", "add", "qos", "vip", check=False)
    for prefix in (JOB, "slurmk8s/"):
        for name, value, own in (("account", "root", "physics"),
                                 ("account", "no-such", "physics"),
                                 ("qos", "vip", "normal"),
                                 ("qos", "no-such", "normal")):
            job = job_as({prefix + name: value})
            check(job is None or job[name] == own,
                  f"{name}: {job and job[name]}")


@case
def priority_of_the_pod():
    """18: more priority than sbatch would give"""
    for name, value in (("nice", "-1"), ("nice", "-2147483645"),
                        ("priority", "4294967293"), ("priority", "TOP")):
        plain, job = job_as({}), job_as({JOB + name: value})
        if job:
            equal((job["priority"]["number"], job["nice"]),
                  (plain["priority"]["number"], plain["nice"]),
                  f"priority and nice by {name}={value}")


def runs_with(annotations, name="own", at_last=False):
    """Whether a Pod with these annotations gets a node: else it was refused, or
    is looked at and waits, in words on the Pod. at_last: it must, so it has
    time for it."""
    made = create(pod(name, annotations=annotations))
    bed._uids[name] = made["metadata"]["uid"]

    def outcome():
        found = bed.get(name, NS)
        if found["spec"].get("nodeName"):
            return "runs"
        return not at_last and bed.condition(name, NS).get("message")

    said = wait_for("the Pod to run, or to say why not", outcome)
    runs = said == "runs" or never_ends_well(name)
    bed.delete(name, NS, grace=0)
    wait_for("it to be gone", lambda: not bed.get(name, NS))
    return runs


def never_ends_well(name):
    """What waits is looked at by the scheduler many times in that time."""
    try:
        never("it runs", lambda: bed.get(name, NS)["spec"].get("nodeName"), 3)
    except AssertionError:
        return True
    return False


def scontrol(*words):
    bed.run("scontrol", *words)


@case
def anothers_reservation():
    """19: into a reservation of alice's"""
    node = "kn3" if victim["nodes"] == "kn4" else "kn4"  # a free one
    scontrol("create", "reservation", "ReservationName=hers", "Users=alice",
             "StartTime=now", "Duration=60", f"Nodes={node}")
    try:
        check(not runs_with({JOB + "reservation": "hers"}), "it runs there")
    finally:
        scontrol("delete", "ReservationName=hers")


@case
def closed_partitions():
    """20: into partitions that sbatch refuses him; others take the same Pod"""
    for kind in ("qos", "account"):
        bed.run("sacctmgr", "-i", "add", kind, "vip", check=False)
    scontrol("create", "PartitionName=open", "Nodes=kn2,kn3,kn4")
    try:
        check(runs_with({JOB + "partition": "open"}, at_last=True),
              "an open one takes it")
    finally:
        scontrol("delete", "PartitionName=open")
    for number, closed in enumerate((
            "AllowGroups=alice", "AllowAccounts=vip", "DenyAccounts=physics",
            "AllowQos=vip", "RootOnly=YES", "State=INACTIVE")):
        name = f"closed{number}"
        scontrol("create", f"PartitionName={name}", "Nodes=kn2,kn3,kn4", closed)
        try:
            check(not runs_with({JOB + "partition": name}),
                  f"{closed}: it runs there")
        finally:
            scontrol("delete", f"PartitionName={name}")


def hostile(word):
    return [f"{word}\nUserId=0", f"{word}\" UserId=0", f"{word},{word} #",
            f'{word}","uid":"{of_victim()["uid"]}"', word + "\x7f" * 10]


@case
def injected_words():
    """21: line feeds, quotes and JSON in what goes into the job: it stays one
    value, and the tag stays the agent's"""
    for name in ("job-name", "comment", "wckey"):
        for value in hostile("x"):
            job = job_as({JOB + name: value})
            if not job:
                continue
            equal(job["user_name"], "bob", f"user by {name}={value!r}")
            tag = json.loads(job["admin_comment"])
            equal(tag["uid"], bed._uids["own"], f"the tag by {name}={value!r}")


@case
def as_the_agent():
    """22: becoming the agent: its token, its Namespace, its name"""
    home = "/api/v1/namespaces/slurm-k8s-bridge"
    refused("cannot create", forger.create,
            home + "/serviceaccounts/slurmk8sd/token", {"spec": {}})
    body = pod("forged", serviceAccountName="slurmk8sd")
    body["metadata"]["namespace"] = "slurm-k8s-bridge"
    refused("cannot create", forger.create, home + "/pods", body)
    refused("cannot list", forger.do, "GET", home + "/secrets")
    refused("", forger.create, f"/apis/rbac.authorization.k8s.io/v1/namespaces/"
            f"{NS}/rolebindings", {
                "metadata": {"name": "forged"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                            "kind": "ClusterRole", "name": "slurmk8sd"},
                "subjects": [{"kind": "ServiceAccount", "name": "editor",
                              "namespace": NS}]})
    said = bed.run("kubectl", "--kubeconfig=/dev/null",
                   f"--server={bed.os.environ['SANDBOX_API']}",
                   f"--certificate-authority={bed.os.environ['SANDBOX_CA']}",
                   f"--token={forger.token}", f"--as={AGENT}",
                   "get", "pods", f"--namespace={NS}", check=False)
    check("cannot impersonate" in said, said)


@case
def a_twin_of_the_agent():
    """23: a ServiceAccount of the agent's name in its own Namespace is nobody"""
    admission.make(f"/api/v1/namespaces/{NS}/serviceaccounts",
                   {"metadata": {"name": "slurmk8sd"}})
    twin = As(admission.token(NS, "slurmk8sd"), dry=False)
    refused("cannot create", twin.create, pods_path(ns=NS),
            pod("forged", {bed.JOB_LABEL: "1"}))


@case
def the_lease():
    """24: taking the Lease, so that no agent acts"""
    path = "/apis/coordination.k8s.io/v1/namespaces/slurm-k8s-bridge/leases"
    refused("cannot patch", forger.patch, path + "/slurmk8sd",
            {"spec": {"holderIdentity": "me"}})
    refused("cannot delete", forger.delete, path + "/slurmk8sd")
    refused("cannot create", forger.create, path, {
        "metadata": {"name": "slurmk8sd"}, "spec": {"holderIdentity": "me"}})


@case
def nodes_and_policies():
    """25: opting Nodes in or out, cordoning them, taking the policies away"""
    for change in ({"metadata": {"labels": {
            "scheduler.slinky.slurm.net/external-node": None}}},
            {"spec": {"unschedulable": True}}):
        refused("cannot patch", forger.patch, "/api/v1/nodes/kn1", change)
    path = "/apis/admissionregistration.k8s.io/v1/"
    for kind in ("validatingadmissionpolicies",
                 "validatingadmissionpolicybindings"):
        refused("cannot delete", forger.delete,
                path + kind + "/slurm-k8s-bridge-owned-metadata")


# ---- by way of Slurm, as bob, whose Pods these are, and as alice


def slurm(*command, user="bob"):
    return bed.run(*command, user=user, check=False).strip()


@case
def end_anothers_job():
    """26: bob ends, signals, requeues, suspends the victim's job"""
    job = str(victim["job_id"])
    for command in (("scancel", job), ("scancel", "--signal=KILL", job),
                    ("scancel", "--user=alice"), ("scontrol", "requeue", job),
                    ("scontrol", "suspend", job), ("scontrol", "hold", job)):
        slurm(*command)
    for setting in ("TimeLimit=1", "Comment=x", "AdminComment=x", "UserId=bob",
                    "Priority=0"):
        said = slurm("scontrol", "update", f"JobId={job}", setting)
        check(said, f"{setting} was taken without a word")
    never("the victim's job ends",
          lambda: "RUNNING" not in bed.state_of(bed.job_of("victim")), 1)


@case
def raise_ones_own():
    """27: alice, whose job it is, raises it, moves it, forges its tag"""
    job = str(victim["job_id"])
    for setting in ("TimeLimit=UNLIMITED", "Priority=4294967294", "Nice=-100",
                    "AdminComment={}", "NumCPUs=8", "Partition=native",
                    "JobName=forged", "QOS=normal", "Account=physics"):
        said = slurm("scontrol", "update", f"JobId={job}", setting,
                     user="alice")
        check(said, f"{setting} was taken without a word")
    for command in (("requeue", job), ("top", job)):
        check(slurm("scontrol", *command, user="alice"),
              f"scontrol {command} was taken without a word")


@case
def tag_on_a_job():
    """28: an ordinary job that carries the victim's tag, in each text that its
    owner writes"""
    tag = victim["admin_comment"]
    bed.inside("rm", "-f", "/tmp/tag-ends")
    made = slurm("sbatch", "--parsable", "--chdir=/tmp", "--partition=native",
                 "--output=/dev/null", f"--comment={tag}", f"--extra={tag}",
                 "--job-name=victim", "--export=ALL,K8S_GANG=1", "--wrap",
                 "until [ -e /tmp/tag-ends ]; do sleep 0.2; done")
    job_id = int(made.splitlines()[-1])
    said = slurm("scontrol", "update", f"JobId={job_id}", f"AdminComment={tag}")
    check("denied" in said, f"AdminComment: {said}")
    equal(bed.jobs()[job_id]["admin_comment"], "", "its admin_comment")
    bed.inside("touch", "/tmp/tag-ends")
    wait_for("it to end", lambda: "COMPLETED" in
             bed.jobs()[job_id]["job_state"])


@case
def placeholder_of_ones_own():
    """29: an external job of bob's, with the victim's tag or without"""
    before = set(bed.jobs())
    for more in ((), (f"--comment={victim['admin_comment']}",)):
        said = slurm("sbatch", "--external", "--ntasks=1", "--partition=kwok",
                     *more)
        check("stand for Kubernetes Pods" in said, said)
    equal(set(bed.jobs()) - before, set(), "new jobs")


CONNECT = """
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    s.connect("/run/slurmk8s/hook.sock")
    s.send(b'{"type":"ended","job":1}')
    s.settimeout(5)
    print("heard", s.recv(100))
except OSError as error:
    print("refused", error)
"""


@case
def the_socket():
    """30: speaking to the agent as slurmctld's plugin would"""
    for user in ("bob", "alice"):
        said = bed.inside("python3", "-c", CONNECT, user=user)
        check("refused" in said or "heard b''" in said, said)


@case
def files_of_the_agent():
    """31: reading the token, changing k8s.conf, the gate's file, the socket"""
    for command in ("cat /etc/slurm/k8s/token", "echo >> /etc/slurm/k8s.conf",
                    "cat /var/spool/slurmctld/k8s_gate",
                    "rm /run/slurmk8s/hook.sock",
                    "touch /run/slurmk8s/other.sock"):
        said = bed.inside("sh", "-c", f"{command} || echo no", user="bob",
                          check=False)
        check("ermission denied" in said and "no" in said,
              f"{command}: {said}")


# What the Job that owns a Pod asks; a field of the Pod's job, and what it is.
ASKED_BY_OWNERS = [
    *((prefix + name, value, "user_name", "bob")
      for prefix in (JOB, "slinky.slurm.net/", "slurmk8s/")
      for name, value in (("user-id", "0"), ("user-id", "1001"),
                          ("user", "alice"), ("group-id", "0"))),
    (JOB + "group", "root", "group_name", "bob"),
    (JOB + "account", "root", "account", "physics"),
    (JOB + "qos", "vip", "qos", "normal"),
    (JOB + "nice", "-100", "nice", 0),
    (JOB + "priority", "4294967293", "nice", 0),
    ("slurmk8s/generation", "7", "user_name", "bob"),
]


def pod_of(owner):
    return next((item for item in bed.pods(NS)
                 if item["metadata"]["name"].startswith(owner + "-")), None)


def job_by_owner(owner):
    """The uid of the one Pod of a workload, and its job; "refused" for that: it
    says why not."""
    found = wait_for(f"the Pod of {owner}", lambda: pod_of(owner))["metadata"]
    bed._uids[found["name"]] = found["uid"]
    return found["uid"], wait_for(f"a job for {owner}'s Pod, or a refusal",
                                  lambda: job_or_refusal(found["name"]))


@case
def by_an_owner():
    """32: what a Pod may not ask, asked by the Job that owns it; and the victim's
    marks on that"""
    path = f"/apis/batch/v1/namespaces/{NS}/jobs"
    bed.run("sacctmgr", "-i", "add", "qos", "vip", check=False)
    _, stolen_annotations = stolen()
    plain = job_as({})
    rows = [*ASKED_BY_OWNERS,
            *((key, value, "user_name", "bob")
              for key, value in stolen_annotations.items())]
    owners = [f"owner{i}" for i in range(len(rows))]
    try:
        for owner, (key, value, _, _) in zip(owners, rows):
            workload(path, {"template": {"spec": pod("x")["spec"]}}, owner,
                     {key: value})
        for owner, (key, value, field, own) in zip(owners, rows):
            uid, job = job_by_owner(owner)
            if job == "refused":
                continue
            what = f"{field} by {key}={value}"
            equal(job[field], own, what)
            check(job["job_id"] != victim["job_id"], what)
            tag = json.loads(job["admin_comment"])
            equal((tag["uid"], tag.get("generation", 0)), (uid, 0),
                  f"tag by {key}")
            equal(job["priority"]["number"], plain["priority"]["number"],
                  f"priority by {key}")
    finally:
        for owner in owners:
            bed.api("DELETE", f"{path}/{owner}",
                    {"propagationPolicy": "Background"})
    wait_for("their Pods to go", lambda: not bed.pods(NS), 60)


@case
def by_a_strange_owner():
    """33: by the owner of another's Pod, which is read by name and told by uid"""
    path = "/apis/batch/v1/namespaces/"
    never_starts = {"suspend": True, "template": {"spec": pod("x")["spec"]}}
    hers = bed.api("POST", f"{path}{bed.NAMESPACE}/jobs", {
        "metadata": {"name": "hers", "annotations": {JOB + "wckey": "hers"}},
        "spec": never_starts})
    workload(f"{path}{NS}/jobs", never_starts, "his", {JOB + "wckey": "his"})
    try:
        for name, uid in (("hers", hers["metadata"]["uid"]),
                          ("his", hers["metadata"]["uid"])):
            body = pod("own")
            body["metadata"]["ownerReferences"] = [
                {"apiVersion": "batch/v1", "kind": "Job", "name": name,
                 "uid": uid, "controller": False}]
            made = create(body)
            bed._uids["own"] = made["metadata"]["uid"]
            def job_or_gone():
                gone = not bed.get("own", NS)
                return next(iter(bed.jobs_of("own")), gone)
            found = wait_for("a job, or none any more", job_or_gone)
            if found is not True:
                check(found["wckey"] not in ("hers", "his"), found["wckey"])
            bed.delete("own", NS, grace=0)
            wait_for("it to be gone", lambda: not bed.get("own", NS))
    finally:
        for ns, name in ((bed.NAMESPACE, "hers"), (NS, "his")):
            bed.api("DELETE", f"{path}{ns}/jobs/{name}",
                    {"propagationPolicy": "Background"})


@case
def cleans_up():
    """the victim's Pod ends as it should, and the forger's Namespace goes"""
    try:
        bed.delete("victim")
        bed.wait_gone("victim")
        admission.forget_namespace(NS)
        wait_for("all jobs to end",
                 lambda: not bed.run("squeue", "-h").strip())
    finally:
        for kind in ("qos", "account"):
            bed.run("sacctmgr", "-i", "delete", kind, "vip", check=False)
        enforcing.__exit__()


def after_each():
    if bed.get("victim"):
        victim_lives()
        equal([item["metadata"]["name"] for item in bed.pods(NS)], [],
              "what the forger left")


run(set_up, after_each, after_failure=bed.last_words)
