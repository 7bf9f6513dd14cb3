# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts and ends of jobs, counted from listing to listing by the rules of
doc/admin/metrics.md, "Counts of jobs"."""
import collections

from commands_numbers import ENDS, key, kind_of, number, tasks_of

WAIT_BOUNDS = (1, 10, 60, 300, 900, 1800, 3600, 14400, 43200, 86400, 259200, 604800)
RUN_BOUNDS = (1, 10, 60, 300, 900, 3600, 14400, 43200, 86400, 172800, 604800, 2592000)
ENDED = "slurm_jobs_ended_total"
STARTING = {"CONFIGURING", "POWER_UP_NODE"}


class Times:
    """A histogram."""

    def __init__(self, bounds):
        self.bounds, self.values = bounds, []

    def samples(self, name, labels):
        for bound in (*self.bounds, float("inf")):
            le = "+Inf" if bound == float("inf") else str(bound)
            yield (key(f"{name}_bucket", **labels, le=le),
                   sum(value <= bound for value in self.values))
        yield key(f"{name}_count", **labels), len(self.values)
        yield key(f"{name}_sum", **labels), sum(self.values)


def end_of(job):
    """The name of the state in which the job has ended, or None."""
    return next((name for name, word in ENDS.items() if word in job["job_state"]), None)


def start_of(job):
    """When a job has started, in seconds; 0 if it has not. One that was cancelled
    before has its start at its end, as has one that ran for less than a second: but
    that had nodes, which slurmctld forgets when it is started again, and when they fail
    while the job is completing."""
    states, start = set(job["job_state"]), number(job["start_time"])
    if "PENDING" in states or not start or (not end_of(job) and states & STARTING):
        return 0
    had_none = end_of(job) and not job["nodes"] and "COMPLETING" not in states and \
        start >= number(job["end_time"])
    return 0 if had_none else start


def ran(job):
    """Seconds, without those in which it was suspended."""
    start, end = number(job["start_time"]), number(job["end_time"])
    suspended = number(job["suspend_time"])
    if suspended >= start:
        return max(0, end - suspended + number(job["pre_sus_time"]))
    return max(0, end - start)


class JobCounts:
    def __init__(self):
        self.seen = {}        # by job: start and end that were counted
        self.first = True     # what was there before is not counted
        self.ended = collections.Counter()
        self.waits = collections.defaultdict(lambda: Times(WAIT_BOUNDS))
        self.runs = collections.defaultdict(lambda: Times(RUN_BOUNDS))
        self.taken_back = 0   # ends that slurmctld has forgotten in a crash

    def see(self, jobs):
        """A listing of all jobs."""
        now = {}
        for job in jobs:
            if kind_of(job) == "shadow":
                continue
            before = self.seen.get(job["job_id"], (0, 0))
            now[job["job_id"]] = self._see(job, *before)
        self.seen, self.first = now, False

    def _see(self, job, start_before, end_before):
        start, end = start_of(job), number(job["end_time"]) if end_of(job) else 0
        partition = job["partition"].split(",")[0]
        queue = (("partition", partition), ("qos", job["qos"]))
        if end_before and not end:
            self.taken_back += 1
        if start and start != start_before and not self.first:
            # slurmctld forgets since when a job was eligible that is held and released
            # while it runs.
            since = number(job["eligible_time"]) or number(job["submit_time"])
            self.waits[queue].values.append(max(0, start - since))
        if end and end != end_before and not self.first:
            self.ended[key(ENDED, partition=partition, state=end_of(job))] += \
                tasks_of(job)
            if start:
                self.runs[queue].values.append(ran(job))
        return start or start_before, end or end_before

    def samples(self):
        found = dict(self.ended)
        for queue in set(self.waits) | set(self.runs):
            for name, all_of, bounds in (
                    ("slurm_job_wait_seconds", self.waits, WAIT_BOUNDS),
                    ("slurm_job_run_seconds", self.runs, RUN_BOUNDS)):
                times = all_of.get(queue) or Times(bounds)
                found |= dict(times.samples(name, dict(queue)))
        return found
