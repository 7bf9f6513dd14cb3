# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's metrics: their samples, what reads them otherwise, and what they
should be by Slurm's own commands."""
import json
import re

import bed
import commands_numbers
import monitoring

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


def promtool(text):
    """What promtool finds in a text of Prometheus' format."""
    status, said = monitoring.tool("promtool", "check", "metrics", input=text)
    return said.strip() or (f"exit status {status}" if status else "")


def parsed(text):
    """How many families and samples the reference parser of OpenMetrics reads, or
    what it says."""
    return monitoring.tool("python3", "-c", _PARSE, input=text)[1].strip()


def expected():
    """Values by Slurm's own commands, as samples() has them. JSON names a job's reason;
    squeue's own columns have sentences of several words there."""
    def listed(*command):
        return json.loads(bed.run(*command, "--json"))

    partitions = [one["name"] for one in listed("scontrol", "show", "partitions")[
        "partitions"]]
    nodes = commands_numbers.of_nodes(
        listed("scontrol", "show", "nodes")["nodes"], partitions)
    jobs = commands_numbers.of_jobs(
        listed("squeue", "-t", "all")["jobs"], partitions)
    return {key: value for key, value in (nodes | jobs).items()
            if not key[0].startswith("slurm_node_")}  # the page of each node
