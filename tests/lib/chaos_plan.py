# SPDX-License-Identifier: GPL-2.0-or-later
"""What a chaos run does: operation by operation, from a seed alone. It looks at
nothing, so that the same seed gives the same operations on every machine, and
--ops 100 the first hundred of --ops 200; what it says of Pods is what it has
asked for, not what has become of them."""
import dataclasses
import itertools
import random

NODES = 4
SLOTS = 64               # CPUs of all nodes
ENDLESS = 72             # CPUs of Pods that run on, at most: some wait
SETTLE_EVERY = 500       # operations; then all is undone and checked
UNDO = {"cordon": "uncordon", "drain": "undrain", "hold": "release",
        "agent-stop": "agent-continue", "agent-kill": "agent-start",
        "slurmctld-kill": "slurmctld-start", "slurmctld-stop": "slurmctld-start",
        "api-stop": "api-continue", "api-kill": "api-start",
        "socket-remove": "agent-start",  # an agent without its socket ends
        "node-down": "node-resume"}


@dataclasses.dataclass
class Op:
    number: int
    kind: str
    pod: str = ""
    node: str = ""
    words: dict = dataclasses.field(default_factory=dict)
    pause: float = 0  # seconds, after it

    def __str__(self):
        words = [self.kind, self.pod, self.node,
                 *(f"{k}={v}" for k, v in self.words.items() if v is not None)]
        return f"op {self.number}: {' '.join(filter(None, words))}"


# How often, among those that are possible.
WEIGHTS = {
    "apply": 45, "delete": 14, "scancel": 8, "hold": 3, "time-limit": 1,
    "cordon": 1, "drain": 2, "apply-too-big": 1, "apply-other": 0.5,
    "agent-kill": 1, "agent-stop": 1, "agent-restart": 1, "reload": 1,
    "slurmctld-kill": 1, "slurmctld-stop": 0.7, "reconfigure": 1,
    "api-stop": 0.7, "api-kill": 0.2, "socket-remove": 0.5, "node-down": 0.7,
    "wait": 3,
}
# And in a mixed run, on a sandbox with hybrid nodes: ordinary jobs beside the
# Pods, both in partitions of which one preempts the other; Nodes that come and go.
MIXED = {
    "job": 25, "job-cancel": 9, "job-requeue": 2, "job-suspend": 1,
    "pod-suspend": 0.5, "slurmd-kill": 0.4, "node-not-ready": 0.7,
    "node-delete": 0.4,
}
# In a run with gangs: Pods that are one job, all or none of them.
GANGS = {"apply-gang": 14, "gang-member-delete": 4}
GANG_SIZES = ((2, 10), (3, 6), (4, 8), (8, 5), (16, 3), (32, 2), (64, 1))
MIXED_UNDO = {"job-suspend": "job-resume", "pod-suspend": "pod-resume",
              "slurmd-kill": "slurmd-start", "node-not-ready": "node-ready",
              "node-delete": "node-make"}
# In a run with devices: Pods with ResourceClaims or extended resources, alone and
# in gangs, in partitions of which some are preempted, and what drivers do.
DEVICES = {"apply-devices": 22, "apply-extended": 10, "apply-shared": 4,
           "apply-gang-devices": 5, "driver-gone": 0.7, "republish": 1.5,
           "device-lost": 0.7, "device-tainted": 0.7}
APPLY_DEVICES = {kind for kind in DEVICES if kind.startswith("apply")}
DEVICES_OF_NODE = 8
DEVICE_COUNTS = ((1, 10), (2, 6), (3, 1), (4, 4), (6, 1), (8, 3))
DEVICE_UNDO = {"driver-gone": "driver-back", "device-lost": "device-found",
               "device-tainted": "device-untainted"}
DEVICE_PLACES = {"kwok": 8, "high": 2, "low": 3, "requeue": 3}
ENDLESS_DEVICES = 40  # of Pods that run on, at most: some wait
# In a run with parts of devices: Pods with shares of devices, CPU devices and
# resources of device plugins, several of them and GPUs in one Pod now and then; and
# what becomes of all that on a Node.
PARTS = {"apply-parts": 26, "apply-gang-parts": 5, "apply-shared-parts": 3,
         "parts-gone": 0.8, "parts-fewer": 0.8, "parts-republish": 1}
APPLY_PARTS = {kind for kind in PARTS if kind.startswith("apply")}
PARTS_UNDO = {"parts-gone": "parts-back", "parts-fewer": "parts-back"}
PART_KINDS = ("share", "cores", "nics")
PART_MIXES = ((("share",), 6), (("cores",), 6), (("nics",), 5),
              (("share", "cores"), 2), (("share", "nics"), 1),
              (("devices", "share"), 1), (("devices", "cores"), 1),
              (("devices", "share", "cores", "nics"), 2))
SHARED_DEVICES = 2    # of a Node
SHARED_MEMORY = 40    # Gi of each of them
NICS_OF_NODE = 6      # that its device plugin has
CPUS_OF_NODE = SLOTS // NODES
PART_SIZES = {  # with their weights; at most what one Node has
    "share": ((1, 3), (5, 4), (10, 4), (20, 4), (30, 2), (SHARED_MEMORY, 1)),
    "cores": ((1, 4), (2, 5), (3, 2), (4, 3), (8, 2), (CPUS_OF_NODE, 0.5)),
    "nics": ((1, 5), (2, 4), (3, 2), (NICS_OF_NODE, 1)),
    "devices": ((1, 3), (2, 1))}
# What a Node has of each: Pods that run on have at most ENDLESS_PARTS times
# that, so that some wait.
PART_ROOM = {"share": SHARED_DEVICES * SHARED_MEMORY, "cores": CPUS_OF_NODE,
             "nics": NICS_OF_NODE, "devices": DEVICES_OF_NODE}
ENDLESS_PARTS = 5
PREEMPTED = {"khlow", "low", "requeue"}
PLACES = {"kwok": 8, "khybrid": 6, "khlow": 4}  # partition: share of the Pods
SHARED = ("khybrid", "khlow")  # of the node that jobs and Pods share; the first
                               # preempts the second
SHARED_NODE = "kh1"
JOB_SLOTS = 20  # CPUs of ordinary jobs that run on, at most
ASKS_SLURM = {"scancel", "hold", "release", "time-limit", "drain", "undrain",
              "reconfigure", "node-down", "node-resume", "job", "job-cancel",
              "job-requeue", "job-suspend", "job-resume", "pod-suspend",
              "pod-resume"}
ASKS_KUBERNETES = {"apply", "apply-too-big", "apply-other", "delete", "cordon",
                   "apply-gang", "gang-member-delete",
                   "uncordon", "node-not-ready", "node-ready", "node-delete",
                   "node-make", *APPLY_DEVICES, "republish",
                   *DEVICE_UNDO, *DEVICE_UNDO.values(), *APPLY_PARTS,
                   "parts-republish", *PARTS_UNDO, *PARTS_UNDO.values()}
OF_THE_AGENT = {"agent-kill", "agent-stop", "agent-restart", "reload",
                "socket-remove"}


def plan(seed, without=(), mixed=False, gangs=False, devices=False,
         parts=False):
    """Operations without end. without: kinds that are left out; to leave one
    out, to mix, to have gangs, devices or parts of them gives other
    operations."""
    return Planner(seed, without, mixed, gangs, devices, parts).operations()


class Planner:
    def __init__(self, seed, without, mixed, gangs=False, devices=False,
                 parts=False):
        self.random = random.Random(seed)
        self.mixed = mixed
        self.weights = {k: w for k, w in
                        (WEIGHTS | (MIXED if mixed else {}) |
                         (GANGS if gangs else {}) |
                         (DEVICES if devices else {}) |
                         (PARTS if parts else {})).items()
                        if k not in without}
        self.gangs = {}      # name: number of Pods
        self.devices = {}    # name: number, of Pods that run on
        self.parts = {}      # name: of a Node's room, in Pods that run on
        self.odd = set()     # nodes to whose devices something is done
        self.undo_of = UNDO | (MIXED_UNDO if mixed else {}) | \
            (DEVICE_UNDO if devices else {}) | (PARTS_UNDO if parts else {})
        self.jobs = {}       # name: CPUs, of ordinary ones that run on
        self.short_jobs = []
        self.shared = []     # Pods where jobs are too
        self.pods = {}      # name: CPUs, of those that run until they are ended
        self.short = []     # names of those that end by themselves
        self.held = set()
        self.nodes = set()  # to which something is done
        self.down = set()   # "agent", "slurmctld", "api"
        self.undo = []      # (number from which on, kind, pod, node)

    def operations(self):
        for number in itertools.count(1):
            if number % SETTLE_EVERY == 0:
                yield self._settle(number)
                continue
            op = self._due(number) or self._new(number)
            op.pause = self.random.choice((0, 0, 0, 0.02, 0.05, 0.1, 0.3))
            yield op

    def _settle(self, number):
        """Everything is undone by whoever carries it out."""
        for known in (self.pods, self.short, self.held, self.nodes, self.down,
                      self.undo, self.jobs, self.short_jobs, self.shared,
                      self.gangs, self.devices, self.parts, self.odd):
            known.clear()
        return Op(number, "settle")

    def _due(self, number):
        for entry in self.undo:
            due, kind, pod, node = entry
            if due <= number and self._possible(kind):
                self.undo.remove(entry)
                self.held.discard(pod)
                (self.odd if kind in (*DEVICE_UNDO.values(),
                                      *PARTS_UNDO.values()) else
                 self.nodes).discard(node)
                self.down.discard(kind.split("-")[0])
                return Op(number, kind, pod, node)
        return None

    def _new(self, number):
        kinds = [k for k in self.weights if self._possible(k)]
        kind = self.random.choices(kinds, [self.weights[k] for k in kinds])[0]
        op = getattr(self, "_" + kind.replace("-", "_"), self._plain)(
            Op(number, kind))
        if kind in self.undo_of:
            after = number + self.random.randint(*self._lasts(kind))
            self.undo.append((after, self.undo_of[kind], op.pod, op.node))
        return op

    def _lasts(self, kind):
        if kind.startswith("api"):
            return 2, 15
        return (3, 40) if kind in ("cordon", "drain", "hold", "node-down",
                                   "node-not-ready", "node-delete",
                                   *DEVICE_UNDO, *PARTS_UNDO) else (1, 25)

    def _possible(self, kind):
        up = self.down.isdisjoint
        if kind in ASKS_SLURM and not up({"slurmctld"}):
            return False
        if kind in ASKS_KUBERNETES and not up({"api"}):
            return False
        if kind in OF_THE_AGENT:
            return up({"agent"})
        if kind in APPLY_DEVICES and \
                sum(self.devices.values()) >= ENDLESS_DEVICES:
            return False
        if kind in APPLY_PARTS and \
                sum(self.parts.values()) >= ENDLESS_PARTS:
            return False
        if kind in DEVICE_UNDO or kind in PARTS_UNDO:
            return len(self.odd) < NODES - 1
        if kind.startswith("apply"):
            return sum(self.pods.values()) < ENDLESS
        if kind in ("delete", "scancel", "time-limit"):
            return len(self.pods) + len(self.short) > 3
        if kind == "gang-member-delete":
            return bool(self.gangs)
        if kind == "job":
            return sum(self.jobs.values()) < JOB_SLOTS
        if kind in ("job-cancel", "job-requeue", "job-suspend"):
            return len(self.jobs) + len(self.short_jobs) > 2
        if kind == "pod-suspend":
            return len(self.shared) > 3
        if kind == "slurmd-kill":
            return up({"slurmd"})
        if kind == "hold":
            return len(self.pods) > 3 and len(self.held) < 4
        if kind in ("cordon", "drain", "node-down", "node-not-ready",
                    "node-delete"):
            return len(self.nodes) < NODES - 2  # somewhere Pods can run
        if kind in ("slurmctld-kill", "slurmctld-stop"):
            return up({"slurmctld"})
        if kind in ("api-stop", "api-kill"):
            return up({"api"})
        return True

    # ---- What each kind needs

    def _wait(self, op):
        op.words = {"seconds": self.random.choice((0.1, 0.3, 1))}
        return op

    def _plain(self, op):
        if op.kind in self.undo_of:
            self.down.add(self.undo_of[op.kind].split("-")[0])
        return op

    def _apply(self, op):
        pick = self.random.choice
        op.pod = f"c{op.number}"
        cpu = self.random.choices(("500m", "1", "1500m", "2", "4", "8", "16"),
                                  (3, 8, 2, 4, 3, 2, 0.5))[0]
        run = pick((None, None, "200ms", "1s", "1s", "3s", "8s"))
        stop = pick((None, None, None, "500ms", "2s", "6s"))
        op.words = {
            "cpu": cpu, "run": run, "stop": stop,
            "memory": pick(("16Mi", "64Mi", "1Gi", "8000Mi")),
            "exit": pick((None, None, None, "1", "3", "137", "255")),
            "grace": pick((1, 1, 2, 10)),
            "deadline": self.random.choices((None, 2, 5), (20, 1, 1))[0],
            "limit": self.random.choices((None, "1", "60"), (40, 1, 4))[0],
        }
        if self.mixed:
            place = self.random.choices(list(PLACES), list(PLACES.values()))[0]
            op.words["partition"] = place
            if place in SHARED:
                self.shared.append(op.pod)
        if run:
            self.short.append(op.pod)
        else:
            self.pods[op.pod] = max(1, int(float(cpu.replace("500m", ".5"))))
        return op

    def _apply_gang(self, op):
        sizes, weights = zip(*GANG_SIZES)
        op = self._apply(op)
        count = self.random.choices(sizes, weights)[0]
        most = min(8, SLOTS // count)  # CPUs of each: it fits when all is free
        cpu = self.random.randint(1, most)
        op.words |= {"count": count, "cpu": str(cpu), "memory": "16Mi",
                     "least": self.random.choices((None, 1), (6, 1))[0],
                     "unequal": self.random.choices(
                         (None, "padded", "heterogeneous"), (4, 1, 1))[0]}
        self.gangs[op.pod] = count
        if op.pod in self.pods:
            self.pods[op.pod] = count * cpu
        return op

    def _gang_member_delete(self, op):
        op.pod = self.random.choice(list(self.gangs)[-6:])
        op.words = {"member": self.random.randrange(self.gangs[op.pod]),
                    "again": self.random.choice((None, 1, 1))}
        return op

    # ---- Devices

    def _apply_devices(self, op):
        pick = self.random.choices
        op = self._apply(op)
        model = pick((None, "A100", "H100"), (4, 1, 1))[0]
        counts, weights = zip(*DEVICE_COUNTS)
        count = pick(counts, weights)[0]
        most = DEVICES_OF_NODE // 2 if model else DEVICES_OF_NODE
        op.words |= {
            "cpu": pick(("500m", "1", "2"), (2, 4, 1))[0], "memory": "16Mi",
            "devices": min(count, most), "model": model,
            "partition": pick(list(DEVICE_PLACES),
                              list(DEVICE_PLACES.values()))[0]}
        if op.pod in self.pods:
            self.pods[op.pod] = 1
            self.devices[op.pod] = op.words["devices"]
        return op

    def _apply_shared(self, op):
        op = self._apply_devices(op)
        op.words["count"] = self.random.choice((2, 2, 3))
        known = self.pods if op.pod in self.pods else None
        self._forget(op.pod)
        for i in range(op.words["count"]):
            name = f"{op.pod}-{i}"
            if known is None:
                self.short.append(name)
            else:
                self.pods[name] = 1
                self.devices[name] = op.words["devices"] if i == 0 else 0
        return op

    def _apply_extended(self, op):
        op = self._apply_devices(op)
        del op.words["model"]
        op.words["extended"] = op.words.pop("devices")
        return op

    def _apply_gang_devices(self, op):
        """It fits when all is free."""
        op = self._apply_devices(op)
        del op.words["model"]
        count = self.random.choice((2, 2, 3, 4))
        how = self.random.choice(("devices", "devices", "extended"))
        each = min(op.words.pop("devices"), DEVICES_OF_NODE // 2)
        op.words |= {"count": count, how: each}
        if op.pod in self.pods:
            self.pods[op.pod] = count
            self.devices[op.pod] = count * each
        return op

    def _odd_node(self, op):
        names = [f"kn{i + 1}" for i in range(NODES)]
        op.node = self.random.choice([n for n in names if n not in self.odd])
        self.odd.add(op.node)
        return op

    def _some_device(self, op):
        op = self._odd_node(op)
        if op.kind != "driver-gone":
            index = self.random.randrange(DEVICES_OF_NODE)
            model = "a" if index < DEVICES_OF_NODE // 2 else "h"
            op.words = {"device": f"{model}{index}"}
        return op

    _driver_gone = _device_lost = _device_tainted = _some_device

    def _republish(self, op):
        op.node = f"kn{self.random.randrange(NODES) + 1}"
        half = DEVICES_OF_NODE // 2
        order = [f"a{i}" for i in range(half)] + \
            [f"h{i}" for i in range(half, DEVICES_OF_NODE)]
        self.random.shuffle(order)
        op.words = {"order": ",".join(order),
                    "slices": self.random.choice((1, 1, 2, 3))}
        return op

    # ---- Parts of devices

    def _apply_parts(self, op):
        pick = self.random.choices
        op = self._apply(op)
        mixes, weights = zip(*PART_MIXES)
        mix = pick(mixes, weights)[0]
        for kind in mix:
            sizes, likely = zip(*PART_SIZES[kind])
            op.words[kind] = pick(sizes, likely)[0]
        claimed = len(set(mix) - {"nics"})
        op.words |= {
            "cpu": pick(("500m", "1", "2"), (2, 4, 1))[0], "memory": "16Mi",
            "shares": 2 if "share" in mix and pick((0, 1), (6, 1))[0] else None,
            "one_numa": 1 if "cores" in mix and pick((0, 1), (2, 1))[0] and
            op.words["cores"] <= CPUS_OF_NODE // 2 else None,
            "one_claim": 1 if claimed > 1 and pick((0, 1))[0] else None,
            "uses": 1 if claimed and pick((0, 1))[0] else None,
            "partition": pick(list(DEVICE_PLACES),
                              list(DEVICE_PLACES.values()))[0]}
        self._note_parts(op, op.pod)
        return op

    def _note_parts(self, op, name, pods=1):
        """What of a Node's room so many Pods have, if they run on."""
        if name not in self.pods:
            return
        words = op.words
        has = {kind: words.get(kind) or 0 for kind in PART_ROOM}
        has["share"] *= words["shares"] or 1
        self.pods[name] = pods * max(1, has["cores"])
        self.parts[name] = pods * max(has[kind] / PART_ROOM[kind]
                                      for kind in has)

    def _apply_gang_parts(self, op):
        """It fits when all is free."""
        op = self._apply_parts(op)
        op.words["count"] = count = self.random.choice((2, 2, 3, 4))
        for kind, room in PART_ROOM.items():
            if op.words.get(kind):
                op.words[kind] = min(op.words[kind], room // 2)
        self._note_parts(op, op.pod, count)
        return op

    def _apply_shared_parts(self, op):
        """Several Pods with one claim."""
        op = self._apply_parts(op)
        if op.words.pop("nics", None) and not any(
                kind in op.words for kind in PART_ROOM):
            op.words["share"] = 5
        op.words |= {"count": self.random.choice((2, 2, 3)), "one_claim": 1}
        known = op.pod in self.pods
        self._note_parts(op, op.pod)
        cores, room = self.pods.get(op.pod), self.parts.get(op.pod)
        self._forget(op.pod)
        for i in range(op.words["count"]):
            name = f"{op.pod}-{i}"
            if known:
                self.pods[name] = cores if i == 0 else 1
                self.parts[name] = room if i == 0 else 0
            else:
                self.short.append(name)
        return op

    def _parts_gone(self, op):
        """What some driver has on a Node."""
        op = self._odd_node(op)
        op.words = {"kind": self.random.choice(PART_KINDS)}
        return op

    def _parts_fewer(self, op):
        """One of a Node's shared devices, CPUs of one NUMA node, some nics."""
        return self._parts_gone(op)

    def _parts_republish(self, op):
        op.node = f"kn{self.random.randrange(NODES) + 1}"
        op.words = {"slices": self.random.choice((1, 2, 3))}
        return op

    def _apply_too_big(self, op):
        op.pod = f"c{op.number}"
        op.words = {"cpu": "17", "memory": "16Mi", "grace": 1}
        self.pods[op.pod] = 1
        return op

    def _apply_other(self, op):
        op.pod = f"o{op.number}"
        op.words = {"cpu": "1", "memory": "16Mi", "grace": 1}
        return op

    def _some_pod(self):
        """More often a young one, and now and then one that may be over."""
        names = self.short[-5:] + list(self.pods)
        back = min(int(self.random.expovariate(0.1)), len(names) - 1)
        return names[-1 - back]

    def _delete(self, op):
        op.pod = self._some_pod()
        op.words = {"grace": self.random.choice((None, None, 0, 1))}
        self._forget(op.pod)
        return op

    def _scancel(self, op):
        op.pod = self._some_pod()
        self._forget(op.pod)
        return op

    def _time_limit(self, op):
        op.pod = self._some_pod()
        self._forget(op.pod)
        return op

    def _forget(self, pod):
        self.pods.pop(pod, None)
        self.gangs.pop(pod, None)
        self.devices.pop(pod, None)
        self.parts.pop(pod, None)
        if pod in self.short:
            self.short.remove(pod)

    def _hold(self, op):
        op.pod = self.random.choice(list(self.pods)[-8:])
        self.held.add(op.pod)
        return op

    def _cordon(self, op):
        names = [f"kn{i + 1}" for i in range(NODES)]
        if self.mixed and op.kind != "node-delete":
            names.append(SHARED_NODE)
        op.node = self.random.choice([n for n in names if n not in self.nodes])
        self.nodes.add(op.node)
        return op

    _drain = _node_down = _node_not_ready = _node_delete = _cordon

    # ---- Mixed

    def _job(self, op):
        pick = self.random.choice
        op.pod = f"j{op.number}"
        cpus = self.random.choices((1, 2, 3, 6, 12, 16), (8, 4, 3, 2, 1, 0.5))[0]
        run = pick((None, "0.2", "1", "1", "3", "8"))
        op.words = {"cpus": cpus, "run": run, "memory": pick((64, 500, 4000)),
                    "exit": pick((0, 0, 0, 1)), "partition": pick(SHARED)}
        if run:
            self.short_jobs.append(op.pod)
        else:
            self.jobs[op.pod] = cpus
        return op

    def _some_job(self, op):
        names = self.short_jobs[-5:] + list(self.jobs)
        op.pod = self.random.choice(names)
        return op

    def _job_cancel(self, op):
        op = self._some_job(op)
        self.jobs.pop(op.pod, None)
        return op

    _job_requeue = _job_suspend = _some_job

    def _pod_suspend(self, op):
        op.pod = self.random.choice(self.shared[-4:])
        return op
