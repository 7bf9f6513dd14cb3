# SPDX-License-Identifier: GPL-2.0-or-later
"""The objects of slinky.slurm.net in a sandbox: our definitions of them, and the
manifests of others in tests/data/slinky."""
import base64
import json
import secrets
import subprocess

import bed
from tap import wait_for

GROUP = "slinky.slurm.net"
API = f"/apis/{GROUP}/v1beta1"
DEFINITIONS = bed.TOP / "contribs/operator/crds"
DATA = bed.TOP / "tests/data/slinky"
PLURALS = {"Controller": "controllers", "NodeSet": "nodesets",
           "LoginSet": "loginsets", "Accounting": "accountings",
           "RestApi": "restapis", "Token": "tokens"}


def kubectl(*words, stdin=None):
    """Its exit status, and all that it has said."""
    done = subprocess.run(["kubectl", *words], input=stdin, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=120)
    return done.returncode, done.stdout


def objects(path):
    """What a file or a folder of YAML contains. Nothing is asked of it yet."""
    text = bed.run("kubectl", "create", "--dry-run=client", "--validate=false",
                   "-o", "json", "-f", str(path))
    found = []
    decoder = json.JSONDecoder()
    while text.strip():
        item, end = decoder.raw_decode(text.strip())
        text = text.strip()[end:]
        found += item["items"] if item["kind"] == "List" else [item]
    return found


def define(*words):
    """Applies our definitions, or what these words for kubectl apply name, and waits
    until the API server serves all kinds."""
    status, said = kubectl("apply", "--server-side",
                           *(words or ("-f", str(DEFINITIONS))))
    if status:
        raise AssertionError(said)
    for plural in PLURALS.values():
        wait_for(f"{plural} to be served", lambda plural=plural: is_served(plural))


def is_served(plural):
    found = definition(plural)
    return any(c["type"] == "Established" and c["status"] == "True"
               for c in found.get("status", {}).get("conditions") or [])


def definition(plural):
    return bed.api("GET", "/apis/apiextensions.k8s.io/v1/"
                   f"customresourcedefinitions/{plural}.{GROUP}")


def undefine():
    """Takes away the definitions with all their objects."""
    kubectl("delete", "--ignore-not-found", "-f", str(DEFINITIONS))


def with_keys(item):
    """Random keys in a Secret that came without."""
    if item["kind"] == "Secret":
        item["data"] = {name: value or
                        base64.b64encode(secrets.token_bytes(1024)).decode()
                        for name, value in item.get("data", {}).items()}
    return item


def namespace(name, labels=None):
    try:
        bed.api("POST", "/api/v1/namespaces",
                {"metadata": {"name": name, "labels": labels or {}}})
    except bed.ApiError as error:
        if error.status != 409:
            raise
    wait_for("the namespace's ServiceAccount",
             lambda: bed.service_account(name))


def without_finalizers(kinds=("NodeSet", "Controller")):
    """What an operator that is gone has left behind, in all namespaces."""
    for plural in (PLURALS[kind] for kind in kinds if is_served(PLURALS[kind])):
        for item in bed.api("GET", f"{API}/{plural}")["items"]:
            meta = item["metadata"]
            bed.api("PATCH", f"{API}/namespaces/{meta['namespace']}/{plural}/"
                    f"{meta['name']}", {"metadata": {"finalizers": None}},
                    "application/merge-patch+json")


def delete_namespace(name):
    try:
        bed.api("DELETE", f"/api/v1/namespaces/{name}", {})
    except bed.ApiError as error:
        if error.status != 404:
            raise
    wait_for(f"namespace {name} to be gone", lambda: is_gone(name), 60)


def is_gone(name):
    try:
        bed.api("GET", f"/api/v1/namespaces/{name}")
    except bed.ApiError as error:
        return error.status == 404
    return False
