#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmk8s-operator is killed with -9 at each of its writes, before the API server
has it and after: the objects are the same in the end, and no worker is deleted that
the agent has not answered for. kwok plays the kubelets; this program plays the
scheduler, the agent and the slurmctld in which a configuration is tried."""
import json
import pathlib
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "1", "--no-kube-scheduler")

import bed
import fault_proxy
import node_sets
import operator_process
import slinky
from node_sets import DRAINED, MERGE, REQUEST, STRATEGIC, Place
from tap import case, check, equal, last_case, run, wait_for
from through_proxy import proxy

NODES = [f"kill{i}" for i in range(6)]
LEASE = ("/apis/coordination.k8s.io/v1/namespaces/slurmk8s-operator/leases/"
         "slurmk8s-operator")
TRIAL = "slurmctld-trial"
NOW, FAR = "2026-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
KEYS = {"slurmKeyRef": {"name": "keys", "key": "slurm.key"},
        "jwtKeyRef": {"name": "keys", "key": "jwt.key"}}
# Of these no two are the same.
PASSING = ("resourceVersion", "uid", "creationTimestamp", "managedFields",
           "generateName", "lastTransitionTime", "ownerReferences", "nodeName",
           "clusterIP", "clusterIPs", "volumeName", "selfLink")

operator = None
kills = None


def quietly(*words):
    """A request whose object may have gone, or have changed, meanwhile."""
    try:
        return bed.api(*words)
    except bed.ApiError as error:
        if error.status not in (404, 409, 422):
            raise
        return None


# ---- The operator, which dies


class Kills(fault_proxy.Fault):
    """Kills the operator at each write of a phase, once at each."""

    def __init__(self, after):
        super().__init__("kill", self._kill, self._is_new)
        self.after, self.phase, self.seen = after, "", set()

    def key(self, request):
        return self.phase, request.method, request.resource

    def _is_new(self, request):
        return request.writes and self.key(request) not in self.seen

    def _kill(self, exchange):
        self.seen.add(self.key(exchange.request))
        if self.after:
            exchange.ask()
        bed.inside("sh", "-c", f"kill -KILL {operator.pid} 2> /dev/null || true")
        exchange.cut()


def lives():
    """Whether the operator runs. One that is dead is started again; its Lease is
    taken away, as its end is not what this is about."""
    if operator.process and operator.process.poll() is None:
        return True
    quietly("DELETE", LEASE, {})
    operator.process = None
    try:
        operator.start()
    except AssertionError:
        return False  # it was killed at the first write already
    return True


# ---- The agent, the scheduler and the slurmctld of a trial


class Played(Place):
    def __init__(self, namespace):
        super().__init__(namespace, NODES)
        self.answered = set()  # uids of Pods
        self.wrong = []
        self.answers = True

    def play(self):
        # A trial on a Node would be played by kwok, which accepts anything.
        self.bind_all(but=(TRIAL,))
        for name, pod in self.pods().items():
            self._answer(name, pod)
            self._try(name, pod)

    def _answer(self, name, pod):
        meta = pod["metadata"]
        request = meta.get("annotations", {}).get(REQUEST, "")
        if not self.answers or not request.startswith("drain"):
            return
        said = next((c["message"] for c in pod["status"].get("conditions", [])
                     if c["type"] == DRAINED), "read=0")
        if f"request={request.split()[1]} " in said and \
                time.time() - int(said.split("read=")[1]) < 10:
            return
        self.answered.add(meta["uid"])
        try:
            self.answer(name)
        except (bed.ApiError, KeyError):
            pass  # it has gone meanwhile

    def _try(self, name, pod):
        """A configuration with the word Nonsense is refused, another accepted."""
        labels = pod["metadata"].get("labels", {})
        if labels.get("app.kubernetes.io/name") != TRIAL or \
                pod["status"].get("containerStatuses"):
            return
        tried = [text for volume in pod["spec"]["volumes"]
                 for text in self._files(volume)]
        bad = any("Nonsense" in text for text in tried)
        state = {"terminated": {
            "exitCode": 1, "reason": "Error", "startedAt": NOW,
            "finishedAt": FAR, "message": "fatal: Nonsense"}} if bad else {
                "running": {"startedAt": NOW}}
        quietly("PATCH", self.core("pods", name) + "/status", {"status": {
            "phase": "Failed" if bad else "Running", "containerStatuses": [{
                "name": "slurmctld", "image": "ctld:test", "imageID": "x",
                "ready": not bad, "restartCount": 0, "state": state}]}},
                STRATEGIC)

    def _files(self, volume):
        names = [volume.get("configMap", {}).get("name")]
        names += [source.get("configMap", {}).get("name") for source in
                  volume.get("projected", {}).get("sources", [])]
        for name in filter(None, names):
            found = quietly("GET", self.core("configmaps", name)) or {}
            yield from found.get("data", {}).values()

    def watch_deletions(self, request):
        """Fits no request, but looks at each."""
        prefix = self.core("pods") + "/"
        if request.method == "DELETE" and request.resource.startswith(prefix):
            found = quietly("GET", request.resource)
            if found and found["metadata"]["labels"].get(
                    "app.kubernetes.io/name") == "slurmd":
                uid = json.loads(request.body)["preconditions"]["uid"]
                if uid not in self.answered:
                    self.wrong.append(request.resource)
        return False

    # ---- What is there

    def all(self):
        """All objects of the operator, as they are in each run."""
        found = {}
        for kind, path in (
                ("pod", self.core("pods")),
                ("claim", self.core("persistentvolumeclaims")),
                ("service", self.core("services")),
                ("configmap", self.core("configmaps")),
                ("account", self.core("serviceaccounts")),
                *((plural, f"/apis/{group}/namespaces/{self.namespace}/{plural}")
                  for group, plural in (
                      ("apps/v1", "controllerrevisions"),
                      ("apps/v1", "statefulsets"),
                      ("policy/v1", "poddisruptionbudgets"),
                      ("rbac.authorization.k8s.io/v1", "roles"),
                      ("rbac.authorization.k8s.io/v1", "rolebindings"))),
                *((plural, self.path(plural))
                  for plural in ("nodesets", "controllers"))):
            for item in bed.api("GET", path)["items"]:
                if is_ours(kind, item):
                    found[kind, item["metadata"]["name"]] = lasting(kind, item)
        return found


def is_ours(kind, item):
    meta = item["metadata"]
    return kind in ("nodesets", "controllers") or any(
        owner["apiVersion"].startswith(slinky.GROUP)
        for owner in meta.get("ownerReferences", []))


def lasting(kind, item):
    """What two runs must have in common."""
    def clean(value):
        if isinstance(value, dict):
            return {name: clean(inner) for name, inner in value.items()
                    if name not in PASSING}
        return [clean(inner) for inner in value] if isinstance(value, list) \
            else value
    kept = {part: clean(item[part]) for part in ("metadata", "spec", "data",
                                                 "rules") if part in item}
    # A hash of what was written, in which the owner's uid is.
    kept["metadata"].get("annotations", {}).pop("slurmk8s/applied", None)
    if kind == "pod" and REQUEST in kept["metadata"].get("annotations", {}):
        request = kept["metadata"]["annotations"]
        request[REQUEST] = request[REQUEST].split()[0]  # without its number
    if kind in ("nodesets", "controllers"):
        kept["conditions"] = {
            c["type"]: (c["status"], c["reason"]) for c in
            item.get("status", {}).get("conditions", [])}
        kept["counts"] = {name: value for name, value in
                          item.get("status", {}).items()
                          if isinstance(value, int)}
        kept["metadata"].pop("generation", None)
    return kept


# ---- A run


def settled(place):
    """What is there when three seconds have changed nothing."""
    last, since = None, time.monotonic()
    while time.monotonic() - since < 3:
        place.play()
        found = place.all()
        if found != last:
            last, since = found, time.monotonic()
        time.sleep(0.3)
    return last


def differences(wanted, found):
    """For the screen: what is missing, is there too much, or is another one."""
    keys = sorted(set(wanted) | set(found))
    return [f"{key}: wanted {wanted.get(key)}, got {found.get(key)}"
            for key in keys if wanted.get(key) != found.get(key)]


def reference(place, phases):
    """What the objects are after each phase, when nobody is killed."""
    proxy.set(fault_proxy.Fault("look", None, place.watch_deletions))
    after = {}
    for name, act, goal in phases:
        act()
        wait_for(f"{name}", lambda goal=goal: place.play() or goal(), 60)
        after[name] = settled(place)
    equal(place.wrong, [], "workers deleted without an answer")
    return after


def killed_at_each(place, phases, wanted, after):
    global kills
    kills = Kills(after)
    for name, act, _ in phases:
        kills.phase = name
        proxy.set(fault_proxy.Fault("look", None, place.watch_deletions), kills)
        act()
        found = {}

        def the_same():
            if not lives():
                return False
            place.play()
            found["now"] = place.all()
            return found["now"] == wanted[name]
        try:
            wait_for(f"{name}: the same objects", the_same, 120, 0.3)
        except AssertionError as late:
            raise AssertionError(f"{late}\n" + "\n".join(
                differences(wanted[name], found.get("now", {})))) from None
    proxy.clear()
    equal(place.wrong, [], "workers deleted without an answer")
    print(f"# killed at {len(kills.seen)} writes")
    check(len(kills.seen) > 2 * len(phases), f"few writes: {kills.seen}")


# ---- The scenarios


workers, cluster = Played("kills"), Played("kills-cluster")


def make_workers():
    workers.answers = True
    workers.controller()
    workers.node_set(
        replicas=3, updateStrategy={"type": "RollingUpdate", "rollingUpdate":
                                    {"maxUnavailable": "50%"}},
        volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Mi"}}}}],
        persistentVolumeClaimRetentionPolicy={
            "whenScaled": "Delete", "whenDeleted": "Delete"})


def ready(*names):
    found = workers.pods()
    return set(found) == set(names) and all(map(node_sets.is_ready, found.values()))


def updated():
    return set(workers.images().values()) == {"slurmd:next"} and \
        ready("w-0", "w-1", "w-2", "w-3")


def ask_one():
    workers.answers = False
    workers.scale(1)


def delete_workers():
    workers.answers = True
    bed.api("DELETE", workers.path("nodesets", "w"),
            {"propagationPolicy": "Background"})


def delete_controller(place):
    bed.api("DELETE", place.path("controllers", "slurm"),
            {"propagationPolicy": "Background"})


WORKERS = [
    ("three workers", make_workers, lambda: ready("w-0", "w-1", "w-2")),
    ("a fourth", lambda: workers.scale(4),
     lambda: ready("w-0", "w-1", "w-2", "w-3")),
    ("a new template", lambda: workers.image("slurmd:next"), updated),
    ("two are left", lambda: workers.scale(2), lambda: ready("w-0", "w-1")),
    ("one is asked", ask_one, lambda: workers.asked() == ["w-1"]),
    ("and may stay", lambda: workers.scale(2), lambda: not workers.asked()),
    ("the NodeSet is deleted", delete_workers,
     lambda: not workers.pods() and not bed.api(
         "GET", workers.path("nodesets"))["items"]),
    ("the Controller is deleted", lambda: delete_controller(workers),
     lambda: not bed.api("GET", workers.path("controllers"))["items"])]


def make_cluster():
    cluster.make("Controller", "slurm", {
        **KEYS, "slurmctld": {"image": "ctld:test"}, "extraConf": "KillWait=47"})
    cluster.node_set(replicas=1, partition={"enabled": True})


def configure(text):
    bed.api("PATCH", cluster.path("controllers", "slurm"),
            {"spec": {"extraConf": text}}, MERGE)


def conf():
    found = quietly("GET", cluster.core("configmaps", "slurm-config"))
    return found["data"]["slurm.conf"] if found else ""


def refused():
    return cluster.condition("ConfigValid", plural="controllers",
                             name="slurm").get("status") == "False"


def delete_cluster():
    bed.api("DELETE", cluster.path("nodesets", "w"),
            {"propagationPolicy": "Background"})
    delete_controller(cluster)


CLUSTER = [
    ("a cluster", make_cluster, lambda: "KillWait=47" in conf() and
     "w-0" in cluster.pods()),
    ("a new configuration", lambda: configure("KillWait=48"),
     lambda: "KillWait=48" in conf()),
    ("one that is refused", lambda: configure("Nonsense=1"), refused),
    ("one that is right again", lambda: configure("KillWait=49"),
     lambda: "KillWait=49" in conf()),
    ("all is deleted", delete_cluster, lambda: not bed.api(
        "GET", cluster.path("controllers"))["items"])]

_wanted = {}


def begin():
    global operator
    operator_process.install()
    slinky.without_finalizers()
    node_sets.make_nodes(NODES)
    for place in (workers, cluster):
        slinky.namespace(place.namespace)
    proxy.start()
    operator = operator_process.Operator(
        "--server", proxy.url, "--agent-image", "agent:test")
    operator.start().leads()


@case
def workers_unharmed():
    """workers of an external Controller come, change and go: what is there after
    each step"""
    begin()
    _wanted["workers"] = reference(workers, WORKERS)


@case
def workers_before():
    """the same when each write of the operator is its last, and is not done"""
    killed_at_each(workers, WORKERS, _wanted["workers"], after=False)


@case
def workers_after():
    """the same when each write is its last, and is done"""
    killed_at_each(workers, WORKERS, _wanted["workers"], after=True)


@case
def cluster_unharmed():
    """a Controller in Kubernetes and its configurations: what is there after each
    step"""
    wait_for("the operator to live", lives)
    _wanted["cluster"] = reference(cluster, CLUSTER)


@case
def cluster_before():
    """the same when each write of the operator is its last, and is not done"""
    killed_at_each(cluster, CLUSTER, _wanted["cluster"], after=False)


@case
def cluster_after():
    """the same when each write is its last, and is done"""
    killed_at_each(cluster, CLUSTER, _wanted["cluster"], after=True)


@last_case
def ends():
    """the operator ends by a signal"""
    proxy.clear()
    wait_for("the operator to live", lives)
    equal(operator.stop(), 0, "its exit status")
    for place in (workers, cluster):
        slinky.delete_namespace(place.namespace)
    operator_process.uninstall()
    proxy.stop()


def last_words():
    return operator.log.read_text()[-3000:] if operator else ""


run(after_failure=last_words)
