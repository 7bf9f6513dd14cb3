#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dashboards and alerts, without a Prometheus that runs: they are well formed, ask
for metrics that there are, and each alert fires and clears as it should.
tests/long/45-monitoring.t compares their numbers with those of Slurm's commands."""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import alert_cases
import monitoring
from alert_cases import CASES, NEVER, QUIET_CASES
from monitoring import TOP, alerts, field, promtool, queries
from tap import Skip, case, check, equal, run

# Their names are put together of parts where they are written, so they are not found
# in the sources. They are on the page with MetricsUsers=yes.
# Put together in agent/metrics/people.cc.
PEOPLE = {f"slurm_{who}_jobs{what}" for who in ("user", "account") for what in (
    "", "_pending", "_running", "_cpus_alloc", "_nodes_alloc", "_memory_alloc_bytes",
    "_gres_alloc")}

# Labels of families, the first that matches; those that are not here have none.
LABELS = [(re.compile(pattern), set(labels.split())) for pattern, labels in (
    (r"slurm_partition_jobs_pending_reason", "partition reason"),
    (r"slurm_jobs_pending_reason", "reason"),
    (r"slurm_partition_\w*gres\w*", "partition gres type"),
    (r"slurm_partition_\w+", "partition"),
    (r"slurm_(jobs_)?gres(_alloc)?", "gres type"),
    (r"slurm_user_jobs_gres_alloc", "username gres type"),
    (r"slurm_account_jobs_gres_alloc", "account gres type"),
    (r"slurm_user_jobs\w*", "username"), (r"slurm_account_jobs\w*", "account"),
    (r"slurm_association_\w+", "account user partition"),
    (r"slurmk8s_jobs", "kind state"),
    (r"slurm_jobs_ended_total", "partition state"),
    (r"slurm_job_(wait|run)_seconds_bucket", "partition qos le"),
    (r"slurm_job_(wait|run)_seconds_(sum|count)", "partition qos"),
    (r"slurm_rpcs_total|slurm_rpc_seconds_total", "rpc"),
    (r"slurm_reservation_\w+", "reservation"),
    (r"slurm_licenses\w*", "license nodes"),
    (r"slurm_node_reason_info", "node reason user"),
    (r"slurm_node_gres\w*", "node gres type"), (r"slurm_node_\w+", "node"),
    (r"slurmk8sd_actions_total", "action result"),
    (r"slurmk8sd_events_total", "event"),
    (r"slurmk8sd_gangs|slurmk8sd_gang_pods", "job_state"),
    (r"slurmk8sd_pending_jobs", "where"), (r"slurmk8sd_tasks", "queue"),
    (r"slurmk8sd_kubernetes_requests_total", "verb resource code"),
    (r"slurmk8sd_kubernetes_request_seconds_total", "verb resource"),
    (r"slurmk8sd_slurm_requests_total", "call result"),
    (r"slurmk8sd_slurm_request_seconds_total", "call"),
    (r"slurmk8sd_resource_claims", "state"), (r"slurmk8sd_\w+_bucket", "le"),
    (r"slurmk8s_operator_nodeset_pods", "namespace nodeset state"),
    (r"slurmk8s_operator_steps_total", "verb result"))]
TARGET = {"job", "instance"}  # Prometheus' own


def labels_of(name):
    return next((labels for pattern, labels in LABELS if pattern.fullmatch(name)),
                set())


def all_expressions():
    """Where it is, expression and legend of all that dashboards and rules ask."""
    for board, panel, expression, legend in queries():
        yield f"{board}: {panel['title']}", expression, legend
    for rule in monitoring.rules():
        yield rule.split("\n")[0], field(rule, "expr"), ""


def made_up(where, expression, have):
    """Names and labels of an expression that nothing writes."""
    known = set(TARGET)
    for name, matched, _ in monitoring.used(expression):
        if name not in have:
            yield f"{where}: {name}"
        known |= labels_of(name)
        yield from (f"{where}: {name}{{{label}}}" for label in matched
                    if label not in labels_of(name) | TARGET)
    if ":partition_" in expression:  # of a recording rule
        known |= {"partition"}
    yield from (f"{where}: by {label}" for label
                in sorted(monitoring.grouped(expression) - known))


@case
def generated():
    """what contribs/monitoring/generate makes is what is there, and it tells what
    has changed"""
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "monitoring"
        shutil.copytree(monitoring.FOLDER, tree)
        program = tree / "generate"
        equal(monitoring.run([program, "--check"]), (0, ""), "differences")
        board = tree / "dashboards/queue.json"
        board.write_text(board.read_text().replace("Held jobs", "Jobs", 1))
        with open(tree / "rules.yaml", "a") as rules:
            rules.write("# more\n")
        status, said = monitoring.run([program, "--check"])
        equal((status, [line.split()[0] for line in said.splitlines()]),
              (1, ["prometheusrule.yaml", "dashboards/queue.json"]), said)
        equal(monitoring.run([program])[0], 0, "status")
        equal(monitoring.run([program, "--check"]), (0, ""), "afterwards")


def schema_says(*files):
    done = subprocess.run([TOP / "contribs/sandbox/check-dashboards", *files],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "SANDBOX": str(monitoring.SANDBOX)})
    if done.returncode and not done.stdout:
        raise Skip(" ".join(done.stderr.split())[-200:])
    return done.stdout


@case
def schema():
    """Grafana's own schema finds nothing wrong with the dashboards, and something
    with one that is wrong"""
    equal(len(monitoring.DASHBOARDS), 5, "dashboards")
    equal(schema_says(*monitoring.DASHBOARDS), "", "what is wrong")
    text = monitoring.DASHBOARDS[0].read_text()
    for old, new, words in (('"gridPos"', '"gridpos"', "gridpos"),
                            ('"schemaVersion": 39', '"schemaVersion": "39"',
                             "schemaVersion"),
                            ('"legendFormat"', '"legend"', "legend")):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            check(old in text, old)
            file.write(text.replace(old, new))
            file.flush()
            said = schema_says(file.name)
            check(words in said, f"{new}: {said[:300]!r}")


@case
def legible():
    """each panel has a title, a unit and a description, an id and a place of its
    own; each dashboard its uid and its variables"""
    uids = set()
    for path in monitoring.DASHBOARDS:
        board = json.loads(path.read_text())
        uids.add(board["uid"])
        names = [one["name"] for one in board["templating"]["list"]]
        equal(names[:2], ["datasource", "instance"], path.name)
        asks = any("$partition" in target["expr"] for panel in board["panels"]
                   for target in panel.get("targets", ()))
        equal("partition" in names, asks, f"{path.name}: $partition")
        ids, places = set(), set()
        for panel in board["panels"]:
            where = f"{path.name}: {panel['title']}"
            check(panel["title"] and panel["id"] not in ids, where)
            ids.add(panel["id"])
            at = panel["gridPos"]
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                     for y in range(at["y"], at["y"] + at["h"])}
            check(at["x"] + at["w"] <= 24 and not cells & places, f"{where}: place")
            places |= cells
            if panel["type"] == "row":
                continue
            check(re.fullmatch(r"[^ ].{10,}\.", panel["description"]), where)
            check(panel["type"] == "text"
                  or panel["fieldConfig"]["defaults"]["unit"], where)
            check(panel["type"] == "text" or panel["targets"], where)
            check(panel["type"] in ("stat", "text", "row") or at["w"] >= 8
                  and at["h"] >= 7, f"{where}: {at}")
    equal(len(uids), len(monitoring.DASHBOARDS), "uids")
    accounts = [panel for board, panel in monitoring.panels()
                if board == "accounts" and panel["type"] == "text"]
    check("MetricsUsers=yes" in accounts[0]["options"]["content"], accounts)


@case
def chosen():
    """each selector of a dashboard is of the instances that are chosen, but those of
    the operator, which is another target"""
    count = 0
    for board, panel, expression, _ in queries():
        for name, _, matchers in monitoring.used(expression):
            count += 1
            check(name.startswith("slurmk8s_operator_")
                  or 'instance=~"$instance"' in matchers,
                  f"{board}: {panel['title']}: {expression}")
    check(count > 150, f"only {count} selectors")


@case
def exist():
    """each metric and label that dashboards and rules name is written by the
    sources"""
    sources = monitoring.in_sources()
    check("slurm_partition_nodes_idle" in sources and "slurm_up" in sources, sources)
    have = sources | PEOPLE
    wrong = [one for where, expression, _ in all_expressions()
             for one in made_up(where, expression, have)]
    equal(wrong, [], "nothing writes")
    for where, expression, legend in all_expressions():
        shown = set(re.findall(r"\{\{(\w+)\}\}", legend))
        told = monitoring.grouped(expression) | {"instance"}
        check(shown <= told, f"{where}: {legend}")
    for expression, words in (
            ('slurm_nodes_sleepy{instance="x"}', ["here: slurm_nodes_sleepy"]),
            ('slurm_nodes{node="x"}', ["here: slurm_nodes{node}"]),
            ("sum by (user) (slurm_nodes)", ["here: by user"])):
        equal(list(made_up("here", expression, have)), words, expression)


@case
def documented():
    """each metric that dashboards and rules name is described for administrators"""
    text = monitoring.in_documents()
    patterns = ("slurm_nodes_STATE", "slurm_jobs_STATE", "slurm_partition_…",
                "slurm_sched_…", "slurm_bf_…", "slurm_reservation_…",
                "slurm_node_memory_…")
    check(all(pattern in text for pattern in patterns), patterns)
    families = ("slurm_nodes_", "slurm_jobs_", "slurm_partition_", "slurm_sched_",
                "slurm_bf_", "slurm_reservation_", "slurm_node_", "slurm_licenses",
                "slurm_memory_", "slurm_cpus", "slurm_gres",
                # of what sdiag prints, which is "…" there
                "slurm_server_threads", "slurm_agent", "slurm_slurmdbd_queue_size")
    lacking = set()
    for _, expression, _ in all_expressions():
        for name, _, _ in monitoring.used(expression):
            base = re.sub(r"_(total|bucket|sum|count)$", "", name)
            if not (name in PEOPLE or base in text or name.startswith(families)
                    or name.startswith("slurmk8s_operator_")):
                lacking.add(name)
    equal(sorted(lacking), [], "metrics that no document describes")


@case
def as_served():
    """the labels are those of the agent's pages, as far as these have the family"""
    if "SANDBOX_API" not in os.environ:
        raise Skip("no sandbox is up")
    import metrics  # which needs one
    text = metrics.page() + metrics.page("/metrics/detail")
    seen = {name: {label for label, _ in labels}
            for name, labels in metrics.samples(text)}
    asked = {name for _, expression, _ in all_expressions()
             for name, _, _ in monitoring.used(expression)}
    there = asked & set(seen)
    print(f"# {len(there)} of {len(asked)} metrics are on the pages", flush=True)
    check(len(there) > 60, f"only {len(there)} of {len(asked)} are on the pages")
    for name in sorted(there):
        equal(seen[name], labels_of(name), f"labels of {name}")


@case
def parsed():
    """Prometheus reads each expression of the dashboards, and the rules"""
    texts = [monitoring.filled(expression) for _, _, expression, _ in queries()]
    check(len(texts) > 100 and not any("$" in text for text in texts), texts)
    as_rules = {"groups": [{"name": "dashboards", "rules": [
        {"record": f"panel:{at}", "expr": text} for at, text in enumerate(texts)]}]}
    status, said = promtool("check", "rules", text=json.dumps(as_rules))
    check(status == 0 and f"{len(texts)} rules found" in said, said)
    status, said = promtool("check", "rules", monitoring.RULES)
    check(status == 0 and f"{len(monitoring.rules())} rules found" in said, said)
    status, said = promtool("check", "config", "--syntax-only",
                            monitoring.FOLDER / "prometheus.yml")
    equal(status, 0, said)


def rule_tests(tests, rules=monitoring.RULES):
    return promtool("test", "rules", text=json.dumps({
        "rule_files": [str(rules)], "evaluation_interval": "1m", "tests": tests}))


# What labels must be for the matchers of the dashboards.
VALUES = {"state": ("running", "pending", "failed"), "where": ("line",),
          "user": ("", "alice"), "le": ("1.0", "+Inf"), "partition": ("", "p")}


def made_series(names):
    """Of each of these metrics, from an agent that acts; from a standby what it has."""
    series = {}
    for name in sorted(names):
        labels = [[f'{label}="{value}"' for value in VALUES.get(label, ("a", "b"))]
                  for label in sorted(labels_of(name))]
        counts = name.endswith(("_total", "_bucket", "_sum", "_count"))
        for target in (alert_cases.CTL1, alert_cases.CTL2):
            if target == alert_cases.CTL1 or name.startswith("slurmk8sd_"):
                series |= {f"{name}{{{','.join((target, *pairs))}}}":
                           "0+60x90" if counts else "5+1x90"
                           for pairs in itertools.product(*labels)}
    return series


@case
def answered():
    """each expression of the dashboards has an answer where its metrics have values:
    what it matches and joins fits, with a standby beside the agent that acts"""
    texts = sorted({monitoring.filled(expression) for _, _, expression, _ in queries()})
    names = {name for text in texts for name, _, _ in monitoring.used(text)}
    test = alert_cases.promtool_test("all", made_series(names),
                                     [(text, 60, 0) for text in texts])
    status, said = rule_tests([test])
    check(status != 0, said)
    got = dict(re.findall(r'expr: (".*"), time: 1h,\s+exp: nil\s+got: (.*)', said))
    lacking = [text for text in texts if json.dumps(text) not in got]
    equal(lacking, [], f"no answer, or an error: {said[-3000:]}")


@case
def scraped():
    """what tells Prometheus where the agents are has the jobs for which the rules ask:
    one for each page"""
    asked = {name for rule in alerts().values()
             for name in re.findall(r'job="([^"]*)"', field(rule, "expr"))}
    equal(asked, {"slurm"}, "jobs in the rules")
    relabelled = r"targetLabel: job, replacement: (\S+)\}"
    for name, job in (("prometheus.yml", r"job_name: (\S+)"),
                      ("servicemonitor.yaml", relabelled),
                      ("podmonitor.yaml", relabelled)):
        text = (monitoring.FOLDER / name).read_text()
        text = re.sub(r"(?m) *#.*$", "", text)
        jobs = re.findall(job, text)
        equal(jobs[:2], ["slurm", "slurm-nodes"], name)
        check(jobs[2:] in ([], ["slurmk8s-operator"]), f"{name}: {jobs}")
        details = text.split("/metrics/detail")
        equal(len(details), 2, f"{name}: /metrics/detail")


@case
def told():
    """each alert has a severity, a summary and a description in sentences, and a
    heading of doc/admin/alerts.md to which its runbook leads"""
    headings = re.findall(r"^## (Slurm\w+)$",
                          (TOP / "doc/admin/alerts.md").read_text(), re.M)
    equal(sorted(headings), sorted(alerts()), "alerts with a heading")
    for name, rule in alerts().items():
        check(re.search(r"labels: \{severity: (critical|warning)\}", rule), name)
        check(re.fullmatch(r"\d+m", field(rule, "for")), f"{name}: for")
        for part in ("summary", "description"):
            check(field(rule, part).endswith("."), f"{name}: {part}")
        equal(field(rule, "runbook_url"), f"doc/admin/alerts.md#{name.lower()}", name)


@case
def fire_and_clear():
    """each alert fires after its time and not before, clears, and does not fire for
    what only looks like it; nothing fires in everyday life"""
    for name in alerts():
        its = [one.fires for one in CASES if one.alert == name]
        lively = [list(fires.values()) for fires in its if fires != NEVER]
        check(NEVER in its, f"{name}: no case in which it must not fire")
        check(any(counts[0] == 0 and max(counts) and counts[-1] == 0
                  for counts in lively), f"{name}: no case that fires and clears")
    status, said = rule_tests(
        [alert_cases.case_test(one) for one in CASES]
        + [alert_cases.quiet_test(*one) for one in QUIET_CASES.items()])
    equal((status, said.split()), (0, ["SUCCESS"]), said)


def firing_test(one):
    """A test that fails, so that promtool says what fires."""
    name = f"{one.alert}: {one.words}"
    test = alert_cases.promtool_test(name, one.series, [])
    del test["promql_expr_test"]
    test["alert_rule_test"] = [{"alertname": one.alert, "exp_alerts": [],
                                "eval_time": f"{alert_cases.first_fires(one)}m"}]
    return test


@case
def words_with_values():
    """the summary and the description of each alert that fires are whole sentences
    with values in them"""
    first = {}
    for one in CASES:
        if alert_cases.first_fires(one) is not None:
            first.setdefault(one.alert, one)
    equal(sorted(first), sorted(alerts()), "alerts that fire")
    status, said = rule_tests([firing_test(one) for one in first.values()])
    check(status != 0, said)
    for name in first:
        found = re.search(rf'got:\s*\[\s*0:\s*Labels:\{{alertname="{name}".*?'
                          r"Annotations:\{(.*?)\}\s*\]", said, re.S)
        check(found, f"{name} is not in {said[:2000]}")
        text = found.group(1)
        for bad in ("error expanding", "<no value>", "NaN", "{{", "%!"):
            check(bad not in text, f"{name}: {text}")
        summary = re.search(r'summary="(.*?)"[,}]?', text).group(1)
        print(f"# {name}: {summary}", flush=True)


@case
def cases_can_fail():
    """the cases find rules that are wrong: one that does not wait, and those whose
    threshold or condition is off"""
    for old, new, name in (
            ("    for: 15m\n", "    for: 1m\n", "SlurmPodsOutsideQueue"),
            ("> 0.1 and slurm_nodes_drain >= 3", "> 0.1", "SlurmManyNodesDrained"),
            ("slurmk8sd_problems > 0", "slurmk8sd_problems > 2", "SlurmAgentProblems"),
            (" - slurm_partition_nodes_planned\n", "\n", "SlurmQueueStuck")):
        text = monitoring.RULES.read_text()
        check(old in text, old)
        with tempfile.NamedTemporaryFile("w", dir=monitoring.SANDBOX,
                                         suffix=".yaml") as rules:
            rules.write(text.replace(old, new))
            rules.flush()
            status, said = rule_tests([alert_cases.case_test(one) for one in CASES
                                       if one.alert == name], rules.name)
        check(status != 0 and f'{name}' in said, f"{new!r} is not found: {said}")


run()
