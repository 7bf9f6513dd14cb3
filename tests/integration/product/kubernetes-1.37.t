#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Kubernetes 1.37 in short: its API server takes the manifests, and the agent does
there what a Pod and a PodGroup want. The sandbox's kwok nodes and Slurm are
used. It is skipped where the cache has no 1.37, unless TESTS_BUILD asks for it;
tests/long/24-kubernetes-1.37.t has all of that release."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import other_release

RELEASE = "1.37"
directory, why = other_release.find(RELEASE)
if why:
    print(f"1..0 # SKIP no Kubernetes {RELEASE} here: {why}")
    sys.exit()
server = other_release.OtherRelease(RELEASE, directory)
before = bed.log_size("slurmk8sd")
server.begin()

import admission
import pod_groups
from pod_groups import WORKLOAD, condition, member
from tap import case, check, equal, run, wait_for

POLICIES = "/apis/admissionregistration.k8s.io/v1/"


@case
def applies():
    """the manifests are those of 1.36: they are applied without a warning, and
    their policies are there"""
    version = bed.api("GET", "/version")["gitVersion"]
    check(version.startswith(f"v{RELEASE}."), version)
    check("created" in server.said and "Warning" not in server.said, server.said)
    for kind in ("validating", "mutating"):
        check(bed.api("GET", f"{POLICIES}{kind}admissionpolicies")["items"],
              f"no {kind} policies")


@case
def refuses():
    """a policy acts: nobody may forge a JobId"""
    def refused():
        try:
            bed.api("POST", admission.pods_path() + "?dryRun=All", forged)
        except bed.ApiError as error:
            return "only slurmk8sd may set" in error.message
        return False
    forged = bed.pod("forged")
    forged["metadata"]["labels"] = {bed.JOB_LABEL: "1"}
    wait_for("the policy to refuse the label", refused, 60)


@case
def pod():
    """a Pod is bound by its job, and ends with it"""
    bed.create(bed.pod("one", annotations={"sandbox/run": "100ms",
                                           "sandbox/exit": "7"}))
    bed.wait_ended("one", "FAILED", "7:0")
    bed.wait_phase("one", "Failed")


@case
def gang():
    """Pods of a PodGroup of scheduling.k8s.io/v1beta1 wait for each other, share a
    job, and the PodGroup says that they are scheduled"""
    equal(WORKLOAD, "/apis/scheduling.k8s.io/v1beta1", "version")
    pod_groups.create(WORKLOAD, "g", 2)
    bed.create(member(WORKLOAD, "g-0", "g"))
    bed.wait_words("g-0", "1 of 2 Pods of gang g exist")
    bed.create(member(WORKLOAD, "g-1", "g"))
    jobs = {bed.wait_phase(name, "Running")["metadata"]["labels"][bed.JOB_LABEL]
            for name in ("g-0", "g-1")}
    equal(len(jobs), 1, f"jobs ({jobs})")
    wait_for("the PodGroup to be scheduled",
             lambda: (condition("g") or ("",))[0] == "True")


@case
def nothing_wrong():
    """the agent watches v1beta1, and nothing is in its way"""
    check("api=podgroups.scheduling.k8s.io/v1beta1" in
          bed.log_since("slurmk8sd", before), "the agent does not say so")
    equal(bed.status()["problems"], {}, "problems")
    equal(bed.status()["featuresOff"], {}, "features off")
    bed.clean()


run(after_failure=bed.last_words)
