#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""NodeSets of an external Controller: the Pods that the operator makes, and that
none goes before the agent has answered. kwok plays the kubelets, and the cases
play the scheduler and the agent."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slinky
from node_sets import MERGE, Frame, Place
from tap import case, check, equal, last_case, never, run, wait_for

NAMESPACE = "workers"
NODES = [f"op{i}" for i in range(6)]
NODESET_LABEL = "nodeset.slinky.slurm.net/"
SOON = 3  # seconds in which a wrong deletion would have happened

place = Place(NAMESPACE, NODES)
frame = Frame(NODES, place)
path, make, controller, node_set, scale = (
    place.path, place.make, place.controller, place.node_set, place.scale)
pods, wait_pods, answer, requests, uids = (
    place.pods, place.wait_pods, place.answer, place.requests, place.uids)
status, condition, wait_condition = (
    place.status, place.condition, place.wait_condition)


@last_case
def ends():
    """the operator ends by a signal, and gives its Lease back"""
    frame.after_each()
    equal(frame.operator.stop(), 0, "exit status of the operator")
    lease = bed.api("GET", "/apis/coordination.k8s.io/v1/namespaces/"
                    "slurmk8s-operator/leases/slurmk8s-operator")
    equal(lease["spec"].get("holderIdentity", ""), "", "the holder")
    frame.end()


def wait_requests(wanted):
    wait_for(f"the requests {wanted}", lambda: requests() == wanted)


def reasons():
    """Those of the Events about the NodeSet."""
    return [e["reason"] for e in place.events()]


@case
def made():
    """three Pods with what slurmd needs and no more, a headless Service, a status and
    Events"""
    controller()
    node_set(extraConf="Weight=5 Features=big", template={
        "metadata": {"labels": {"team": "blue"}},
        "spec": {"hostname": "web-", "tolerations": [{"key": "team", "operator": "Exists"}],
                 "automountServiceAccountToken": True,
                 "containers": [{"name": "beside", "image": "beside:test"}]}})
    found = wait_pods("w-0", "w-1", "w-2")

    spec = found["w-1"]["spec"]
    equal(spec["hostname"], "web-1", "the name of the Slurm node")
    equal(spec["subdomain"], "slurm-workers-slurm", "subdomain")
    equal(spec["automountServiceAccountToken"], False, "a token")
    check(not any(v.get("projected", {}).get("sources", [{}])[0].get(
        "serviceAccountToken") for v in spec["volumes"]), spec["volumes"])
    containers = {c["name"]: c for c in spec["containers"]}
    equal(sorted(containers), ["beside", "slurmd"], "containers")
    slurmd = containers["slurmd"]
    equal(slurmd["args"], ["-D", "-Z", "--conf-server", "ctl:6817", "--conf",
                           "CPUs=2 RealMemory=1000 Port=6818 Feature=web,big "
                           "Weight=5"],
          "arguments")
    security = slurmd["securityContext"]
    equal(security["capabilities"],
          {"drop": ["ALL"], "add": ["SETUID", "SETGID", "CHOWN", "KILL"]},
          "capabilities")
    equal(security.get("privileged"), None, "privileged")
    equal(security["allowPrivilegeEscalation"], False, "escalation")
    check(spec["shareProcessNamespace"], "slurmd would be process 1")
    source = next(v for v in spec["volumes"] if v["name"] == "slurm-etc")
    equal(source["projected"]["sources"][0]["secret"],
          {"name": "slurm-auth-slurm",
           "items": [{"key": "slurm.key", "path": "slurm.key", "mode": 0o400}]},
          "the key")
    labels = found["w-1"]["metadata"]["labels"]
    equal({k: labels[k] for k in (
        "team", NODESET_LABEL + "pod-name", NODESET_LABEL + "pod-index",
        NODESET_LABEL + "pod-hostname", NODESET_LABEL + "scaling-mode",
        "app.kubernetes.io/name", "app.kubernetes.io/instance")},
        {"team": "blue", NODESET_LABEL + "pod-name": "w-1",
         NODESET_LABEL + "pod-index": "1", NODESET_LABEL + "pod-hostname": "web-1",
         NODESET_LABEL + "scaling-mode": "StatefulSet",
         "app.kubernetes.io/name": "slurmd", "app.kubernetes.io/instance": "w"},
        "labels")

    wait_condition("Available", "True", "3 of 3 Pods are ready")
    said = status()
    equal({k: said[k] for k in ("replicas", "readyReplicas", "updatedReplicas",
                                "desired", "unavailableReplicas")},
          {"replicas": 3, "readyReplicas": 3, "updatedReplicas": 3, "desired": 3,
           "unavailableReplicas": 0}, "status")
    in_page = [f'slurmk8s_operator_nodeset_pods{{namespace="{NAMESPACE}",nodeset="w",'
               f'state="{state}"}} 3' for state in ("desired", "current", "ready")]
    wait_for("the metrics to say the same", lambda: all(
        line in frame.operator.page("/metrics")[1].splitlines() for line in in_page))
    equal(labels["controller-revision-hash"], said["nodeSetHash"], "revision")
    equal(len(bed.api("GET", f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector="
                      + said["selector"].replace(",", "%2C"))["items"]), 3,
          "Pods of the selector")
    check("automountServiceAccountToken" in condition("Served")["message"],
          condition("Served"))
    wait_for("three Events", lambda: reasons().count("SuccessfulCreate") == 3)
    service = bed.api("GET", f"/api/v1/namespaces/{NAMESPACE}/services/"
                      "slurm-workers-slurm")
    equal(service["spec"]["clusterIP"], "None", "the headless Service")


@case
def scales():
    """more replicas are more Pods; a Pod that is deleted, or has ended, comes back
    under its name"""
    controller()
    node_set(replicas=2)
    wait_pods("w-0", "w-1")
    scale(4)
    first = {n: p["metadata"]["uid"]
             for n, p in wait_pods("w-0", "w-1", "w-2", "w-3").items()}

    bed.delete("w-1", NAMESPACE)
    wait_for("another w-1", lambda: uids().get("w-1", first["w-1"]) != first["w-1"])
    wait_pods("w-0", "w-1", "w-2", "w-3")

    bed.play("w-2", NAMESPACE, run="1ms", exit="3")
    wait_for("another w-2", lambda: uids().get("w-2", first["w-2"]) != first["w-2"])
    wait_pods("w-0", "w-1", "w-2", "w-3")
    equal({n: u for n, u in uids().items() if n in ("w-0", "w-3")},
          {n: first[n] for n in ("w-0", "w-3")}, "the others")
    equal(set(requests().values()), {None}, "nobody is asked")


@case
def scale_in():
    """less replicas delete nobody: the cheapest are asked, and each goes when exactly
    its request is answered"""
    controller()
    node_set(replicas=5)
    wait_pods(*(f"w-{i}" for i in range(5)))
    bed.api("PATCH", f"/api/v1/namespaces/{NAMESPACE}/pods/w-4",
            {"metadata": {"labels": {NODESET_LABEL + "pod-protect": "true"}}},
            MERGE)  # its node has jobs
    place.wait_heard()
    scale(2)

    wait_requests({"w-0": None, "w-1": "drain 1", "w-2": "drain 1",
                   "w-3": "drain 1", "w-4": None})
    before = uids()
    wait_condition("ScalingIn", "True", "it has not answered yet")
    equal([w for w in ("w-1", "w-2", "w-3", "w-4")
           if w in condition("ScalingIn")["message"]], ["w-1", "w-2", "w-3"],
          "who is named")

    answer("w-2", 1, uid="11111111-1111-1111-1111-111111111111")
    answer("w-3", 2)                    # a request that nobody made
    answer("w-1", 1, status="False")    # not drained yet
    answer("w-0", 1)                    # it was not asked
    never("a Pod that goes without its answer", lambda: uids() != before, SOON)

    answer("w-2", 1)
    wait_for("w-2 to be gone", lambda: "w-2" not in pods())
    equal({n: u for n, u in uids().items()},
          {n: u for n, u in before.items() if n != "w-2"}, "the others")
    check("SuccessfulDelete" in reasons(), reasons())


@case
def taken_back():
    """more replicas again take the request back, and an answer that comes late does
    nothing; the next request has another number"""
    controller()
    node_set(replicas=3)
    wait_pods("w-0", "w-1", "w-2")
    scale(2)
    wait_requests({"w-0": None, "w-1": None, "w-2": "drain 1"})
    scale(3)
    wait_requests({"w-0": None, "w-1": None, "w-2": "keep 2"})
    before = uids()
    answer("w-2", 1)
    never("a Pod that goes", lambda: uids() != before, SOON)
    wait_condition("ScalingIn", "False")

    scale(2)
    wait_requests({"w-0": None, "w-1": None, "w-2": "drain 3"})
    never("a Pod that goes by an old answer", lambda: uids() != before, SOON)
    answer("w-2", 3)
    wait_for("w-2 to be gone", lambda: set(pods()) == {"w-0", "w-1"})


@case
def old_answer():
    """an answer that nobody may have been able to take back is none: the Pod is
    asked again"""
    controller()
    node_set(replicas=2)
    wait_pods("w-0", "w-1")
    scale(1)
    wait_requests({"w-0": None, "w-1": "drain 1"})
    answer("w-1", 1, age=60)
    wait_requests({"w-0": None, "w-1": "drain 2"})
    never("w-1 to go", lambda: "w-1" not in pods(), SOON)
    answer("w-1", 2)
    wait_for("w-1 to go", lambda: set(pods()) == {"w-0"})


@case
def killed():
    """an operator that is killed with requests under way goes on where it was"""
    controller()
    node_set(replicas=4)
    wait_pods("w-0", "w-1", "w-2", "w-3")
    scale(2)
    wanted = {"w-0": None, "w-1": None, "w-2": "drain 1", "w-3": "drain 1"}
    wait_requests(wanted)
    before = uids()

    frame.operator.stop("KILL")
    answer("w-3", 1)
    bed.delete("w-0", NAMESPACE)
    wait_for("w-0 to be gone", lambda: "w-0" not in pods())
    frame.operator.start().leads()

    # Two replicas are wanted and three are left: one that was asked is to stay.
    def only_two():
        # Its answer may have become too old meanwhile.
        again = requests().get("w-3")
        if again and again != "drain 1":
            answer("w-3", int(again.split()[1]))
        return set(pods()) == {"w-1", "w-2"}
    wait_for("w-3 to go", only_two)
    wait_for("nobody is asked any more", lambda: requests() ==
             {"w-1": None, "w-2": "keep 2"})
    equal(uids(), {n: before[n] for n in ("w-1", "w-2")}, "the Pods")


def foreground_words():
    """Why a NodeSet may not be deleted in the foreground. Nothing is deleted."""
    try:
        bed.api("DELETE", path("nodesets", "w"),
                {"propagationPolicy": "Foreground", "dryRun": ["All"]})
    except bed.ApiError as error:
        return error.message
    return ""


@case
def deleted():
    """a NodeSet that is deleted keeps its Pods until the agent has answered for each,
    and cannot be deleted in the foreground"""
    controller()
    node_set(replicas=2)
    found = wait_pods("w-0", "w-1")
    before = uids()
    wait_for("the policy", lambda: "before their Slurm nodes are drained" in
             foreground_words())
    try:
        bed.api("PATCH", path("nodesets", "w"), {"metadata": {"finalizers": [
            "slurmk8s/workers", "foregroundDeletion"]}}, MERGE)
        check(False, "the finalizer foregroundDeletion was taken")
    except bed.ApiError as error:
        check("cannot have the finalizer" in error.message, error.message)
    bed.api("DELETE", path("nodesets", "w"), {"propagationPolicy": "Background"})
    wait_requests({"w-0": "drain 1", "w-1": "drain 1"})
    never("a Pod that goes", lambda: uids() != before, SOON)

    for name in found:
        answer(name, 1)
    wait_for("all Pods to be gone", lambda: not pods())
    wait_for("the NodeSet to be gone", lambda: not
             bed.api("GET", path("nodesets"))["items"])


@case
def not_served():
    """what is not served says so: no Controller, one in Kubernetes, other kinds, names
    that are none; and no Pod is made"""
    node_set("alone")
    wait_condition("Accepted", "False", "There is no Controller slurm",
                   name="alone")
    make("Controller", "slurm", {
        "slurmKeyRef": {"name": "k", "key": "slurm.key"},
        "jwtKeyRef": {"name": "k", "key": "jwt.key"}})
    wait_condition("Accepted", "False", "cannot be served", name="alone")
    wait_condition("Accepted", "False", "names no image", plural="controllers",
                   name="slurm")
    sssd = {"name": "s", "key": "sssd.conf"}
    make("LoginSet", "login", {"controllerRef": {"name": "slurm"},
                               "sssdConfRef": sssd})
    make("RestApi", "rest", {"controllerRef": {"name": "slurm"}})
    make("Token", "token", {"username": "alice", "jwtKeyRef":
                            {"name": "k", "key": "jwt.key"}})
    for plural, name in (("loginsets", "login"), ("restapis", "rest"),
                         ("tokens", "token")):
        wait_condition("Served", "False", "is not served yet", plural=plural,
                       name=name)
    equal(pods(), {}, "Pods")


@case
def hostile():
    """names that are too long or meet those of another NodeSet, and extraConf that
    names another node, are refused in words"""
    controller()
    node_set("w")
    wait_pods("w-0", "w-1", "w-2")
    node_set("long", template={"spec": {"hostname": "x" * 63}})
    wait_condition("Accepted", "False", "would be the name of a host",
                   name="long")
    node_set("z", template={"spec": {"hostname": "w-"}})
    wait_condition("Accepted", "False", "as those of NodeSet w", name="z")
    node_set("other", extraConf="NodeName=w-0")
    wait_condition("Accepted", "False", "extraConf cannot have", name="other")
    node_set("bad", replicas=1, template={"spec": {"priorityClassName": "none"}})
    wait_condition("Failing", "True", "Cannot create Pod bad-0", name="bad")
    equal(sorted(pods()), ["w-0", "w-1", "w-2"], "Pods")


@case
def template_changes():
    """with OnDelete a new template leaves the Pods as they are, and says so"""
    controller()
    node_set(replicas=2, updateStrategy={"type": "OnDelete"})
    wait_pods("w-0", "w-1")
    before = uids()
    bed.api("PATCH", path("nodesets", "w"), {"spec": {"slurmd": {
        "image": "slurmd:next"}}}, MERGE)
    wait_condition("Updated", "False", "2 of 2 Pods have an older template")
    equal(uids(), before, "the Pods")
    bed.delete("w-0", NAMESPACE)
    wait_for("another w-0",
             lambda: uids().get("w-0", before["w-0"]) != before["w-0"])
    wait_pods("w-0", "w-1")
    equal(pods()["w-0"]["spec"]["containers"][0]["image"], "slurmd:next",
          "its image")
    wait_condition("Updated", "False", "1 of 2 Pods have an older template")


@case
def rights():
    """the operator's account can do what it did here, and reads no Secret, can give
    nobody more than it has, and touches no Node"""
    for verb, resource, may in (
            ("create", "pods", True), ("patch", "nodesets/status", True),
            ("get", "secrets", False), ("list", "secrets", False),
            ("update", "nodesets", False), ("create", "pods/exec", False),
            ("create", "rolebindings", True), ("patch", "nodes", False),
            ("create", "clusterrolebindings", False),
            ("escalate", "clusterroles", False), ("bind", "clusterroles", False),
            ("escalate", "roles", False), ("bind", "roles", False),
            ("impersonate", "users", False), ("create", "pods/binding", False)):
        group, _, sub = resource.partition("/")
        said = bed.api("POST", "/apis/authorization.k8s.io/v1/"
                       "subjectaccessreviews", {"spec": {
                           "user": "system:serviceaccount:slurmk8s-operator:"
                                   "slurmk8s-operator",
                           "resourceAttributes": {
                               "verb": verb, "namespace": NAMESPACE,
                               "resource": group, "subresource": sub,
                               "group": GROUPS.get(group, "")}}})
        equal(said["status"]["allowed"], may, f"{verb} {resource}")


GROUPS = {"nodesets": slinky.GROUP,
          **dict.fromkeys(("roles", "rolebindings", "clusterrolebindings",
                           "clusterroles"),
                          "rbac.authorization.k8s.io")}


@case
def pages():
    """the pages for kubelets and Prometheus"""
    equal(frame.operator.page("/readyz"), (200, "ok\n"), "/readyz")
    equal(frame.operator.page("/none")[0], 404, "another page")
    controller()
    wait_for("the Controller to be counted",
             lambda: frame.operator.metric('objects{kind="Controller"}') == 1)
    equal(frame.operator.metric("failing_watches"), 0, "watches that fail")


run(before_each=frame.before_each, after_each=frame.after_each,
    after_failure=frame.last_words)
