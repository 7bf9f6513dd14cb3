#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The charts slurmk8s-operator and slurm-cluster: their rights are those of
contribs/operator, their values are described, and, where the cache has Helm, what
they render. tests/long/33-charts.t builds Helm and installs them."""
import json
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests/lib"))
import charts
from charts import helm, lints, refused
from tap import Skip, case, check, equal, run

OPERATOR = charts.CHARTS / "slurmk8s-operator"
CLUSTER = charts.CHARTS / "slurm-cluster"
MANIFESTS = TOP / "contribs/operator"
SLINKY = TOP / "tests/data/slinky/cluster.yaml"
KUBE = ("--kube-version", "1.36")
IMAGE = ("--set", "operator.image.repository=example.com/o,operator.image.tag=v1")
IMAGES = ("--set", "images.repository=example.com/slurm,images.tag=26.05")


def values(chart):
    """What values.yaml has: a path for each line NAME: …"""
    found, above = [], []
    for line in (chart / "values.yaml").read_text().splitlines():
        entry = re.fullmatch(r"( *)([\w-]+):.*", line)
        if entry:
            depth = len(entry.group(1)) // 2
            above[depth:] = [entry.group(2)]
            found.append(".".join(above))
    return found


def schema(chart):
    return json.loads((chart / "values.schema.json").read_text())


def described(whole, path):
    """Whether the schema has a word for it: what lies below an object without
    properties is Kubernetes' own."""
    here = whole
    for name in path.split("."):
        here = followed(whole, here)
        if name in here.get("properties", {}):
            here = here["properties"][name]
        elif isinstance(here.get("additionalProperties"), dict):
            here = here["additionalProperties"]
        else:
            return "properties" not in here or \
                here.get("additionalProperties") is not False
    return True


def followed(whole, here):
    """The definition to which it refers; of several the one with an object."""
    while "$ref" in here or "anyOf" in here or "allOf" in here:
        several = here.get("anyOf", here.get("allOf"))
        if several:
            several = [followed(whole, one) for one in several]
            here = next((s for s in several if s.get("type") == "object"), {})
        else:
            here = whole["definitions"][here["$ref"].rpartition("/")[2]]
    return here


def templates(chart):
    return "".join(path.read_text() for path in chart.rglob("templates/*"))


@case
def rights():
    """the operator has in the chart the rules that it has in contribs/operator, and
    no others"""
    chart = (OPERATOR / "templates/base.yaml").read_text()
    counted = 0
    for path in (MANIFESTS / "base").iterdir():
        text = path.read_text()
        if "\nrules:\n" in text:
            rules = text[text.index("\nrules:\n"):]
            check(rules.rstrip() in chart, f"the rules of {path.name}")
            counted += rules.count("verbs:")
    check(counted > 10, counted)
    equal(templates(OPERATOR).count("verbs:"), counted, "rules")
    equal(templates(CLUSTER).count("verbs:"), 0, "rules of slurm-cluster")


@case
def definitions():
    """the definitions are there, and Helm may not delete one"""
    chart = (OPERATOR / "templates/crds.yaml").read_text()
    paths = list((MANIFESTS / "crds").iterdir())
    equal(len(paths), 6, "definitions")
    for path in paths:
        name = re.search(r"^  name: (.*)$", path.read_text(), re.M).group(1)
        check(f"  name: {name}\n  annotations:\n    helm.sh/resource-policy: keep\n"
              in chart, name)
        check(path.read_text().partition("\nspec:")[2].rstrip() in chart, path.name)


@case
def described_values():
    """the schema has each value, and refuses others; README has each that is not
    Kubernetes' own"""
    for chart in (OPERATOR, CLUSTER):
        whole = schema(chart)
        equal([path for path in values(chart) if not described(whole, path)], [],
              f"not in the schema of {chart.name}")
        for path in ("nothing", "operator.nothing" if chart == OPERATOR else
                     "nodesets.w.nothing"):
            check(not described(whole, path), f"{path} in {chart.name}")
        page = (chart / "README.md").read_text()
        equal([name for name in whole["properties"] if name in values(chart)
               and f"`{name}" not in page], [], f"not in README of {chart.name}")
    page = (OPERATOR / "README.md").read_text()
    listed = re.findall(r"^\| `([\w.]+)` \|", page, re.M)
    all_values = [v for v in values(OPERATOR)
                  if not v.startswith("operator.resources.")]
    equal(sorted(listed), sorted(
        v for v in all_values if not any(w.startswith(v + ".") for w in all_values)),
        "values in README of slurmk8s-operator")


@case
def complete():
    """both have what a chart needs, and their versions are the release's"""
    version = re.search(r"AC_INIT\(\[slurm-k8s-bridge\], \[([^]]*)\]",
                        (TOP / "configure.ac").read_text()).group(1)
    for chart in (OPERATOR, CLUSTER):
        for name in ("values.yaml", "README.md", ".helmignore",
                     "templates/NOTES.txt"):
            check((chart / name).stat().st_size > 0, f"{name} is empty")
        text = (chart / "Chart.yaml").read_text()
        for line in ("apiVersion: v2", f"name: {chart.name}", f"version: {version}",
                     f'appVersion: "{version}"', 'kubeVersion: ">=1.35.0-0"'):
            check(line in text.splitlines(), f"{line!r} is not in {text}")
        used = set(re.findall(r'include "([^"]*)"', templates(chart)))
        equal(used, set(re.findall(r'define "([^"]*)"', templates(chart))),
              "named templates")


# ---- With Helm


def rendered(chart, *options, release="slurm"):
    """The text of each object, by kind and name."""
    missing = charts.why_not(build=False)
    if missing:
        raise Skip("no Helm: " + missing)
    found = {}
    text = helm("template", release, chart, "--namespace", "slurm", *KUBE, *options)
    for part in re.split(r"^---\n", text, flags=re.M):
        kind = re.search(r"^kind: (.*)$", part, re.M)
        if kind:
            name = re.search(r"^  name: ['\"]?([^'\"\n]*)", part, re.M).group(1)
            check((kind.group(1), name) not in found, f"{kind} {name} twice")
            found[kind.group(1), name] = part
    return found


def cluster(*options, **more):
    return rendered(CLUSTER, *IMAGES, *options, **more)


@case
def restricted():
    """the operator's Pod is of the standard "restricted", has probes, and its token
    only; lint finds nothing"""
    pod = rendered(OPERATOR, *IMAGE)["Deployment", "slurmk8s-operator"]
    for words in ("runAsNonRoot: true", "allowPrivilegeEscalation: false",
                  "readOnlyRootFilesystem: true", "drop: [ALL]", "livenessProbe:",
                  "type: RuntimeDefault", "path: /readyz", "path: /healthz",
                  'image: "example.com/o:v1"', "--web-address=0.0.0.0:6830"):
        check(words in pod, f"{words} is not in {pod}")
    for chart, options in ((OPERATOR, IMAGE), (CLUSTER, IMAGES)):
        lints(chart, *KUBE)
        lints(chart, *KUBE, *options)


@case
def some_namespaces():
    """with namespaces the operator has its rights in these only, beside its Lease"""
    kind = ("ClusterRoleBinding", "slurmk8s-operator")
    check(kind in rendered(OPERATOR, *IMAGE), "rights in all")
    some = rendered(OPERATOR, *IMAGE, "--set", "operator.namespaces={slurm}")
    check(kind not in some, "rights in all")
    check('namespace: "slurm"' in some["RoleBinding", "slurmk8s-operator-serves"],
          some)
    check("- --namespace=slurm" in some["Deployment", "slurmk8s-operator"], some)


@case
def as_slinkys():
    """objects have the names and keys that slurm-operator's chart gives them"""
    found = cluster("--set-json", 'nodesets={"slinky":{}}', "--set",
                    "restapi.replicas=1")
    theirs = {}
    for part in SLINKY.read_text().split("\n---\n"):
        kind = re.search(r"^kind: (.*)$", part, re.M).group(1)
        name = re.search(r"^  name: (.*)$", part, re.M).group(1)
        theirs[kind, name] = part
    equal(sorted(found), sorted(theirs), "objects")
    for key, line in (
            (("Controller", "slurm"),
             "PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED"),
            (("Controller", "slurm"), "name: slurm-auth-slurm"),
            (("Controller", "slurm"), "name: slurm-auth-jwt"),
            (("Controller", "slurm"), "storage: 4Gi"),
            (("NodeSet", "slurm-worker-slinky"), "hostname: slinky-"),
            (("NodeSet", "slurm-worker-slinky"), "maxUnavailable: 25%"),
            (("NodeSet", "slurm-worker-slinky"), "replicas: 1"),
            (("Secret", "slurm-auth-slurm"), "immutable: true")):
        check(line in theirs[key], f"{line} is not in theirs")
        check(line in found[key], f"{line} is not in {found[key]}")


@case
def keys():
    """each cluster has keys of its own, which Helm may not delete; without create
    there are none, and the references are those that were given"""
    first, second = cluster(), cluster()
    for name, line in (("slurm-auth-slurm", r"  slurm.key: (\S{1300,})$"),
                       ("slurm-auth-jwt", r"  jwt.key: (\S{44})$")):
        said = {re.search(line, where["Secret", name], re.M).group(1)
                for where in (first, second)}
        equal(len(said), 2, "keys")
        check("helm.sh/resource-policy: keep" in first["Secret", name], name)
    given = cluster("--set", "slurmKey.create=false,jwtHs256KeyRef.name=j,"
                    "slurmKey.secretRef.name=s,slurmKey.secretRef.key=k")
    equal([key for key in given if key[0] == "Secret"], [], "Secrets")
    text = given["Controller", "slurm"]
    check(re.search(r"slurmKeyRef:\n +key: k\n +name: s\n", text), text)
    check(re.search(r"jwtKeyRef:\n +key: jwt.key\n +name: j\n", text), text)


@case
def nodesets():
    """what a nodeset says wins over the defaults, also a 0 and a false"""
    found = cluster(
        "--set-json", 'nodesetDefaults={"replicas":3,"slurmd":{"resources":'
        '{"requests":{"cpu":1}}},"extraConfMap":{"Weight":5}}',
        "--set-json", 'nodesets={"a":null,"off":{"enabled":false},"b":{"replicas":0,'
        '"workloadDisruptionProtection":false,"slurmd":{"image":"my:1"},'
        '"extraConf":"Gres=gpu:2","partition":{"enabled":true,"configMap":'
        '{"MaxTime":60}},"podSpec":{"nodeSelector":{"x":"y"}}}}', release="two")
    equal(sorted(name for kind, name in found if kind == "NodeSet"),
          ["two-slurm-worker-a", "two-slurm-worker-b"], "NodeSets")
    for name, lines in (
            ("a", ("replicas: 3", "extraConf: Weight=5", "name: two-slurm",
                   "image: example.com/slurm/slurmd:26.05", "cpu: 1")),
            ("b", ("replicas: 0", "extraConf: Gres=gpu:2", "image: my:1",
                   "workloadDisruptionProtection: false", "config: MaxTime=60",
                   "x: \"y\"", "hostname: b-"))):
        text = found["NodeSet", f"two-slurm-worker-{name}"]
        equal([line for line in lines if line not in text], [], text)


@case
def partitions():
    """partitions name nodesets as Slurm knows them, which is as in slurm-operator"""
    text = cluster("--set-json", 'nodesets={"a":{},"b":{}}', "--set-json",
                   'partitions={"p":{"enabled":true,"nodesets":["a","b"]}}'
                   )["Controller", "slurm"]
    check("PartitionName=p Nodes=a,b\n" in text, text)


@case
def values_of_slurm_conf():
    """a map becomes lines: lists with commas, big numbers in full, YES for true"""
    text = cluster("--set-json", 'controller.extraConfMap={"A":1000000,"B":[1,"x",'
                   '2000000],"C":null,"D":"a b","E":1.5}', "--set-json",
                   'partitions.all.configMap={"Default":true,"MaxTime":null}'
                   )["Controller", "slurm"]
    for line in ("A=1000000\n", "B=1,x,2000000\n", "D=a b\n", "E=1.5\n",
                 "PartitionName=all Nodes=ALL Default=YES\n"):
        check("    " + line in text, text)
    check("C=" not in text and "MaxTime" not in text, text)


@case
def scripts():
    """scripts are ConfigMaps with the names that slurm-operator's chart gives them,
    and the Controller names them, after those that were there"""
    found = cluster("--set", r"prologScripts.10-a\.sh=x,epilogSlurmctldScripts.b=y,"
                    "epilogSlurmctldScriptRefs[0].name=more")
    for name, line in (("slurm-prolog-scripts", "prolog-10-a.sh: x"),
                       ("slurm-epilog-slurmctld-scripts", "epilog-slurmctld-b: \"y\"")):
        check(line in found["ConfigMap", name], found["ConfigMap", name])
    text = found["Controller", "slurm"]
    for lines in ("  prologScriptRefs:\n  - name: slurm-prolog-scripts\n",
                  "  epilogSlurmctldScriptRefs:\n  - name: more\n"
                  "  - name: slurm-epilog-slurmctld-scripts\n"):
        check(lines in text, text)


@case
def external():
    """of an external slurmctld there are the Controller, with its address and key,
    and the NodeSets; nothing is made that it has already"""
    options = ("--set", "controller.external=true", "--set", "nodesets.w.replicas=2")
    found = cluster(*options, "--set", "controller.externalConfig.host=10.0.0.1,"
                    "slurmKey.secretRef.name=key")
    equal(sorted(found), [("Controller", "slurm"), ("NodeSet", "slurm-worker-w")],
          "objects")
    text = found["Controller", "slurm"]
    for line in ("external: true", "host: 10.0.0.1", "port: 6817", "name: key"):
        check(line in text, text)
    check("extraConf" not in text and "slurmk8s/" not in text, text)
    says("prologScripts: the files of an external slurmctld", *options, "--set",
         "controller.externalConfig.host=ctl,slurmKey.secretRef.name=key,"
         "prologScripts.a=b")
    says("externalConfig.host is empty", *options)
    says("slurmKey.secretRef has to name", *options, "--set",
         "controller.externalConfig.host=ctl")


@case
def bridge_inside():
    """the bridge is two annotations of the Controller, with the plugins that it
    needs; without it there is none of them, whatever its lines are"""
    lines = r'"conf":"DefaultUser=alice\nMaxGangSize=8\n"'
    for options in ((), ("--set-json", f"controller.bridge={{{lines}}}")):
        text = cluster(*options)["Controller", "slurm"]
        for name in ("bridge", "k8s-conf", "plugins"):
            check(f"slurmk8s/{name}" not in text, text)
    on = '"enabled":true'
    text = cluster("--set-json", f"controller.bridge={{{on},{lines}}}")[
        "Controller", "slurm"]
    for line in ('slurmk8s/bridge: "true"\n', 'slurmk8s/plugins: "true"\n'):
        check(line in text, text)
    check(re.search(r"slurmk8s/k8s-conf: \|\n +DefaultUser=alice\n +MaxGangSize=8\n",
                    text), text)
    text = cluster("--set", "controller.bridge.enabled=true")["Controller", "slurm"]
    check("slurmk8s/bridge" in text and "slurmk8s/k8s-conf" not in text, text)
    says("controller.bridge: the agent of an external slurmctld", "--set",
         "controller.bridge.enabled=true,controller.external=true,"
         "controller.externalConfig.host=ctl,slurmKey.secretRef.name=key")


def says(words, *options, chart=CLUSTER, images=IMAGES):
    refused(words, "template", "slurm", chart, *KUBE, *images, *options)


@case
def refuses():
    """what is not served, and what is not known, is refused with its name"""
    cluster()  # skips without Helm
    for value, words in (
            ("prologScriptRefs[0].names=b", "'names' not allowed"),
            ("jwksKeys.enabled=true", "jwksKeys.configMapRef.name is empty"),
            ("priorityClass.create=true", "nothing outside of its namespace"),
            ("priorityClass.enabled=true", "priorityClass.name is empty"),
            ("controller.ha.enabled=true", "controller.ha: not served"),
            ("vendor.nvidia.dcgm.enabled=true", "vendor: not served"),
            ("namespaceOverride=other", "in the namespace of the release"),
            ("partitions.all.nodesets={w}", "there is no nodeset w"),
            ("configFiles.slurm\\.conf=x", "slurm.conf"),
            ("nodesets.w.replica=2", "'replica' not allowed"),
            ("nodesets.w.replicas=-1", "minimum"),
            ("nodesets.A=null", "does not match pattern"),
            ("controller.slurmctd.image=x", "'slurmctd' not allowed"),
            ("controller.bridge.enable=true", "'enable' not allowed"),
            ("replicas=2", "'replicas' not allowed")):
        says(words, "--set", value)
    says("no image is known", images=())
    says("its image has no tag", "--set", "images.repository=a", images=())
    says("name its repository", chart=OPERATOR, images=())
    for value, words in (("operator.logLevel=all", "logLevel"),
                         ("operator.webAddress=6830", "webAddress"),
                         ("operator.namespaces={A}", "namespaces"),
                         ("operator.image.tag=2", "want null or string"),
                         ("webhook.enabled=true", "'webhook' not allowed")):
        says(words, "--set", value, chart=OPERATOR, images=IMAGE)


@case
def not_served():
    """a LoginSet and a RestApi are made, for their condition to speak"""
    found = cluster("--set-json", 'loginsets={"l":{}}', "--set", "restapi.replicas=1")
    check(("LoginSet", "slurm-login-l") in found, sorted(found))
    check(("RestApi", "slurm") in found, sorted(found))


run()
