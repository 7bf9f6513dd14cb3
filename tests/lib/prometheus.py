# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's Prometheus, which scrapes the sandbox's agent with the rules of
contribs/monitoring, and what it answers."""
import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import bed
import monitoring
from tap import wait_for

COMMANDS_SCRAPE = 1
SCRAPE = 5  # seconds: as MetricsInterval in the sandbox
AGENT = "agent"  # its instance
HEAD = """\
global: {{scrape_interval: {scrape}s, scrape_timeout: {scrape}s,
  evaluation_interval: {evaluation}s}}
rule_files: [{rules}]
scrape_configs:
"""
JOB = """\
- job_name: {job}
  scrape_interval: {each}s
  scrape_timeout: {each}s
  metrics_path: {path}
  static_configs: [{{targets: ["{target}"], labels: {{instance: {instance}}}}}]
"""


class Failure(Exception):
    """What Prometheus says of a query."""


def shortened(text, seconds):
    """The rules with each `for:` and each `offset` as so many seconds: what they
    ask is the same, and a test need not wait for it."""
    text, fors = re.subn(r"(?m)^( +for: ).*", rf"\g<1>{seconds}s", text)
    text, offsets = re.subn(r"offset \d+[mh]\b", f"offset {3 * seconds}s", text)
    return text, fors, offsets


class Prometheus:
    """Runs until stop(). commands: the address of commands_metrics.Source, if it is to
    be scraped, too, as the instance and job "commands". rules: the text of the rules,
    which are evaluated each second if it is given. scrape: seconds."""

    def __init__(self, commands=None, rules=None, scrape=SCRAPE):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="prometheus-",
                                                    dir=bed.SANDBOX))
        (self.folder / "rules.yaml").write_text(rules or monitoring.RULES.read_text())
        text = HEAD.format(scrape=scrape, evaluation=1 if rules else scrape,
                           rules=self.folder / "rules.yaml")
        for job, path in (("slurm", "/metrics"), ("slurm-nodes", "/metrics/detail")):
            text += JOB.format(job=job, each=scrape, path=path, instance=AGENT,
                               target=bed.web_address())
        if commands:
            text += JOB.format(job="commands", each=COMMANDS_SCRAPE, path="/metrics",
                               instance="commands", target=commands)
        (self.folder / "prometheus.yml").write_text(text)
        self._start()

    def _start(self):
        with open(bed.SANDBOX / "log/prometheus.log", "w") as log:
            self._process = subprocess.Popen(
                [bed.TOP / "contribs/sandbox/with-monitoring", "prometheus",
                 f"--config.file={self.folder}/prometheus.yml",
                 f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address={self.address}"],
                stdout=log, stderr=subprocess.STDOUT)
        wait_for("Prometheus to be ready", self._ready, 30)

    def _ready(self):
        if self._process.poll() is not None:
            raise AssertionError("Prometheus has ended: " + bed.log("prometheus"))
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5):
                return True
        except OSError:
            return False

    def stop(self):
        """Its process ends with that of the layer."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, what, **words):
        """The data of an answer of its API."""
        url = f"http://{self.address}/api/v1/{what}?" + urllib.parse.urlencode(words)
        try:
            with urllib.request.urlopen(url, timeout=60) as reply:
                return json.load(reply)["data"]
        except urllib.error.HTTPError as error:
            raise Failure(json.load(error).get("error", str(error))) from None

    def query(self, expression, at=None):
        """Values by labels, as sorted pairs, at a time in seconds since the epoch, or
        now."""
        found = self.ask("query", query=expression, **({"time": at} if at else {}))
        return {_labels(one): float(one["value"][1]) for one in found["result"]}

    def query_range(self, expression, start, end, step):
        """Values by time, by labels."""
        found = self.ask("query_range", query=expression, start=start, end=end,
                         step=step)
        return {_labels(one): {float(at): float(value) for at, value in one["values"]}
                for one in found["result"]}

    def alerts(self, name):
        """Labels of each alert of this name that fires for the agent."""
        return [one["labels"] for one in self.ask("alerts")["alerts"]
                if one["labels"]["alertname"] == name and one["state"] == "firing"]

    def targets(self):
        """Health and last error of each page of the agent, by its path."""
        return {one["discoveredLabels"]["__metrics_path__"]:
                (one["health"], one["lastError"])
                for one in self.ask("targets")["activeTargets"]
                if one["labels"]["instance"] == AGENT}


def _labels(one):
    return tuple(sorted((label, value) for label, value in one["metric"].items()
                        if label not in ("instance", "job")))
