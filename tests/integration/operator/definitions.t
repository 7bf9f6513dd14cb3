#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The definitions of slinky.slurm.net on a real API server: what was written for
slurm-operator applies unchanged and loses nothing, and what cannot be served is
refused with a sentence."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slinky
from tap import case, check, equal, run

NAMESPACE = "slurm"
FREE = "x-kubernetes-preserve-unknown-fields"


def before_each():
    slinky.define()
    slinky.namespace(NAMESPACE)


def after_each():
    slinky.delete_namespace(NAMESPACE)
    slinky.undefine()


def lost(wanted, got, path=""):
    """The paths of what one has and the other has not, or has otherwise. What is
    null in a manifest says nothing."""
    if wanted is None:
        return []
    if isinstance(wanted, dict):
        if not isinstance(got, dict):
            return [path]
        return [place for key, value in wanted.items()
                for place in lost(value, got.get(key), f"{path}/{key}")]
    if isinstance(wanted, list):
        if not isinstance(got, list) or len(got) != len(wanted):
            return [path]
        return [place for i, value in enumerate(wanted)
                for place in lost(value, got[i], f"{path}/{i}")]
    return [] if wanted == got else [path]


def applies(name):
    """Applies the file as it is, twice, the second time for good."""
    items = [slinky.with_keys(i) for i in slinky.objects(slinky.DATA / name)]
    ours = [i for i in items if i["kind"] in slinky.PLURALS]
    check(len(ours) >= 3, f"only {len(ours)} objects in {name}")
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    for more in (["--dry-run=server"], []):
        status, said = slinky.kubectl("apply", "--server-side", *more, "-f", "-",
                                      stdin=text)
        equal(status, 0, said)
        check("Warning" not in said, said)
    for item in ours:
        stored = bed.api("GET", f"{slinky.API}/namespaces/{NAMESPACE}/"
                         f"{slinky.PLURALS[item['kind']]}/"
                         f"{item['metadata']['name']}")
        equal(lost(item, stored), [], f"lost of the {item['kind']} in {name}")


@case
def default_cluster():
    """what slurm-operator's chart renders by default applies unchanged, and nothing
    of it is dropped"""
    applies("cluster.yaml")


@case
def full_cluster():
    """so does the one with accounting, a LoginSet, a RestApi and metrics"""
    applies("cluster-full.yaml")


# Types that mean the same to those who write manifests.
def kind_of(schema):
    if schema.get("x-kubernetes-int-or-string"):
        return "int-or-string"
    return "free" if schema.get(FREE) else schema.get("type")


def ordered(value):
    """Nothing depends on the order of an enum."""
    return sorted(value) if isinstance(value, list) else value


def compare(theirs, ours, path, wrong):
    """Every path of theirs that is not below a free object, and its type."""
    if kind_of(theirs) != kind_of(ours):
        wrong.append(f"{path}: {kind_of(theirs)}, here {kind_of(ours)}")
        return 1
    for word in ("enum", "default", "nullable", "format"):
        if word in theirs and ordered(theirs[word]) != ordered(ours.get(word)):
            wrong.append(f"{path}: {word} {theirs[word]}, here {ours.get(word)}")
    more = set(ours.get("required", [])) - set(theirs.get("required", []))
    if more:
        wrong.append(f"{path}: only here one must give {sorted(more)}")
    count = 1
    for name, schema in theirs.get("properties", {}).items():
        if name not in ours.get("properties", {}):
            wrong.append(f"{path}/{name} is missing")
        else:
            count += compare(schema, ours["properties"][name],
                             f"{path}/{name}", wrong)
    for word in ("items", "additionalProperties"):
        if isinstance(theirs.get(word), dict):
            count += compare(theirs[word], ours.get(word, {}), f"{path}/*",
                             wrong)
    return count


@case
def same_fields():
    """each field of slurm-operator 1.2.1 exists here, of the same type, with the same
    default, names and subresources; nothing more has to be given"""
    paths = 0
    for theirs in slinky.objects(slinky.DATA / "crds"):
        ours = slinky.definition(theirs["spec"]["names"]["plural"])
        equal(ours["spec"]["scope"], theirs["spec"]["scope"], "scope")
        for word in ("kind", "plural", "singular", "shortNames", "listKind"):
            equal(ours["spec"]["names"][word], theirs["spec"]["names"][word],
                  f"{word} of {theirs['metadata']['name']}")
        ours, theirs = ours["spec"]["versions"][0], theirs["spec"]["versions"][0]
        equal(ours["subresources"], theirs["subresources"], "subresources")
        columns = {(c["name"], c["jsonPath"])
                   for c in ours["additionalPrinterColumns"]}
        equal({(c["name"], c["jsonPath"])
               for c in theirs["additionalPrinterColumns"]} - columns, set(),
              "columns that are missing")
        wrong = []
        schema = ours["schema"]["openAPIV3Schema"]
        paths += compare(theirs["schema"]["openAPIV3Schema"], schema, "", wrong)
        equal(wrong, [], schema["description"])
    check(paths > 250, f"only {paths} fields were compared")


@case
def texts_are_ours():
    """every field has a description, and none is one of slurm-operator's"""
    def texts(schema, path, found):
        if isinstance(schema, dict):
            for name, value in schema.get("properties", {}).items():
                found[f"{path}/{name}"] = value.get("description", "")
                texts(value, f"{path}/{name}", found)
            texts(schema.get("items"), f"{path}/*", found)
        return found
    theirs = set()
    for item in slinky.objects(slinky.DATA / "crds"):
        schema = item["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        theirs |= {text for text in texts(schema, "", {}).values()}
    for item in slinky.objects(slinky.DEFINITIONS):
        schema = item["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        said = texts(schema, item["metadata"]["name"], {})
        equal([path for path, text in said.items()
               if not text and not path.endswith("/metadata")], [],
              "fields without a description")
        equal([path for path, text in said.items() if text in theirs - {""}],
              [], "descriptions of others")


KEY = {"name": "k", "key": "slurm.key"}
SSSD = {"name": "s", "key": "sssd.conf"}
HERE = {"controllerRef": {"name": "slurm"}}
OWN = {"slurmKeyRef": KEY, "jwtKeyRef": KEY}
AWAY = {"external": True, "externalConfig": {"host": "ctl", "port": 6817}}
STORAGE = {"host": "mariadb", "passwordKeyRef": KEY}

# Kind, spec, and words that must be said.
REFUSED = [
    ("Controller", {**OWN, "ha": {"enabled": True}}, "ha is not served"),
    ("Controller", {**OWN, "ha": {}}, "ha is not served"),
    ("Controller", {"jwtKeyRef": KEY}, "slurmKeyRef must name the key"),
    ("Controller", {"slurmKeyRef": KEY}, "jwtKeyRef must name the key"),
    ("Controller", {"external": True}, "externalConfig must say where"),
    ("Controller", {**AWAY, "externalConfig": {"host": "a b", "port": 1}},
     "host is a host name"),
    ("Controller", {**AWAY, "externalConfig": {"host": "-Z", "port": 1}},
     "host is a host name"),
    ("Controller", {**AWAY, "externalConfig": {"host": "ctl", "port": 65536}},
     "A port is a number"),
    ("Controller", {**OWN, "clusterName": "a\nSlurmUser=root"},
     "clusterName has letters"),
    ("NodeSet", {}, "spec.controllerRef: Required value"),
    ("NodeSet", {"controllerRef": {}}, "controllerRef.name must be"),
    ("NodeSet", {**HERE, "replicas": -1}, "replicas is the number of Pods"),
    ("NodeSet", {**HERE, "replicas": 65534}, "replicas is the number of Pods"),
    ("NodeSet", {**HERE, "ordinalPadding": 10}, "ordinalPadding is 0 to 9"),
    ("NodeSet", {**HERE, "minReadySeconds": -1}, "minReadySeconds is 0"),
    ("NodeSet", {**HERE, "revisionHistoryLimit": -1}, "revisionHistoryLimit is"),
    ("NodeSet", {**HERE, "scalingMode": "Deployment"}, "Unsupported value"),
    ("NodeSet", {**HERE, "extraConf": "Weight=5 -N other"},
     "extraConf has words NAME=VALUE"),
    ("NodeSet", {**HERE, "partition": {"enabled": True, "config": "a\nb"}},
     "spec.partition.config"),
    ("NodeSet", {**HERE, "updateStrategy": {"type": "ScheduledUpdate"}},
     "scheduledUpdate must have startTime"),
    *(("NodeSet", {**HERE, "updateStrategy": {"rollingUpdate": {
        "maxUnavailable": bad}}}, "maxUnavailable is a number or")
      for bad in (0, -1, "0%", "25", "many")),
    ("LoginSet", {"sssdConfRef": SSSD, "controllerRef": {"name": ""}},
     "controllerRef.name must be"),
    ("LoginSet", {**HERE, "sssdConfRef": SSSD, "replicas": -5},
     "replicas is the number of Pods"),
    ("RestApi", {**HERE, "service": {"port": 0}}, "A port is a number"),
    ("Accounting", {"storageConfig": STORAGE}, "slurmKeyRef must name"),
    ("Accounting", {**OWN, "storageConfig": {**STORAGE, "host": "a;b"}},
     "host is a host name"),
    ("Token", {"username": "alice"}, "jwtKeyRef must name the key"),
    ("Token", {"jwtKeyRef": KEY, "username": "-u root"}, "username is the name"),
]

TAKEN = [
    ("Controller", OWN), ("Controller", AWAY),
    ("Controller", {"external": True, "externalConfig":
                    {"host": "fd00::1", "port": 6817}}),
    ("NodeSet", HERE), ("NodeSet", {**HERE, "replicas": 0}),
    ("NodeSet", {**HERE, "extraConf": "Weight=5 Gres=gpu:2\n"}),
    *(("NodeSet", {**HERE, "updateStrategy": {"rollingUpdate": {
        "maxUnavailable": good}}}) for good in (1, "5%", "100%")),
    ("NodeSet", {**HERE, "updateStrategy": {
        "type": "ScheduledUpdate",
        "scheduledUpdate": {"startTime": "2030-01-01T00:00:00Z"}}}),
    ("LoginSet", {**HERE, "sssdConfRef": SSSD}), ("RestApi", HERE),
    ("Accounting", {**OWN, "storageConfig": STORAGE}),
    ("Token", {"jwtKeyRef": KEY, "username": "alice"}),
]


def ask(kind, spec):
    """What the API server says of such an object; it is not stored."""
    plural = slinky.PLURALS[kind]
    return bed.api("POST", f"{slinky.API}/namespaces/{NAMESPACE}/{plural}"
                   "?dryRun=All&fieldValidation=Strict",
                   {"apiVersion": f"{slinky.GROUP}/v1beta1", "kind": kind,
                    "metadata": {"name": "asked"}, "spec": spec})


@case
def refused():
    """what can never be served is refused, with a sentence that says what to do"""
    wrong = []
    for kind, spec, words in REFUSED:
        try:
            ask(kind, spec)
            wrong.append(f"{kind} {spec} was taken")
        except bed.ApiError as error:
            if error.status != 422 or words not in error.message:
                wrong.append(f"{kind} {spec}: {error}")
    equal(wrong, [], "not refused as it should")


@case
def taken():
    """what differs little from these is taken"""
    for kind, spec in TAKEN:
        equal(lost(spec, ask(kind, spec)["spec"]), [], f"{kind} {spec}")


@case
def scale():
    """kubectl scale sets the replicas of a NodeSet and of a LoginSet, and cannot make
    them negative"""
    for kind, spec in (("NodeSet", HERE),
                       ("LoginSet", {**HERE, "sssdConfRef": SSSD})):
        path = f"{slinky.API}/namespaces/{NAMESPACE}/{slinky.PLURALS[kind]}"
        bed.api("POST", path, {"apiVersion": f"{slinky.GROUP}/v1beta1",
                               "kind": kind, "metadata": {"name": "w"},
                               "spec": spec})
        resource = slinky.PLURALS[kind] + "." + slinky.GROUP
        equal(slinky.kubectl("-n", NAMESPACE, "scale", resource, "w",
                             "--replicas=3")[0], 0, "kubectl scale")
        equal(bed.api("GET", path + "/w")["spec"]["replicas"], 3, "replicas")
        try:
            bed.api("PATCH", path + "/w/scale", {"spec": {"replicas": -1}},
                    "application/merge-patch+json")
            check(False, "a negative number was taken")
        except bed.ApiError as error:
            equal(error.status, 422, str(error))


run(before_each=before_each, after_each=after_each, after_failure=bed.last_words)
