# SPDX-License-Identifier: GPL-2.0-or-later
"""NodeSets of one namespace, whose kubelets kwok plays: the wishes of users, and the
parts of the scheduler and of the agent. And what scripts have around such cases."""
import time

import bed
import kwok_nodes
import operator_process
import slinky
from tap import wait_for

REQUEST, DRAINED = "slurmk8s/worker-request", "slurmk8s/Drained"
REVISION = "controller-revision-hash"
PROTECT = "nodeset.slinky.slurm.net/pod-protect"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def make_nodes(names):
    """Nodes of which the agent knows nothing."""
    for name in names:
        body = kwok_nodes.node(name, 8)
        del body["metadata"]["labels"]["scheduler.slinky.slurm.net/external-node"]
        try:
            bed.api("POST", "/api/v1/nodes", body)
        except bed.ApiError as error:
            if error.status != 409:
                raise


def is_ready(pod):
    return any(c["type"] == "Ready" and c["status"] == "True"
               for c in pod["status"].get("conditions", []))


def is_of(pod, owner):
    return any(o["uid"] == owner["metadata"]["uid"]
               for o in pod["metadata"].get("ownerReferences", []))


class Place:
    """A namespace with NodeSets of the Controller slurm."""

    def __init__(self, namespace, nodes):
        self.namespace = namespace
        self.nodes = list(nodes)

    # ---- What administrators and users do

    def path(self, plural, name=""):
        return f"{slinky.API}/namespaces/{self.namespace}/{plural}" + \
            (f"/{name}" if name else "")

    def core(self, plural, name=""):
        return f"/api/v1/namespaces/{self.namespace}/{plural}" + \
            (f"/{name}" if name else "")

    def make(self, kind, name, spec):
        return bed.api("POST", self.path(slinky.PLURALS[kind]), {
            "apiVersion": f"{slinky.GROUP}/v1beta1", "kind": kind,
            "metadata": {"name": name}, "spec": spec})

    def controller(self, **more):
        return self.make("Controller", "slurm", {
            "external": True, "externalConfig": {"host": "ctl", "port": 6817},
            "slurmKeyRef": {"name": "slurm-auth-slurm", "key": "slurm.key"},
            **more})

    def node_set(self, name="w", replicas=3, **more):
        return self.make("NodeSet", name, {
            "controllerRef": {"name": "slurm"}, "replicas": replicas,
            "slurmd": {"image": "slurmd:test", "resources":
                       {"requests": {"cpu": "2", "memory": "1000Mi"}}}, **more})

    def change(self, name="w", **spec):
        return bed.api("PATCH", self.path("nodesets", name), {"spec": spec}, MERGE)

    def image(self, image, name="w"):
        """A new template."""
        self.change(name, slurmd={"image": image})

    def scale(self, replicas, name="w"):
        bed.api("PATCH", self.path("nodesets", name) + "/scale",
                {"spec": {"replicas": replicas}}, MERGE)

    def empty(self):
        """Deletes all. The operator takes its finalizers away."""
        for item in bed.api("GET", self.path("nodesets"))["items"]:
            bed.api("PATCH", self.path("nodesets", item["metadata"]["name"]),
                    {"metadata": {"annotations": {"slurmk8s/delete": "now"}}},
                    MERGE)
        for plural in slinky.PLURALS.values():
            bed.api("DELETE", self.path(plural), {})
            wait_for(f"all {plural} to be gone", lambda plural=plural:
                     not bed.api("GET", self.path(plural))["items"])
        wait_for("all Pods to be gone", lambda: not self.pods())
        # The garbage collector takes them. One of the same template would have the
        # name of one that is on its way out.
        wait_for("all revisions to be gone", lambda: not bed.api(
            "GET", f"/apis/apps/v1/namespaces/{self.namespace}/"
            "controllerrevisions")["items"])

    # ---- What the scheduler, the kubelet and the agent do

    def pods(self):
        return {p["metadata"]["name"]: p for p in bed.pods(self.namespace)}

    def bind_all(self, but=()):
        """Each Pod to a Node of its own, as its affinity asks; but: those with
        these names of an app are left."""
        there = [p for p in self.pods().values() if p["metadata"].get(
            "labels", {}).get("app.kubernetes.io/name") not in but]
        free = set(self.nodes) - {p["spec"].get("nodeName") for p in there}
        for pod in there:
            if not pod["spec"].get("nodeName") and \
                    "deletionTimestamp" not in pod["metadata"]:
                name = pod["metadata"]["name"]
                bed.api("POST", self.core("pods", name) + "/binding",
                        {"apiVersion": "v1", "kind": "Binding",
                         "metadata": {"name": name},
                         "target": {"kind": "Node", "name": free.pop()}})

    def wait_pods(self, *names):
        """Until exactly these Pods are there and ready, and the operator knows;
        returns them."""
        def there():
            self.bind_all()
            found = self.pods()
            return found if set(found) == set(names) and \
                all(map(is_ready, found.values())) and self.has_told() else None
        return wait_for(f"exactly the Pods {names} to be ready", there)

    def patch_status(self, name, *conditions):
        meta = self.pods()[name]["metadata"]
        bed.api("PATCH", self.core("pods", name) + "/status",
                {"metadata": {"uid": meta["uid"]},
                 "status": {"conditions": list(conditions)}}, STRATEGIC)

    def answer(self, name, number=None, uid=None, status="True", age=0):
        """As the agent: the node of this Pod is drained and has no job, as it has
        read age seconds ago. number is that of the request, the Pod's own if it
        is None; so is uid."""
        meta = self.pods()[name]["metadata"]
        number = number or meta["annotations"][REQUEST].split()[1]
        self.patch_status(name, {
            "type": DRAINED, "status": status, "reason": "Drained",
            "message": f"uid={uid or meta['uid']} request={number} "
                       f"slurmctld=1800000000 read={int(time.time()) - age}"})

    def busy(self, name, jobs=True):
        """Its node has jobs, or none any more."""
        bed.api("PATCH", self.core("pods", name),
                {"metadata": {"labels": {PROTECT: "true" if jobs else None}}},
                MERGE)

    def requests(self):
        return {name: pod["metadata"].get("annotations", {}).get(REQUEST)
                for name, pod in self.pods().items()}

    def asked(self):
        """The names of those that are asked to drain."""
        return sorted(name for name, said in self.requests().items()
                      if said and said.startswith("drain"))

    def wait_asked(self, *names):
        wait_for(f"{names} to be asked", lambda: self.asked() == sorted(names))

    def uids(self):
        return {name: pod["metadata"]["uid"] for name, pod in self.pods().items()}

    def images(self):
        return {name: pod["spec"]["containers"][0]["image"]
                for name, pod in self.pods().items()}

    # ---- What the operator says

    def status(self, plural="nodesets", name="w"):
        return bed.api("GET", self.path(plural, name)).get("status", {})

    def condition(self, kind, plural="nodesets", name="w"):
        return next((c for c in self.status(plural, name).get("conditions", [])
                     if c["type"] == kind), {})

    def wait_condition(self, kind, holds, words="", **where):
        def said():
            found = self.condition(kind, **where)
            return found if found.get("status") == holds and \
                words in found["message"] else None
        return wait_for(f"condition {kind} to be {holds} and to say {words!r}",
                        said)

    def has_told(self):
        """Whether each NodeSet says how many of its Pods are ready."""
        there = self.pods().values()
        return all(item.get("status", {}).get("readyReplicas", 0) == sum(
            is_ready(pod) and is_of(pod, item) for pod in there)
            for item in bed.api("GET", self.path("nodesets"))["items"])

    def wait_heard(self):
        """Until the operator has heard of all that was done to Pods, some of which
        are ready: their number follows the same watch."""
        one = next(n for n, pod in self.pods().items() if is_ready(pod))
        for ready in ("False", "True"):
            self.patch_status(one, {"type": "Ready", "status": ready})
            wait_for("the operator to hear of it", self.has_told)

    def revision(self, name="w"):
        """The hash of the template, as the operator tells it."""
        return wait_for(f"the revision of {name}",
                        lambda: self.status(name=name).get("nodeSetHash"))

    def events(self, name="w"):
        uid = bed.api("GET", self.path("nodesets", name))["metadata"]["uid"]
        return bed.events_of(uid, self.namespace)


class Frame:
    """What stands around the cases of a script: Nodes, an operator, and places that
    are empty before and after each case."""

    def __init__(self, nodes, *places):
        self.nodes = nodes
        self.places = places
        self.operator = None

    def before_each(self):
        if self.operator is None:
            operator_process.install()
            slinky.without_finalizers()
            make_nodes(self.nodes)
            self.operator = operator_process.Operator()
        for place in self.places:
            slinky.namespace(place.namespace)
        if self.operator.process is None:
            self.operator.start().leads()
        self.after_each()

    def after_each(self):
        for place in self.places:
            place.empty()

    def end(self):
        """Takes all away; returns the operator's exit status."""
        self.after_each()
        status = self.operator.stop()
        for place in self.places:
            slinky.delete_namespace(place.namespace)
        for name in self.nodes:
            bed.api("DELETE", f"/api/v1/nodes/{name}", {})
        operator_process.uninstall()
        return status

    def last_words(self):
        return self.operator.log.read_text()[-3000:] if self.operator else ""
