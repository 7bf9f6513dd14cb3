# SPDX-License-Identifier: GPL-2.0-or-later
"""Counters of jobs, of the agent and of the commands, which both have counted from 0:
exactly, beside what panels make of them."""
import collections
import math

from panel_compare import Result, family, of
from panel_times import BEFORE, LONGEST_LOOK, SCRAPE, clock

COUNTERS = tuple(
    f"sum by ({labels}) ({name}{{instance=~\"$instance\"}})" for labels, name in (
        ("partition, state", "slurm_jobs_ended_total"),
        ("partition, qos, le", "slurm_job_wait_seconds_bucket"),
        ("partition, qos", "slurm_job_wait_seconds_count"),
        ("partition, qos", "slurm_job_wait_seconds_sum"),
        ("partition, qos, le", "slurm_job_run_seconds_bucket"),
        ("partition, qos", "slurm_job_run_seconds_count"),
        ("partition, qos", "slurm_job_run_seconds_sum")))


# The least and the greatest difference that explain all instants from first to last.
Fit = collections.namedtuple("Fit", "least most first last")


class Counters:
    """Counters of jobs, which both have counted from 0, exactly, until slurmctld ends.
    One that is killed forgets what it had not saved: starts and ends that only one of
    the two had seen by then, and that come again. One that is stopped, or configured
    anew, forgets which nodes ended jobs had: of one that ended within a second, and
    that only one of the two had seen by then, the other never knows whether it ran. So
    from then on one difference may remain, in what was lost."""

    def __init__(self, comparison, crashes, stops):
        self.comparison = comparison
        self.ends = sorted([(at, True) for at in crashes] +
                           [(at, False) for at in stops])

    def _segments(self, expression):
        """Between ends of slurmctld, with a minute after each crash: whether something
        may have been lost before, and instants."""
        begins = [self.comparison.start,
                  *(at + 60 * crash for at, crash in self.ends)]
        ends = [*(at for at, _ in self.ends), self.comparison.end]
        for number, (begin, end) in enumerate(zip(begins, ends)):
            instants = [at for at in self.comparison.instants() if begin <= at <= end
                        and self.comparison.times.steady(at, False)]
            if len(instants) > 1:
                yield any(crash or "_seconds_" in expression
                          for _, crash in self.ends[:number]), instants

    def compare(self, expression, spoiled=0):
        """A Result, and what differences explain each segment, by labels."""
        own = self.comparison
        agent = own.prometheus.query_range(of(expression, "agent"), own.start, own.end,
                                           SCRAPE)
        commands = own.prometheus.query_range(
            f"({of(expression, 'commands')}) + {spoiled}", own.start - BEFORE,
            own.end + LONGEST_LOOK, 1)
        result, fits = Result(), collections.defaultdict(list)
        for lost, instants in self._segments(expression):
            for labels in agent.keys() | commands.keys():
                least, most = self._constant(agent.get(labels, {}),
                                             commands.get(labels, {}), instants)
                if least <= most and (lost or least <= 0 <= most):
                    result.equal += len(instants)
                    fits[labels].append(Fit(least, most, instants[0], instants[-1]))
                else:
                    result.wrong.append(
                        f"{clock(instants[0])} to {clock(instants[-1])} "
                        f"{dict(labels)}: the agent has {least:+g} at least, and "
                        f"{most:+g} at most")
        return result, fits

    def _constant(self, agent, commands, instants):
        """The least and the greatest difference that explain all instants: a counter
        has had each number between two looks."""
        least, most = -math.inf, math.inf
        for at in instants:
            value = agent.get(float(at), 0)
            seen = [commands.get(then, 0) for then in self.comparison.times.window(at)]
            least = max(least, value - max(seen))
            most = min(most, value - min(seen))
        return least, most


def _losses(fits):
    """When only one of the two has lost something: pairs of instants between which the
    difference has changed."""
    for number, fit in enumerate(fits):
        for before in reversed(fits[:number]):
            changed = before.least > fit.most or before.most < fit.least
            if changed:
                yield before.last, fit.first
            if changed or before.least == before.most:
                break


def compare_counters(counters):
    """What is wrong: words; and when only one of the two has lost something, by the
    metric's name."""
    wrong, lost = [], collections.defaultdict(list)
    for expression in COUNTERS:
        result, fits = counters.compare(expression)
        print(f"# {expression}\n#     {result}", flush=True)
        for labels, its in fits.items():
            lost[family(expression)] += _losses(its)
            for fit in its:
                if not fit.least <= 0 <= fit.most:
                    print(f"#     from {clock(fit.first)} {dict(labels)}: "
                          f"{min(fit.least, fit.most, key=abs):+g}", flush=True)
        wrong += [f"{expression}: {words}" for words in result.wrong[:5]]
        if not counters.compare(expression, spoiled=1)[0].wrong:
            wrong.append(f"{expression}: 1 more is found true")
    return wrong, lost
