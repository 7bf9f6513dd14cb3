#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes 1.35: the API server and the controllers of that release, in a
sandbox of its own beside $SANDBOX, with contribs/kubernetes/all-1.35 applied
and the same agent. What asks the API server what each rule allows and refuses,
and whether it understands the agent, runs there as it is: integration scripts,
of which each is a case. KUBERNETES_SCRIPTS ("pods/adopt security/rights") chooses."""
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

RELEASE = "1.35"
SCRIPTS = os.environ.get("KUBERNETES_SCRIPTS", """
    security/admission security/agent-limits pods/adopt security/rights commands/check pods/volumes
    security/forging security/strict-nodes security/force-delete security/node-labels
    product/api-versions product/contracts""").split()

if why := beside.why_not_built(RELEASE):
    print(f"1..0 # SKIP Kubernetes {RELEASE} cannot be built here: {why}")
    sys.exit()
beside.up(RELEASE, "--nodes", "4", "--cpus", "16", "--memory", "64000",
          "--no-real-node", "--no-kube-scheduler")

import admission
import bed
from tap import case, check, equal, run

ADMISSION = "/apis/admissionregistration.k8s.io"
KINDS = ("v1/validatingadmissionpolicies",
         "v1/validatingadmissionpolicybindings",
         "v1beta1/mutatingadmissionpolicies",
         "v1beta1/mutatingadmissionpolicybindings")


def ours():
    """Paths of our policies and bindings."""
    return [f"{ADMISSION}/{kind}/{item['metadata']['name']}" for kind in KINDS
            for item in bed.api("GET", f"{ADMISSION}/{kind}")["items"]
            if item["metadata"]["name"].startswith("slurm-k8s-bridge-")]


@case
def applies():
    """the manifests are applied to this release, without a warning, and all they
    make is there; what changes objects, which is v1 in 1.36, is v1beta1"""
    version = bed.api("GET", "/version")["gitVersion"]
    check(version.startswith(f"v{RELEASE}."), version)
    equal(admission.MANIFESTS, f"all-{RELEASE}", "manifests")
    for path in ours():
        bed.api("DELETE", path)
    equal(ours(), [], "what is left")
    said = admission.apply()
    check("Warning" not in said, said)
    there = bed.run("kubectl", "get", "-o", "name", "-k",
                    str(admission.KUBERNETES / admission.MANIFESTS)).split()
    equal(len(ours()),
          len([name for name in there if ".admissionregistration." in name]),
          "policies and bindings")
    equal([path for path in ours() if "v1beta1" in path],
          [f"{ADMISSION}/{kind}/slurm-k8s-bridge-{name}" for kind in KINDS[2:]
           for name in ("adopt", "node-registration")],
          "of v1beta1")


@case
def its_own_workload():
    """Pods of this release's own Workload, which is another API than the one
    that the agent knows, are alone, run to their end, and nothing is wrong"""
    api = "/apis/scheduling.k8s.io/v1alpha1"
    bed.clean()
    bed.api("POST", f"{api}/namespaces/{bed.NAMESPACE}/workloads", {
        "apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload",
        "metadata": {"name": "pair"}, "spec": {"podGroups": [
            {"name": "workers", "policy": {"gang": {"minCount": 2}}}]}})
    try:
        made = bed.create(bed.pod(
            "one", annotations={"sandbox/run": "100ms"},
            workloadRef={"name": "pair", "podGroup": "workers"}))
        check("workloadRef" in made["spec"], "the server has dropped the field")
        bed.wait_ended("one", "COMPLETED", "0:0")
        bed.wait_phase("one", "Succeeded")
    finally:
        bed.api("DELETE", f"{api}/namespaces/{bed.NAMESPACE}/workloads/pair")
    equal(bed.status()["problems"], {}, "problems")
    equal(bed.status()["featuresOff"], {}, "features off")


for each in SCRIPTS:
    beside.passes(each, RELEASE)

run(after_failure=bed.last_words)
