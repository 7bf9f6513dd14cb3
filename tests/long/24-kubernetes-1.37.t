#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes 1.37: that release, with its own kubelet on a real node, in a sandbox
of its own beside $SANDBOX, with contribs/kubernetes/all applied and the same
agent. Integration scripts run there as they are, each as a case: of Pods, gangs
and devices, and those of each rule, each right and each request.
KUBERNETES_SCRIPTS ("pods/ends gangs/gangs") chooses."""
import os
import pathlib
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

RELEASE = "1.37"
SCRIPTS = os.environ.get("KUBERNETES_SCRIPTS", """
    pods/one-pod pods/ends pods/adopt pods/requests pods/placement pods/volumes pods/grace pods/suspend pods/bad-input
    gangs/gangs gangs/podgroups gangs/jobset-lws gangs/heterogeneous gangs/slurm-bridge
    devices/inventory devices/claims devices/gang-claims devices/shared devices/shared-claims devices/cpus devices/attributes
    devices/extended-resources devices/device-plugins devices/real-driver
    security/admission security/agent-limits security/rights security/forging security/force-delete security/node-labels
    security/strict-nodes commands/check product/api-versions product/contracts""").split()

if why := beside.why_not_built(RELEASE):
    print(f"1..0 # SKIP Kubernetes {RELEASE} cannot be built here: {why}")
    sys.exit()
beside.up(RELEASE, "--nodes", "4", "--cpus", "16", "--memory", "64000",
          "--real-node", "--no-kube-scheduler")

import admission
import bed
import pod_groups
from tap import case, check, equal, run


@case
def applies():
    """the manifests are those of 1.36: they are applied without a warning, and all
    they make is there"""
    version = bed.api("GET", "/version")["gitVersion"]
    check(version.startswith(f"v{RELEASE}."), version)
    equal(admission.MANIFESTS, "all", "manifests")
    said = admission.apply()
    check("Warning" not in said, said)
    there = bed.run("kubectl", "get", "-o", "name", "-k",
                    str(admission.KUBERNETES / "all")).split()
    check(len([name for name in there
               if "mutatingadmissionpolicybinding" in name]) == 2, there)


@case
def kubelet():
    """the real node has a kubelet of this release"""
    node = bed.api("GET", "/api/v1/nodes/real1")
    version = node["status"]["nodeInfo"]["kubeletVersion"]
    check(version.startswith(f"v{RELEASE}."), version)


@case
def beta():
    """the agent watches Kubernetes' own PodGroups as v1beta1"""
    equal(pod_groups.WORKLOAD, "/apis/scheduling.k8s.io/v1beta1", "version")
    check("api=podgroups.scheduling.k8s.io/v1beta1" in
          bed.log("slurmk8sd", 10 ** 6), "the agent does not say so")


for each in SCRIPTS:
    beside.passes(each, RELEASE)

run(after_failure=bed.last_words)
