#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus and the agent: it scrapes both pages, panels show what Slurm's
commands say, and an alert fires and clears. tests/long/45-monitoring.t has all panels
and the other alerts."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import commands_metrics
import live_alerts
import monitoring
import panel_compare
import prometheus
from tap import case, check, equal, never, run, wait_for

SCRAPE = 1  # seconds
# Of the dashboards, with what the case makes of them.
PANELS = {
    'sum by (kind) (slurmk8s_jobs{instance=~"$instance", state="running"})':
        {(("kind", "pod"),): 2},
    'sum by (reason) (slurm_jobs_pending_reason{instance=~"$instance"})':
        {(("reason", "BeginTime"),): 10},
    'max by (node) (slurm_node_cpus_alloc{instance=~"$instance"})': {},
}


@case
def as_commands():
    """both pages are scraped, and three panels have the values of Slurm's commands, and
    not those of commands that say one more"""
    asked = {expression for _, _, expression, _ in monitoring.queries()}
    equal(PANELS.keys() - asked, set(), "expressions that no panel has")
    for name in ("a", "b"):
        bed.create(bed.pod(name, cpu="3"))
        bed.wait_job(name, "RUNNING")
    array = bed.run("sbatch", "--parsable", "-p", "native", "--array=0-9", "--begin",
                    "now+1hour", "--wrap", "true", "-D", "/tmp", "-o", "none",
                    user="alice").strip()
    source = commands_metrics.Source()
    source.start()
    server = prometheus.Prometheus(source.address, scrape=SCRAPE)
    try:
        wait_for("both pages to be scraped", lambda: server.targets() == {
            path: ("up", "") for path in ("/metrics", "/metrics/detail")})
        for expression, known in PANELS.items():
            wait_for(f"{expression} to be true",
                     lambda e=expression, k=known: _is_true(server, e, k))
        source.alter = _one_more
        for expression in PANELS:
            wait_for(f"{expression} to be found wrong",
                     lambda e=expression: not _is_true(server, e, {}))
            never(f"{expression} is found true",
                  lambda e=expression: _is_true(server, e, {}), 2)
    finally:
        server.stop()
        source.stop()
        bed.run("scancel", array)


def _one_more(samples):
    """What the commands have not said."""
    return {key: value + 1 for key, value in samples.items()}


def _is_true(server, expression, known):
    """Of the agent and of the commands, at the same instant."""
    at = server.query("vector(time())")[()]
    agent, commands = (server.query(panel_compare.of(expression, instance), at)
                       for instance in ("agent", "commands"))
    return agent and agent == commands and known.items() <= agent.items()


@case
def agent_down():
    """an agent that is stopped: SlurmAgentDown fires, and clears when it is back"""
    live_alerts.begin(seconds=2, scrape=SCRAPE)
    with live_alerts.fires("SlurmAgentDown", lambda: bed.ctl("start", "slurmk8sd")):
        bed.ctl("stop", "slurmk8sd")
    check("SlurmctldAway" not in live_alerts.all_firing(), "SlurmctldAway fires")


try:
    run(before_each=bed.clean, after_each=bed.nothing_left,
        after_failure=bed.last_words)
finally:
    live_alerts.stop()
