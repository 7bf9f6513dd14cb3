# SPDX-License-Identifier: GPL-2.0-or-later
"""What a mixed chaos run does besides: ordinary jobs on the node that they share
with Pods, suspended and requeued ones, and Nodes that go and come back."""
import bed
import hybrid
from chaos_plan import SHARED, SHARED_NODE
from chaos_watch import DELETED, SLURM

NODE_FIELDS = ("allocatable", "capacity", "addresses", "nodeInfo")
LOOK_EVERY = 10  # operations


def _nodes():
    return {n["metadata"]["name"]: n
            for n in bed.api("GET", "/api/v1/nodes")["items"]}


def _as_made(node):
    """The body to make a Node with that is as this one was in the beginning,
    before the agent had said anything on it."""
    meta = node["metadata"]
    said = {key: value for key, value in meta.get("annotations", {}).items()
            if not key.startswith("slurmk8s/")}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": meta["name"], "labels": meta["labels"],
                         "annotations": said},
            "status": {key: node["status"][key] for key in NODE_FIELDS
                       if key in node["status"]}}


def _set_ready(node, value):
    """kwok says True again with its next heartbeat."""
    bed.api("PATCH", f"/api/v1/nodes/{node}/status",
            {"status": {"conditions": [
                {"type": "Ready", "status": value, "reason": "Chaos"}]}},
            "application/strategic-merge-patch+json")


class ChaosHybrid:
    """Of one run, chaos.Chaos."""

    def __init__(self, run):
        self.run = run
        self.away = set()  # "slurmctld", "api"

    def prepare(self):
        if not hybrid.is_up():
            raise RuntimeError("a mixed run needs contribs/sandbox/up --hybrid")
        self.bodies = {name: _as_made(node) for name, node in _nodes().items()}

    # ---- Ordinary jobs

    def _do_job(self, op):
        asked = op.words
        bed.run("sbatch", "--parsable", "--chdir=/tmp", "--output=/dev/null",
                f"--job-name={op.pod}", f"--partition={asked['partition']}",
                f"--ntasks={asked['cpus']}", f"--mem={asked['memory']}",
                "--wrap", f"sleep {asked['run'] or 3600}; exit {asked['exit']}",
                user="alice")

    def _jobs(self, name):
        ids = bed.run("squeue", "--noheader", f"--name={name}",
                      f"--partition={','.join(SHARED)}", "--format=%i").split()
        if not ids:
            raise AssertionError(f"no job of {name} lives there")
        return ids

    def _each(self, op, *command):
        for job in self._jobs(op.pod):
            bed.run(*command, job)

    def _do_job_cancel(self, op):
        self._each(op, "scancel")

    def _do_job_requeue(self, op):
        self._each(op, "scontrol", "requeue")

    def _do_job_suspend(self, op):
        self._each(op, "scontrol", "suspend")

    def _do_job_resume(self, op):
        self._each(op, "scontrol", "resume")

    _do_pod_suspend, _do_pod_resume = _do_job_suspend, _do_job_resume

    # ---- Nodes

    def _do_node_not_ready(self, op):
        _set_ready(op.node, "False")

    def _do_node_ready(self, op):
        _set_ready(op.node, "True")

    def _do_node_delete(self, op):
        for pod in self.run.causes.values():  # whose Pods may be there
            pod |= {DELETED, SLURM}
        bed.api("DELETE", f"/api/v1/nodes/{op.node}")

    def _do_node_make(self, op):
        bed.api("POST", "/api/v1/nodes", self.bodies[op.node])

    def _do_slurmd_kill(self, _):
        bed.ctl("kill", "slurmd-kwok")

    def _do_slurmd_start(self, _):
        bed.ctl("start", "slurmd-kwok")

    # ---- Meanwhile

    def look(self, op):
        """Now and then: jobs and Pods together have no more than the node."""
        daemon, _, what = op.kind.rpartition("-")
        if daemon in ("api", "slurmctld"):
            (self.away.add if what in ("stop", "kill") else
             self.away.discard)(daemon)
        if self.away or op.number % LOOK_EVERY:
            return
        cpus, jobs, pods = hybrid.together()
        if cpus > hybrid.CPUS:
            self.run.report(f"{jobs} jobs and {pods} Pods have {cpus} CPUs "
                                f"of {SHARED_NODE}")

    def undo(self):
        self.away.clear()
        bed.ctl("start", "slurmd-kwok")
        there = _nodes()
        for name, body in self.bodies.items():
            if name not in there:
                bed.api("POST", "/api/v1/nodes", body)
            elif name != "real1":
                _set_ready(name, "True")
        # Jobs that could not be started there: Slurm drains a node for that.
        bed.run("scontrol", "update", f"NodeName={SHARED_NODE}",
                "State=RESUME", check=False)
        for job in bed.run("squeue", "--noheader", "--states=SUSPENDED",
                           "--format=%i").split():
            bed.run("scontrol", "resume", job, check=False)

    def sweep(self):
        """No ordinary job is left; placeholders may be of the same user."""
        known = bed.run("squeue", "--noheader", "--format=%i %j",
                        f"--partition={','.join(SHARED)}").splitlines()
        jobs = [line.split()[0] for line in known
                if line.split()[1].startswith("j")]
        if jobs:
            bed.run("scancel", *jobs, check=False)
