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
    wait_for("the agent to serve", bed.serves)


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
        for name in ("ends", "deleted"):
            bed.wait_phase(name, "Running")
        self.runs = bed.wait_phase("runs", "Running")
        stopped = bed.wait_phase("stopped", "Running")
        self.cancelled = stopped["metadata"]["labels"][bed.JOB_LABEL]

    def act(self):
        """What happens to them, while the fault is there."""
        bed.create(bed.pod("new"))
        bed.end("ends")
        bed.delete("deleted")
        bed.run("scancel", self.cancelled)

    def all_went_on(self, seconds=60):
        """After the fault: each Pod gets what it has coming, once."""
        slurmctld.release(self.held)
        try:
            wait_for("all to go on", lambda: not self._wrong(), seconds, 0.3)
        except AssertionError as late:
            raise AssertionError(f"{late}: {self._wrong()}") from None
        for name in self.OURS:
            equal(len(bindings_done(name, self.began)), 1,
                  f"bindings of {name}")
        for entry in writes_to("runs", "waits", "new", since=self.began):
            check(entry.method != "DELETE", f"it was deleted: {entry}")

    def _wrong(self):
        """What is not as it must be in the end: name, Pod, states of its jobs."""
        pods = {pod["metadata"]["name"]: pod for pod in bed.pods()}
        jobs = bed.jobs_by_pod()
        return [(name, _shown(pods.get(name)), jobs[name])
                for name, there, states in self._wanted()
                if not there(pods.get(name)) or jobs[name] != states]

    def _wanted(self):
        running, cancelled = [["RUNNING"]], [["CANCELLED"]]
        return [
            ("foreign", self._is_foreign, []),
            ("waits", self._has_the_held_job, running),
            ("new", _runs, running),
            ("runs", self._is_untouched, running),
            ("ends", lambda pod: pod["status"]["phase"] == "Succeeded",
             [["COMPLETED"]]),
            ("deleted", lambda pod: pod is None, cancelled),
            ("stopped", _is_over, cancelled)]

    def _is_foreign(self, pod):
        """Nobody wrote to it."""
        return pod["metadata"] == self.foreign["metadata"]

    def _has_the_held_job(self, pod):
        return _runs(pod) and pod["metadata"]["labels"][bed.JOB_LABEL] == str(
            self.held)

    def _is_untouched(self, pod):
        """It must be so at all times, not only in the end."""
        check(pod and _runs(pod), f"runs does not run: {_shown(pod)}")
        for part in ("metadata", "spec"):
            equal(_lasting(pod[part]), _lasting(self.runs[part]), "runs")
        return True


def _runs(pod):
    return pod and pod["status"]["phase"] == "Running"


def _is_over(pod):
    return not pod or pod["status"]["phase"] in ("Succeeded", "Failed")


def _lasting(part):
    """Without what kwok's kubelet moves, too."""
    return {key: value for key, value in part.items()
            if key not in ("resourceVersion", "managedFields", "generation")}


def _shown(pod):
    return pod and (pod["status"]["phase"], pod["metadata"], pod["spec"])


def over(name):
    """A condition: no container of the Pod lives any more."""
    return lambda: _is_over(bed.get(name))


def writes_to(*names, since=0.0):
    prefix = f"/api/v1/namespaces/{bed.NAMESPACE}/pods/"
    return [e for e in proxy.entries(since)
            if e.method != "GET" and e.path.startswith(prefix)
            and e.path[len(prefix):].split("/")[0] in names]


def bindings_done(name, since):
    """The API server said 201 to them."""
    return [e for e in writes_to(name, since=since)
            if e.path.endswith("/binding") and e.done == 201]
