#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Helm chart, as far as it can be judged without Helm: it is what
contribs/helm/generate makes of contribs/kubernetes, and what is written by hand
fits to that; and, where the cache has Helm, whose account it renders.
tests/long/26-chart.t installs it."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests/lib"))
import charts
from tap import Skip, case, check, equal, run

HELM = TOP / "contribs/helm"
CHART = HELM / "slurm-k8s-bridge"
KUBERNETES = TOP / "contribs/kubernetes"
SOURCES = ("helm", "kubernetes", "operator")  # what generate reads and writes


def generate(tree=TOP, *words):
    done = subprocess.run([tree / "contribs/helm/generate", *words], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def values():
    """values.yaml as {"components.adopt": "true", …}, and "test" of a mapping."""
    found, above = {}, ""
    for line in (CHART / "values.yaml").read_text().splitlines():
        entry = re.fullmatch(r"( *)(\w+): *(.*)", line)
        if entry:
            indent, name, value = entry.groups()
            check(indent in ("", "  "), line)
            above = above if indent else name
            found[f"{above}.{name}" if indent else name] = value
    return found


def schema():
    return json.loads((CHART / "values.schema.json").read_text())


def schema_names():
    """The same names, as the schema has them."""
    for name, what in schema()["properties"].items():
        if name != "global":  # Helm's own
            yield name
            yield from (f"{name}.{each}" for each in what.get("properties", ()))


def camel(name):
    return re.sub(r"-(.)", lambda found: found.group(1).upper(), name)


def component_folders():
    return sorted(path.name for path in (KUBERNETES / "components").iterdir()
                  if not path.name.endswith("-1.35"))


@case
def generated():
    """the templates are what contribs/helm/generate makes of the manifests"""
    equal(generate(TOP, "--check"), (0, ""), "differences")


@case
def differs():
    """a manifest that has changed, a component that is new and one that has gone
    are told, and written when asked for"""
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch)
        for folder in SOURCES:
            shutil.copytree(TOP / "contribs" / folder, tree / "contribs" / folder)
        components = tree / "contribs/kubernetes/components"
        equal(generate(tree, "--check"), (0, ""), "a copy")
        role = components / "owners/clusterrole.yaml"
        role.write_text(role.read_text().replace("verbs: [get]", "verbs: [list]"))
        shutil.copytree(components / "volumes", components / "new-thing")
        shutil.rmtree(components / "jobset-size")
        rights = tree / "contribs/operator/base/clusterrole.yaml"
        rights.write_text(rights.read_text().replace("verbs: [create]", "verbs: []"))
        status, said = generate(tree, "--check")
        equal((status, [line.split()[0] for line in said.splitlines()]),
              (1, ["jobset-size.yaml", "new-thing.yaml", "owners.yaml",
                   "base.yaml"]), said)
        equal(generate(tree)[0], 0, "status")
        equal(generate(tree, "--check"), (0, ""), "afterwards")
        text = (tree / "contribs/helm/slurm-k8s-bridge/templates/new-thing.yaml"
                ).read_text()
        check("{{- if .Values.components.newThing }}" in text, text)


@case
def unexpected():
    """what no rule of it has words for, it refuses, and names it"""
    components = KUBERNETES / "components"

    def refuses(path, old, new, words):
        with tempfile.TemporaryDirectory() as scratch:
            tree = pathlib.Path(scratch)
            for folder in SOURCES:
                shutil.copytree(TOP / "contribs" / folder,
                                tree / "contribs" / folder)
            file = tree / path.relative_to(TOP)
            check(old in file.read_text(), f"{path} has no {old}")
            file.write_text(file.read_text().replace(old, new))
            status, said = generate(tree)
            equal(status, 1, f"status of {new!r}: {said}")
            check(words in said, said)
            equal([line for line in said.splitlines() if "wrote" in line], [], "wrote")

    refuses(components / "adopt/policy.yaml", "value: []", "value: [{{x}}]",
            "Helm would take {{ for its own")
    refuses(components / "adopt/policy.yaml", "'slurm', 'slurm-bridge-scheduler'",
            "'slurm-bridge-scheduler', 'slurm'", "in another form")
    refuses(components / "adopt/kustomization.yaml", "resources:",
            "namePrefix: a\nresources:", "has more than resources")
    refuses(components / "adopt-1.35/kustomization.yaml", "path: /apiVersion",
            "path: /spec/failurePolicy", "more than the version of an API")
    refuses(components / "owners/clusterrole.yaml",
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole",
            "apiVersion: admissionregistration.k8s.io/v1\n"
            "kind: MutatingAdmissionPolicy", "its component has none for 1.35")
    refuses(components / "strict-nodes/policy-strict-nodes.yaml",
            "['system:serviceaccount:kube-system:daemon-set-controller']",
            "variables.nobody", "is there 0 times")
    refuses(components / "owners/clusterrolebinding.yaml",
            "- kind: ServiceAccount\n  name: slurmk8sd",
            "- name: slurmk8sd\n  kind: ServiceAccount", "is there 0 times")
    agent = "system:serviceaccount:slurm-k8s-bridge:slurmk8sd"
    refuses(components / "volumes/policy-agent-claims.yaml", f"'{agent}'",
            f'"{agent}"', "the agent's account in another form")
    refuses(TOP / "contribs/operator/crds/tokens.yaml", "kind: Token",
            "kind: {{Token}}", "Helm would take {{ for its own")
    refuses(components / "sbatch/policy-batch-pods.yaml", "['slurm-jobs']",
            "['jobs']", "is there 0 times")


@case
def every_component():
    """each component has its value, which is on if contribs/kubernetes/all has the
    component, and the schema and README have the same values"""
    listed = set(re.findall(r"- \.\./components/(\S+)",
                            (KUBERNETES / "all/kustomization.yaml").read_text()))
    check(len(listed) > 8, listed)
    equal({name: value for name, value in values().items()
           if name.startswith("components.")},
          {f"components.{camel(name)}": "true" if name in listed else "false"
           for name in component_folders()}, "components in values.yaml")
    equal(sorted(schema_names()), sorted(values()), "names in the schema")
    leaves = [name for name in values()
              if not any(other.startswith(name + ".") for other in values())]
    table = re.findall(r"^\| `([\w.]+)` \| (?:`(.*?)`|.*?) \|",
                       (CHART / "README.md").read_text(), re.M)
    equal(sorted(name for name, _ in table), sorted(leaves), "names in README.md")
    equal([name for name, default in table
           if default and default != values()[name]], [], "other defaults")


@case
def every_value():
    """each value that a template asks for is in values.yaml, and each that is
    there is asked for"""
    text = "".join(path.read_text() for path in CHART.rglob("templates/**/*")
                   if path.is_file())
    asked = set(re.findall(r"\.Values\.(\w+(?:\.\w+)?)", text)) - {"components"}
    equal(sorted(asked), sorted(name for name in values() if not any(
        other.startswith(name + ".") for other in values())), "values")


@case
def hostile_names():
    """the schema lets no value out of the quotes that a policy has around it"""
    users = re.compile(schema()["definitions"]["users"]["items"]["pattern"])
    schedulers = re.compile(
        schema()["properties"]["schedulerNames"]["items"]["pattern"])
    namespaces = re.compile(schema()["definitions"]["namespace"]["pattern"])
    for good in ("system:serviceaccount:storage:provisioner", "alice",
                 "oidc:alice@example.org", "CN=alice,O=physics"):
        check(users.search(good), good)
    for bad in ("", "a'", "a']||true||['", 'a"', "a\\", "a b", "a\nb", "a\tb"):
        check(not users.search(bad), repr(bad))
    accounts = re.compile(
        schema()["properties"]["agent"]["properties"]["serviceAccount"]["pattern"])
    for bad in ("", "a'", "A", "a b", "a\\", "-a", "a-", "a\nb", "{{.}}", "a: b"):
        check(not schedulers.search(bad), repr(bad))
        check(not accounts.search(bad), repr(bad))
        check(not namespaces.search(bad), repr(bad))
    for good in ("slurm", "slurm-bridge-scheduler", "my.scheduler2"):
        check(schedulers.search(good), good)


ACCOUNT = "$.Values.agent.serviceAccount"
PLACE = "$.Values.agent.namespace"


@case
def whose_rights():
    """whoever gets a right, and whoever a policy knows, is the account of the values"""
    text = "".join(path.read_text() for path in CHART.glob("templates/*.yaml"))
    subjects = re.findall(
        r"^- kind: ServiceAccount\n  name: (.*)\n  namespace: (.*)$", text, re.M)
    check(len(subjects) > 8, subjects)
    equal(set(subjects), {(f"{{{{ quote {ACCOUNT} }}}}", f"{{{{ quote {PLACE} }}}}")},
          "subjects of bindings")
    users = [user for user in re.findall(r"'system:serviceaccount:([^']+)'", text)
             if not user.startswith("kube-system:")]
    check(len(users) > 8, users)
    equal(set(users), {f"{{{{ {PLACE} }}}}:{{{{ {ACCOUNT} }}}}"}, "users in policies")


def rendered(*options):
    missing = charts.why_not(build=False)
    if missing:
        raise Skip("no Helm: " + missing)
    return charts.helm("template", *template(*options))


def template(*options):
    return ("slurm-k8s-bridge", CHART, "--namespace", "default", "--kube-version",
            "1.36", "--skip-tests", *options)


@case
def another_account():
    """of an account in another namespace the chart makes neither, nor rights there;
    all else is that account's. In its own namespace it makes the account, whatever
    its name is"""
    text = rendered("--set", "agent.namespace=slurm,agent.serviceAccount="
                    "slurm-controller,components.sbatchAttach=true")
    for foreign in ("namespace: slurm-k8s-bridge", 'namespace: "slurm-k8s-bridge"',
                    ":slurmk8sd'", "serviceaccounts/token]\n  resourceNames",
                    "\nkind: ServiceAccount\n"):
        check(foreign not in text, f"{foreign} is in {text}")
    check("'system:serviceaccount:slurm:slurm-controller'" in text, text)
    equal(set(re.findall(r"^- kind: ServiceAccount\n  name: (.*)\n  namespace: (.*)$",
                         text, re.M)), {('"slurm-controller"', '"slurm"')}, "subjects")
    namespaces = r"^kind: Namespace\nmetadata:\n  name: (.*)$"
    equal(re.findall(namespaces, text, re.M), ["slurm-jobs"], "namespaces")
    text = rendered("--set", "agent.serviceAccount=other")
    equal(sorted(re.findall(namespaces, text, re.M)),
          ["slurm-jobs", "slurm-k8s-bridge"], "namespaces")
    for line in ("kind: ServiceAccount\nmetadata:\n  name: \"other\"\n",
                 "  resourceNames: [\"other\"]\n",
                 "'system:serviceaccount:slurm-k8s-bridge:other'"):
        check(line in text, f"{line} is not in {text}")
    for wrong in ("agent.serviceAccount=a'", "agent.namespace=A", "agent.name=a"):
        charts.refused("agent", "template", *template("--set", wrong))


@case
def complete():
    """the chart has what a chart needs, and its versions are the release's"""
    for name in ("Chart.yaml", "values.yaml", "values.schema.json", "README.md",
                 ".helmignore", "templates/NOTES.txt", "templates/_helpers.tpl",
                 "templates/checks.yaml", "templates/tests/pod.yaml"):
        check((CHART / name).stat().st_size > 0, f"{name} is empty")
    chart = (CHART / "Chart.yaml").read_text()
    version = re.search(r"AC_INIT\(\[slurm-k8s-bridge\], \[([^]]*)\]",
                        (TOP / "configure.ac").read_text()).group(1)
    for line in ("apiVersion: v2", "name: slurm-k8s-bridge", f"version: {version}",
                 f'appVersion: "{version}"', 'kubeVersion: ">=1.35.0-0"'):
        check(line in chart.splitlines(), f"{line!r} is not in {chart}")
    defined = set(re.findall(r'define "([^"]*)"',
                             (CHART / "templates/_helpers.tpl").read_text()))
    used = {name for path in CHART.rglob("templates/*.yaml")
            for name in re.findall(r'include "([^"]*)"', path.read_text())}
    equal(sorted(used), sorted(defined), "named templates")


run()
