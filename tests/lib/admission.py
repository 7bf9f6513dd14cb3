# SPDX-License-Identifier: GPL-2.0-or-later
"""Trying things at the API server in somebody else's name: as the agent, or as
a user with edit rights in one namespace. A trial is a dry run: the API server
does all that it does, admission above all, and stores nothing."""
import contextlib
import os
import urllib.parse

import bed
from tap import check, wait_for

AGENT = ("slurm-k8s-bridge", "slurmk8sd")
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
KUBERNETES = bed.TOP / "contribs/kubernetes"
MANIFESTS = os.environ.get("SANDBOX_MANIFESTS", "all")  # for its Kubernetes


def apply(what=MANIFESTS):
    return bed.run("kubectl", "apply", "-k", str(KUBERNETES / what))


def token(namespace, account):
    answer = bed.api(
        "POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}"
        "/token", {"spec": {"expirationSeconds": 3600}})
    return answer["status"]["token"]


def make(path, body):
    """Makes it, unless it is there."""
    try:
        return bed.api("POST", path, body)
    except bed.ApiError as error:
        if error.status != 409:
            raise
        return None


def namespace(name, labels=None, annotations=None):
    """Makes it; one that is there gets these, too."""
    meta = {"labels": labels or {}, "annotations": annotations or {}}
    wait_for(f"namespace {name} not to be terminating",
             lambda: not terminates(name), 60)
    if not make("/api/v1/namespaces", {"metadata": {"name": name, **meta}}):
        bed.api("PATCH", f"/api/v1/namespaces/{name}", {"metadata": meta}, MERGE)
    wait_for("the namespace's ServiceAccount",
             lambda: bed.service_account(name))


def terminates(name):
    try:
        found = bed.api("GET", f"/api/v1/namespaces/{name}")
    except bed.ApiError as error:
        if error.status != 404:
            raise
        return False
    return "deletionTimestamp" in found["metadata"]


def may(its_token, in_namespace):
    """Whether somebody may make Pods there, as the API server's authorizer sees it:
    it learns of a RoleBinding a while after that has been made."""
    answer = bed.api(
        "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        {"apiVersion": "authorization.k8s.io/v1",
         "kind": "SelfSubjectAccessReview",
         "spec": {"resourceAttributes": {
             "verb": "create", "resource": "pods", "namespace": in_namespace}}},
        token=its_token)
    return answer["status"]["allowed"]


def editor(in_namespace, name="editor"):
    """The token of a user who may edit this namespace, and nothing else."""
    make(f"/api/v1/namespaces/{in_namespace}/serviceaccounts",
         {"metadata": {"name": name}})
    make(f"/apis/rbac.authorization.k8s.io/v1/namespaces/{in_namespace}"
         "/rolebindings",
         {"metadata": {"name": name},
          "roleRef": {"apiGroup": "rbac.authorization.k8s.io",
                      "kind": "ClusterRole", "name": "edit"},
          "subjects": [{"kind": "ServiceAccount", "name": name,
                        "namespace": in_namespace}]})
    its_token = token(in_namespace, name)
    wait_for(f"{name}'s rights in {in_namespace}",
             lambda: may(its_token, in_namespace))
    return its_token


@contextlib.contextmanager
def without_binding(name):
    """The agent is started without this ClusterRoleBinding, and anew with it when the
    block ends."""
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    found = bed.api("GET", f"{path}/{name}")
    body = {key: found[key] for key in ("metadata", "roleRef", "subjects")}
    body["metadata"] = {"name": name}
    bed.api("DELETE", f"{path}/{name}")
    try:
        bed.ctl("kill", "slurmk8sd")
        bed.ctl("start", "slurmk8sd")
        yield
    finally:
        bed.api("POST", path, body)
        bed.ctl("kill", "slurmk8sd")
        bed.ctl("start", "slurmk8sd")


def forget_namespace(name):
    try:
        bed.api("DELETE", f"/api/v1/namespaces/{name}")
    except bed.ApiError as error:
        if error.status != 404:
            raise


class As:
    """Somebody, by a token. dry: nothing that this one does is stored."""

    def __init__(self, its_token, dry=True):
        self.token = its_token
        self.dry = dry

    def do(self, method, path, body=None, content_type="application/json"):
        if self.dry and method == "DELETE":  # its body replaces the query
            body = {**(body or {}), "dryRun": ["All"]}
        elif self.dry:
            path += ("&" if "?" in path else "?") + "dryRun=All"
        return bed.api(method, path, body, content_type, token=self.token)

    def create(self, path, body):
        return self.do("POST", path, body)

    def patch(self, path, body, content_type=MERGE):
        return self.do("PATCH", path, body, content_type)

    def delete(self, path, body=None):
        return self.do("DELETE", path, body or {})


def refused(words, function, *arguments, **options):
    """It is refused, and the words are in the message: so it was refused for
    this reason and no other. Where several policies refuse it, the API server
    names one of them, now this and now that: then words are a tuple."""
    accepted = (words,) if isinstance(words, str) else words
    try:
        function(*arguments, **options)
    except bed.ApiError as error:
        check(error.status in (403, 409, 422), f"refused with {error}")
        check(any(these in error.message for these in accepted),
              f"refused for another reason: {error}")
        return error
    raise AssertionError(f"this was allowed: {arguments}")


def attempt(what, function, *arguments):
    """Tries it, and prints the answer. The error that refused it, or None."""
    try:
        function(*arguments)
    except bed.ApiError as error:
        print(f"# {what}: {error}", flush=True)
        return error
    print(f"# {what}: allowed", flush=True)
    return None


def denied(what, words, function, *arguments):
    """It is refused by a policy, with these words."""
    error = attempt(what, function, *arguments)
    check(error, f"{what}: this was allowed")
    check(error.status in (403, 422) and "ValidatingAdmissionPolicy" in
          error.message and words in error.message,
          f"{what}: refused for another reason: {error}")


def allowed(what, function, *arguments):
    error = attempt(what, function, *arguments)
    check(not error, f"{what}: {error}")


def as_somebody(user, groups, *words):
    """What kubectl says to an administrator who impersonates this user. The
    command should be a dry run."""
    said = bed.run("kubectl", *words, f"--as={user}",
                   *(f"--as-group={group}" for group in
                     (*groups, "system:authenticated")), check=False)
    print(f"# {user}: kubectl {' '.join(words)}: {said.strip()}", flush=True)
    return said


@contextlib.contextmanager
def without_policies(*names, kind="validating"):
    """They deny, or change, nothing meanwhile: their bindings are away. Who uses
    this waits until that holds, and afterwards until they act again."""
    path = "/apis/admissionregistration.k8s.io"
    version = "v1"
    if kind == "mutating" and MANIFESTS.endswith("-1.35"):
        version = "v1beta1"
    try:
        for name in names:
            bed.api("DELETE", f"{path}/{version}/{kind}admissionpolicybindings"
                    f"/{name}")
        yield
    finally:
        apply()


def pods_path(name="", ns=bed.NAMESPACE, sub=""):
    path = f"/api/v1/namespaces/{ns}/pods"
    if name:
        path += "/" + urllib.parse.quote(name)
    return path + ("/" + sub if sub else "")


def binding(name, node, metadata=None, ns=bed.NAMESPACE):
    return {"apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": name, "namespace": ns, **(metadata or {})},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}}


def eviction(name, uid=None, ns=bed.NAMESPACE):
    body = {"apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": name, "namespace": ns}}
    if uid:
        body["deleteOptions"] = {"preconditions": {"uid": uid}}
    return body
