# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold whatever was done: each rule is a function of a World, below,
and yields what is wrong in it. Both sides are read one after the other, and
the agent needs its time, so only what stays is a violation: settled()."""
import collections
import dataclasses
import datetime
import math
import time

import bed
import end_states
import gangs
import tiers
import world as worlds
from pod_requests import node_requests_of, quantity, requests_of
from world import is_live, is_over

DRAIN_MARK = "slurmk8sd: "  # what the reason of the agent's own drains begins with
OUR_PREFIXES = ("slurmk8s/", "slinky.slurm.net/", "scheduler.slinky.slurm.net/")
OURS_ALONE = (bed.NODE_ANNOTATION, bed.SLUID_ANNOTATION,
              bed.GENERATION_ANNOTATION, gangs.RANK, gangs.NODES)
MANAGER = "slurmk8sd"  # of the fields that the agent has written
EXTERNAL_NODE = "scheduler.slinky.slurm.net/external-node"
UNTAINTED = "k8s-untainted"
MANAGED_TAINT = "slinky.slurm.net/managed-node"
STOP_SLACK = 5  # seconds, from a Pod's last moment to what follows from it


@dataclasses.dataclass(frozen=True)
class Violation:
    rule: str     # its name
    subject: str  # what it is about, such as Pod/test/web-0
    words: str = dataclasses.field(compare=False)

    def __str__(self):
        return f"{self.rule} {self.subject}: {self.words}"


RULES = []


def rule(function):
    """Its name in reports is the function's, with dashes."""
    name = function.__name__.replace("_", "-")
    RULES.append(lambda world: [Violation(name, subject, words)
                                for subject, words in function(world)])
    return function


def violations(world):
    """All that is wrong in this moment's World, also what is about to pass."""
    return [wrong for check in RULES for wrong in check(world)]


def grace_of(conf):
    """Seconds until a violation is none that passes by itself."""
    return int(conf.get("OrphanGrace", "30")) + 15


def settled(seconds=None, read=worlds.read):
    """The violations that stay for so long (by default grace_of()). Returns as
    soon as nothing is wrong."""
    since = {}
    while True:
        world = read()
        grace = grace_of(world.conf) if seconds is None else seconds
        now = time.monotonic()
        wrong = violations(world)
        since = {w: since.get(w, now) for w in wrong}
        if all(now - began >= grace for began in since.values()):
            return wrong
        time.sleep(0.5)


# ---- The words of the rules


def _name(pod):
    return f"Pod/{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _labels(pod):
    return pod["metadata"].get("labels", {})


def _annotations(pod):
    return pod["metadata"].get("annotations", {})


def _ours(world):
    return [p for p in world.pods
            if p["spec"].get("schedulerName") in world.scheduler_names]


def _deleting(pod):
    return "deletionTimestamp" in pod["metadata"]


def _jobs_by_uid(world):
    """The living jobs of each gang."""
    jobs = collections.defaultdict(list)
    for job in world.jobs:
        if job.lives and job.uid:
            jobs[job.uid].append(job)
    return jobs


def _living_jobs(world):
    """A function from a Pod to the living jobs that are its, or its gang's."""
    jobs = _jobs_by_uid(world)

    def of(pod):
        own = jobs[pod["metadata"]["uid"]]
        gang = gangs.uid_of(pod)
        if own or not gang:
            return own
        sluid = _annotations(pod).get(bed.SLUID_ANNOTATION)
        return [job for job in jobs[gang]
                if not sluid or job.sluid == sluid]
    return of


def _covering_jobs(world):
    """The same, less those that adopt it and have to wait for that: tiers.py."""
    jobs_of = _living_jobs(world)
    return lambda pod: [job for job in jobs_of(pod)
                        if not tiers.has_to_wait(world, job)]


def _seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp).timestamp()


def _stopping(pod):
    """It was told to end, and its time to do so is not over."""
    if _deleting(pod):
        last = _seconds(pod["metadata"]["deletionTimestamp"])
    elif "activeDeadlineSeconds" in pod["spec"]:
        began = pod["status"].get("startTime")
        last = (_seconds(began) if began else time.time()) + \
            pod["spec"]["activeDeadlineSeconds"] + \
            pod["spec"].get("terminationGracePeriodSeconds", 30)
    else:
        return False
    return time.time() < last + STOP_SLACK


# ---- Resources


@rule
def overcommit(world):
    """The live Pods on a Node, whoever scheduled them, fit on it."""
    for name, node in world.nodes.items():
        if EXTERNAL_NODE not in node["metadata"].get("labels", {}):
            continue
        sums = collections.Counter()
        for pod in world.pods:
            if is_live(pod) and pod["spec"]["nodeName"] == name:
                sums.update(node_requests_of(pod))
        there = worlds.allocatable(node)
        for kind, amount in sums.items():
            if amount > there.get(kind, 0):
                yield (f"Node/{name}", f"live Pods ask for {amount} {kind}, "
                       f"it has {there.get(kind, 0)}")


@rule
def not_covered(world):
    """What a live Pod asks for is what its job has been given, or less."""
    jobs_of = _covering_jobs(world)
    sums = collections.defaultdict(collections.Counter)
    for pod in _ours(world):
        asks = requests_of(pod)
        for job in jobs_of(pod) if is_live(pod) else []:
            node = _annotations(pod).get(bed.NODE_ANNOTATION)
            asked = sums[job.sluid, node]
            asked.update({"cpu": math.ceil(asks.get("cpu", 0)),
                          "memory": asks.get("memory", 0)})
            cpus, memory = job.nodes.get(node, (0, 0))
            if cpus < asked["cpu"] or memory * 2 ** 20 < asked["memory"]:
                yield (_name(pod), f"{job} has {cpus} CPUs and {memory} MiB on "
                       f"{node}, the Pod (or its gang) asks for {asked['cpu']} and "
                       f"{asked['memory']} bytes{_waits(job)}")


def _waits(job):
    """Why it has nothing yet, for the reader."""
    return "" if job.nodes else (f"; it waits, {job.reason}, with priority "
                                 f"{job.priority} in {job.partitions}")


@rule
def ledger(world):
    """Slurm's nodes give to jobs what the jobs have, and no more than there is."""
    given_cpus, given_memory = collections.Counter(), collections.Counter()
    miscounted = set()  # Slurm gives away a suspended job's CPUs, and then again
    for job in world.jobs:
        for node, (cpus, memory) in job.nodes.items() if job.lives else ():
            given_cpus[node] += cpus
            given_memory[node] += memory
            if job.was_suspended:
                miscounted.add(node)
    for name, node in world.slurm_nodes.items():
        if name in miscounted:
            continue
        if node.cpus != given_cpus[name]:
            yield (f"SlurmNode/{name}", f"{node.cpus} CPUs are allocated, its "
                   f"living jobs have {given_cpus[name]}")
        if node.memory != given_memory[name]:
            yield (f"SlurmNode/{name}", f"{node.memory} MiB are allocated, its "
                   f"living jobs have {given_memory[name]}")
        if node.cpus > node.usable_cpus or node.memory > node.usable_memory:
            yield (f"SlurmNode/{name}", f"{node.cpus} CPUs and {node.memory} MiB "
                   f"are allocated of {node.usable_cpus} and "
                   f"{node.usable_memory}")


@rule
def shared(world):
    """On a node of both slurmd and kubelet ordinary jobs and live Pods, also
    those whose job has ended, fit together."""
    for name, node in world.nodes.items():
        known = world.slurm_nodes.get(worlds.slurm_name(node))
        if EXTERNAL_NODE not in node["metadata"].get("labels", {}) or \
                not known or not known.has_slurmd:
            continue
        sums, who = collections.Counter(), []
        for job in world.jobs:
            if job.has_processes and not job.was_suspended and \
                    known.name in job.nodes:
                cpus, memory = job.nodes[known.name]
                sums.update({"cpu": cpus, "memory": memory * 2 ** 20})
                who.append(str(job))
        for pod in world.pods if who else ():
            if is_live(pod) and pod["spec"]["nodeName"] == name:
                sums.update(node_requests_of(pod))
                who.append(_name(pod))
        there = worlds.allocatable(node)
        for kind, amount in sums.items():
            if amount > there.get(kind, 0):
                yield (f"Node/{name}", f"jobs and Pods together have {amount} "
                       f"{kind} of {there.get(kind, 0)}: {', '.join(who)}")


# ---- A Pod and its job


@rule
def pod_without_job(world):
    """A live Pod has a job that lives, or that lets it stop."""
    jobs_of = _living_jobs(world)
    completing = {j.sluid for j in world.jobs if "COMPLETING" in j.states}
    for pod in _ours(world):
        if not is_live(pod) or jobs_of(pod):
            continue
        sluid = _annotations(pod).get(bed.SLUID_ANNOTATION)
        if not (sluid in completing and _stopping(pod)):
            yield (_name(pod), f"on {pod['spec']['nodeName']}, with label "
                   f"{_labels(pod).get(bed.JOB_LABEL)} and SLUID {sluid}: no "
                   "living job is its")


@rule
def waits_without_word(world):
    """A waiting Pod has a job, or is told why it has none."""
    jobs_of = _living_jobs(world)
    for pod in _ours(world):
        if pod["spec"].get("nodeName") or is_over(pod) or _deleting(pod) or \
                jobs_of(pod):
            continue
        told = [c for c in pod["status"].get("conditions", [])
                if c["type"] == "PodScheduled" and c.get("message")]
        if not told and not pod["spec"].get("schedulingGates"):
            yield _name(pod), "no job, and no condition says why"


def _counts_for_others(world, job):
    """Whether a live Pod of another job uses a claim whose devices it counts."""
    namespace = job.name.split("/")[0]
    return any(is_live(pod) and pod["metadata"]["namespace"] == namespace and
               pod["metadata"]["uid"] != job.uid and
               any(claim.get("resourceClaimName") in job.claims
                   for claim in pod["spec"].get("resourceClaims", []))
               for pod in world.pods) if job.claims else False


@rule
def job_without_pod(world):
    """A placeholder that lives stands for a Pod that is not over, or for the
    devices of a claim that live Pods use, or is a batch job that waits."""
    pods = {p["metadata"]["uid"]: p for p in world.pods}
    for pod in world.pods:  # of a gang, one that is not over counts
        if (gang := gangs.uid_of(pod)) and (gang not in pods or
                                            is_over(pods[gang])):
            pods[gang] = pod
    for job in world.jobs:
        if not job.lives or not (job.external or job.uid) or job.shadow_of:
            continue
        pod = pods.get(job.uid)
        states = ",".join(sorted(job.states))
        if not job.uid and job.script and "PENDING" in job.states:
            continue
        if _counts_for_others(world, job):
            continue
        if not job.uid:
            yield f"Job/{job.id}", f"{job} is {states}, and names no Pod"
        elif not pod:
            yield f"Job/{job.id}", f"{job} is {states}, its Pod is gone"
        elif is_over(pod):
            yield (f"Job/{job.id}", f"{job} is {states}, {_name(pod)} is "
                   f"{pod['status']['phase']}")


@rule
def shadow(world):
    """A shadow placeholder holds what Slurm would give away of its node and
    Kubernetes has not, and nothing else."""
    for job in world.jobs:
        if not job.lives or not job.shadow_of:
            continue
        known = world.slurm_nodes.get(job.shadow_of)
        node = next((n for n in world.nodes.values()
                     if worlds.slurm_name(n) == job.shadow_of), None)
        if not known or not node or \
                EXTERNAL_NODE not in node["metadata"].get("labels", {}):
            yield f"Job/{job.id}", f"{job} holds {job.shadow_of}: no such node"
        elif set(job.nodes) - {job.shadow_of}:
            yield f"Job/{job.id}", f"{job} is on {','.join(job.nodes)}"
        elif job.node_gres and _lacks_devices(world, node, known):
            continue
        elif all(left >= given for left, given in zip(
                _left_of(world, node),
                (known.usable_cpus, known.usable_memory))):
            yield f"Job/{job.id}", f"{job} holds what is there"


def _lacks_devices(world, node, known):
    """Its device plugins offer less, but for what other schedulers' Pods have,
    than Slurm counts of GRES there."""
    left = collections.Counter({
        name: amount for name, amount in worlds.allocatable(node).items()
        if "/" in name})
    for pod in world.pods:
        if is_live(pod) and pod["spec"]["nodeName"] == \
                node["metadata"]["name"] and \
                pod["spec"].get("schedulerName") not in world.scheduler_names:
            left.subtract({name: amount for name, amount
                           in requests_of(pod).items() if name in left})
    counted = sum(int(one.split("(")[0].rpartition(":")[2]) for one in
                  known.gres.split(",") if one)
    return sum(max(0, amount) for amount in left.values()) < counted


def _left_of(world, node):
    """(CPUs, MiB) that other schedulers' Pods leave, or that which is least."""
    there = worlds.allocatable(node)
    left = collections.Counter({k: there.get(k, 0) for k in ("cpu", "memory")})
    for pod in world.pods:
        if is_live(pod) and pod["spec"]["nodeName"] == \
                node["metadata"]["name"] and \
                pod["spec"].get("schedulerName") not in world.scheduler_names:
            left.subtract(requests_of(pod))
    return int(left["cpu"]), int(left["memory"]) // 2 ** 20


@rule
def two_jobs(world):
    """No gang has two jobs that live, but for components of one."""
    for uid, jobs in _jobs_by_uid(world).items():
        if len({job.whole for job in jobs}) > 1:
            yield (f"Gang/{jobs[0].name}", " and ".join(map(str, jobs)) +
                   f" both live, for uid {uid}")


@rule
def label(world):
    """A bound Pod's label and annotations name its own job."""
    jobs_of = _covering_jobs(world)
    for pod in _ours(world):
        known = jobs_of(pod)
        if not is_live(pod) or len(known) != 1:
            continue
        job = known[0]
        have = _labels(pod) | _annotations(pod)
        node = have.get(bed.NODE_ANNOTATION)
        wanted = {bed.JOB_LABEL: str(job.id), bed.SLUID_ANNOTATION: job.sluid,
                  bed.NODE_ANNOTATION: node if node in job.nodes
                  else ",".join(job.nodes)}
        for name, value in wanted.items():
            if have.get(name) != value:
                yield (_name(pod), f"{name} is {have.get(name)}, its {job} says "
                       f"{value}")


@rule
def double_bind(world):
    """A Pod is where its job is."""
    jobs_of = _covering_jobs(world)
    for pod in _ours(world):
        where = pod["spec"].get("nodeName")
        node = worlds.slurm_name(world.nodes[where]) \
            if where in world.nodes else where
        for job in jobs_of(pod) if is_live(pod) else []:
            if node not in job.nodes:
                yield (_name(pod), f"it is on {where}, its {job} on "
                       f"{','.join(job.nodes) or 'no node'}")


@rule
def end_state(world):
    """A Pod's end is its job's end, once that has come."""
    kept = {job.sluid for job in world.jobs
            if job.lives and _counts_for_others(world, job)}
    for pod in _ours(world):
        if is_over(pod) and bed.JOB_LABEL in _labels(pod):
            sluid = _annotations(pod).get(bed.SLUID_ANNOTATION)
            if gangs.uid_of(pod) or sluid in kept:
                continue  # the job's end is that of them all
            wrong = end_states.wrong(pod, world.ended.get(sluid),
                                     world.slurm_user)
            if wrong:
                yield _name(pod), wrong


@rule
def partial_gang(world):
    """All Pods of a gang are on nodes, or none: no task of a job that runs is
    free while a Pod of its gang waits."""
    members = collections.defaultdict(list)
    for pod in _ours(world):
        if gang := gangs.uid_of(pod):
            members[gang].append(pod)
    own = _jobs_by_uid(world)  # of those that came on top of a gang's size
    wholes = collections.defaultdict(list)
    for job in world.jobs:
        if job.lives and job.uid in members:
            wholes[job.whole].append(job)
    for job, *others in wholes.values():
        sluids = {job.sluid, *(other.sluid for other in others)}
        tasks = job.tasks + sum(other.tasks for other in others)
        its = [p for p in members[job.uid] if
               _annotations(p).get(bed.SLUID_ANNOTATION) in sluids]
        waiting = [p for p in members[job.uid] if not p["spec"].get("nodeName")
                   and not is_over(p) and not _deleting(p)
                   and not own[p["metadata"]["uid"]]]
        lives = sum(map(is_live, its))
        if waiting and its and lives < tasks:
            yield (f"Gang/{job.name}", f"{job} has {tasks} tasks, {lives} "
                   f"Pods live by it, {len(waiting)} wait")


# ---- What is left behind


@rule
def stuck(world):
    """No job stays CONFIGURING, or COMPLETING when its containers are gone."""
    stopping = {_annotations(p).get(bed.SLUID_ANNOTATION) for p in world.pods
                if is_live(p) and _stopping(p)}
    waits = {p["metadata"]["uid"] for p in world.pods if _lacks_claim(p)}
    for job in world.jobs:
        for state in job.states & {"CONFIGURING", "COMPLETING"}:
            if state == "CONFIGURING" and job.uid in waits:
                continue
            if job.uid and job.sluid not in stopping:
                yield f"Job/{job.id}", f"{job} stays {state}"


def _lacks_claim(pod):
    """kube-controller-manager has not recorded a claim that it makes. Where it
    could make one of two later only, it drops each when it records the other, and
    never ends (syncPod() of 1.36 in its resourceclaim controller)."""
    recorded = {one["name"]
                for one in pod["status"].get("resourceClaimStatuses", [])}
    return any("resourceClaimTemplateName" in one and one["name"] not in recorded
               for one in pod["spec"].get("resourceClaims", []))


@rule
def left_behind(world):
    """What the binding writes is on bound Pods only; no finalizer is ours."""
    for pod in _ours(world):
        if not pod["spec"].get("nodeName"):
            for name in (bed.JOB_LABEL, bed.SLUID_ANNOTATION,
                         bed.NODE_ANNOTATION):
                if name in _labels(pod) | _annotations(pod):
                    yield _name(pod), f"it is not bound, and has {name}"
        for name in pod["metadata"].get("finalizers", []):
            if name.startswith(OUR_PREFIXES):
                yield _name(pod), f"it has the finalizer {name}"


def _has_node_set(pod):
    return any(owner["kind"] == "NodeSet" and owner.get("controller")
               for owner in pod["metadata"].get("ownerReferences", []))


@rule
def foreign(world):
    """Nothing of ours is on other schedulers' Pods."""
    ours = {p["metadata"]["uid"] for p in _ours(world)}
    for pod in world.pods:
        if pod["metadata"]["uid"] in ours:
            continue
        for name in (bed.JOB_LABEL, *OURS_ALONE):
            if name in _labels(pod) | _annotations(pod):
                yield _name(pod), f"it is not ours, and has {name}"
        for entry in pod["metadata"].get("managedFields", []):
            # On the Pods of NodeSets it writes conditions and marks, by the
            # status (agent/workers).
            if entry["manager"] == MANAGER and not (
                    _has_node_set(pod) and
                    entry.get("subresource") == "status"):
                yield _name(pod), f"it is not ours, and {MANAGER} wrote to it"


# ---- ResourceClaims

EXTENDED = "resource.kubernetes.io/extended-resource-claim"


def _claim_name(claim):
    meta = claim["metadata"]
    return f"ResourceClaim/{meta['namespace']}/{meta['name']}"


def _allocation_of(claim):
    return claim.get("status", {}).get("allocation") or {}


def _consumers(claim):
    return [entry["uid"] for entry in
            claim.get("status", {}).get("reservedFor", [])]


@rule
def device_twice(world):
    """No device is in two claims' allocations, but by adminAccess or in shares."""
    holders = collections.defaultdict(list)
    for claim in world.claims:
        for result in _results(claim):
            if not result.get("adminAccess") and not result.get("shareID"):
                holders[result["driver"], result["pool"],
                        result["device"]].append(_claim_name(claim))
    for device, claims in holders.items():
        if len(claims) > 1:
            yield "Device/" + "/".join(device), "it is in " + \
                " and ".join(sorted(claims))


@rule
def share_over(world):
    """Claims have no more of a device in shares than it has, where its driver
    says."""
    there = {}
    for one in world.slices:
        spec = one["spec"]
        for device in spec.get("devices") or []:
            there[spec["driver"], spec["pool"]["name"], device["name"]] = {
                name: quantity(capacity["value"]) for name, capacity in
                device.get("capacity", {}).items()}
    taken = collections.defaultdict(collections.Counter)
    for claim in world.claims:
        for result in _results(claim):
            if result.get("shareID") and not result.get("adminAccess"):
                taken[result["driver"], result["pool"], result["device"]].update(
                    {name: quantity(amount) for name, amount in
                     result.get("consumedCapacity", {}).items()})
    for device, amounts in taken.items():
        for name, amount in amounts.items():
            if device in there and amount > there[device].get(name, 0):
                yield ("Device/" + "/".join(device), f"claims have {amount} "
                       f"{name} of {there[device].get(name, 0)}")


@rule
def cpus_short(world):
    """A live Pod's job has been given the CPUs that its claims have, or more."""
    jobs_of = _covering_jobs(world)
    claims = _claims_by_name(world)
    sums = collections.Counter()
    for pod in _ours(world):
        if not is_live(pod):
            continue
        node = _annotations(pod).get(bed.NODE_ANNOTATION)
        for name in _claim_names(pod):
            claim = claims.get((pod["metadata"]["namespace"], name))
            if not claim or _consumers(claim)[:1] != [pod["metadata"]["uid"]]:
                continue  # of several Pods with one claim the first counts it
            for job in jobs_of(pod):
                sums[job.sluid, node] += _cpus_in(claim, world.conf)
                cpus, _ = job.nodes.get(node, (0, 0))
                if sums[job.sluid, node] > cpus:
                    yield (_name(pod), f"{job} has {cpus} CPUs on {node}, the "
                           f"claims of the Pod (or its gang) "
                           f"{sums[job.sluid, node]}")


def _cpus_in(claim, conf):
    """CPU devices, and CPUs in shares of groups of them."""
    def cpus_of(setting):
        return [what for what, _, gres in (
            entry.strip().partition(":") for entry in
            conf.get(setting, "").split(",")) if gres.split(":")[0] == "cpu"]

    classes = {}
    for request in claim["spec"].get("devices", {}).get("requests", []):
        for choice in request.get("firstAvailable", [{}]):
            name = "/".join(filter(None, (request["name"], choice.get("name"))))
            classes[name] = (choice or request.get("exactly", {})) \
                .get("deviceClassName")
    cpus = 0
    for result in _results(claim):
        if result.get("adminAccess"):
            continue
        if not result.get("shareID"):
            cpus += classes.get(result["request"]) in cpus_of("DeviceGres")
        for capacity, amount in result.get("consumedCapacity", {}).items():
            # The driver's own names may come without their domain.
            whole = capacity if "/" in capacity else \
                f"{result['driver']}/{capacity}"
            if whole in cpus_of("DeviceCapacity"):
                cpus += math.ceil(quantity(amount))
    return cpus


def _results(claim):
    return _allocation_of(claim).get("devices", {}).get("results", [])


def _claims_by_name(world):
    return {(c["metadata"]["namespace"], c["metadata"]["name"]): c
            for c in world.claims}


def _claim_names(pod):
    """As far as they are made."""
    status = pod["status"]
    made = {s["name"]: s.get("resourceClaimName") for s in
            status.get("resourceClaimStatuses", [])}
    names = [entry.get("resourceClaimName") or made.get(entry["name"])
             for entry in pod["spec"].get("resourceClaims", [])]
    names.append(status.get("extendedResourceClaimStatus", {})
                 .get("resourceClaimName"))
    return list(filter(None, names))


@rule
def claim_elsewhere(world):
    """A live Pod's claims are allocated on its node, and reserved for it."""
    claims = _claims_by_name(world)
    for pod in _ours(world):
        if not is_live(pod):
            continue
        meta, node = pod["metadata"], pod["spec"]["nodeName"]
        for name in _claim_names(pod):
            claim = claims.get((meta["namespace"], name))
            if not claim:
                yield _name(pod), f"its ResourceClaim {name} is gone"
            elif meta["uid"] not in _consumers(claim):
                yield _name(pod), f"{_claim_name(claim)} is not reserved for it"
            elif _node_of(claim) not in (None, node):
                yield (_name(pod), f"it is on {node}, {_claim_name(claim)} on "
                       f"{_node_of(claim)}")


@rule
def extended_twice(world):
    """At most one claim was made for a Pod's extended resources."""
    made = collections.defaultdict(list)
    for claim in world.claims:
        meta = claim["metadata"]
        if meta.get("annotations", {}).get(EXTENDED) == "true":
            for owner in meta.get("ownerReferences", []):
                made[owner["uid"]].append(_claim_name(claim))
    for uid, names in made.items():
        if len(names) > 1:
            yield f"Pod {uid}", "it has " + " and ".join(sorted(names))


@rule
def extended_short(world):
    """The claim for a live Pod's extended resources has as many devices as they
    are."""
    claims = _claims_by_name(world)
    for pod in _ours(world):
        said = pod["status"].get("extendedResourceClaimStatus")
        if not is_live(pod) or not said:
            continue
        claim = claims.get((pod["metadata"]["namespace"],
                            said["resourceClaimName"]), {})
        results = _results(claim)
        for kind in {one["resourceName"] for one in said["requestMappings"]}:
            requests = {one["requestName"] for one in said["requestMappings"]
                        if one["resourceName"] == kind}
            count = sum(one["request"] in requests for one in results)
            if count < requests_of(pod).get(kind, 0):
                yield (_name(pod), f"it asks for {requests_of(pod)[kind]} {kind}, "
                       f"its claim has {count}")


def _node_of(claim):
    """Of devices of one node; None where they are reachable from several."""
    terms = _allocation_of(claim).get("nodeSelector", {}) \
        .get("nodeSelectorTerms", [])
    for term in terms:
        for field in term.get("matchFields", []):
            if field["key"] == "metadata.name" and len(field["values"]) == 1:
                return field["values"][0]
    return None


def _is_users(claim):
    """No Pod's own, and not on its way out."""
    meta = claim["metadata"]
    return "deletionTimestamp" not in meta and not any(
        owner.get("controller") for owner in meta.get("ownerReferences", []))


@rule
def claim_left(world):
    """A claim keeps devices, reservations and the finalizer for Pods that there
    are; one that waits for a node has none of them without a job.

    The finalizer alone may stay on a claim that a user has made, where a
    kube-apiserver has died since: when the last consumer is over,
    kube-controller-manager takes away reservation and allocation in one write and
    the finalizer in the next (syncClaim() in
    pkg/controller/resourceclaim/controller.go). When the second fails, it does
    not come back to it before the claim is deleted."""
    pods = {p["metadata"]["uid"]: p for p in world.pods}
    jobs_of = _living_jobs(world)
    ours = {p["metadata"]["uid"] for p in _ours(world)}
    waiting = {(pod["metadata"]["namespace"], name): pod for pod in _ours(world)
               if not pod["spec"].get("nodeName") and not is_over(pod) and
               not jobs_of(pod) for name in _claim_names(pod)}
    for claim in world.claims:
        consumers = _consumers(claim)
        for uid in consumers:
            pod = pods.get(uid)
            if not pod or is_over(pod):
                yield _claim_name(claim), f"it is reserved for {uid}, which " + \
                    ("is over" if pod else "is gone")
            elif uid in ours and not pod["spec"].get("nodeName") and \
                    not jobs_of(pod):
                yield (_claim_name(claim), f"it is reserved for {_name(pod)}, "
                       "which has no job")
        if not consumers and _allocation_of(claim):
            yield _claim_name(claim), "nobody uses it, and it has devices"
        elif worlds.has_finalizer_alone(claim):
            meta = claim["metadata"]
            pod = waiting.get((meta["namespace"], meta["name"]))
            if pod:
                yield (_claim_name(claim), f"{_name(pod)} has no job, and it has "
                       "the finalizer")
            elif not _is_users(claim) or \
                    world.server_since < _seconds(meta["creationTimestamp"]):
                yield (_claim_name(claim),
                       "nobody uses it, and it has the finalizer")


# ---- Nodes


def _ill(node):
    """Why nothing new may start on a Node; "" when it is healthy."""
    ready = [c["status"] for c in node["status"].get("conditions", [])
             if c["type"] == "Ready"]
    if _deleting(node):
        return "being deleted"
    if node["spec"].get("unschedulable"):
        return "cordoned"
    if ready != ["True"]:
        return "not ready"
    return ""


def _foreign_taints(node):
    """The taints that keep Pods off which do not tolerate them."""
    return [taint["key"] for taint in node["spec"].get("taints", [])
            if taint["effect"] != "PreferNoSchedule" and
            taint["key"] != MANAGED_TAINT and
            not taint["key"].startswith("node.kubernetes.io/")]


@rule
def tainted(world):
    """Jobs of Pods without a toleration can start on untainted nodes only."""
    for name, node in world.nodes.items():
        known = world.slurm_nodes.get(worlds.slurm_name(node))
        if not known or EXTERNAL_NODE not in node["metadata"].get("labels", {}):
            continue
        open_to_all = UNTAINTED in known.features
        if _foreign_taints(node) and open_to_all:
            yield f"Node/{name}", (f"it is tainted with "
                                   f"{_foreign_taints(node)[0]}, Slurm's "
                                   f"node has {UNTAINTED}")
        elif not _foreign_taints(node) and not open_to_all:
            yield f"Node/{name}", f"Slurm's node lacks {UNTAINTED}"


@rule
def drained(world):
    """Our drain mark is on the Slurm nodes of ill Nodes, and on no others."""
    for name, node in world.nodes.items():
        known = world.slurm_nodes.get(worlds.slurm_name(node))
        if EXTERNAL_NODE not in node["metadata"].get("labels", {}):
            continue
        if not known:
            yield f"Node/{name}", "it is no node in Slurm"
        elif _ill(node) and not known.states & {"DRAIN", "DOWN"}:
            yield f"Node/{name}", f"it is {_ill(node)}, Slurm uses it"
        elif not _ill(node) and "DRAIN" in known.states and \
                known.reason.startswith(DRAIN_MARK):
            yield f"Node/{name}", f"it is healthy, Slurm says: {known.reason}"
