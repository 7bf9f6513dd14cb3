# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures made of samples and counts."""


def percentile(values, p):
    """The smallest value that at least p % of them do not exceed."""
    values = sorted(values)
    return values[max(0, -(-len(values) * p // 100) - 1)]


def rates(pods, moment):
    first = min(pod.posted for pod in pods)
    last = max(getattr(pod, moment) for pod in pods)
    latency = [1000 * (pod.bound - pod.posted) for pod in pods]
    return {"pods": len(pods), "rate": len(pods) / (last - first), "seconds": last - first,
            "created in": max(pod.replied for pod in pods) - first,
            "bound p50": percentile(latency, 50), "bound p99": percentile(latency, 99)}


def names(case, scheduler, run, n):
    return [f"{case}-{scheduler}-{run}-{i}" for i in range(n)]


def difference(after, before):
    return {name: after[name] - before.get(name, 0) for name in after if after[name] != before.get(name, 0)}


def agents_rpcs(after, before):
    """RPCs between two counts: those of the agent's user, and all types but our own sdiag."""
    types = difference(after["message type"], before["message type"])
    types.pop("REQUEST_STATS_INFO", None)
    return difference(after["user"], before["user"]).get("slurm", 0), types
