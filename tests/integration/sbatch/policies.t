#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The policies on batch jobs' Pods, and on what the agent makes beside them, at
the real API server and as dry runs: what whoever has the agent's token cannot
make of them, one object for each rule that only this rule refuses, and what
nobody else may write on them."""
import contextlib
import copy
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
from admission import As, pods_path, refused
from tap import case, run, wait_for

NS = "slurm-jobs"
OTHERS = "srun-of-others"
MARK = "1 s0000000000001 " + "0" * 32
JOB = "slurmjob.slinky.slurm.net/"
HOSTS = "slurmk8s/sbatch-hosts"
BINDINGS = ("/apis/admissionregistration.k8s.io/v1/"
            "validatingadmissionpolicybindings")
PRIVILEGES = "slurmk8sd may not create Pods with privileges"
ROOT = "slurmk8sd may not create Pods that run as root"
TOKEN = "a token or with namespaces of the host"
agent = None


def batch_pod():
    """As the agent makes it."""
    locked = {"allowPrivilegeEscalation": False, "privileged": False,
              "runAsUser": 1001, "runAsGroup": 1001,
              "capabilities": {"drop": ["ALL"]}}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "job-1-00000000", "namespace": NS,
                         "annotations": {"slurmk8s/sbatch": MARK,
                                         JOB + "user-id": "1001"}},
            "spec": {"schedulerName": "slurm", "restartPolicy": "Never",
                     "automountServiceAccountToken": False,
                     "shareProcessNamespace": True,
                     "securityContext": {
                         "runAsUser": 1001, "runAsGroup": 1001,
                         "runAsNonRoot": True, "supplementalGroups": [50],
                         "supplementalGroupsPolicy": "Strict"},
                     "containers": [{"name": "job", "image": "busybox",
                                     "securityContext": locked}],
                     "volumes": [{"name": "home",
                                  "hostPath": {"path": "/home"}}]}}


def put(pod, path, value):
    """Sets what is there under a path such as spec/containers/0/image; None
    takes it away."""
    *way, last = path.split("/")
    for name in way:
        pod = pod[int(name)] if isinstance(pod, list) else pod[name]
    if value is None:
        del pod[last]
    else:
        pod[last] = value


def create(changes=(), who=None):
    pod = batch_pod()
    for path, value in dict(changes).items():
        put(pod, path, value)
    return (who or agent).create(pods_path(ns=NS), pod)


def init(**security):
    """An init container as the job's, but for this."""
    one = copy.deepcopy(batch_pod()["spec"]["containers"][0])
    one["name"] = "first"
    for name, value in security.items():
        put(one, "securityContext/" + name, value)
    return [one]


def service():
    """As the agent makes it."""
    name = "job-1-00000000"
    return {"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": name, "namespace": NS, "ownerReferences": [
                {"apiVersion": "v1", "kind": "Pod", "name": f"{name}-1",
                 "uid": "u"}]},
            "spec": {"clusterIP": "None", "publishNotReadyAddresses": True,
                     "selector": {"slurmk8s/gang": name}}}


def config_map():
    """Likewise."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "immutable": True,
            "metadata": {"name": "slurmk8s-srun-" + "0a" * 8, "namespace": NS},
            "binaryData": {"srun": "AAAA"}}


def create_other(resource, body, changes=(), ns=NS):
    for path, value in dict(changes).items():
        put(body, path, value)
    return agent.create(f"/api/v1/namespaces/{ns}/{resource}", body)


def made(who, path, body):
    """Not yet, while rights are still on their way."""
    try:
        return who.create(path, body)
    except bed.ApiError as error:
        if error.status != 403:
            raise
    return None


def set_up():
    global agent
    if agent:
        return
    admission.apply()
    agent = As(admission.token(*admission.AGENT))
    # Policies act about a second after they were made, and say nothing then.
    wait_for("the policies to act", lambda: acts())


def acts():
    try:
        create({"spec/hostPID": True, "spec/shareProcessNamespace": None})
    except bed.ApiError as error:
        return TOKEN in error.message
    return False


@case
def allowed():
    """what the agent makes passes, also with an init container as locked"""
    create()
    create({"spec/initContainers": init()})
    create({"spec/securityContext/fsGroup": 50})
    # of an array's task
    create({"metadata/annotations": {"slurmk8s/sbatch": MARK + " 7_12"}})


@case
def not_for_slurm():
    """the agent makes no Pod for another scheduler, or for a node of its choice"""
    words = "only create Pods for Slurm"
    refused(words, create, {"spec/schedulerName": "default-scheduler"})
    # Which of two policies says so is open: slurm-k8s-bridge-node-name does too.
    refused("ValidatingAdmissionPolicy", create, {"spec/nodeName": "kn1"})


@case
def no_batch_job():
    """nor one that is no batch job's"""
    words = "only create Pods of batch jobs"
    for mark in (None, "", "1", MARK + "0", "0" + MARK[1:], MARK.upper(),
                 MARK + " ", MARK + " 7", MARK + " 0_1", MARK + " 7_1 x"):
        annotations = {} if mark is None else {"slurmk8s/sbatch": mark}
        refused(words, create, {"metadata/annotations": annotations})


def stands_for_a_node(changes=()):
    """A Pod by which a batch job that waits asks for a Node."""
    create({"metadata/annotations": {},
            "metadata/labels": {"slurmk8s/waits-for-node": "1-0"},
            "spec/schedulerName": "slurmk8s-waits", "spec/volumes": [],
            "spec/securityContext/runAsUser": 65534,
            "spec/containers/0/securityContext/runAsUser": None,
            "spec/containers/0/image": "none", **dict(changes)})


@case
def waits():
    """one that stands for a Node passes, but not with anything of a job's or another's,
    with an image, on a node, as another user or with privileges"""
    stands_for_a_node()
    words = "only create Pods of batch jobs"
    for change in ({"metadata/annotations": {"a": "b"}},
                   {"metadata/labels": {"app": "theirs"}},
                   {"metadata/finalizers": ["example.com/x"]},
                   {"spec/volumes": [{"name": "home", "hostPath": {"path": "/home"}}]},
                   {"spec/containers/0/image": "busybox"},
                   {"spec/containers/0/envFrom": [{"secretRef": {"name": "job-1"}}]},
                   {"spec/containers/0/env": [{"name": "A", "value": "1"}]},
                   {"spec/initContainers": init()},
                   {"spec/securityContext/runAsUser": 1001},
                   {"spec/containers/0/securityContext/runAsUser": 1001}):
        refused(words, stands_for_a_node, change)
    refused("ValidatingAdmissionPolicy", stands_for_a_node, {"spec/nodeName": "kn1"})
    refused(ROOT, stands_for_a_node, {"spec/securityContext/runAsGroup": 0})
    refused(PRIVILEGES, stands_for_a_node,
            {"spec/containers/0/securityContext/capabilities": None})
    refused(TOKEN, stands_for_a_node, {"spec/hostNetwork": True})


@case
def root():
    """nor one of which any part is root, or in its group"""
    pod = "spec/securityContext/"
    job = "spec/containers/0/securityContext/"
    for path, value in ((pod + "runAsUser", 0), (pod + "runAsUser", None),
                        (pod + "runAsGroup", 0), (pod + "runAsGroup", None),
                        (pod + "runAsNonRoot", False),
                        (pod + "runAsNonRoot", None),
                        (pod + "fsGroup", 0),
                        (pod + "supplementalGroups", [50, 0]),
                        (job + "runAsUser", 0), (job + "runAsGroup", 0),
                        (job + "runAsNonRoot", False)):
        refused(ROOT, create, {path: value})
    for name, value in (("runAsUser", 0), ("runAsGroup", 0),
                        ("runAsNonRoot", False)):
        refused(ROOT, create, {"spec/initContainers": init(**{name: value})})


@case
def privileges():
    """nor one of which any container has, or can gain, privileges"""
    job = "spec/containers/0/securityContext/"
    for name, value in (("privileged", True),
                        ("allowPrivilegeEscalation", True),
                        ("allowPrivilegeEscalation", None),
                        ("capabilities", None),
                        ("capabilities", {"drop": ["NET_RAW"]}),
                        ("capabilities", {"drop": ["ALL"],
                                          "add": ["SYS_ADMIN"]})):
        # A privileged container may not say that it gains none.
        more = ({"allowPrivilegeEscalation": None} if name == "privileged"
                else {})
        refused(PRIVILEGES, create,
                {job + n: v for n, v in {name: value, **more}.items()})
        refused(PRIVILEGES, create,
                {"spec/initContainers": init(**{name: value, **more})})


@case
def token_and_host():
    """nor one with a token of the API server, or with what is the host's"""
    for changes in ({"spec/automountServiceAccountToken": True},
                    {"spec/automountServiceAccountToken": None},
                    {"spec/hostNetwork": True},
                    {"spec/hostIPC": True},
                    {"spec/hostPID": True, "spec/shareProcessNamespace": None},
                    {"spec/volumes": [{"name": "t", "projected": {"sources": [
                        {"serviceAccountToken": {"path": "t"}}]}}]}):
        refused(TOKEN, create, changes)


def said_by(policy, function, *arguments):
    """That policy is the one that refuses it."""
    try:
        function(*arguments)
    except bed.ApiError as error:
        return f"ValidatingAdmissionPolicy '{policy}'" in error.message
    return False


@contextlib.contextmanager
def without(policy, *only_it_refuses):
    """That policy is not bound."""
    bed.api("DELETE", f"{BINDINGS}/{policy}")
    try:
        wait_for(f"{policy} to refuse nothing",
                 lambda: not said_by(policy, *only_it_refuses))
        yield
    finally:
        admission.apply()
        wait_for(f"{policy} to refuse again",
                 lambda: said_by(policy, *only_it_refuses))


@case
def mark_of_others():
    """nobody else marks a Pod as a batch job's: not when it is made, nor later, nor
    by what binds it, nor takes the mark away; without this component the base
    refuses it, and it does so without the base"""
    me, wet = As(None), As(agent.token, dry=False)
    gate = [{"name": "example.com/hold"}]
    bed.create(bed.pod("policies", namespace=NS, schedulingGates=gate))
    marked = batch_pod()
    marked["spec"]["schedulingGates"] = gate
    name = wet.create(pods_path(ns=NS), marked)["metadata"]["name"]

    def mark(value):
        return {"metadata": {"annotations": {"slurmk8s/sbatch": value}}}

    def is_refused(words):
        refused(words, create, {"metadata/name": "job-2-00000000"}, me)
        refused(words, me.patch, pods_path("policies", NS), mark(MARK))
        for value in (None, MARK.replace("1", "2")):
            refused(words, me.patch, pods_path(name, NS), mark(value))
        bound = admission.binding("policies", "kn1", mark(MARK)["metadata"], NS)
        for path in (pods_path("policies", NS, "binding"),
                     f"/api/v1/namespaces/{NS}/bindings"):
            refused(words, me.create, path, bound)

    try:
        with without("slurm-k8s-bridge-batch-pods", me.patch,
                     pods_path(name, NS),
                     {"metadata": {"annotations": {JOB + "user-id": "7"}}}):
            is_refused("only slurmk8sd may set the annotations")
        with without("slurm-k8s-bridge-owned-metadata", me.patch,
                     pods_path(name, NS),
                     {"metadata": {"annotations": {HOSTS: "0 kn1 10.0.0.1\n"}}}):
            is_refused("only slurmk8sd may set the annotation slurmk8s/sbatch")
    finally:
        bed.delete("policies", NS, grace=0)
        bed.delete(name, NS, grace=0)


@case
def whom_it_is():
    """whose a batch job's Pod is, and how long it may run, stays as it was"""
    words = "whom the Pod of a batch job runs as cannot be changed"
    wet = As(agent.token, dry=False)
    pod = batch_pod()
    pod["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
    wet.create(pods_path(ns=NS), pod)
    me, name = As(None), pod["metadata"]["name"]
    try:
        for key in ("user-id", "group-id", "account", "partition", "qos",
                    "timelimit", "reservation"):
            changed = {"annotations": {JOB + key: "7"}}
            refused(words, me.patch, pods_path(name, NS), {"metadata": changed})
            refused(words, me.create, pods_path(name, NS, "binding"),
                    admission.binding(name, "kn1", changed, NS))
        refused("only slurmk8sd may set", me.patch, pods_path(name, NS),
                {"metadata": {"annotations": {"slurmk8s/sbatch": None}}})
        me.patch(pods_path(name, NS),
                 {"metadata": {"annotations": {"example.com/x": "7"}}})
    finally:
        bed.delete(name, NS, grace=0)


@case
def services():
    """the agent makes Services that resolve a job's Pods, and do nothing else"""
    create_other("services", service())
    words = "only create headless Services without ports"
    # One with an address must have ports, too.
    for changes in ({"spec/clusterIP": None, "spec/ports": [{"port": 22}]},
                    {"spec/externalIPs": ["203.0.113.7"]},
                    {"spec/ports": [{"port": 22}]},
                    {"spec": {"type": "ExternalName",
                              "externalName": "example.com",
                              "selector": service()["spec"]["selector"]}}):
        refused(words, create_other, "services", service(), changes)
    words = "only create Services for the Pods of a batch job"
    name = service()["metadata"]["name"]
    for selector in ({"slurmk8s/gang": "another"}, {"app": "web"},
                     {"slurmk8s/gang": name, "app": "web"}):
        refused(words, create_other, "services", service(),
                {"spec/selector": selector})


@case
def what_services_carry():
    """these have a batch job's name, nothing by which other controllers do
    something for them, and go with the first worker, or the script's Pod"""
    words = "with a batch job's name, and without labels and annotations"
    for changes in (
            {"metadata/labels": {"app": "web"}},
            {"metadata/annotations": {
                "external-dns.alpha.kubernetes.io/hostname": "example.com"}}):
        refused(words, create_other, "services", service(), changes)
    owner, = service()["metadata"]["ownerReferences"]
    name = "job-7-12-00000000"  # of an array's task
    create_other("services", service(), {
        "metadata/name": name, "spec/selector": {"slurmk8s/gang": name},
        "metadata/ownerReferences": [{**owner, "name": f"{name}-1"}]})
    create_other("services", service(), {
        "metadata/ownerReferences": [
            {**owner, "name": service()["metadata"]["name"]}]})
    for name in ("web", "job-1", "job-1-0000000g", "job-0-00000000",
                 "job-1-00000000-1", "job-1-1-1-00000000"):
        refused(words, create_other, "services", service(), {
            "metadata/name": name, "spec/selector": {"slurmk8s/gang": name},
            "metadata/ownerReferences": [{**owner, "name": name}]})
    words = "that go with a batch job's Pod"
    for owners in (None, [], [owner, {**owner, "uid": "v"}],
                   [{**owner, "kind": "Secret"}], [{**owner, "name": "web"}],
                   [{**owner, "name": owner["name"][:-1] + "2"}],
                   [{**owner, "apiVersion": "apps/v1"}]):
        refused(words, create_other, "services", service(),
                {"metadata/ownerReferences": owners})


@case
def config_maps():
    """and no other ConfigMap than that with srun, which never changes"""
    create_other("configmaps", config_map())
    for changes in ({"immutable": None}, {"immutable": False},
                    {"metadata/name": "coredns"},
                    {"metadata/name": "slurmk8s-srun-x"},
                    {"data": {"a": "b"}}):
        refused("only create the ConfigMap with srun", create_other,
                "configmaps", config_map(), changes)


@case
def srun_of_others():
    """nobody else makes a ConfigMap with that name, in whatever namespace, nor
    deletes it but administrators, and Kubernetes with its namespace"""
    admission.namespace(OTHERS)
    try:
        user = As(admission.editor(OTHERS))
        namespace, account = admission.AGENT
        admission.make(
            f"/apis/rbac.authorization.k8s.io/v1/namespaces/{OTHERS}"
            "/rolebindings",
            {"metadata": {"name": "agent"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                         "kind": "ClusterRole", "name": "edit"},
             "subjects": [{"kind": "ServiceAccount", "name": account,
                           "namespace": namespace}]})
        path = f"/api/v1/namespaces/{OTHERS}/configmaps"
        body = config_map()
        name = body["metadata"]["name"]
        body["metadata"] = {"name": name}
        words = "only slurmk8sd may create the ConfigMap with srun"
        for who in (user, As(None)):
            refused(words, who.create, path, body)
            for other in (name + "0", "x" + name, "x"):
                who.create(path, {**body, "metadata": {"name": other}})
        wet = As(agent.token, dry=False)
        wait_for("the agent's rights", lambda: made(wet, path, body))
        refused(words, user.delete, f"{path}/{name}")
        refused(words, user.delete, path)  # all that there are
        agent.delete(f"{path}/{name}")
        As(None).delete(f"{path}/{name}")
    finally:
        admission.forget_namespace(OTHERS)
    wait_for("the namespace to go", lambda: OTHERS not in [
        item["metadata"]["name"]
        for item in bed.api("GET", "/api/v1/namespaces")["items"]], 60)


@case
def least_rights():
    """of both it has create and get, in this namespace alone"""
    for resource, body in (("services", service()),
                           ("configmaps", config_map())):
        path = f"/api/v1/namespaces/{NS}/{resource}"
        for method in ("GET", "DELETE"):
            refused("cannot " + {"GET": "list"}.get(method, "delete"),
                    agent.do, method,
                    path + ("/x" if method == "DELETE" else ""))
        body["metadata"]["namespace"] = "default"
        refused("cannot create", create_other, resource, body, (), "default")


@case
def hosts():
    """the addresses of a job's Pods are written by the agent alone"""
    wet = As(agent.token, dry=False)
    pod = batch_pod()
    pod["spec"]["schedulingGates"] = [{"name": "example.com/hold"}]
    name = wet.create(pods_path(ns=NS), pod)["metadata"]["name"]
    said = {"metadata": {"annotations": {HOSTS: "0 kn1 10.0.0.1\n"}}}
    words = "only slurmk8sd may set the annotations"
    me = As(None)
    try:
        refused(words, me.patch, pods_path(name, NS), said)
        wet.patch(pods_path(name, NS), said)
        refused(words, me.patch, pods_path(name, NS),
                {"metadata": {"annotations": {HOSTS: None}}})
        refused(words, me.create, pods_path(name, NS, "binding"),
                admission.binding(name, "kn1", said["metadata"], NS))
        # It was made for another node, say, and was never bound.
        agent.delete(pods_path(name, NS))
    finally:
        bed.delete(name, NS, grace=0)


run(set_up, after_failure=bed.last_words)
