# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that adopt a Pod, and that slurmctld may not start yet.

While a job of a partition of a higher PriorityTier waits for room, slurmctld
starts none of a lower tier on any node of that partition, whatever the priority
(schedule() in job_scheduler.c). A job that adopts a Pod may then be let into a
partition of that tier; but not where it would be billed otherwise, have other
limits, get nodes in another manner, or be preempted or preempt otherwise. There,
and there alone, it has to wait although its Pod runs."""

PIN = "k8s-node-"  # the feature of one node
HIGHEST = 0xfffffffd
IN_LINE = ("Priority", "Resources")
# Those of a node that was away, which may be old: behind another tier schedule()
# leaves the reason as it was.
OF_NODES = ("None", "ReqNodeNotAvail", "BadConstraints")
# What must be the same: of TRESBillingWeights and others none is the same as none.
ALIKE = ("TRESBillingWeights", "QoS", "OverSubscribe", "ExclusiveUser",
         "ExclusiveTopo", "PreemptMode")


def has_to_wait(world, job):
    """This job, which waits, adopts a Pod behind a higher tier."""
    node = _pinned_to(job)
    there = {name: one for name, one in world.partitions.items()
             if node in one["nodes"]}
    own = _named(job, there)
    if not node or not own or not _may_start(job):
        return False
    tier = max(map(_tier, own))
    waiting = max((_tier(one) for other in world.jobs
                   if other.id != job.id and _in_line(other)
                   for one in _named(other, there)), default=0)
    return waiting > tier and not any(
        _tier(one) >= waiting and _is_open(one) and
        all(_is_like(one, mine, there.values()) for mine in own)
        for one in there.values())


def _may_start(job):
    return "PENDING" in job.states and job.priority == HIGHEST and \
        job.reason in IN_LINE + OF_NODES


def _in_line(job):
    return "PENDING" in job.states and job.priority and job.reason in IN_LINE


def _pinned_to(job):
    pins = [word.removeprefix(PIN) for word in job.features.split("&")
            if word.startswith(PIN)]
    return pins[0] if pins else ""


def _named(job, there):
    return [there[name] for name in job.partitions.split(",") if name in there]


def _tier(partition):
    return int(partition["PriorityTier"])


def _is_open(partition):
    return partition["State"] == "UP" and partition["RootOnly"] == "NO" and \
        partition["ReqResv"] == "NO"


def _is_preempted(partition):
    return partition["PreemptMode"] != "OFF"


def _is_like(other, own, there):
    """As the sandbox has it: preempt/partition_prio."""
    return all(other.get(key) == own.get(key) for key in ALIKE) and \
        not _is_preempted(own) and not any(
            _is_preempted(one) and _tier(own) <= _tier(one) < _tier(other)
            for one in there)
