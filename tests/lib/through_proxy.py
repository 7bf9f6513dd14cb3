# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox's agent with the fault proxy before its API server, and Pods in
every stage of their life to try a fault on."""
import time
import urllib.parse

import agent_conf
import bed
import fault_proxy
import slurmctld
from tap import check, equal, wait_for

PORT_OFFSET = 24  # of the sandbox's ports for tests

_api = urllib.parse.urlsplit(bed.os.environ["SANDBOX_API"])
proxy = fault_proxy.FaultProxy(
    _api.port + PORT_OFFSET, _api.geturl(), bed.os.environ["SANDBOX_CA"],
    bed.SANDBOX / "pki/apiserver.crt", bed.SANDBOX / "pki/apiserver.key")


def begin():
    """The agent talks through the proxy until this program ends."""
    proxy.start()
    agent_conf.edit(lambda conf: conf.replace(
        f"KubeApiServer={_api.geturl()}", f"KubeApiServer={proxy.url}"),
        at_end=proxy.stop)


def fresh():
    """Before each case: no fault, no Pod, and an agent without back-offs."""
    proxy.clear()
    proxy.serve_again()
    bed.clean()
    bed.ctl("restart", "slurmk8sd")
    wait_for("the agent to serve", lambda: bed.status()["serving"])


class Stages:
    """One Pod waits, one runs, one ends, one is deleted, one loses its job, one
    is made during the fault, and one belongs to another scheduler."""

    OURS = ("waits", "runs", "ends", "deleted", "stopped", "new")

    def __init__(self):
        self.began = time.monotonic()
        self.foreign = bed.create(bed.pod("foreign", scheduler="another"))
        (self.held,) = slurmctld.waiting_pods("waits")
        for name in ("runs", "ends", "deleted", "stopped"):
            bed.create(bed.pod(name))
        for name in ("ends", "deleted", "stopped"):
            bed.wait_phase(name, "Running")
        self.runs = bed.wait_phase("runs", "Running")
        self.job = bed.wait_job("runs", "RUNNING")["job_id"]
        self.cancelled = bed.wait_job("stopped", "RUNNING")["job_id"]

    def act(self):
        """What happens to them, while the fault is there."""
        bed.create(bed.pod("new"))
        bed.api("PATCH", f"/api/v1/namespaces/{bed.NAMESPACE}/pods/ends",
                {"metadata": {"annotations": {"sandbox/run": "10ms"}}},
                "application/merge-patch+json")
        bed.delete("deleted")
        bed.run("scancel", str(self.cancelled))

    def all_went_on(self, seconds=60):
        """After the fault: each Pod has got what it had coming, once."""
        slurmctld.release(self.held)
        bed.wait_phase("new", "Running", seconds)
        bed.wait_phase("waits", "Running", seconds)
        equal(bed.wait_job("waits", "RUNNING", seconds)["job_id"], self.held,
              "the job of waits")
        bed.wait_ended("ends", "COMPLETED", "0:0", seconds)
        bed.wait_gone("deleted", seconds)
        bed.wait_ended("deleted", "CANCELLED", seconds=seconds)
        bed.wait_ended("stopped", "CANCELLED", seconds=seconds)
        wait_for("stopped to be over", _over("stopped"), seconds)
        self.nobody_was_hurt()

    def nobody_was_hurt(self):
        runs = bed.get("runs")
        equal(runs["metadata"]["uid"], self.runs["metadata"]["uid"], "runs")
        equal(runs["status"]["phase"], "Running", "phase of runs")
        check("deletionTimestamp" not in runs["metadata"] and
              "activeDeadlineSeconds" not in runs["spec"], "runs is ended")
        equal([job["job_id"] for job in bed.jobs_of("runs")], [self.job],
              "jobs of runs")
        equal(bed.get("foreign")["metadata"]["resourceVersion"],
              self.foreign["metadata"]["resourceVersion"],
              "the other scheduler's Pod")
        for name in self.OURS:
            equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")
            equal(len(bindings_done(name, self.began)), 1, f"bindings of {name}")
        for entry in writes_to("runs", "waits", "new", since=self.began):
            check(entry.method != "DELETE", f"it was deleted: {entry}")


def _over(name):
    def over():
        pod = bed.get(name)
        return not pod or pod["status"]["phase"] in ("Succeeded", "Failed")
    return over


def writes_to(*names, since=0.0):
    prefix = f"/api/v1/namespaces/{bed.NAMESPACE}/pods/"
    return [e for e in proxy.entries(since)
            if e.method != "GET" and e.path.startswith(prefix)
            and e.path[len(prefix):].split("/")[0] in names]


def bindings_done(name, since):
    """The API server said 201 to them."""
    return [e for e in writes_to(name, since=since)
            if e.path.endswith("/binding") and e.done == 201]
