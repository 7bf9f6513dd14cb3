# SPDX-License-Identifier: GPL-2.0-or-later
"""TAP for prove(1): a test script is a list of cases, each a function whose
docstring is its name. A case fails by raising; the next one runs all the same.
"""
import os
import signal
import sys
import time
import traceback


# Limits of waits are what a quiet machine needs at most; a loaded one needs more.
PATIENCE = int(os.environ.get("SANDBOX_PATIENCE", "3"))


# A case that hangs must not take the others' time: after so many seconds it has
# failed, and its traceback says where it was. Those of tests/long take hours.
LONG = os.path.basename(os.path.dirname(os.path.abspath(sys.argv[0]))) == "long"
LONGEST_CASE = float("inf") if LONG else 200 * PATIENCE

# Of all tests, seconds since the epoch; what has not run by then has failed.
ALL_END = float(os.environ.get("TESTS_END", "inf"))


class TooLong(BaseException):
    """Raised in a case by its time limit. No Exception, so that a test which
    tries again after any error does not go on."""


class Skip(Exception):
    """Raised by a case that cannot run here; the words are its reason."""


_cases = []
_last = []  # run after all others, and also when cases are chosen by name


def case(function):
    _cases.append(function)
    return function


def last_case(function):
    """As case, for what is checked of the state that the others leave."""
    _last.append(function)
    return function


def check(fact, words):
    """A fact that must hold now."""
    if not fact:
        raise AssertionError(words)


def equal(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: got {got!r}, wanted {wanted!r}")


def wait_for(what, condition, seconds=30.0, every=0.05):
    """Waits until condition() is true, and returns what it returned. Waiting is
    on a condition, never for a time; the limit, PATIENCE times these seconds,
    only ends what will never be."""
    limit = seconds * PATIENCE
    began = time.monotonic()
    while True:
        result = condition()
        if result:
            return result
        waited = time.monotonic() - began
        if waited > limit:
            raise AssertionError(f"waited {limit:g} s for {what}")
        # Asking costs time of the same CPUs as what is waited for.
        time.sleep(max(every, min(0.25, waited / 20)))


def never(what, condition, seconds):
    """Watches for a while that condition() stays false."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            raise AssertionError(f"this must not be: {what}")
        time.sleep(0.1)


def skip_all(reason):
    """Ends a script none of whose cases can run here."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def _note(text):
    for line in text.rstrip().splitlines():
        print(f"# {line}", flush=True)


def _too_long(_signal, _frame):
    raise TooLong("the time limit of the case, or of all tests, is reached")


def _limit(seconds):
    """From now; again and again, should the first be lost in a destructor.
    0 or infinity: no limit."""
    seconds = 0 if seconds == float("inf") else seconds
    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds, 10 if seconds else 0)


def run(before_each=None, after_each=None, after_failure=None):
    """Runs the cases named on the command line, or all; prints TAP; exits."""
    wanted = sys.argv[1:]
    chosen = [c for c in _cases if not wanted or c.__name__ in wanted]
    chosen += _last
    print(f"1..{len(chosen)}", flush=True)
    failed = 0
    for number, function in enumerate(chosen, 1):
        name = " ".join(function.__doc__.split())
        began = time.monotonic()
        left = ALL_END - time.time()
        try:
            if left <= 0:
                raise TooLong("not run: the time for all tests is over")
            _limit(min(LONGEST_CASE, left))
            if function in _last:
                before_each = after_each = None  # it would change what is left
            if before_each:
                before_each()
            function()
            if after_each:
                after_each()
            _limit(0)
            print(f"ok {number} - {name}", flush=True)
        except Skip as reason:
            _limit(0)
            print(f"ok {number} - {name} # SKIP {reason}", flush=True)
        except (Exception, TooLong):  # whatever a case raises is its failure
            _limit(0)
            failed += 1
            print(f"not ok {number} - {name}", flush=True)
            _note(traceback.format_exc())
            if after_failure and left > 0:
                try:
                    _limit(20 * PATIENCE)
                    _note(after_failure())
                except (Exception, TooLong) as error:
                    _note(f"no more to say: {error}")
                _limit(0)
        took = time.monotonic() - began
        if os.environ.get("TEST_TIMES"):
            _note(f"{function.__name__}: {took:.1f} s")
    sys.exit(1 if failed else 0)
