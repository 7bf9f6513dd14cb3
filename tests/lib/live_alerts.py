# SPDX-License-Identifier: GPL-2.0-or-later
"""Alerts of contribs/monitoring in a real Prometheus that scrapes the sandbox, with
shorter times: what makes one fire, and that it clears."""
import contextlib

import monitoring
import prometheus
from tap import check, wait_for

FIRES = 60      # seconds until one fires or clears, at most
_running = []


def begin(seconds=5, scrape=prometheus.SCRAPE):
    """Starts Prometheus for all cases of a program. seconds: for each `for:`."""
    if _running:
        return
    text, fors, offsets = prometheus.shortened(monitoring.RULES.read_text(), seconds)
    print(f"# the loaded copy of rules.yaml has {seconds} s in its {fors} \"for:\", "
          f"and {3 * seconds} s in its {offsets} offsets", flush=True)
    _running.append(prometheus.Prometheus(rules=text, scrape=scrape))


def server():
    return _running[0]


def stop():
    while _running:
        _running.pop().stop()


def firing(name, **labels):
    """The alerts of this name that fire, and have these labels."""
    return [one for one in server().alerts(name)
            if all(one.get(label) == value for label, value in labels.items())]


def all_firing():
    """Names."""
    return sorted({one["labels"]["alertname"]
                   for one in server().ask("alerts")["alerts"]
                   if one["state"] == "firing"})


@contextlib.contextmanager
def fires(name, undo, seconds=FIRES, **labels):
    """That the alert does not fire before the block, fires by what the block does, and
    clears by undo(), which is also called when it does not fire."""
    check(name in monitoring.alerts(), f"there is no rule {name}")
    wait_for("Prometheus to have scraped", lambda: server().query("up"))
    check(not firing(name, **labels), f"{name} fires before: {firing(name)}")
    try:
        yield
        found = wait_for(f"{name} {labels} to fire",
                         lambda: firing(name, **labels), seconds, 0.5)
        print(f"# {name} fires: {found[0]}", flush=True)
    finally:
        undo()
    wait_for(f"{name} {labels} to clear", lambda: not firing(name, **labels), seconds,
             0.5)
    print(f"# {name} has cleared", flush=True)
