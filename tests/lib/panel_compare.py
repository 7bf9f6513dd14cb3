# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the expressions of all panels have the same values for the agent as for
Slurm's own commands, both scraped by one Prometheus.

Both are snapshots of something that moves. At an instant t Prometheus has what it last
scraped of the agent, at most SCRAPE seconds old, and the agent shows what it asked at
most INTERVAL seconds before. So the agent's value at t is compared with those of the
commands from t - SCRAPE - INTERVAL - SLACK until the first look that began after t has
been scraped; of gangs the agent's owner may know a state REASONS seconds later.

- Where nothing happens in all these looks the value must be the commands', without any
  exception. A test makes such times: chaos rests each CYCLE seconds.
- Elsewhere it must be equal to one of them or lie between two of them; but looks are a
  second apart, or more on a busy machine, and miss what comes and goes in between. How
  much they miss they say themselves: each look is judged by the others around it, like
  a value of the agent. The agent may lie outside as often as they do, by chance."""
import bisect
import collections
import math
import re

import commands_counts
import monitoring
from panel_times import (AGE, ASSOCIATIONS, BEFORE, FREE, INTERVAL, LONGEST_LOOK, RATE,
                         REASONS, SCRAPE, SDIAG, SLACK, Times, clock)
from prometheus import COMMANDS_SCRAPE

DEVIATIONS = 4   # standard ones: so far may chance go
# The first sample of the agent in the window may be SCRAPE seconds later than its
# begin, and the last is of up to SCRAPE + INTERVAL seconds before its end: so long may
# be the time in which what it counts has happened.
RATES = (RATE - 2 * SCRAPE - INTERVAL, RATE, RATE + INTERVAL + SLACK)

# rate() of a scrape each SCRAPE seconds and of one each second: each is extrapolated to
# the ends of the window, by up to one scrape at either end; and what is the same in
# windows of those lengths is divided by other lengths.
RATE_TOLERANCE = (2 * SCRAPE + RATE - RATES[0]) / RATE
WRONG = 0.25  # of a rate: so much must not be taken for none

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
# What slurmctld has for moments: the agent sees what its own requests cause, and each
# look what its; and a node that is resumed does not respond until the next second. It
# is compared, and shown, and may be missed each time.
MOMENTARY = re.compile(r"slurm_(sched_(last_cycle|max_cycle|queue)|bf_(last|max)|"
                       r"server_threads|agents|agent_queue|slurmdbd_queue|"
                       r"nodes_noresp)")
# What changes also while nothing happens, or is asked for each minute.
ALWAYS = re.compile("|".join([SDIAG.pattern, AGE.pattern, FREE.pattern,
                              "slurm_association_"]))
# Decays with time, and sshare prints six digits.
NEARLY = (re.compile(r"slurm_association_(usage|shares_norm|fairshare)"), 0.02)
# sshare prints whole seconds and cuts off the rest.
WHOLE = re.compile(r"slurm_association_usage_raw")


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
    instant with a value; still: those while nothing happened. looks, unseen: how often
    the commands' own looks were judged by those around them, and how often they were
    not among them. missed, wrong: words."""

    def __init__(self):
        self.equal = self.between = self.skipped = self.still = 0
        self.looks = self.unseen = 0
        self.missed, self.wrong = [], []

    def count(self):
        return self.equal + self.between

    def most(self):
        """How many may be missed."""
        own = self.count() + len(self.missed)
        share = min(1, (self.unseen + 1) / (self.looks + 1))
        return own * share + DEVIATIONS * math.sqrt(own * share)

    def verdict(self, expression):
        """What is wrong: words."""
        most = self.count() if MOMENTARY.search(expression) else self.most()
        return self.wrong + (self.missed if len(self.missed) > most else [])

    def __str__(self):
        return (f"{self.equal} equal, {self.still} of them while nothing happens, "
                f"{self.between} between two looks, {len(self.missed)} missed by them "
                f"(which miss {self.unseen} of {self.looks} of their own), "
                f"{self.skipped} left out, {len(self.wrong)} wrong")


def family(expression):
    """The name of the first metric in an expression, without that of a part of a
    histogram."""
    name = monitoring.used(of(expression, "agent"))[0][0]
    return re.sub("_(bucket|count|sum)$", "", name)


def same(one, other, tolerance=EXACT):
    if one is None or other is None:
        return one is other
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=tolerance)


def _where(expression, value, window):
    """Where a value lies among others: "equal" to one, "between" two, or "outside"."""
    pattern, tolerance = NEARLY
    tolerance = tolerance if pattern.search(expression) else EXACT
    if any(same(value, other, tolerance) for other in window):
        return "equal"
    numbers = [other or 0 for other in window]
    return "between" if numbers and min(numbers) < (value or 0) < max(numbers) \
        else "outside"


def _width(expression, value):
    """Of the bucket in which a quantile lies, else 0."""
    if "histogram_quantile" not in expression or value is None or math.isnan(value):
        return 0
    bounds = (0, *(commands_counts.RUN_BOUNDS if "_run_" in expression
                   else commands_counts.WAIT_BOUNDS))
    above = min(bisect.bisect_left(bounds, value), len(bounds) - 1)
    return bounds[above] - bounds[max(0, above - 1)]


def _wrong(expression, value):
    """A value that must not be taken for that: greater by 1; a rate, or what is only
    nearly the same, by a share of it; a quantile by that of its bucket, if that is
    more, since a histogram does not tell where in a bucket it lies."""
    if "rate(" not in expression and not NEARLY[0].search(expression):
        return value + 1
    return value + WRONG * (max(value, _width(expression, value)) or 1 / WRONG)


def _where_rate(value, window, width=0):
    """The same of rates, which are extrapolated; of quantiles this moves what is in
    the buckets, and so the quantile within its own, which is so wide."""
    numbers = [other for other in window if other is not None
               and not math.isnan(other)]
    if any(same(value, other) for other in window):
        return "equal"
    return "between" if value is not None and numbers and \
        min(numbers) - RATE_TOLERANCE * max(width, abs(min(numbers))) <= value <= \
        max(numbers) + RATE_TOLERANCE * max(width, abs(max(numbers))) else "outside"


class Comparison:
    """Of what Prometheus has from start to end, seconds since the epoch."""

    def __init__(self, prometheus, looks, start, end):
        self.prometheus = prometheus
        self.start, self.end = math.ceil(start), math.floor(end)
        self.times = Times(prometheus, looks, self.start, self.end)
        self.born = {}  # by counter: when each series was seen anew, by labels
        # By counter: between which instants only one of the two has lost something.
        self.lost = {}

    def instants(self):
        return range(self.start, self.end + 1, SCRAPE)

    def compare(self, expression, spoiled=False):
        """spoiled: the commands' values are made wrong, by _wrong()."""
        rate = "rate(" in expression
        theirs = of(expression, "commands")
        agent = self.prometheus.query_range(of(expression, "agent"), self.start,
                                            self.end, SCRAPE)
        commands = [self.prometheus.query_range(
            theirs.replace(f"[{RATE}s]", f"[{seconds}s]"),
            self.start - self._before(expression), self.end + LONGEST_LOOK, 1)
            for seconds in (RATES if rate else (RATE,))]
        if spoiled:
            for values in (its for found in commands for its in found.values()):
                for then in values:
                    values[then] = _wrong(expression, values[then])
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
                judge(result, expression, labels, at,
                      agent.get(labels, {}).get(float(at)),
                      [values.get(labels, {}) for values in commands])
        return result

    def _comparable(self, expression, at, rate):
        kubernetes, sdiag = (bool(which.search(expression))
                             for which in (KUBERNETES, SDIAG))
        if rate and not (self.times.whole(at, sdiag) and
                         (sdiag or self._is_still(expression, at))):
            return False
        if rate and self.times.touch(self.lost.get(family(expression), ()),
                                     at - RATE - BEFORE, self.times.until(at)):
            return False
        return self.times.steady(at, kubernetes)

    def _before(self, expression):
        if "slurm_association_" in expression:
            return BEFORE + ASSOCIATIONS
        return BEFORE + (REASONS if KUBERNETES.search(expression) else 0)

    def _is_still(self, expression, at):
        """Whether the values must be equal."""
        before = self._before(expression)
        if ALWAYS.search(expression):
            return False
        return self.times.still(at, before) and (
            "rate(" not in expression or self.times.still(at - RATE, before))

    def _judge(self, result, expression, labels, at, value, commands):
        window = [commands[0].get(then) for then in
                  self.times.window(at, self._before(expression))]
        if AGE.search(expression) and value is not None:
            window = [min(value, BEFORE)]
        if WHOLE.search(expression) and value is not None:
            value = float(math.floor(value))
        still = self._is_still(expression, at)
        self._judge_look(result, expression, at, commands[0])
        where = _where(expression, value, window)
        if where == "equal":
            result.equal += value is not None
            result.still += still and value is not None
        elif where == "between":
            result.between += 1
        else:
            (result.wrong if still else result.missed).append(
                f"{clock(at)} {dict(labels)}: {value}, the commands {_short(window)}")

    def _judge_look(self, result, expression, at, values):
        """The commands' own value at that instant, by those of other looks."""
        value = values.get(float(at))
        others = [values.get(then) for then in
                  self.times.window(at, self._before(expression))
                  if abs(then - at) > COMMANDS_SCRAPE]
        unseen = _where(expression, value, others) == "outside"
        result.looks += value is not None or unseen
        result.unseen += unseen

    def _judge_rate(self, result, expression, labels, at, value, commands):
        window = [values.get(then) for values in commands
                  for then in self.times.window(at)]
        has = value is not None and not math.isnan(value)
        moves = SDIAG.search(expression)
        if moves:
            result.looks += 1
            result.unseen += _where_rate(commands[0].get(float(at)), [
                values.get(then) for values in commands
                for then in self.times.window(at)
                if abs(then - at) > COMMANDS_SCRAPE]) == "outside"
        where = _where_rate(value, window, _width(expression, value))
        if where == "outside":
            (result.missed if moves else result.wrong).append(
                f"{clock(at)} {dict(labels)}: {value}, the commands {_short(window)}")
        elif where == "equal":
            result.equal += has
            result.still += has and not moves
        else:
            result.between += 1
            result.still += not moves

    def _is_new(self, expression, labels, at):
        """Whether a counter behind these values has begun within rate()'s window: what
        it was at its first scrape is not in the rate, and the first is not the same."""
        wanted = dict(labels)
        for name, *_ in monitoring.used(of(expression, "agent|commands")):
            for series, begins in self._born(name).items():
                its = dict(series)
                if any(at - RATES[-1] - BEFORE <= begun <= at for begun in begins) and \
                        all(its.get(label, value) == value
                            for label, value in wanted.items()):
                    return True
        return False

    def _born(self, name):
        """When each series was first seen, and seen again: what slurmctld counts begins
        anew with it."""
        if name not in self.born:
            self.born[name] = begins = collections.defaultdict(list)
            for instance in ("agent", "commands"):
                found = self.prometheus.query_range(
                    f'{name}{{instance="{instance}"}}', self.start - RATE, self.end,
                    SCRAPE)
                for series, values in found.items():
                    seen = sorted(values)
                    begins[series] += [at for before, at in
                                       zip([self.start - RATE, *seen], seen)
                                       if at - before > SCRAPE]
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
                wrong.append(f"{clock(at)}: slurm_up is 1, {at - since} s after "
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
        elif not (result.still or ALWAYS.search(expression)):
            wrong.append(f"{expression}: no comparison while nothing happened")
    for reason, which in why.items():
        print(f"# not compared, {reason}:", flush=True)
        for one in which:
            print(f"#     {one}", flush=True)
    return wrong


def blind(comparison, names):
    """Those expressions for which wrong values of the commands are found true."""
    return [expression for expression in expressions()
            if not why_not(expression, names) and
            not AGE.search(expression) and not MOMENTARY.search(expression) and
            comparison.compare(expression).count() and not
            comparison.compare(expression, spoiled=True).verdict(expression)]
