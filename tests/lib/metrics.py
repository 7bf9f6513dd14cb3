# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's metrics: their samples, what reads them otherwise, and what they
should be by Slurm's own commands."""
import collections
import json
import re
import subprocess

import bed
import commands_numbers

OPEN_METRICS = "application/openmetrics-text;version=1.0.0"
_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_PARSE = """import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
families = list(text_string_to_metric_families(sys.stdin.read()))
print(len(families), sum(len(f.samples) for f in families))"""


def page(path="/metrics", accept="", token=""):
    """The text of a page; empty without an agent that answers, and for a token that is
    not its own."""
    headers = ["-H", f"Accept: {accept}"]
    if token:
        headers += ["-H", f"Authorization: Bearer {token}"]
    return bed.inside("curl", "-sf", "--max-time", "10", *headers,
                      f"http://{bed.web_address()}{path}", check=False)


def status(path, token):
    """The status of HTTP that a request with this token gets."""
    return int(bed.inside("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H",
                          f"Authorization: Bearer {token}",
                          f"http://{bed.web_address()}{path}"))


def samples(text):
    """The value of each sample, by its name and its labels, which are sorted
    pairs."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = _SAMPLE.match(line).groups()
        pairs = tuple(sorted(_LABEL.findall(labels or "")))
        assert (name, pairs) not in found, f"{name}{pairs} is there twice"
        found[name, pairs] = float(value)
    return found


def get(text, name, **labels):
    """One value; None if it is not there."""
    return samples(text).get((name, tuple(sorted(labels.items()))))


def _monitoring(*words, stdin):
    return subprocess.run([bed.TOP / "contribs/sandbox/with-monitoring", *words],
                          input=stdin, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def promtool(text):
    """What promtool finds in a text of Prometheus' format."""
    done = _monitoring("promtool", "check", "metrics", stdin=text)
    return done.stdout.strip() or (f"exit status {done.returncode}"
                                   if done.returncode else "")


def parsed(text):
    """How many families and samples the reference parser of OpenMetrics reads, or
    what it says."""
    done = _monitoring("python3", "-c", _PARSE, stdin=text)
    return done.stdout.strip()


STATES = {word: name for name, word in commands_numbers.JOB_STATES.items()}


def expected():
    """Values by Slurm's own commands, as samples() has them."""
    want = collections.Counter()
    listed = json.loads(bed.run("scontrol", "show", "nodes", "--json"))["nodes"]
    for node in listed:
        want["slurm_nodes", ()] += 1
        want["slurm_cpus", ()] += node["cpus"]
        want["slurm_cpus_alloc", ()] += node["alloc_cpus"]
        want["slurm_memory_bytes", ()] += node["real_memory"] << 20
        want["slurm_memory_alloc_bytes", ()] += node["alloc_memory"] << 20
        for word, state in (("ALLOCATED", "alloc"), ("IDLE", "idle"),
                            ("MIXED", "mixed"), ("DOWN", "down"),
                            ("DRAIN", "drain"), ("EXTERNAL", "external")):
            want[f"slurm_nodes_{state}", ()] += word in node["state"]
        for partition in node["partitions"]:
            labels = (("partition", partition),)
            want["slurm_partition_nodes", labels] += 1
            want["slurm_partition_cpus", labels] += node["cpus"]
            want["slurm_partition_cpus_alloc", labels] += node["alloc_cpus"]
    for line in bed.run("squeue", "-hr", "-t", "all", "-O",
                        "State:40,Reason:60,Partition:80").splitlines():
        state, reason, partitions = line.split()
        want["slurm_jobs", ()] += 1
        want[f"slurm_jobs_{STATES[state]}", ()] += 1
        if state != "PENDING":
            continue
        want["slurm_jobs_pending_reason", (("reason", reason),)] += 1
        for partition in partitions.split(","):
            want["slurm_partition_jobs_pending_reason",
                 (("partition", partition), ("reason", reason))] += 1
    return want
