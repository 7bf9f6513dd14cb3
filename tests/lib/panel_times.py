# SPDX-License-Identifier: GPL-2.0-or-later
"""When Prometheus, the agent and the looks of commands_metrics.py have answered, and
when nothing has happened: what panel_compare.py compares by."""
import bisect
import math
import re

import commands_numbers
from commands_metrics import FORGOTTEN
from prometheus import COMMANDS_SCRAPE

SCRAPE = 2       # of the agent, and between instants that are compared
INTERVAL = 2     # MetricsInterval
REASONS = 6      # ReasonInterval at most, as chaos sets it
SLACK = 2        # a scrape and a question take time, too
BEFORE = SCRAPE + INTERVAL + SLACK
LONGEST_LOOK = 30  # seconds: what takes longer is an outage
SETTLE = 20      # seconds after an outage until the agent knows Pods and jobs again
RATE = 120       # seconds: $__rate_interval
CYCLE = RATE // 2  # of chaos and rest: so both ends of a rate are at rest

ASSOCIATIONS = 60  # seconds: shares and usage are asked for so often

SINCE = commands_numbers.key("slurm_stats_since_timestamp_seconds")
SDIAG = re.compile(r"slurm_(sched|bf|rpc|rpcs|server|agent|agents|slurmdbd)_")
AGE = re.compile(r"slurm_census_timestamp")
FREE = re.compile(r"slurm_node_memory_free|slurm_stats_since")
# slurmctld forgets ended jobs at any time: nothing happens to anybody.
PURGED = re.compile(
    r"slurm_(partition_|user_|account_)?jobs(_(" +
    "|".join(commands_numbers.ENDS) + r"))?$")


def clock(at):
    return f"{at % 86400 // 3600:02d}:{at % 3600 // 60:02d}:{at % 60:02d}"


def _happens(name, labels):
    return not (SDIAG.match(name) or AGE.match(name) or FREE.match(name) or
                PURGED.match(name) or name == "slurmk8s_jobs" and
                dict(labels)["state"] in commands_numbers.ENDS)


def _still(samples):
    """What looks have in common among which nothing happens."""
    return hash(frozenset((key, value) for key, value in samples.items()
                          if _happens(*key)))


class Times:
    """When who answered, by what Prometheus and the looks say."""

    def __init__(self, prometheus, looks, start, end):
        def known(expression):
            values = prometheus.query_range(expression, start - RATE - 60, end, 1)
            return next(iter(values.values()), {})

        self.start, self.end, self.looks = start, end, looks
        self.begins = [look.began for look in looks]
        self.up = known('up{job="slurm",instance="agent"}')
        asked = known('up{job="commands"}')
        self.unscraped = {at for at, up in asked.items() if not up}
        # An agent that has just been started shows nothing yet.
        self.detail_up = known('scrape_samples_scraped{job="slurm-nodes",'
                               'instance="agent"} > bool 0')
        self.slurm_up = known('slurm_up{instance="agent"}')
        self.census = known('slurm_census_timestamp_seconds{instance="agent"}')
        self.since = [dict(look.samples).get(SINCE) for look in looks]
        self.away = [(look.began, look.ended) for look in looks if not look.slurm]
        self.no_api = [(look.began, look.ended) for look in looks
                       if not look.kubernetes]
        # How the last job of a Pod has ended only the agent may know.
        self.forgotten = [(look.began, look.ended) for look in looks
                          if look.samples.get(commands_numbers.key(FORGOTTEN))]
        self.down = [(at - SCRAPE, at + SCRAPE)
                     for its in (self.up, self.detail_up)
                     for at, up in its.items() if not up]
        self.states = [_still(look.samples) for look in looks]

    @staticmethod
    def touch(spans, first, last):
        return any(begin <= last and end >= first for begin, end in spans)

    def until(self, at):
        """The second in which Prometheus has the first look that began after that
        instant."""
        i = bisect.bisect_right(self.begins, at)
        ended = self.looks[i].ended if i < len(self.looks) else at + LONGEST_LOOK
        return math.ceil(min(ended, at + LONGEST_LOOK) + COMMANDS_SCRAPE)

    def window(self, at, before=BEFORE):
        """Instants at which the commands' values may be the agent's at that one."""
        return [float(then) for then in range(at - before, self.until(at) + 1)
                if then not in self.unscraped]

    def still(self, at, before=BEFORE):
        """Whether nothing has happened in the looks around that instant."""
        first = max(0, bisect.bisect(self.begins, at - before) - 2)
        last = bisect.bisect(self.begins, self.until(at))
        return len(set(self.states[first:last])) == 1

    def shows(self, at):
        """Whether the agent has numbers, of less than SCRAPE + INTERVAL ago."""
        return (self.up.get(at) == self.detail_up.get(at) == 1 and
                self.slurm_up.get(at) == 1 and at - self.census.get(at, 0) <= BEFORE)

    def steady(self, at, kubernetes):
        """Whether all have answered around that instant."""
        first = at - BEFORE - (SETTLE if kubernetes else 0)
        spans = self.away + self.down + (
            self.no_api + self.forgotten if kubernetes else [])
        return self.shows(at) and not self.touch(
            self.away, at - BEFORE, self.until(at)) and not (
            kubernetes and self.touch(spans, first, self.until(at)))

    def whole(self, at, slurm):
        """Whether both have samples at both ends of rate()'s window; slurm: whether
        slurmctld must have counted all the time: what it counts in the last second
        before it begins anew not all have seen."""
        first = at - RATE
        if slurm and len(set(self.since[bisect.bisect(self.begins, first - BEFORE) - 1:
                                        bisect.bisect(self.begins, at) + 1])) > 1:
            return False
        return first - BEFORE >= self.start and self.shows(first) and not (
            self.touch(self.down, first - SCRAPE, first + SCRAPE) or
            self.touch(self.down, at - SCRAPE, at) or
            slurm and self.touch(self.away, first - BEFORE - SETTLE, at))
