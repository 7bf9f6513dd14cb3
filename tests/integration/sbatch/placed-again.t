#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image: slurmctld crashes, and places the job on other nodes than
those for which its Pods were made."""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import bed
import faults
import real_nodes
import slurmctld
from batch import (NS, clear, end, job, pods_of, uids, variables_of,
                   wait_state)
from tap import case, check, equal, run, wait_for

PLACE = "slurmk8s/sbatch-node"


def submit(*options, **more):
    """A job that waits, and is in the state of slurmctld that is put aside."""
    number = batch.submit("--hold", *options, **more)
    slurmctld.keep_state()
    return number


def nodes_of(number):
    return slurmctld.nodes_of(job(number))


@contextlib.contextmanager
def drained(nodes):
    update = ("scontrol", "update", f"nodename={','.join(nodes)}")
    bed.run(*update, "state=drain", "reason=test")
    try:
        yield
    finally:
        bed.run(*update, "state=resume")


@contextlib.contextmanager
def placed_anew(number, but):
    """slurmctld is back before it placed the job, and may not have these nodes."""
    slurmctld.bring_state_back()
    wait_for("slurmctld to be up", slurmctld.is_up)
    with drained(but):
        bed.run("scontrol", "release", str(number))
        wait_state(number, "CONFIGURING")
        nodes = nodes_of(number)
        check(not set(nodes) & set(but), f"{nodes} of {but}")
        yield


def runs(number):
    """A Pod on each of its nodes, made for it, and no other is left."""
    wait_for(f"job {number} to run",
             lambda: job(number)["job_state"] == ["RUNNING"], 60)
    nodes, pods = nodes_of(number), pods_of(number)
    equal([pod["spec"].get("nodeName") for pod in pods], nodes, "nodes")
    equal([pod["metadata"]["labels"][bed.JOB_LABEL] for pod in pods],
          [str(number)] * len(nodes), "JobIds")
    for rank, pod in enumerate(pods):
        said = pod["metadata"]["annotations"].get(PLACE, "").split()
        equal(said, [str(rank), str(len(nodes)), nodes[rank]] + (
            uids(pods[:1]) if rank else []), "place")
    return pods


def runs_alone(number, before):
    """Likewise, on one node: of all that it has there its script is told."""
    pods = runs(number)
    check(not set(uids(pods)) & set(uids(before)), "Pods of before")
    (node,), cpus = nodes_of(number), job(number)["cpus"]["number"]
    for name, value in (("SLURM_JOB_NODELIST", node), ("SLURMD_NODENAME", node),
                        ("SLURM_CPUS_ON_NODE", cpus)):
        check(f"'{name}={value}'" in variables_of(pods[0]), name)
    container, = pods[0]["spec"]["containers"]
    equal(container["resources"]["requests"]["cpu"], str(cpus), "CPUs")
    return pods


def ends(number, pods):
    end(pods[0])
    wait_state(number, "COMPLETED")
    wait_for("the workers to go", lambda: len(pods_of(number)) == 1)


@case
def other_nodes():
    """Pods that wait are made anew for the nodes that the job has now; also a
    worker that was bound already, and has nothing to do"""
    for point in ("create_pod:after:2", "set_tag:after", "bind:after"):
        number = submit("-N2")
        bed.ctl("kill", "slurmk8sd")
        bed.run("scontrol", "release", str(number))
        faults.Fault(point).wait_dead(60)
        before, nodes = pods_of(number), nodes_of(number)
        equal([bool(pod["spec"].get("nodeName")) for pod in before],
              [False, point.startswith("bind")], f"bound at {point}")
        with placed_anew(number, nodes):
            bed.ctl("start", "slurmk8sd")
            pods = runs(number)
            check(not set(uids(pods)) & set(uids(before)), "Pods of before")
            ends(number, pods)


@case
def fewer_nodes():
    """of a job that has one node afterwards no worker is left"""
    number = submit("-N1-2")
    bed.ctl("kill", "slurmk8sd")
    bed.run("scontrol", "release", str(number))
    faults.Fault("set_tag:after").wait_dead(60)
    equal(len(pods_of(number)), 2, "Pods")
    others = sorted(slurmctld.nodes())[1:]
    with placed_anew(number, others):
        bed.ctl("start", "slurmk8sd")
        ends(number, runs(number))


class nobody_binds:
    """The API server refuses bindings of batch jobs' Pods."""

    KINDS = ["/apis/admissionregistration.k8s.io/v1/"
             f"validatingadmissionpolic{kind}" for kind in ("ies", "ybindings")]
    NAME = "nobody-binds"

    def __enter__(self):
        specs = ({"matchConstraints": {"resourceRules": [{
                      "apiGroups": [""], "apiVersions": ["v1"],
                      "operations": ["CREATE"], "resources": ["pods/binding"]}]},
                  "validations": [{"expression": f"request.namespace != '{NS}'",
                                   "message": "nobody binds"}]},
                 {"policyName": self.NAME, "validationActions": ["Deny"]})
        for path, spec in zip(self.KINDS, specs):
            admission.make(path, {"metadata": {"name": self.NAME}, "spec": spec})
        try:
            wait_for("bindings to be refused", self.refuses)
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        for path in reversed(self.KINDS):
            bed.api("DELETE", f"{path}/{self.NAME}")

    @staticmethod
    def refuses():
        try:
            admission.As(None).create(
                admission.pods_path("nobody", NS, "binding"),
                admission.binding("nobody", "kn1", ns=NS))
        except bed.ApiError as error:
            return "nobody binds" in error.message
        return False


@case
def another_node():
    """so is the Pod of a job of one node, and the script is told of the node where it
    runs"""
    number = submit("-N1")
    with contextlib.ExitStack() as until_it_ran:
        with nobody_binds():
            bed.run("scontrol", "release", str(number))
            wait_for("its Pod not to be bound", lambda: "nobody binds" in str(
                pods_of(number)[:1]), 60)
            before, nodes = pods_of(number), nodes_of(number)
            until_it_ran.enter_context(placed_anew(number, nodes))
        ends(number, runs_alone(number, before))


@case
def another_size():
    """such a job with all of its node gets a Pod of the size of the node where it
    runs, also from an agent that knows of the first by that Pod alone"""
    real_nodes.need_one()
    number = submit("-N1", "--exclusive", partition="k8s")
    bed.ctl("kill", "slurmk8sd")
    with drained(sorted(slurmctld.nodes())):
        bed.run("scontrol", "release", str(number))
        faults.Fault("set_tag:after").wait_dead(60)
    before, tag = pods_of(number), job(number)["admin_comment"]
    equal(nodes_of(number), [real_nodes.FIRST], "nodes")
    check(uids(before)[0] in tag, tag)
    with placed_anew(number, [real_nodes.FIRST]):
        # As by the agent's own call, had slurmctld crashed right before that.
        bed.run("scontrol", "update", f"JobId={number}", f"AdminComment={tag}")
        bed.ctl("start", "slurmk8sd")
        ends(number, runs_alone(number, before))


admission.apply()
run(before_each=lambda: clear("alice"), after_each=bed.nothing_left,
    after_failure=bed.last_words)
