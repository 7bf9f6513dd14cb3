# SPDX-License-Identifier: GPL-2.0-or-later
"""The numbers of the agent's metrics, by what Slurm's commands and kubectl print: JSON
in, samples out. A sample is a value by its name and its labels, which are sorted pairs.
Nothing here is taken from the agent: what a number means is what doc/admin/metrics.md
and doc/admin/operate.md say of it."""
import collections
import json
import re

import gangs
from bed import JOB_LABEL

MEBI = 1 << 20
SCHEDULERS = ("slurm", "slurm-bridge-scheduler")  # in the sandbox's k8s.conf

# How metrics and JSON call the states of nodes and of jobs.
NODE_STATES = {
    "alloc": "ALLOCATED", "blocked": "BLOCKED", "cloud": "CLOUD",
    "completing": "COMPLETING", "down": "DOWN", "drain": "DRAIN",
    "dyn_future": "DYNAMIC_FUTURE", "dyn_normal": "DYNAMIC_NORM",
    "external": "EXTERNAL", "fail": "FAIL", "idle": "IDLE",
    "invalid_reg": "INVALID_REG", "maint": "MAINTENANCE", "mixed": "MIXED",
    "noresp": "NOT_RESPONDING", "planned": "PLANNED", "power_down": "POWER_DOWN",
    "power_up": "POWER_UP", "powered_down": "POWERED_DOWN",
    "powering_down": "POWERING_DOWN", "powering_up": "POWERING_UP",
    "reboot_issued": "REBOOT_ISSUED", "reboot_req": "REBOOT_REQUESTED",
    "resv": "RESERVED", "unknown": "UNKNOWN"}
ENDS = {
    "bootfail": "BOOT_FAIL", "cancelled": "CANCELLED", "completed": "COMPLETED",
    "deadline": "DEADLINE", "failed": "FAILED", "node_failed": "NODE_FAIL",
    "outofmemory": "OUT_OF_MEMORY", "preempted": "PREEMPTED", "timeout": "TIMEOUT"}
JOB_STATES = ENDS | {
    "completing": "COMPLETING", "configuring": "CONFIGURING",
    "expediting": "EXPEDITING", "pending": "PENDING", "powerup_node": "POWER_UP_NODE",
    "requeued": "REQUEUED", "resizing": "RESIZING", "revoked": "REVOKED",
    "running": "RUNNING", "signaling": "SIGNALING", "stageout": "STAGE_OUT",
    "suspended": "SUSPENDED"}
WORKS = {"ALLOCATED", "MIXED", "COMPLETING"}  # tells draining from drained
HAS_NODES = {"RUNNING", "SUSPENDED", "COMPLETING"}
GOES_ON = {"PENDING", "CONFIGURING", "RUNNING", "SUSPENDED"}

JOB_FAMILIES = ("jobs", *(f"jobs_{state}" for state in JOB_STATES), "jobs_hold",
                "jobs_cpus_alloc", "jobs_nodes_alloc", "jobs_memory_alloc_bytes")
NODE_FAMILIES = ("nodes", *(f"nodes_{state}" for state in NODE_STATES),
                 "nodes_drained", "nodes_draining", "cpus", "cpus_effective",
                 "cpus_alloc", "memory_bytes", "memory_effective_bytes",
                 "memory_alloc_bytes")


def key(name, **labels):
    return name, tuple(sorted(labels.items()))


def number(field):
    """Of a field that may have none: 0 then."""
    if not isinstance(field, dict):
        return field or 0
    return field.get("number", 0) if field.get("set") else 0


def _amount(text):
    """"8", "80G"."""
    unit = "KMGT".find(text[-1:].upper() or " ") + 1 if text[-1:].isalpha() else 0
    return int(text[:-1] if unit else text) << (10 * unit)


def gres_of_node(text):
    """Counts by name and type, of "gpu:a100:4(S:0),gpumem:80G"."""
    found = collections.Counter()
    for one in re.sub(r"\((?!null)[^)]*\)", "", text or "").split(","):
        if not one:
            continue
        name, *rest = one.split(":")
        count = _amount(rest.pop()) if rest else 1
        kind = rest[0] if rest and rest[0] != "(null)" else ""
        found[name, kind] += count
    return {kind: count for kind, count in found.items() if count or kind[1]}


def gres_of_job(tres):
    """The same of "cpu=2,gres/gpu=2,gres/gpu:a100=2", where the first counts the
    second, too."""
    all_of, typed = {}, collections.Counter()
    found = {}
    for one in (tres or "").split(","):
        what, _, count = one.partition("=")
        if not what.startswith("gres/"):
            continue
        name, _, kind = what[len("gres/"):].partition(":")
        if kind:
            found[name, kind] = int(count)
            typed[name] += int(count)
        else:
            all_of[name] = int(count)
    for name, count in all_of.items():
        if count > typed[name]:
            found[name, ""] = count - typed[name]
    return found


def memory_of_job(tres):
    """Bytes; slurmctld prints MiB where no unit stands."""
    found = re.search(r"(?:^|,)mem=(\d+(?:\.\d+)?)([KMGTP]?)", tres or "")
    if not found:
        return 0
    power = {"K": 1, "": 2, "M": 2, "G": 3, "T": 4, "P": 5}[found[2]]
    return int(float(found[1]) * 1024 ** power)


def tasks_of(job):
    """Tasks of an array that have no job of their own yet count each."""
    text = job["array_task_string"].split("%")[0]
    if not text or "PENDING" not in job["job_state"] and number(job["array_task_id"]):
        return 1
    count = 0
    for part in text.split(","):
        span, _, step = part.partition(":")
        first, _, last = span.partition("-")
        count += (int(last or first) - int(first)) // int(step or 1) + 1
    return count


def kind_of(job):
    """By what the agent's comment says that the job is."""
    text = job["admin_comment"]
    tag = json.loads(text) if text.startswith('{"slurmk8s"') else {}
    if tag.get("sbatch"):
        return "batch"
    return "pod" if tag.get("gang") else "shadow" if tag.get("shadow") else "native"


def of_nodes(nodes, partitions):
    """Sums of the cluster and of each partition, and the page of each node."""
    found = collections.Counter()
    for name in NODE_FAMILIES:
        found[key(f"slurm_{name}")] = 0
        for partition in partitions:
            found[key(f"slurm_partition_{name}", partition=partition)] = 0
    for node in nodes:
        _add_node(found, node, "slurm_", {})
        for partition in node["partitions"]:
            _add_node(found, node, "slurm_partition_", {"partition": partition})
        _each_node(found, node)
    return found


def _usable(node):
    return (node["effective_cpus"] or node["cpus"],
            node["real_memory"] - node["specialized_memory"])


def _add_node(found, node, prefix, labels):
    def add(name, count, **more):
        found[key(prefix + name, **labels, **more)] += count

    states = set(node["state"])
    add("nodes", 1)
    for name, word in NODE_STATES.items():
        add(f"nodes_{name}", word in states)
    add("nodes_drained", "DRAIN" in states and not states & WORKS)
    add("nodes_draining", "DRAIN" in states and bool(states & WORKS))
    cpus, memory = _usable(node)
    for name, count in (("cpus", node["cpus"]), ("cpus_effective", cpus),
                        ("cpus_alloc", node["alloc_cpus"]),
                        ("memory_bytes", node["real_memory"] * MEBI),
                        ("memory_effective_bytes", memory * MEBI),
                        ("memory_alloc_bytes", node["alloc_memory"] * MEBI)):
        add(name, count)
    for name, field in (("gres", "gres"), ("gres_alloc", "gres_used")):
        for (gres, kind), count in gres_of_node(node[field]).items():
            add(name, count, gres=gres, type=kind)


def _each_node(found, node):
    def say(name, value, **more):
        found[key(f"slurm_node_{name}", node=node["name"], **more)] = value

    cpus, memory = _usable(node)
    say("cpus", node["cpus"])
    say("cpus_effective", cpus)
    say("cpus_alloc", node["alloc_cpus"])
    say("memory_bytes", node["real_memory"] * MEBI)
    say("memory_effective_bytes", memory * MEBI)
    say("memory_alloc_bytes", node["alloc_memory"] * MEBI)
    if node["free_mem"]["set"]:
        say("memory_free_bytes", number(node["free_mem"]) * MEBI)
    for name, field in (("gres", "gres"), ("gres_alloc", "gres_used")):
        for (gres, kind), count in gres_of_node(node[field]).items():
            say(name, count, gres=gres, type=kind)
    if node["reason"]:
        say("reason_info", 1, reason=node["reason"], user=node["reason_set_by_user"])
        say("reason_since_timestamp_seconds", number(node["reason_changed_at"]))


def of_jobs(jobs, partitions, people=False):
    """Sums of the cluster, of each partition and of each kind; of users and accounts
    if they are asked for."""
    found = collections.Counter()
    for name in JOB_FAMILIES:
        found[key(f"slurm_{name}")] = 0
        for partition in partitions:
            found[key(f"slurm_partition_{name}", partition=partition)] = 0
    for job in jobs:
        states, tasks = set(job["job_state"]), tasks_of(job)
        _add_job(found, job, "slurm_", {})
        for partition in job["partition"].split(","):
            _add_job(found, job, "slurm_partition_", {"partition": partition})
        for name, word in JOB_STATES.items():
            if word in states:
                found[key("slurmk8s_jobs", kind=kind_of(job), state=name)] += tasks
        if people:
            _add_job(found, job, "slurm_user_", {"username": job["user_name"]}, False)
            _add_job(found, job, "slurm_account_", {"account": job["account"]}, False)
    return found


def _add_job(found, job, prefix, labels, all_states=True):
    def add(name, count, **more):
        found[key(prefix + name, **labels, **more)] += count

    states, tasks, tres = set(job["job_state"]), tasks_of(job), job["tres_alloc_str"]
    add("jobs", tasks)
    if all_states and "PENDING" in states:
        add("jobs_pending_reason", tasks, reason=job["state_reason"])
    for name, word in JOB_STATES.items():
        if all_states or name in ("pending", "running"):
            add(f"jobs_{name}", tasks * (word in states))
    if all_states:
        add("jobs_hold", tasks * ("PENDING" in states and
                                  job["priority"]["number"] == 0))
    has = bool(states & HAS_NODES)
    add("jobs_cpus_alloc", number(job["cpus"]) * has)
    add("jobs_nodes_alloc", number(job["node_count"]) * has)
    add("jobs_memory_alloc_bytes", memory_of_job(tres) * has)
    if has:
        for (gres, kind), count in gres_of_job(tres).items():
            add("jobs_gres_alloc", count, gres=gres, type=kind)


MICROSECONDS = {  # of sdiag
    "slurm_sched_last_cycle_seconds": "schedule_cycle_last",
    "slurm_sched_max_cycle_seconds": "schedule_cycle_max",
    "slurm_bf_last_cycle_seconds": "bf_cycle_last",
    "slurm_bf_max_cycle_seconds": "bf_cycle_max",
    "slurm_sched_cycle_seconds_total": "schedule_cycle_sum",
    "slurm_bf_cycle_seconds_total": "bf_cycle_sum"}
COUNTS = {
    "slurm_server_threads": "server_thread_count", "slurm_agents": "agent_count",
    "slurm_agent_queue_size": "agent_queue_size",
    "slurm_slurmdbd_queue_size": "dbd_agent_queue_size",
    "slurm_sched_queue_length": "schedule_queue_length",
    "slurm_bf_last_depth": "bf_last_depth",
    "slurm_sched_cycles_total": "schedule_cycle_total",
    "slurm_bf_cycles_total": "bf_cycle_counter",
    "slurm_bf_backfilled_jobs_total": "bf_backfilled_jobs"}


def of_sdiag(said):
    found = {key(name): said[field] / 1e6 for name, field in MICROSECONDS.items()}
    found |= {key(name): said[field] for name, field in COUNTS.items()}
    found[key("slurm_stats_since_timestamp_seconds")] = number(said["req_time_start"])
    for rpc in said["rpcs_by_message_type"]:
        which = str(rpc["type_id"])
        found[key("slurm_rpcs_total", rpc=which)] = rpc["count"]
        found[key("slurm_rpc_seconds_total", rpc=which)] = rpc["total_time"] / 1e6
    return found


def of_reservations(reservations):
    found = {}
    for one in reservations:
        for name, field in (("nodes", "node_count"), ("cores", "core_count"),
                            ("start_timestamp_seconds", "start_time"),
                            ("end_timestamp_seconds", "end_time")):
            found[key(f"slurm_reservation_{name}", reservation=one["name"])] = \
                number(one[field])
    return found


def of_licenses(licenses):
    found = {}
    for one in licenses:
        labels = {"license": one["LicenseName"], "nodes": one.get("Nodes", "")}
        for name, field in (("", "Total"), ("_used", "Used"),
                            ("_reserved", "Reserved")):
            found[key(f"slurm_licenses{name}", **labels)] = one[field]
    return found


def of_shares(lines, jobs):
    """`sshare -alP -o Account,User,Partition,RawShares,…`, without a head. Users who
    have used nothing and have no job are left out. The account root shares nothing."""
    found, busy = {}, {job["user_name"] for job in jobs}
    for line in lines.splitlines():
        account, user, partition, *values = (part.strip() for part in line.split("|"))
        if user and user not in busy and int(values[2]) < 1:
            continue
        for name, value in zip(("shares", "shares_norm", "usage_raw",
                                "usage_effective", "fairshare"), values):
            if (account, user, name) == ("root", "", "shares_norm"):
                continue
            if value and value != "parent":
                found[key(f"slurm_association_{name}", account=account, user=user,
                          partition=partition)] = float(value)
    return found


# ---- Kubernetes

def lives(pod):
    return pod["status"].get("phase") not in ("Succeeded", "Failed")


def of_pods(pods, jobs, slurm_nodes):
    """Gangs and their Pods, which have not ended, by the state of the newest job that
    names one of them, and Pods on Slurm's nodes that no job stands for and no DaemonSet
    owns."""
    newest = _newest(jobs, "uid|first")
    members, outside = collections.defaultdict(list), 0
    for pod in pods:
        meta, gang = pod["metadata"], gangs.uid_of(pod)
        if not lives(pod):
            continue
        if pod["spec"].get("schedulerName") in SCHEDULERS:
            members[gang or meta["uid"]].append(pod)
        elif pod["spec"].get("nodeName") in slurm_nodes:
            outside += not _of_daemon_set(meta)
    members = _apart(members, _newest(jobs, "uid"))
    return _of_gangs(members, newest, slurm_nodes, outside)


def forgotten(pods, jobs, before):
    """How many Pods live of whose jobs, among those before, none is known now."""
    gone = _newest(before, "uid").keys() - _newest(jobs, "uid").keys()
    return sum(lives(pod) and bool(gone & {pod["metadata"]["uid"], gangs.uid_of(pod)})
               for pod in pods)


def _newest(jobs, names):
    """The state of the newest job by the uid that it gives one of these names."""
    newest = {}
    for job in sorted(jobs, key=lambda job: job["job_id"]):
        for uid in re.findall(f'"(?:{names})":"([^"]*)"', job["admin_comment"]):
            newest[uid] = _word_of(job)
    return newest


def _apart(members, newest):
    """A gang that has lost its job is none any more once a Pod of it goes on with a job
    of its own: each Pod that was bound is then alone. Those that wait are a gang."""
    found = {}
    for uid, pods in members.items():
        by_uid = {pod["metadata"]["uid"]: pod for pod in pods}
        if len(pods) == 1 or not by_uid.keys() & newest.keys() or \
                newest.get(uid) in GOES_ON:
            found[uid] = pods
            continue
        waiting = [own for own, pod in by_uid.items()
                   if own not in newest and not _is_ours(pod)]
        found |= {own: [pod] for own, pod in by_uid.items() if own not in waiting}
        if waiting:
            found[waiting[0]] = [by_uid[own] for own in waiting]
    return found


def _is_ours(pod):
    """Whether the agent has bound it."""
    return JOB_LABEL in pod["metadata"].get("labels", {})


def _word_of(job):
    """Of several words that tell a job's state: the first, but for a job whose nodes
    are being made ready."""
    states = job["job_state"]
    return "CONFIGURING" if "CONFIGURING" in states else states[0]


def _of_daemon_set(meta):
    return "kubernetes.io/config.mirror" in meta.get("annotations", {}) or any(
        owner["kind"] == "DaemonSet" and owner.get("controller")
        for owner in meta.get("ownerReferences", []))


def _of_gangs(members, newest, slurm_nodes, outside):
    found = collections.Counter()
    for uid, pods in members.items():
        for pod in pods:  # bound by somebody else
            outside += (pod["spec"].get("nodeName") in slurm_nodes and
                        not _is_ours(pod))
        states = [newest[u] for u in (uid, *(p["metadata"]["uid"] for p in pods))
                  if u in newest]
        state = states[0] if states else "NONE"
        found[key("slurmk8sd_gangs", job_state=state)] += 1
        found[key("slurmk8sd_gang_pods", job_state=state)] += len(pods)
    found[key("slurmk8sd_pods_outside_queue")] = outside
    return found


def of_claims(claims):
    found = collections.Counter()
    for name in ("allocated", "reserved", "pending"):
        found[key("slurmk8sd_resource_claims", state=name)] = 0
    for claim in claims:
        status = claim.get("status", {})
        state = "reserved" if status.get("reservedFor") else \
            "allocated" if status.get("allocation") else "pending"
        found[key("slurmk8sd_resource_claims", state=state)] += 1
    return found
