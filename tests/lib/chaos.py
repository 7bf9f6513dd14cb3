# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries out the operations of chaos_plan.py on the sandbox, and holds the
state against the invariants, during the run (chaos_watch.py) and at rest."""
import collections
import datetime
import itertools
import re
import subprocess
import time

import bed
import chaos_devices
import chaos_parts
import chaos_plan
import chaos_watch
import end_states
import invariants
from chaos_devices import ChaosDevices
from chaos_gangs import ChaosGangs
from chaos_hybrid import ChaosHybrid
from chaos_parts import ChaosParts
from chaos_watch import DEADLINE, DELETED, OWN, SLURM
from tap import wait_for

NAMESPACE = "chaos"
CTL = str(bed.TOP / "contribs/sandbox/ctl")
CONF = "/etc/slurm/k8s.conf"
SOCKET = "/run/slurmk8s/hook.sock"
MARK = "chaos"  # the reason of our drains
UNSENT = datetime.timedelta(seconds=30)  # what slurmctld may owe slurmdbd
IN_FLIGHT = datetime.timedelta(seconds=3)  # a write of the agent may be
SECOND = datetime.timedelta(seconds=1)

# Operations for which what they need is not there, with the reason that is
# shown.
OFF = {}
OFF_MIXED = {"pod-suspend": "an administrator's scontrol suspend: slurmctld "
             "gives the job's CPUs away at once, again when it is resumed, and "
             "tells no plugin"}


def now():
    return datetime.datetime.now(datetime.timezone.utc)


def time_of(text):
    """Of a Kubernetes object: whole seconds."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Chaos:
    """One run. violations: (number of the operation, words)."""

    def __init__(self, seed, say, without=(), everything=False, mixed=False,
                 gangs=False, devices=False, parts=False):
        self.seed, self.say, self.mixed = seed, say, mixed
        self.with_gangs, self.with_devices = gangs, devices
        if devices:
            (chaos_parts if parts else chaos_devices).turn_on()
        self.devices = ChaosDevices(self) if devices else None
        self.parts = ChaosParts(self) if parts else None
        self.gangs = ChaosGangs(self)
        self.hybrid = ChaosHybrid(self) if mixed else None
        self.off = {} if everything else OFF | (OFF_MIXED if mixed else {})
        self.without = set(without) | set(self.off)
        self.violations = []
        self.number = 0
        self.causes = collections.defaultdict(set)
        # Of slurmctld: when, and when it last owed slurmdbd nothing.
        self.crashes = []
        self.all_told = now()
        self.counts = collections.Counter()
        self.conf = bed.inside("cat", CONF)

    def run(self, count, seconds=None):
        """So many operations, or fewer if so many seconds are over before."""
        for kind in sorted(self.off):
            self.say(f"left out: {kind}: {self.off[kind]}")
        self._prepare()
        began = time.monotonic()
        for op in itertools.islice(
                chaos_plan.plan(self.seed, self.without, self.mixed,
                                self.with_gangs, self.with_devices,
                                bool(self.parts)), count):
            self.number = op.number
            self.counts[op.kind] += 1
            self.say(str(op))
            self._do(op)
            time.sleep(op.pause)
            if seconds and time.monotonic() - began > seconds:
                break
        self._do_settle(None)
        return self.violations

    def _prepare(self):
        """From an empty cluster."""
        try:
            bed.api("POST", "/api/v1/namespaces",
                    {"metadata": {"name": NAMESPACE}})
        except bed.ApiError as error:
            if error.status != 409:
                raise
        wait_for("the namespace's ServiceAccount",
                 lambda: bed.service_account(NAMESPACE))
        self._sweep()
        observer = chaos_watch.Observer(chaos_watch.allocatable_of_nodes(),
                                        self.causes, self.report)
        self.watch = chaos_watch.Watch(
            f"/api/v1/namespaces/{NAMESPACE}/pods", observer)
        self.watch.start()
        self.watches = [self.watch]
        if self.devices:
            self.watches.append(self.devices.prepare())
        if self.hybrid:
            self.hybrid.prepare()
        wait_for("the watch of Pods", self.watch.connected.is_set)

    def report(self, words):
        """A violation, at the operation under way."""
        self.violations.append((self.number, words))
        self.say(f"VIOLATION at op {self.number}: {words}")

    def _do(self, op):
        name = "_do_" + op.kind.replace("-", "_")
        try:
            next(filter(None, (
                getattr(part, name, None) for part in
                (self, self.gangs, self.hybrid, self.devices,
                 self.parts))))(op)
            if self.hybrid:
                self.hybrid.look(op)
        except (bed.ApiError, AssertionError, OSError,
                subprocess.SubprocessError) as error:
            # Many operations come too late for what they are about.
            self.say(f"  {str(error).strip().splitlines()[-1][:150]}")
        for watch in self.watches:
            if watch.failed:
                raise watch.failed

    # ---- Pods

    def _do_apply(self, op, scheduler="slurm"):
        self.apply_pod(op, scheduler)

    def apply_pod(self, op, scheduler="slurm", labels=None, sizes=(), more=None,
                  edit=None):
        """labels and annotations (sizes) of a gang beside what op says; more: of
        the spec; edit(body) changes the Pod before it is made."""
        asked = op.words
        causes = self.causes[op.pod]
        if asked.get("run"):
            causes.add(OWN)
        if asked.get("deadline"):
            causes.add(DEADLINE)
        if asked.get("limit") == "1":
            causes.add(SLURM)
        if asked.get("partition") in chaos_plan.PREEMPTED:
            causes.add(SLURM)
        annotations = {
            bed.PARTITION: asked.get("partition"),
            "sandbox/run": asked.get("run"), "sandbox/exit": asked.get("exit"),
            "sandbox/stop": asked.get("stop"), bed.TIMELIMIT: asked.get("limit"),
            "chaos/deadline": asked.get("deadline"), **dict(sizes)}
        spec = {"terminationGracePeriodSeconds": asked["grace"],
                **(more or {})}
        if asked.get("deadline"):
            spec["activeDeadlineSeconds"] = asked["deadline"]
        body = bed.pod(
            op.pod, cpu=asked["cpu"], memory=asked["memory"],
            namespace=NAMESPACE, scheduler=scheduler,
            annotations={k: str(v) for k, v in annotations.items() if v},
            **spec)
        body["metadata"]["labels"] = labels or {}
        if asked.get("extended"):
            chaos_devices.ask(body, asked["extended"])
        if edit:
            edit(body)
        bed.create(body)

    _do_apply_too_big = _do_apply

    def _do_apply_other(self, op):
        self._do_apply(op, "somebody-else")

    def _do_delete(self, op):
        for pod in self.gangs.cause(op.pod, DELETED):
            bed.delete(pod, NAMESPACE, op.words["grace"])

    # ---- Jobs

    def _do_scancel(self, op):
        self.gangs.cause(op.pod, SLURM)
        bed.run("scancel", f"--name={op.pod}", check=False)

    def _jobs(self, pod):
        ids = bed.run("squeue", "--noheader", f"--name={pod}", "--format=%i")
        if not ids.split():
            raise AssertionError(f"no job of {pod} lives")
        return ids.split()

    def _do_hold(self, op):
        for job in self._jobs(op.pod):
            bed.run("scontrol", "hold", job)

    def _do_release(self, op):
        for job in self._jobs(op.pod):
            bed.run("scontrol", "release", job)

    def _do_time_limit(self, op):
        self.gangs.cause(op.pod, SLURM)
        for job in self._jobs(op.pod):
            bed.run("scontrol", "update", f"JobId={job}", "TimeLimit=1")

    # ---- Nodes

    def _cordon(self, node, value):
        bed.api("PATCH", f"/api/v1/nodes/{node}",
                {"spec": {"unschedulable": value}},
                "application/merge-patch+json")

    def _do_cordon(self, op):
        self._cordon(op.node, True)

    def _do_uncordon(self, op):
        self._cordon(op.node, None)

    def _node_state(self, node, state):
        bed.run("scontrol", "update", f"NodeName={node}", f"State={state}",
                *([] if state in ("UNDRAIN", "RESUME") else [f"Reason={MARK}"]))

    def _do_drain(self, op):
        self._node_state(op.node, "DRAIN")

    def _do_undrain(self, op):
        self._node_state(op.node, "UNDRAIN")

    def _do_node_down(self, op):
        for pod in self.causes.values():  # whose Pods may be there
            pod.add(SLURM)
        self._node_state(op.node, "DOWN")

    def _do_node_resume(self, op):
        self._node_state(op.node, "RESUME")

    # ---- Daemons

    def _do_wait(self, op):
        time.sleep(op.words["seconds"])

    def _do_agent_kill(self, _):
        bed.ctl("kill", "slurmk8sd")

    def _do_agent_start(self, _):
        """Not waited for: it may not serve while others are away."""
        subprocess.Popen([CTL, "start", "slurmk8sd"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for("the agent's process",
                 lambda: not subprocess.call([CTL, "pid", "slurmk8sd"],
                                             stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL))

    def _do_agent_stop(self, _):
        bed.ctl("kill", "--signal", "STOP", "slurmk8sd")

    def _do_agent_continue(self, _):
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")

    def _do_agent_restart(self, op):
        bed.ctl("stop", "slurmk8sd")
        self._do_agent_start(op)

    def _do_reload(self, op):
        """Another ReasonInterval, or the old one."""
        seconds = 2 + op.number % 5
        self._write_conf(re.sub(r"(?m)^ReasonInterval=.*",
                                f"ReasonInterval={seconds}", self.conf))
        bed.ctl("kill", "--signal", "HUP", "slurmk8sd")

    def _write_conf(self, text):
        bed.inside("sh", "-c", f"cat > {CONF}", stdin=text)

    def _do_socket_remove(self, _):
        bed.inside("rm", "-f", SOCKET)
        wait_for("the agent to end, as it has no socket", lambda:
                 subprocess.call([CTL, "pid", "slurmk8sd"],
                                 stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL))

    def _do_slurmctld_kill(self, _):
        self._is_all_told()
        self.gangs.crash()
        bed.ctl("kill", "slurmctld")
        self.crashes.append((now(), self.all_told))

    def _is_all_told(self):
        """Whether slurmdbd has heard all: every start of slurmctld sends it all
        jobs again, and a crash loses what is still queued."""
        asked = now()
        said = bed.run("timeout", "5", "sdiag", check=False)
        told = re.search(r"DBD Agent queue size: (\d+)", said)
        if told and told[1] == "0":
            self.all_told = asked
            return True
        return False

    def _do_slurmctld_stop(self, _):
        bed.ctl("stop", "slurmctld")

    def _do_slurmctld_start(self, _):
        bed.ctl("start", "slurmctld")

    def _do_reconfigure(self, _):
        bed.run("scontrol", "reconfigure")

    def _do_api_stop(self, _):
        bed.ctl("kill", "--signal", "STOP", "kube-apiserver")

    def _do_api_continue(self, _):
        bed.ctl("kill", "--signal", "CONT", "kube-apiserver")

    def _do_api_kill(self, _):
        bed.ctl("kill", "kube-apiserver")

    def _do_api_start(self, _):
        bed.ctl("start", "kube-apiserver")

    # ---- At rest

    def _do_settle(self, _):
        """Everything is undone; then the checker has its say, with the Pods
        there and with them gone."""
        self._undo()
        began = time.monotonic()
        wait_for("slurmdbd to hear all", self._is_all_told, 300)
        for wrong in invariants.settled():
            if self._crash_explains(wrong):
                self.say(f"slurmctld crashed just then: {wrong}")
            else:
                self.report(str(wrong))
        self.say(f"settled in {time.monotonic() - began:.0f} s: "
                 f"{len(self.violations)} violations so far")
        self._sweep()
        for wrong in invariants.settled():
            self.report(f"when all Pods are gone: {wrong}")
        self.causes.clear()
        self.gangs.sharers.clear()

    def _crash_explains(self, wrong):
        """slurmctld crashed. A job that it had not saved, and not told slurmdbd of,
        is lost, and gets no successor when its Pod has ended meanwhile. And the
        end of a Pod that was on its way waits in libslurm, and may reach a job
        that the crash set back to pending, which gets no exit code: too late for
        words."""
        in_flight = end_states.CANCELLED_BY_US in wrong.words
        if wrong.words != end_states.UNKNOWN and not in_flight:
            return False
        pod = bed.get(wrong.subject.rsplit("/", 1)[1], NAMESPACE)
        ended = max(time_of(status["state"]["terminated"]["finishedAt"])
                    for status in pod["status"]["containerStatuses"])
        if in_flight:
            return any(ended - SECOND <= crash <= ended + IN_FLIGHT
                       for crash, _ in self.crashes)
        # It may be bound by what the agent had heard before the crash.
        made = time_of(pod["metadata"]["creationTimestamp"])
        return any(made <= crash and
                   all_told - UNSENT <= ended
                   for crash, all_told in self.crashes)

    def _undo(self):
        for daemon in ("kube-apiserver", "slurmctld", "slurmk8sd"):
            bed.run(CTL, "kill", "--signal", "CONT", daemon, check=False)
            bed.ctl("start", daemon)
        for node in bed.api("GET", "/api/v1/nodes")["items"]:
            if node["spec"].get("unschedulable"):
                self._cordon(node["metadata"]["name"], None)
        states = bed.run("sinfo", "--noheader", "--Node", "--format=%N %E")
        for line in set(states.splitlines()):  # one for each partition
            name, reason = line.split(" ", 1)
            if reason == MARK:
                # Not UNDRAIN: a drained node may be down as well, since a crash
                # that lost its resume.
                self._node_state(name, "RESUME")
        held = bed.run("squeue", "--noheader", "--states=PENDING",
                       "--format=%i %r").splitlines()
        for line in set(held):
            if "JobHeld" in line:
                bed.run("scontrol", "release", line.split()[0], check=False)
        for part in filter(None, (self.hybrid, self.devices, self.parts)):
            part.undo()
        self._write_conf(self.conf)
        bed.ctl("kill", "--signal", "HUP", "slurmk8sd")
        wait_for("the agent to serve", bed.serves, 60)

    def _sweep(self):
        """No Pod is left, and no job."""
        if self.hybrid:
            self.hybrid.sweep()
        for pod in bed.pods(NAMESPACE):
            self.causes[pod["metadata"]["name"]].add(DELETED)
            bed.delete(pod["metadata"]["name"], NAMESPACE)
        wait_for("all Pods to go", lambda: not bed.pods(NAMESPACE), 90)
        wait_for("all jobs to end",
                 lambda: not bed.run("squeue", "--noheader").strip(), 60)
        if self.devices:
            self.devices.sweep()
