# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm in Kubernetes by Helm, in a sandbox of `up --operator`: the operator in its
own image, and a cluster of slurmctld and workers in the namespace slurm."""
import json
import pathlib
import re
import tempfile
import time

import bed
import charts
import slinky
from charts import helm
from tap import check, equal, wait_for

OPERATOR = charts.CHARTS / "slurmk8s-operator"
CLUSTER = charts.CHARTS / "slurm-cluster"
OPS, SLURM = "slurmk8s-operator", "slurm"  # namespaces
POD = "slurm-controller-0"
FROM, TAG = "registry.example.com/slurm", "26.05"
IMAGES = ("slurmctld", "slurmd", "slurmk8sd", "slurmk8s-operator")
IMAGE = ("--set", f"operator.image.repository={FROM}/slurmk8s-operator,"
         f"operator.image.tag={TAG}")
FINALLY = 60  # seconds after which nothing may be Terminating

VALUES = {
    "images": {"repository": FROM, "tag": TAG},
    "nodesetDefaults": {"slurmd": {"resources": {
        "requests": {"cpu": "300m", "memory": "200Mi"}}}},
    "nodesets": {"w": {"replicas": 2}}}

_files = []


def with_values(values):
    """Options for a file of these values, which stays until the program ends."""
    file = tempfile.NamedTemporaryFile("w", suffix=".json", dir=bed.SANDBOX)
    json.dump(values, file)
    file.flush()
    _files.append(file)
    return ["-f", file.name]


def kubectl(*words, **options):
    return bed.run("kubectl", *words, **options)


def get(path):
    try:
        return bed.api("GET", path)
    except bed.ApiError as error:
        if error.status != 404:
            raise
        return None


def name_images():
    """The sandbox's own images by the names that a registry would give them."""
    text = "".join(f"  image: {FROM}/{name}:{TAG}\n" for name in IMAGES)
    said = bed.run(str(bed.TOP / "contribs/sandbox/ctl"), "name-images", stdin=text)
    equal(sorted(said.split()), sorted(set(re.findall(r"image: (\S+)", text))), said)


def namespace(name, labels=None):
    """A namespace whose Pods meet a standard."""
    slinky.namespace(name, labels)


def install_operator(*words):
    """The operator, in a namespace of the standard "restricted"; what Helm says."""
    name_images()
    namespace(OPS, {"pod-security.kubernetes.io/enforce": "restricted"})
    said = helm("install", "slurmk8s-operator", OPERATOR, "-n", OPS, *IMAGE, "--wait",
                "--timeout", "3m", *words)
    wait_for("one that leads", lambda: len(leaders()) == 1, 60)
    return said


def objects(ns, plural, name=""):
    return f"{slinky.API}/namespaces/{ns}/{plural}" + (f"/{name}" if name else "")


def condition(ns, plural, name, kind):
    found = (get(objects(ns, plural, name)) or {}).get("status", {})
    return next((c for c in found.get("conditions", []) if c["type"] == kind), {})


def workers(ns):
    return {pod["metadata"]["name"]: pod for pod in bed.pods(ns)
            if pod["metadata"].get("labels", {}).get("app.kubernetes.io/name") ==
            "slurmd"}


def inside(*words, container="slurmctld", **options):
    """A command in the Pod of slurmctld, as its user."""
    return kubectl("exec", "-n", SLURM, POD, "-c", container, "--", *words,
                   **options).strip()


def idle():
    return inside("sinfo", "-hN", "-t", "idle", "-o", "%N", check=False).split()


def wait_idle(*names):
    wait_for(f"{names} to be idle", lambda: set(names) <= set(idle()), 120)


def sbatch(script, *words):
    return inside("sbatch", "--parsable", "-D", "/tmp", "-o", "none", "-n1", "-t",
                  "20", *words, "--wrap", script)


def state_of(job):
    said = inside("scontrol", "show", "job", job, "--json", check=False)
    return json.loads(said)["jobs"][0] if said.startswith("{") else {}


def ended(job):
    """Its state, exit code, and how often it was restarted."""
    found = state_of(job)
    return (found["job_state"], found["exit_code"]["return_code"]["number"],
            found["restart_cnt"])


def wait_state(job, state):
    wait_for(f"job {job} to be {state}", lambda: state_of(job).get("job_state")
             == [state], 90)


def wait_serves():
    wait_for("slurmctld's Pod", lambda: condition(
        SLURM, "controllers", "slurm", "Available").get("status") == "True", 120)
    wait_for("slurmctld to answer",
             lambda: "UP" in inside("scontrol", "ping", check=False), 60)


def operators():
    """Its Pods that are ready and stay."""
    return [pod["metadata"]["name"] for pod in bed.pods(OPS)
            if "deletionTimestamp" not in pod["metadata"] and any(
                c["type"] == "Ready" and c["status"] == "True"
                for c in pod["status"].get("conditions", []))]


def page(pod, name):
    return kubectl("get", "--raw", f"/api/v1/namespaces/{OPS}/pods/{pod}:6830/proxy"
                   f"/{name}", check=False)


def leaders():
    return [pod for pod in operators()
            if "slurmk8s_operator_leader 1" in page(pod, "metrics")]


def terminating():
    """What of ours is being deleted, in all namespaces."""
    found = [f"{kind} {one['metadata']['namespace']}/{one['metadata']['name']}"
             for kind, path in (("Pod", "/api/v1/pods"),
                                *((kind, f"{slinky.API}/{plural}")
                                  for kind, plural in slinky.PLURALS.items()))
             for one in (get(path) or {"items": []})["items"]
             if "deletionTimestamp" in one["metadata"]]
    return found + [one["metadata"]["name"]
                    for one in bed.api("GET", "/api/v1/namespaces")["items"]
                    if "deletionTimestamp" in one["metadata"]]


def wait_nothing_terminating():
    began = time.monotonic()
    wait_for("nothing to be Terminating", lambda: not terminating(), FINALLY)
    print(f"# nothing is Terminating after {time.monotonic() - began:.1f} s")


def last_words():
    said = [kubectl("logs", "-n", OPS, "-l", "app.kubernetes.io/name="
                    "slurmk8s-operator", "--tail=15", check=False)]
    for container in ("slurmctld", "slurmk8sd"):
        said.append(kubectl("logs", "-n", SLURM, POD, "-c", container, "--tail=25",
                            check=False))
    said.append(kubectl("get", "pods", "-A", "-o", "wide", check=False))
    return "\n".join([*said, bed.log("slurmk8sd")])
