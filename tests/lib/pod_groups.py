# SPDX-License-Identifier: GPL-2.0-or-later
"""PodGroups, for tests: those of scheduler-plugins, whose CRD is no part of this
repository (tests/lib/controllers.py says where it is looked for), and those of
Kubernetes' own Workload API, which the sandbox has."""
import bed
import controllers
import gangs
from tap import Skip, wait_for

PLUGINS = "/apis/scheduling.x-k8s.io/v1alpha1"
# Kubernetes 1.37 has the first two, 1.36 the last.
WORKLOAD_CONDITIONS = {"v1beta1": "PodGroupInitiallyScheduled",
                       "v1alpha3": "PodGroupInitiallyScheduled",
                       "v1alpha2": "PodGroupScheduled"}


def _workload_version():
    """That which the agent prefers among those of this API server."""
    served = {version["version"] for version in
              bed.api("GET", "/apis/scheduling.k8s.io")["versions"]}
    return next((version for version in WORKLOAD_CONDITIONS
                 if version in served), "v1alpha2")


_version = _workload_version()
WORKLOAD = f"/apis/scheduling.k8s.io/{_version}"


def path(api, name="", namespace=bed.NAMESPACE):
    return f"{api}/namespaces/{namespace}/podgroups" + (name and "/" + name)


def create(api, name, count, namespace=bed.NAMESPACE, **spec):
    """count: of Pods that start together; None is the policy basic."""
    if api == WORKLOAD:
        policy = {"basic": {}} if count is None else {
            "gang": {"minCount": count}}
        spec["schedulingPolicy"] = policy
    else:
        spec["minMember"] = count
    return bed.api("POST", path(api, namespace=namespace), {
        "apiVersion": api.removeprefix("/apis/"), "kind": "PodGroup",
        "metadata": {"name": name}, "spec": spec})


def member(api, name, group, **options):
    """The body of a Pod of that PodGroup."""
    if api == WORKLOAD:
        return bed.pod(name, schedulingGroup={"podGroupName": group}, **options)
    body = bed.pod(name, **options)
    body["metadata"]["labels"] = {gangs.POD_GROUP: group}
    return body


def delete(api, name):
    bed.api("DELETE", path(api, name))


def condition(name):
    """Whether the PodGroup of Kubernetes' own API is scheduled, by its condition, as
    (status, reason, message); None: it has none."""
    status = bed.api("GET", path(WORKLOAD, name)).get("status", {})
    return next(((c["status"], c["reason"], c.get("message", ""))
                 for c in status.get("conditions", [])
                 if c["type"] == WORKLOAD_CONDITIONS[_version]), None)


def status(name):
    """That of a PodGroup of scheduler-plugins."""
    return bed.api("GET", path(PLUGINS, name)).get("status", {})


def status_writers(name):
    """Who has written it, as the API server remembers."""
    return {fields.get("manager", "") for fields in bed.api(
        "GET", path(PLUGINS, name))["metadata"]["managedFields"]
        if fields.get("subresource") == "status"}


def set_status(name, **status):
    """As the controller of scheduler-plugins does."""
    bed.api("PATCH", path(PLUGINS, name) + "/status?fieldManager=controller",
            {"status": status}, "application/merge-patch+json")


def served(api):
    try:
        bed.api("GET", path(api))
        return True
    except (bed.ApiError, ValueError):  # no such path, said in plain text
        return False


def remove_all():
    """Kubernetes' own stay until their Pods are gone."""
    for api in (PLUGINS, WORKLOAD):
        if served(api):
            for item in bed.api("GET", path(api))["items"]:
                try:
                    delete(api, item["metadata"]["name"])
                except bed.ApiError as error:  # its owner may be gone, and so it
                    if error.status != 404:
                        raise


def _crd():
    file = controllers.where() / "podgroup-crd.yaml"
    if not file.exists():
        raise Skip(f"no podgroup-crd.yaml in {controllers.where()}: "
                   "set CONTROLLERS")
    return str(file)


def try_create(api, name, count):
    """As create; None while there is no such API, or not quite yet."""
    try:
        return create(api, name, count)
    except (bed.ApiError, ValueError):
        return None


def begin_crd():
    """Makes it, and does not wait until its API is there."""
    bed.run("kubectl", "apply", "--server-side", "-f", _crd())


def install_crd():
    begin_crd()
    wait_for("the API of scheduler-plugins", lambda: served(PLUGINS))


def remove_crd():
    bed.run("kubectl", "delete", "--ignore-not-found", "--wait", "-f", _crd())
