# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the expressions of all panels have the same values for the agent as for
Slurm's own commands, both scraped by one Prometheus.

Both are snapshots of something that moves. At an instant t Prometheus has what it last
scraped of the agent, at most SCRAPE seconds old, and the agent shows what it asked at
most INTERVAL seconds before. So the agent's value at t is compared with those of the
commands from t - SCRAPE - INTERVAL - SLACK until the first look that began after t has
been scraped. These may be:
- from looks among which nothing at all has changed: then the agent's must be equal,
  without any exception;
- from others: then it must be equal to one of them, or lie between two of them. Looks
  are a second apart, or more on a busy machine, and miss what comes and goes in
  between: one in MISSED_SHARE may lie outside."""
import bisect
import collections
import math
import re

import monitoring
from prometheus import COMMANDS_SCRAPE, SCRAPE

INTERVAL = 5     # MetricsInterval in the sandbox
SLACK = 3        # a scrape and a question take time, too
BEFORE = SCRAPE + INTERVAL + SLACK
LONGEST_LOOK = 30  # seconds: what takes longer is an outage
MISSED_SHARE = 5
SETTLE = 20      # seconds after an outage until the agent knows Pods and jobs again
RATE = 120       # seconds: $__rate_interval
# The first sample of the agent in the window may be SCRAPE seconds later than its
# begin, and the last is of up to SCRAPE + INTERVAL seconds before its end: so long may
# be the time in which what it counts has happened.
RATES = (RATE - 2 * SCRAPE - INTERVAL, RATE, RATE + INTERVAL + SLACK)

# rate() of one scrape each 5 s and of one each 2 s: what happens in the last SCRAPE +
# INTERVAL seconds, and in those before its window, is in the one and not in the other,
# which the values at neighbouring instants cover. And each is extrapolated to the ends
# of the window, by up to one scrape at either end.
RATE_TOLERANCE = 2 * SCRAPE / RATE
WRONG_RATE = 1.25  # what must not be taken for true

EXACT = 1e-13  # of a number: a byte of a terabyte is wrong

# Numbers that only the agent has: which, and why.
AGENTS_OWN = (
    (r"slurmk8sd_(problems|pods_vanished|pending_jobs|tasks|actions|events)",
     "the agent's own state: no command shows it"),
    (r"slurmk8sd_(turn|kubernetes_request|slurm_request|pod_binding)",
     "the agent measures itself: no command shows it"),
    (r"slurmk8sd_token_expiry", "the agent's token: no command shows it"),
    (r"slurmk8s_operator_", "the operator's, which is not in this sandbox"))
# By kubectl, too.
KUBERNETES = re.compile(r"slurmk8sd_(gangs|gang_pods|pods_outside_queue|"
                        r"resource_claims)")
SDIAG = re.compile(r"slurm_(sched|bf|rpc|rpcs|server|agent|agents|slurmdbd)_")
# What slurmctld has for moments, which looks miss more often than they see it: it is
# compared, and shown, and may be missed each time.
MOMENTARY = re.compile(r"slurm_(sched_(last_cycle|max_cycle|queue)|bf_(last|max)|"
                       r"server_threads|agents|agent_queue|slurmdbd_queue)")
AGE = re.compile(r"slurm_census_timestamp")
FREE = re.compile(r"slurm_node_memory_free|slurm_stats_since")
# Decays with time, and sshare prints six digits.
NEARLY = (re.compile(r"slurm_association_(usage|shares_norm|fairshare)"), 0.02)

# Beside the panels: the counters themselves.
COUNTERS = tuple(
    f"sum by ({labels}) ({name}{{instance=~\"$instance\"}})" for labels, name in (
        ("partition, state", "slurm_jobs_ended_total"),
        ("partition, qos, le", "slurm_job_wait_seconds_bucket"),
        ("partition, qos", "slurm_job_wait_seconds_count"),
        ("partition, qos", "slurm_job_wait_seconds_sum"),
        ("partition, qos, le", "slurm_job_run_seconds_bucket"),
        ("partition, qos", "slurm_job_run_seconds_count"),
        ("partition, qos", "slurm_job_run_seconds_sum")))


def expressions():
    """Each expression once, with the panel that has it first."""
    found = {}
    for board, panel, expression, _ in monitoring.queries():
        # Of equals topk() takes any: all are compared.
        whole = re.sub(r"^topk\(\d+, (.*)\)$", r"\1", expression)
        found.setdefault(whole, f"{board}: {panel['title']}")
    return found


def of(expression, instance):
    for name, value in (("$__rate_interval", f"{RATE}s"), ("$instance", instance),
                        ("$partition", ".*")):
        expression = expression.replace(name, value)
    return expression


def why_not(expression, known):
    """Why an expression is not compared, or "". known: names that the agent can
    have."""
    names = [name for name, *_ in monitoring.used(expression)]
    for name in names:
        for pattern, why in AGENTS_OWN:
            if re.match(pattern, name):
                return why
    missing = sorted(set(names) - known)
    return f"this agent does not have {', '.join(missing)}" if missing else ""


class Result:
    """Of one expression. equal, between and missed: comparisons of a label set at an
    instant with a value. missed, wrong: words."""

    def __init__(self):
        self.equal = self.between = self.skipped = 0
        self.missed, self.wrong = [], []

    def count(self):
        return self.equal + self.between

    def verdict(self, expression):
        """What is wrong: words."""
        most = (self.count() if MOMENTARY.search(expression)
                else self.count() / MISSED_SHARE)
        return self.wrong + (self.missed if len(self.missed) > most else [])

    def __str__(self):
        return (f"{self.equal} equal, {self.between} between two looks, "
                f"{len(self.missed)} missed by them, {self.skipped} left out, "
                f"{len(self.wrong)} wrong")


def _still(samples):
    """What looks have in common among which nothing happens."""
    return hash(frozenset((key, value) for key, value in samples.items()
                          if not SDIAG.match(key[0]) and not AGE.match(key[0])
                          and not FREE.match(key[0])))


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
        self.detail_up = known('up{job="slurm-nodes",instance="agent"}')
        self.slurm_up = known('slurm_up{instance="agent"}')
        self.census = known('slurm_census_timestamp_seconds{instance="agent"}')
        self.away = [(look.began, look.ended) for look in looks if not look.slurm]
        self.no_api = [(look.began, look.ended) for look in looks
                       if not look.kubernetes]
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

    def window(self, at):
        """Instants at which the commands' values may be the agent's at that one."""
        return [float(then) for then in range(at - BEFORE, self.until(at) + 1)
                if then not in self.unscraped]

    def still(self, at):
        """Whether nothing has changed in the looks around that instant."""
        first = max(0, bisect.bisect(self.begins, at - BEFORE) - 2)
        last = bisect.bisect(self.begins, self.until(at))
        return len(set(self.states[first:last])) == 1

    def shows(self, at):
        """Whether the agent has numbers, of less than SCRAPE + INTERVAL ago."""
        return (self.up.get(at) == self.detail_up.get(at) == 1 and
                self.slurm_up.get(at) == 1 and at - self.census.get(at, 0) <= BEFORE)

    def steady(self, at, kubernetes):
        """Whether all have answered around that instant."""
        first = at - BEFORE - (SETTLE if kubernetes else 0)
        spans = self.away + self.down + (self.no_api if kubernetes else [])
        return self.shows(at) and not self.touch(
            self.away, at - BEFORE, self.until(at)) and not (
            kubernetes and self.touch(spans, first, self.until(at)))

    def whole(self, at, slurm):
        """Whether both have samples at both ends of rate()'s window; slurm: whether
        slurmctld must have answered all the time, whose own counters begin anew."""
        first = at - RATE
        return first - BEFORE >= self.start and not (
            self.touch(self.down, first - SCRAPE, first + SCRAPE) or
            self.touch(self.down, at - SCRAPE, at) or
            slurm and self.touch(self.away, first - BEFORE - SETTLE, at))


def same(one, other, tolerance=EXACT):
    if one is None or other is None:
        return one is other
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=tolerance)


class Comparison:
    """Of what Prometheus has from start to end, seconds since the epoch."""

    def __init__(self, prometheus, looks, start, end):
        self.prometheus = prometheus
        self.start, self.end = math.ceil(start), math.floor(end)
        self.times = Times(prometheus, looks, self.start, self.end)
        self.born = {}  # by counter: when each series was first seen, by labels

    def instants(self):
        return range(self.start, self.end + 1, SCRAPE)

    def compare(self, expression, spoiled=False):
        """spoiled: the commands' values are made wrong: by 1, rates by a quarter."""
        rate = "rate(" in expression
        theirs = of(expression, "commands")
        if spoiled:
            theirs = (f"{WRONG_RATE} * ({theirs}) + (({theirs}) == bool 0)" if rate
                      else f"({theirs}) + 1")
        agent = self.prometheus.query_range(of(expression, "agent"), self.start,
                                            self.end, SCRAPE)
        commands = [self.prometheus.query_range(
            theirs.replace(f"[{RATE}s]", f"[{seconds}s]"), self.start - BEFORE,
            self.end + LONGEST_LOOK, 1) for seconds in (RATES if rate else (RATE,))]
        result = Result()
        judge = self._judge_rate if rate else self._judge
        for at in self.instants():
            if not self._comparable(expression, at, rate):
                result.skipped += 1
                continue
            for labels in set().union(agent, *commands):
                if rate and self._is_new(expression, labels, at):
                    result.skipped += 1
                    continue
                window = [values.get(labels, {}).get(then) for values in commands
                          for then in self.times.window(at)]
                judge(result, expression, labels, at,
                      agent.get(labels, {}).get(float(at)), window)
        return result

    def _comparable(self, expression, at, rate):
        kubernetes = bool(KUBERNETES.search(expression))
        if rate and not self.times.whole(at, bool(SDIAG.search(expression))):
            return False
        return self.times.steady(at, kubernetes)

    def _judge(self, result, expression, labels, at, value, window):
        pattern, tolerance = NEARLY
        tolerance = tolerance if pattern.search(expression) else EXACT
        if AGE.search(expression) and value is not None:
            window = [min(value, BEFORE)]
        if any(same(value, other, tolerance) for other in window):
            result.equal += value is not None
            return
        numbers = [other or 0 for other in window]
        words = f"{_time(at)} {dict(labels)}: {value}, the commands {_short(window)}"
        if min(numbers) < (value or 0) < max(numbers):
            result.between += 1
        elif not self.times.still(at) or SDIAG.search(expression):
            result.missed.append(words)
        else:
            result.wrong.append(words)

    def _judge_rate(self, result, _, labels, at, value, window):
        numbers = [other for other in window if other is not None
                   and not math.isnan(other)]
        if any(same(value, other) for other in window):
            result.equal += value is not None and not math.isnan(value)
        elif value is not None and numbers and \
                min(numbers) * (1 - RATE_TOLERANCE) <= value <= \
                max(numbers) * (1 + RATE_TOLERANCE):
            result.between += 1
        else:
            result.missed.append(f"{_time(at)} {dict(labels)}: {value}, the commands "
                                f"{_short(window)}")

    def _is_new(self, expression, labels, at):
        """Whether a counter behind these values has begun within rate()'s window: what
        it was at its first scrape is not in the rate, and the first is not the same."""
        wanted = dict(labels)
        for name, *_ in monitoring.used(of(expression, "agent|commands")):
            for series, begun in self._born(name).items():
                its = dict(series)
                if at - RATE - BEFORE <= begun <= at and all(
                        its.get(label, value) == value
                        for label, value in wanted.items()):
                    return True
        return False

    def _born(self, name):
        if name not in self.born:
            self.born[name] = begun = {}
            for instance in ("agent", "commands"):
                found = self.prometheus.query_range(
                    f'{name}{{instance="{instance}"}}', self.start - RATE, self.end, 5)
                for series, values in found.items():
                    begun[series] = max(begun.get(series, 0), min(values))
            first = self.start - RATE + BEFORE
            self.born[name] = {s: at for s, at in begun.items() if at > first}
        return self.born[name]

    def outages(self):
        """How many instants slurmctld or the agent was away, and what the agent said
        then that it must not: words. Until it notices, at its next question, it may
        say what it has heard before."""
        count, wrong = 0, []
        for at in range(self.start, self.end + 1):
            if not self.times.touch(self.times.away, at, at):
                continue
            count += 1
            since = self._away_since(at)
            notices = BEFORE + 15  # its next question, and MessageTimeout
            if at - since > notices and self.times.slurm_up.get(at) == 1:
                wrong.append(f"{_time(at)}: slurm_up is 1, {at - since} s after "
                             "slurmctld went away")
        return count, wrong

    def _away_since(self, at):
        begins = sorted(begin for begin, _ in self.times.away)
        ends = {begin: end for begin, end in self.times.away}
        i = bisect.bisect(begins, at) - 1
        while i > 0 and begins[i] - ends[begins[i - 1]] < 1.5:
            i -= 1
        return begins[i]


def _short(window):
    """Runs of equal values."""
    runs = []
    for value in window:
        if not runs or not same(runs[-1], value):
            runs.append(value)
    return ", ".join(f"{value:g}" if value is not None else "none" for value in runs)


def _time(at):
    return f"{at % 86400 // 3600:02d}:{at % 3600 // 60:02d}:{at % 60:02d}"


class Counters:
    """Counters of jobs, which both have counted from 0, exactly. A slurmctld that is
    killed forgets what it had not saved: starts and ends that only one of the two had
    seen by then, and that come again. So after each crash one difference may remain
    from then on; before the first there is none."""

    def __init__(self, comparison, crashes):
        self.comparison = comparison
        self.crashes = sorted(crashes)

    def _segments(self):
        """Instants between crashes, with a minute after each."""
        begins = [self.comparison.start, *(at + 60 for at in self.crashes)]
        ends = [*self.crashes, self.comparison.end]
        for number, (begin, end) in enumerate(zip(begins, ends)):
            instants = [at for at in self.comparison.instants() if begin <= at <= end
                        and self.comparison.times.steady(at, False)]
            if len(instants) > 1:
                yield number, instants

    def compare(self, expression, spoiled=0):
        """A Result, and differences that crashes have left, by labels."""
        own = self.comparison
        agent = own.prometheus.query_range(of(expression, "agent"), own.start, own.end,
                                           SCRAPE)
        commands = own.prometheus.query_range(
            f"({of(expression, 'commands')}) + {spoiled}", own.start - BEFORE,
            own.end + LONGEST_LOOK, 1)
        result, left = Result(), {}
        for number, instants in self._segments():
            for labels in agent.keys() | commands.keys():
                fits = self._constant(agent.get(labels, {}), commands.get(labels, {}),
                                      instants)
                least, most = fits
                if least <= most and (number or least <= 0 <= most):
                    result.equal += len(instants)
                    if not least <= 0 <= most:
                        left[number, labels] = min(fits, key=abs)
                else:
                    result.wrong.append(
                        f"{_time(instants[0])} to {_time(instants[-1])} "
                        f"{dict(labels)}: the agent has {least:+g} at least, and "
                        f"{most:+g} at most")
        return result, left

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


def compare_all(comparison, names, least):
    """Compares every expression; prints a line for each, and why one is not compared.
    names: of metrics that the agent has. least(expression): how often it must have been
    compared with a value. Returns what is wrong: words."""
    wrong, why = [], collections.defaultdict(list)
    for expression, panel in expressions().items():
        reason = why_not(expression, names)
        if reason:
            why[reason].append(f"{panel}: {expression}")
            continue
        result = comparison.compare(expression)
        print(f"# {panel}: {expression}\n#     {result}", flush=True)
        wrong += [f"{expression}: {words}"
                  for words in result.verdict(expression)[:5]]
        if result.count() < least(expression):
            wrong.append(f"{expression}: only {result.count()} comparisons with a "
                         "value")
    for reason, which in why.items():
        print(f"# not compared, {reason}:", flush=True)
        for one in which:
            print(f"#     {one}", flush=True)
    return wrong


def compare_counters(counters):
    wrong = []
    for expression in COUNTERS:
        result, left = counters.compare(expression)
        print(f"# {expression}\n#     {result}", flush=True)
        for (number, labels), difference in left.items():
            print(f"#     after crash {number} {dict(labels)}: {difference:+g}",
                  flush=True)
        wrong += [f"{expression}: {words}" for words in result.wrong[:5]]
        if not counters.compare(expression, spoiled=1)[0].wrong:
            wrong.append(f"{expression}: 1 more is found true")
    return wrong


def blind(comparison, names):
    """Those expressions for which wrong values of the commands are found true."""
    return [expression for expression in expressions()
            if not why_not(expression, names) and
            not AGE.search(expression) and not MOMENTARY.search(expression) and
            comparison.compare(expression).count() and not
            comparison.compare(expression, spoiled=True).verdict(expression)]
