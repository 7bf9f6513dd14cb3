# SPDX-License-Identifier: GPL-2.0-or-later
"""ResourceClaims and their templates as users write them, and what became of
them. The devices are those of devices.py."""
import bed
import devices
from tap import wait_for

API = devices.API
CLASS = "any.devices.test"
A100 = "a100.devices.test"
FINALIZER = "resource.kubernetes.io/delete-protection"
EXTENDED = "resource.kubernetes.io/extended-resource-claim"
DOMAIN = devices.DRIVER


def path(kind, name=""):
    return f"{API}/namespaces/{bed.NAMESPACE}/{kind}" + (f"/{name}" * bool(name))


def request(name="gpu", count=1, device_class=CLASS, model=None, **more):
    exactly = {"deviceClassName": device_class, "count": count, **more}
    if model:
        exactly["selectors"] = [{"cel": {"expression":
                                         f"device.attributes['{DOMAIN}'].model"
                                         f" == '{model}'"}}]
    return {"name": name, "exactly": exactly}


def every(name="gpu", device_class=CLASS):
    return {"name": name, "exactly": {"deviceClassName": device_class,
                                      "allocationMode": "All"}}


def first_available(name, *choices):
    return {"name": name, "firstAvailable": [
        {"name": choice, "deviceClassName": device_class, "count": count}
        for choice, device_class, count in choices]}


def spec(*requests, **more):
    return {"devices": {"requests": list(requests) or [request()], **more}}


def config(requests=None):
    """Parameters whose bytes must stay as they are."""
    made = {"opaque": {"driver": devices.DRIVER, "parameters": {
        "apiVersion": "test/v1", "kind": "Config", "b": 1, "a": ["x", {}]}}}
    return {**made, "requests": requests} if requests else made


def template(name, *requests, **more):
    bed.api("POST", path("resourceclaimtemplates"), {
        "metadata": {"name": name}, "spec": {"spec": spec(*requests, **more)}})


def claim(name, *requests, **more):
    return bed.api("POST", path("resourceclaims"), {
        "metadata": {"name": name}, "spec": spec(*requests, **more)})


def get(name):
    try:
        return bed.api("GET", path("resourceclaims", name))
    except bed.ApiError as error:
        if error.status == 404:
            return None
        raise


def all_claims():
    return bed.api("GET", path("resourceclaims"))["items"]


def of_template(pod, entry="gpu"):
    """The claim that was made for the Pod, or None."""
    statuses = (bed.get(pod) or {}).get("status", {}) \
        .get("resourceClaimStatuses", [])
    for status in statuses:
        if status["name"] == entry:
            return get(status["resourceClaimName"])
    return None


def extended_status(pod):
    """What the Pod's status says of the claim for its extended resources."""
    return (bed.get(pod) or {}).get("status", {}) \
        .get("extendedResourceClaimStatus")


def of_extended(pod):
    """Those that were made for the Pod's extended resources."""
    uid = bed.get(pod)["metadata"]["uid"]
    return [one for one in all_claims()
            if EXTENDED in one["metadata"].get("annotations", {}) and
            [o["uid"] for o in one["metadata"]["ownerReferences"]] == [uid]]


def results(made):
    return (made or {}).get("status", {}).get("allocation", {}) \
        .get("devices", {}).get("results", [])


def devices_in(made):
    """"a0 h1" of an allocated claim; "": it is not."""
    return " ".join(r["device"] for r in results(made))


def consumers(made):
    return [e["name"] for e in
            (made or {}).get("status", {}).get("reservedFor", [])]


def consumer_uids(made):
    return [e["uid"] for e in
            (made or {}).get("status", {}).get("reservedFor", [])]


def put_status(made, status, token=None):
    return bed.api("PUT", path("resourceclaims", made["metadata"]["name"]) +
                   "/status", {**made, "status": status}, token=token)


def allocation(node, device, request_name="gpu"):
    """As another scheduler would write it."""
    return {"devices": {"results": [
        {"request": request_name, "driver": devices.DRIVER, "pool": node,
         "device": device}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
            {"key": "metadata.name", "operator": "In", "values": [node]}]}]}}


def with_claims(*names):
    """For a Pod's spec."""
    return {"resourceClaims": [{"name": name, "resourceClaimName": name}
                               for name in names]}


def with_template(name, entry="gpu"):
    return {"resourceClaims": [{"name": entry,
                                "resourceClaimTemplateName": name}]}


def drop(name):
    bed.api("DELETE", path("resourceclaims", name), {})
    wait_for(f"claim {name} to be gone", lambda: not get(name))
