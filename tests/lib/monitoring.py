# SPDX-License-Identifier: GPL-2.0-or-later
"""contribs/monitoring: its dashboards and rules, the metrics that they use, and the
metrics that the sources have."""
import json
import os
import pathlib
import re
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
FOLDER = TOP / "contribs/monitoring"
RULES = FOLDER / "rules.yaml"
DASHBOARDS = sorted((FOLDER / "dashboards").glob("*.json"))
SANDBOX = pathlib.Path(os.environ.get("SANDBOX", TOP / ".sandbox"))

# What Grafana puts in place of its variables.
VARIABLES = {"$__rate_interval": "5m", "$__range": "6h", "$instance": ".*",
             "$partition": ".*"}

METRIC = re.compile(r"(?<![\w:])(slurm[a-z0-9]*_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"')
STATES = ("node_tests", "job_tests")
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}


def run(command, **more):
    """Exit status and output."""
    done = subprocess.run([*map(str, command)], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **more)
    return done.returncode, done.stdout


def tool(*words, **more):
    """Exit status of one of the tools, and all that it says, without what is said of
    how the tools are built."""
    done = subprocess.run([str(TOP / "contribs/sandbox/with-monitoring"),
                           "sh", "-c", 'exec "$@" 2>&1', "sh", *words],
                          text=True, stdout=subprocess.PIPE, **more)
    return done.returncode, done.stdout


def promtool(*words, text=None):
    """What promtool says; text, if given, is in a file whose name comes last."""
    if text is None:
        return tool("promtool", *words)
    SANDBOX.mkdir(parents=True, exist_ok=True)  # the layer sees it at this path
    with tempfile.NamedTemporaryFile("w", dir=SANDBOX, suffix=".yaml") as file:
        file.write(text)
        file.flush()
        return tool("promtool", *words, file.name)


def panels():
    """Dashboard, panel of each that asks something or says something."""
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            if panel["type"] != "row":
                yield path.stem, panel


def queries():
    """Dashboard, panel, expression and legend of each query."""
    for board, panel in panels():
        for target in panel.get("targets", ()):
            yield board, panel, target["expr"], target["legendFormat"]


def filled(expression):
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return expression


def rules():
    """Each rule: its lines as they stand in the file."""
    text = RULES.read_text()
    return re.split(r"(?m)^  - (?=alert:|record:)", text)[1:]


def field(rule, name):
    """A field of a rule on one line, or as a block."""
    found = re.search(rf"(?m)^( *){name}: *(?:[|>]-?\n((?:\1 +.*\n)+)|(.*))", rule)
    if not found:
        return ""
    return " ".join((found.group(2) or found.group(3)).split()).strip('"')


def alerts():
    """The rule of each alert by its name."""
    return {rule.split("\n")[0].split()[1]: rule for rule in rules()
            if rule.startswith("alert:")}


def used(expression):
    """Metric and labels that are matched, of each selector of an expression."""
    return [(name, MATCHER.findall(matchers or ""), matchers or "")
            for name, matchers in METRIC.findall(expression)]


def grouped(expression):
    """Labels in by (…), on (…) and the like."""
    found = re.findall(r"\b(?:by|on|without|group_left|ignoring) *\(([^)]*)\)",
                       expression)
    return {label.strip() for part in found for label in part.split(",")} - {""}


def _states():
    """States of nodes, and of jobs, by name."""
    text = (TOP / "common/slurm/state_tests.cc").read_text()
    for name in STATES:
        part = text[text.index(f"std::array {name}"):]
        yield re.findall(r'StateTest\{"(\w+)"', part[:part.index("};\n")])


def in_sources(top=TOP):
    """The name of each series that the sources write."""
    text = "".join(path.read_text() for folder in ("agent", "operator", "common")
                   for path in (top / folder).rglob("*.*")
                   if path.suffix in (".cc", ".h"))
    prefixes = re.findall(r'"(slurm_(?:\w+_)?)"', text)  # of families for each of …
    found = set()
    for kind, name in re.findall(
            r'\b(gauge|counter|histogram|gres|reasons)\(\s*"(\w+)"', text):
        names = ([name] if name.startswith("slurm")
                 else [prefix + name for prefix in prefixes])
        found |= {one + suffix for one in names for suffix in SUFFIXES.get(kind, ("",))}
    for what, states in zip(("nodes", "jobs"), _states()):
        found |= {f"{prefix}{what}_{state}" for state in states for prefix in prefixes}
    return found


def in_documents():
    """Names in the pages for administrators, as they stand there."""
    return "".join((TOP / "doc/admin" / name).read_text()
                   for name in ("metrics.md", "operate.md"))
