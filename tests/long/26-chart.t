#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Helm chart, by Helm itself: what it renders for each component and each
release of Kubernetes is what kustomize makes; wrong values are refused; and on
the sandbox it takes the place of kubectl apply -k, with Pods that run, and goes
again."""
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import admission
import bed
import charts
from admission import As, pods_path
from charts import helm, lints, refused
from tap import case, check, equal, run, skip_all, wait_for

CHART = TOP / "contribs/helm/slurm-k8s-bridge"
NAME = "slurm-k8s-bridge"  # of the release and its namespace
INTO = ("--namespace", NAME)
KUBES = ("1.35", "1.36", "1.37")
KEEP = "  annotations:\n    helm.sh/resource-policy: keep\n"
AGENT = "system:serviceaccount:slurm-k8s-bridge:slurmk8sd"
USERS = "chart-users"  # a namespace
NODE = "kn1"
OF_NODE = "spec.nodeName must be empty"

missing = charts.why_not()
if missing:
    skip_all("Helm cannot be built here: " + missing)


# ---- What it renders


def camel(name):
    return re.sub(r"-(.)", lambda found: found.group(1).upper(), name)


COMPONENTS = sorted(path.name for path in
                    (admission.KUBERNETES / "components").iterdir()
                    if not path.name.endswith("-1.35"))


def template(*options, kube="1.36", namespace="default"):
    return helm("template", NAME, CHART, "--namespace", namespace, "--kube-version",
                kube, "--skip-tests", *options)


def switches(*on):
    """Options for these components and no others."""
    return ["--set", ",".join(f"components.{camel(name)}="
                              f"{str(name in on).lower()}" for name in COMPONENTS)]


@contextlib.contextmanager
def folder():
    with tempfile.TemporaryDirectory() as scratch:
        yield pathlib.Path(scratch)


def kustomize(where):
    """The objects, each in the words of kustomize, by kind, namespace and name."""
    found = {}
    for text in bed.run("kubectl", "kustomize", str(where)).split("\n---\n"):
        field = lambda pattern: (re.search(pattern, text, re.M) or [""] * 2)[1]
        key = (field(r"^kind: (.*)$"), field(r"^  namespace: (.*)$"),
               field(r"^  name: (.*)$"))
        check(key not in found, f"{key} is there twice")
        found[key] = text.strip("\n")
    return found


def rendered(text):
    """Of Helm's output, without the one annotation that is the chart's own."""
    with folder() as where:
        (where / "all.yaml").write_text(text)
        (where / "kustomization.yaml").write_text("resources: [all.yaml]\n")
        return {key: one.replace(KEEP, "") if key[0] == "Namespace" else one
                for key, one in kustomize(where).items()}


def manifests(*components, kube="1.36", tree=admission.KUBERNETES, patches=""):
    """Of a kustomization with the base and these components."""
    def path(name):
        older = tree / f"components/{name}-1.35"
        return older if kube == "1.35" and older.is_dir() else \
            tree / f"components/{name}"

    with folder() as where:
        lines = ["resources:", f"- {os.path.relpath(tree / 'base', where)}"]
        lines += ["components:"] if components else []
        lines += [f"- {os.path.relpath(path(name), where)}" for name in components]
        (where / "kustomization.yaml").write_text("\n".join(lines) + "\n" + patches)
        return kustomize(where)


def same(got, wanted, what):
    equal(sorted(got), sorted(wanted), f"{what}: objects")
    for key, text in wanted.items():
        equal(got[key], text, f"{what}: {key}")


@case
def lint():
    """helm lint --strict finds nothing, with any of the releases and values"""
    for kube in KUBES:
        for options in ([], switches(), switches(*COMPONENTS)):
            lints(CHART, "--kube-version", kube, *options)


@case
def defaults():
    """without a value it renders what contribs/kubernetes/all has, or all-1.35;
    in the namespace of the release all but that"""
    for kube in KUBES:
        wanted = kustomize(admission.KUBERNETES /
                           ("all-1.35" if kube == "1.35" else "all"))
        check(len(wanted) > 50, f"{len(wanted)} objects")
        same(rendered(template(kube=kube)), wanted, kube)
        del wanted["Namespace", "", NAME]
        same(rendered(template(kube=kube, namespace=NAME)), wanted, kube)
    check(template().count(KEEP) == 2, "both namespaces are to be kept")


@case
def each_component():
    """each component alone, none, and all of them render what kustomize makes of
    the same"""
    for kube in KUBES:
        for on in ((), *((name,) for name in COMPONENTS if name != "sbatch-attach"),
                   ("sbatch", "sbatch-attach"), tuple(COMPONENTS)):
            same(rendered(template(*switches(*on), kube=kube)),
                 manifests(*on, kube=kube), f"{kube} {on}")
    refused("components.sbatchAttach needs components.sbatch",
            "template", NAME, CHART, *switches("sbatch-attach"))


@case
def exempt():
    """a user who is exempt is in the list of that policy, after those it has, as
    with the patch in contribs/kubernetes/README.md"""
    user = "system:serviceaccount:storage:provisioner"
    for policy, has in (
            ("strict-nodes",
             "system:serviceaccount:kube-system:daemon-set-controller"),
            ("strict-daemonsets", "system:kube-controller-manager"),
            ("force-delete", "system:kube-controller-manager"),
            ("force-evict", "system:kube-controller-manager")):
        patch = ("patches:\n- target: {kind: ValidatingAdmissionPolicy, "
                 f"name: slurm-k8s-bridge-{policy}}}\n  patch: |-\n    - op: replace\n"
                 "      path: /spec/variables/0/expression\n      value: >-\n"
                 f"        ['{has}', '{user}', 'alice']\n")
        same(rendered(template(*switches("strict-nodes"), "--set",
                               f"exempt.{camel(policy)}={{{user},alice}}")),
             manifests("strict-nodes", patches=patch), policy)


@case
def other_names():
    """other names of schedulers and of batch jobs' namespaces are in each policy
    that knows those names, and the agent has its rights in these namespaces"""
    with folder() as where:
        shutil.copytree(admission.KUBERNETES, where / "kubernetes")
        for path in where.rglob("*.yaml"):
            path.write_text(
                path.read_text()
                .replace("'slurm', 'slurm-bridge-scheduler'", "'batch', 'slurm'")
                .replace("value: 'slurm'}", "value: 'batch'}")
                .replace("['slurm-jobs']", "['slurm-jobs', 'more', 'most']"))
        wanted = manifests(*COMPONENTS, tree=where / "kubernetes")
    got = rendered(template(*switches(*COMPONENTS), "--set",
                            "schedulerNames={batch,slurm},"
                            "sbatchChooseNamespaces={more,most}"))
    for (kind, namespace, name), text in list(wanted.items()):
        if namespace == "slurm-jobs":
            for other in ("more", "most"):
                wanted[kind, other, name] = text.replace(
                    "  namespace: slurm-jobs\n", f"  namespace: {other}\n")
    same(got, wanted, "objects")


@case
def wrong_values():
    """a name that the chart does not have, a value of another kind, and text that
    would leave its quotes in a policy are refused; so is Kubernetes 1.34"""
    def says(words, *options):
        refused(words, "template", NAME, CHART, *options)

    for name in ("replicas", "components.nodes-patch", "components.nodePatch",
                 "exempt.nodeName", "test.user"):
        last = name.rpartition(".")[2]
        says(f"'{last}' not allowed", "--set", f"{name}=true")
    says("want boolean", "--set", "components.adopt=1")
    says("want boolean", "--set-string", "components.adopt=false")
    says("want object", "--set", "components=true")
    for user in ("a'", "a b", "a]||true||['", 'a"', "a\\", "a\nb"):
        says("does not match pattern", "--set-json",
             "exempt=" + json.dumps({"strictNodes": [user]}))
    says("does not match pattern", "--set-json", 'schedulerNames=["a\'"]')
    says("schedulerNames", "--set-json", "schedulerNames=[]")
    says("schedulerNames", "--set", "schedulerNames={default-scheduler}")
    says("sbatchChooseNamespaces", "--set", "sbatchChooseNamespaces={slurm-jobs}")
    says("which is incompatible", "--kube-version", "1.34")


@case
def packed():
    """the packed chart renders the same, and says what is next"""
    with folder() as where:
        helm("package", CHART, "--destination", where)
        archive, = where.glob("*.tgz")
        equal(helm("template", NAME, archive, "--kube-version", "1.36"),
              helm("template", NAME, CHART, "--kube-version", "1.36"), "text")


# ---- On the sandbox


def there():
    """What is there of contribs/kubernetes."""
    return bed.run("kubectl", "get", "-o", "name", "--ignore-not-found", "-k",
                   str(admission.KUBERNETES / admission.MANIFESTS)).split()


def as_applied():
    """The cluster has what kubectl apply -k would make, field by field."""
    live, wanted = (
        {(one["kind"], one["metadata"].get("namespace"), one["metadata"]["name"]):
         normal(one) for one in kubectl(*words, "-o", "json", "-k", str(
             admission.KUBERNETES / admission.MANIFESTS))["items"]}
        for words in (("get",), ("apply", "--dry-run=server")))
    check(len(live) > 50, f"{len(live)} objects")
    equal(live.keys(), wanted.keys(), "objects")
    for key, one in wanted.items():
        equal(live[key], one, key)


def normal(one):
    """Without what each write changes. Of white space there is some more in the
    expressions that kustomize writes, which means nothing in CEL."""
    for field in ("generation", "managedFields", "resourceVersion"):
        one["metadata"].pop(field, None)
    one.get("metadata", {}).get("annotations", {}).pop(
        "kubectl.kubernetes.io/last-applied-configuration", None)
    if not one["metadata"].get("annotations", True):
        del one["metadata"]["annotations"]
    return json.loads(json.dumps(one), object_hook=lambda fields: {
        name: " ".join(value.split()) if isinstance(value, str) else value
        for name, value in fields.items()})


def kubectl(*words):
    done = subprocess.run(["kubectl", *words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    check(done.returncode == 0, f"kubectl {words}: {done.stderr}")
    return json.loads(done.stdout)


def uid(path):
    return bed.api("GET", path)["metadata"]["uid"]


def account():
    return uid(f"/api/v1/namespaces/{NAME}/serviceaccounts/slurmk8sd")


def jobs_namespace():
    return uid("/api/v1/namespaces/slurm-jobs")


def releases():
    return [(one["name"], one["namespace"])
            for one in json.loads(helm("list", "-A", "-o", "json"))]


def works(name):
    """A Pod runs in a container, and its job ends with it."""
    bed.clean()
    bed.create(bed.pod(name, real=True, cpu="100m", command="true"))
    bed.wait_ended(name, "COMPLETED", "0:0", 60)
    equal(bed.status()["problems"], {}, "problems")


@functools.cache
def checked_first():
    return checked()


def checked():
    """slurmk8s check, without notes and warnings, which may come and go."""
    said = bed.run("slurmk8s", "check", check=False)
    return [line for line in said.splitlines()
            if line.startswith(("error:", "not checked:"))]


def may(verb, what):
    return subprocess.run(["kubectl", "auth", "can-i", "--quiet", verb, what,
                           f"--as={AGENT}"], stderr=subprocess.DEVNULL
                          ).returncode == 0


def give_token():
    """As doc/admin/install.md says; its ServiceAccount is another one now."""
    token = bed.run("kubectl", "-n", NAME, "create", "token", "slurmk8sd",
                    "--duration=24h")
    bed.inside("sh", "-c", "umask 077; cd /etc/slurm/k8s; cat > token.new; "
               "chown slurm:slurm token.new; mv token.new token", stdin=token)
    bed.ctl("restart", "slurmk8sd")
    wait_for("the agent to serve", bed.serves, 60)


FILE = pathlib.Path(os.environ["SANDBOX"]) / "chart-values.yaml"
FILE.write_text("test:\n  annotations: {slurmk8s/partition: real}\n")


@case
def not_imported():
    """what kubectl has applied is not taken over unasked"""
    as_applied()
    checked_first()
    refused("cannot be imported into the current release", "install", NAME, CHART,
            *INTO)
    equal(releases(), [], "releases")


@case
def takes_over():
    """with --take-ownership it is, and nothing is made anew: the agent's token
    holds, labels of an administrator stay, and Pods run"""
    path = "/api/v1/namespaces/slurm-jobs"
    label = "pod-security.kubernetes.io/enforce"
    before = account(), jobs_namespace()
    bed.api("PATCH", path, {"metadata": {"labels": {label: "baseline"}}},
            admission.MERGE)
    try:
        said = helm("install", NAME, CHART, *INTO, "--take-ownership", "-f", FILE)
        check("slurmk8s check" in said and "are off: sbatchAttach." in said, said)
        equal((account(), jobs_namespace()), before, "uids")
        equal(bed.api("GET", path)["metadata"]["labels"].get(label), "baseline",
              label)
    finally:
        bed.api("PATCH", path, {"metadata": {"labels": {label: None}}},
                admission.MERGE)
    as_applied()
    equal(releases(), [(NAME, NAME)], "releases")
    works("taken-over")
    equal(checked(), checked_first(), "slurmk8s check")


@case
def tests_itself():
    """helm test runs a Pod as a job; without the agent it fails and the Pod
    stays, and the next test replaces it"""
    bed.clean()
    name = "slurm-k8s-bridge-test"
    bed.ctl("stop", "slurmk8sd")
    try:
        refused("", "test", NAME, *INTO, "--timeout", "2s")
        waits = bed.get(name, NAME)
        equal(waits["status"]["phase"], "Pending", "phase")
    finally:
        bed.ctl("start", "slurmk8sd")
    said = helm("test", NAME, *INTO, "--timeout", "3m")
    check(re.search(r"Phase: +Succeeded", said), said)
    equal(bed.get(name, NAME), None, "the Pod")
    wait_for("its job to be COMPLETED", lambda: [
        job for job in bed.jobs().values()
        if job["name"] == name and "COMPLETED" in job["job_state"]])


@case
def off_and_on():
    """a component that is switched off has no rights and policies any more, its
    namespace stays, and all of it comes back"""
    before = jobs_namespace()
    check(may("patch", "nodes"), "patch nodes")
    helm("upgrade", NAME, CHART, *INTO, "-f", FILE, "--set",
         "components.nodesPatch=false,components.sbatch=false")
    gone = [name for name in there() if re.search(
        "nodes-patch|sbatch|agent-nodes|node-marks|agent-batch|batch-", name)]
    equal(gone, [], "what is there of the components")
    check(not may("patch", "nodes"), "patch nodes")
    equal(jobs_namespace(), before, "the namespace")
    works("without")
    helm("upgrade", NAME, CHART, *INTO, "-f", FILE)
    equal(jobs_namespace(), before, "the namespace")
    as_applied()
    wait_for("the right to patch nodes", lambda: may("patch", "nodes"))


@case
def exempt_user():
    """a ServiceAccount that is exempt from strict-nodes may name the Node of its
    Pod, and nobody else may"""
    admission.namespace(USERS)
    provisioner = As(admission.editor(USERS, "provisioner"))
    other = As(admission.editor(USERS))
    pod = bed.pod("chosen", scheduler="default-scheduler", namespace=USERS,
                  nodeName=NODE)

    def is_refused(somebody):
        try:
            somebody.create(pods_path(ns=USERS), pod)
        except bed.ApiError as error:
            check(OF_NODE in error.message, error)
            return True
        return False

    wait_for("the policy to refuse", lambda: is_refused(provisioner))
    helm("upgrade", NAME, CHART, *INTO, "-f", FILE, "--set",
         f"exempt.strictNodes={{system:serviceaccount:{USERS}:provisioner}}")
    wait_for("the policy to let it", lambda: not is_refused(provisioner))
    check(is_refused(other), "another one may, too")
    helm("upgrade", NAME, CHART, *INTO, "-f", FILE)
    wait_for("the policy to refuse", lambda: is_refused(provisioner))
    admission.forget_namespace(USERS)


@case
def rolls_back():
    """helm rollback brings the components of an earlier revision back"""
    revision = json.loads(helm("history", NAME, *INTO, "-o", "json"))[-1]["revision"]
    helm("upgrade", NAME, CHART, *INTO, "--set", "components.owners=false")
    check(not may("get", "deployments.apps"), "get deployments")
    helm("rollback", NAME, revision, *INTO)
    as_applied()


@case
def back_to_kubectl():
    """without Helm's record of it the objects are kubectl's again, and the same"""
    before = account()
    bed.run("kubectl", "-n", NAME, "delete", "secret", "-l",
            f"owner=helm,name={NAME}")
    equal(releases(), [], "releases")
    admission.apply()
    as_applied()
    equal(account(), before, "uid")
    works("kubectls")


@case
def installs():
    """where there is nothing, one command makes all; with a token of the new
    ServiceAccount the agent serves and Pods run"""
    bed.clean()
    bed.run("kubectl", "delete", "-k",
            str(admission.KUBERNETES / admission.MANIFESTS))
    equal(there(), [], "what is left")
    helm("install", NAME, CHART, *INTO, "--create-namespace", "-f", FILE)
    as_applied()
    give_token()
    works("installed")
    equal(checked(), checked_first(), "slurmk8s check")


@case
def uninstalls():
    """helm uninstall leaves the two namespaces, and nothing once these are gone"""
    said = helm("uninstall", NAME, *INTO)
    check("[Namespace] slurm-jobs" in said, said)
    equal(there(), ["namespace/slurm-jobs", f"namespace/{NAME}"], "what is left")
    equal(releases(), [], "releases")
    bed.run("kubectl", "delete", "namespace", NAME, "slurm-jobs")
    left = bed.run("kubectl", "get", "-A", "-o", "name", ",".join((
        "clusterroles", "clusterrolebindings", "roles", "rolebindings",
        "namespaces", "validatingadmissionpolicies", "mutatingadmissionpolicies",
        "validatingadmissionpolicybindings", "mutatingadmissionpolicybindings",
        "pods", "secrets", "serviceaccounts"))).split()
    equal([name for name in left if re.search("slurm|/sh.helm", name)], [], "left")


@case
def elsewhere():
    """a release whose record is in another namespace has both namespaces of its
    own, and keeps them"""
    helm("install", NAME, CHART, "--namespace", "kube-system")
    as_applied()
    before = jobs_namespace()
    said = helm("uninstall", NAME, "--namespace", "kube-system")
    check(f"[Namespace] {NAME}" in said, said)
    equal(sorted(there()), ["namespace/slurm-jobs", f"namespace/{NAME}"], "left")
    equal(jobs_namespace(), before, "the namespace")


@case
def as_before():
    """kubectl apply -k makes the sandbox what it was"""
    admission.forget_namespace(USERS)
    for name, namespace in releases():
        helm("uninstall", name, "--namespace", namespace)
    bed.run("kubectl", "delete", "--ignore-not-found", "-k",
            str(admission.KUBERNETES / admission.MANIFESTS))
    bed.inside(str(TOP / "contribs/sandbox/setup/agent"))
    bed.ctl("restart", "slurmk8sd")
    wait_for("the agent to serve", bed.serves, 60)
    as_applied()
    works("as-before")
    equal(checked(), checked_first(), "slurmk8s check")
    FILE.unlink()


run(after_failure=bed.last_words)
