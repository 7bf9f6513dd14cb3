#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's metrics of Slurm: read by Prometheus' own tools, equal to what Slurm's
commands say, true after a restart, and without a request to slurmctld for those who
read them."""
import base64
import contextlib
import json
import os
import pathlib
import sys
import time
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import agent_conf
import bed
import metrics
import slurmctld
from metrics import OPEN_METRICS, get, page
from tap import case, check, equal, run, wait_for

PAGES = ("/metrics", "/metrics/detail")
ENDED = "slurm_jobs_ended_total"
HISTORY = "/var/lib/slurmk8s/job-history"


def is_true():
    """All values are as Slurm's commands have them now: "" or what is not."""
    want = metrics.expected()
    have = metrics.samples(page())
    wrong = [f"{name}{labels}: {have.get((name, labels))}, not {value}"
             for (name, labels), value in want.items()
             if have.get((name, labels), 0) != value]
    return "\n".join(wrong)


def wait_true():
    found = [""]

    def true_now():
        found[0] = is_true()
        return not found[0]
    try:
        wait_for("the numbers to be Slurm's", true_now)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{found[0]}") from None


@case
def read_by_others():
    """promtool and a parser of OpenMetrics find nothing wrong on both pages"""
    bed.create(bed.pod("one"))
    bed.wait_job("one", "RUNNING")
    wait_true()
    for path in PAGES:
        text = page(path)
        equal(metrics.promtool(text), "", f"what promtool says of {path}")
        text = page(path, OPEN_METRICS)
        check(text.endswith("\n# EOF\n"), text[-200:])
        counts = metrics.parsed(text)
        print(f"# {path}: {counts} families and samples", flush=True)
        check(counts.replace(" ", "").isdigit(), counts)


@case
def as_slurm_says():
    """nodes, CPUs, memory, jobs by state and pending ones by reason are what scontrol
    and squeue say, while Pods, ordinary jobs and an array run, wait and end"""
    wait_true()
    for name in ("a", "b"):
        bed.create(bed.pod(name, cpu="3"))
        bed.wait_job(name, "RUNNING")
    wait_true()
    held = bed.run("sbatch", "--parsable", "--external", "--hold", "-p", "kwok",
                   user="slurm").strip()
    array = bed.run("sbatch", "--parsable", "-p", "native", "--array=0-9%2", "--begin",
                    "now+1hour", "--wrap", "true", "-D", "/tmp", "-o", "none",
                    user="alice").strip()
    wait_for("the reasons", lambda: get(
        page(), "slurm_jobs_pending_reason", reason="BeginTime") == 10)
    bed.run("scontrol", "update", "NodeName=kn3", "State=DRAIN", 'Reason=a "fan" fails')
    wait_true()
    check(get(page("/metrics/detail"), "slurm_node_reason_info", node="kn3",
              reason='a \\"fan\\" fails', user="root") == 1, "the reason of the drain")
    bed.run("scontrol", "update", "NodeName=kn3", "State=RESUME")
    bed.run("scancel", held, array)
    bed.end("a", "b")
    wait_for("kinds of jobs to be told apart", lambda: (get(
        page(), "slurmk8s_jobs", kind="pod", state="completed") or 0) >= 2)
    wait_true()


def ended(state="completed", partition="kwok"):
    return get(page(), ENDED, partition=partition, state=state) or 0


@case
def survives():
    """each job that has ended counts once: also while the agent is restarted, killed
    and away"""
    before = ended()
    waits = {"partition": "kwok", "qos": "normal"}
    started = get(page(), "slurm_job_wait_seconds_count", **waits) or 0
    bed.create(bed.pod("one", annotations={"sandbox/run": "1s"}))
    bed.wait_ended("one", "COMPLETED")
    wait_for("its end to count", lambda: ended() == before + 1)
    equal(get(page(), "slurm_job_wait_seconds_count", **waits), started + 1, "starts")
    native = ended(partition="native")
    bed.ctl("stop", "slurmk8sd")
    job = int(bed.run("sbatch", "--parsable", "-p", "native", "--wrap", "true", "-D",
                      "/tmp", "-o", "none", user="alice"))
    wait_for(f"job {job} to end", lambda: "COMPLETED" in bed.jobs()[job]["job_state"])
    bed.ctl("start", "slurmk8sd")
    wait_for("the end that it has missed to count", lambda: ended(
        partition="native") > native)
    equal(ended(), before + 1, "ends after the restart")
    equal(bed.inside("stat", "-c", "%U %a", HISTORY).strip(), "slurm 600", HISTORY)
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")
    wait_for("numbers", lambda: get(page(), "slurm_up") == 1)
    equal(ended(), before + 1, "ends after a crash")


def served():
    """How many RPCs of each type slurmctld has served: of this question none."""
    found = {}
    for line in bed.run("sdiag").splitlines():
        if "count:" in line and "(" in line:
            found[line.split()[0]] = int(line.split("count:")[1].split()[0])
    return found


def restart():
    bed.ctl("stop", "slurmk8sd")
    bed.ctl("start", "slurmk8sd")


@case
def costs_nothing():
    """a hundred scrapes cause no RPC; an interval that would miss jobs is bounded by
    MinJobAge, and the log says so"""
    # Only the metrics ask for these. A census comes each 150 s: half of MinJobAge.
    kinds = {"REQUEST_STATS_INFO": 1, "REQUEST_LICENSE_INFO": 0}  # sdiag's own
    log = bed.log_size("slurmk8sd")
    try:
        with agent_conf.changed(lambda text: text.replace(
                "MetricsInterval=5\n", "MetricsInterval=3600\n")):
            restart()
            wait_for("numbers", lambda: get(page(), "slurm_up") == 1)
            when = get(page(), "slurm_census_timestamp_seconds")
            before, began = served(), time.monotonic()
            for _ in range(50):
                for path in PAGES:
                    check(page(path), "no page")
            now, took = served(), time.monotonic() - began
            equal(get(page(), "slurm_census_timestamp_seconds"), when, "the census")
            for kind, ours in kinds.items():
                equal(now[kind] - before[kind], ours, f"{kind} by scrapes")
            # Of all kinds: other parts of the agent ask in this time, too, and as
            # much when no page is read.
            quiet = served()
            time.sleep(took)
            during, after = (sum(b.values()) - sum(a.values())
                             for a, b in ((before, now), (quiet, served())))
            check(during - after < 50,
                  f"{during} RPCs while 100 pages were read, {after} without")
        check("MetricsInterval is longer than half of MinJobAge" in
              bed.log_since("slurmk8sd", log), bed.log_since("slurmk8sd", log))
    finally:
        restart()


@case
def private():
    """with PrivateData nobody reads who has drained a node and why, nor of
    reservations"""
    bed.run("scontrol", "create", "reservation", "ReservationName=secret",
            "StartTime=now+1hour", "Duration=10", "Nodes=kn4", "Users=root")
    bed.run("scontrol", "update", "NodeName=kn3", "State=DRAIN", "Reason=fan")
    try:
        wait_for("the reason", lambda: get(
            page("/metrics/detail"), "slurm_node_reason_info", node="kn3",
            reason="fan", user="root") == 1)
        wait_for("the reservation", lambda: get(
            page(), "slurm_reservation_nodes", reservation="secret") == 1)
        # In good order: slurmctld saves both.
        with slurmctld.changed_conf(
                lambda text: text + "PrivateData=jobs,reservations\n", "stop"):
            wait_for("the node alone", lambda: get(
                page("/metrics/detail"), "slurm_node_reason_info", node="kn3") == 1,
                60)
            check("fan" not in page("/metrics/detail"), "the reason is there")
            check("secret" not in page(), "the reservation is there")
            check(get(page(), "slurm_nodes"), "no other numbers")
        wait_for("the agent to serve", bed.serves, 60)
    finally:
        bed.run("scontrol", "update", "NodeName=kn3", "State=RESUME")
        bed.run("scontrol", "delete", "ReservationName=secret")
    wait_for("numbers", lambda: get(page(), "slurm_up") == 1, 60)


TOKEN = "0123456789abcdef0123456789abcdef"
TOKEN_FILE = "/etc/slurm/metrics-token"


def people():
    """Jobs of alice and of the account physics by squeue, as the page has them."""
    counts = {}
    for line in bed.run("squeue", "-hr", "-t", "all", "-O",
                        "UserName:40,Account:40,State:40").splitlines():
        user, account, state = line.replace("(null)", '""').split()
        for key in (("slurm_user_jobs", "username", user),
                    ("slurm_account_jobs", "account", account.strip('"'))):
            counts[key] = counts.get(key, 0) + 1
            running = (f"{key[0]}_running", *key[1:])
            counts[running] = counts.get(running, 0) + (state == "RUNNING")
    return counts


def same_shares(detail):
    """Whether alice's association is as sshare prints it."""
    lines = bed.run("sshare", "-nPA", "physics", "-u", "alice", "-o", "Account,User,"
                    "RawShares,NormShares,RawUsage,EffectvUsage,FairShare")
    account, user, *want = next(line.strip().split("|") for line in lines.splitlines()
                                if "|alice|" in line)
    have = [get(detail, f"slurm_association_{name}", account=account, user=user,
                partition="") for name in ("shares", "shares_norm", "usage_raw",
                                           "usage_effective", "fairshare")]
    if None in have:
        return False
    # sshare cuts raw usage to whole seconds, and prints parts with six digits.
    return int(have.pop(2)) == int(want.pop(2)) and all(
        abs(mine - float(their)) <= 0.51e-6 for mine, their in zip(have, want))


@case
def users():
    """users and accounts have jobs as squeue says, and shares as sshare says; with
    PrivateData only who sends the token reads of them"""
    job = bed.run("sbatch", "--parsable", "-p", "native", "--wrap", "sleep 100", "-D",
                  "/tmp", "-o", "none", user="alice").strip()
    bed.create(bed.pod("one"))
    bed.wait_job("one", "RUNNING")

    def same():
        detail = page("/metrics/detail")
        return all(get(detail, name, **{label: who}) == count
                   for (name, label, who), count in people().items())
    wait_for("jobs of users and accounts to be those of squeue", same)
    check(get(page("/metrics/detail"), "slurm_user_jobs_running",
              username="alice") >= 1, "no job of alice")
    # Usage moves on each few minutes, and is asked for each minute.
    wait_for("shares and usage to be those of sshare", lambda: same_shares(
        page("/metrics/detail")), 90)
    bed.inside("sh", "-c", f"umask 077; echo {TOKEN} > {TOKEN_FILE}; "
               f"chown slurm {TOKEN_FILE}")
    with agent_conf.changed(lambda text: text + f"MetricsTokenFile={TOKEN_FILE}\n"):
        restart()
        with slurmctld.changed_conf(lambda text: text + "PrivateData=jobs\n", "stop"):
            def hidden():
                text = page("/metrics/detail")
                return "slurm_node_cpus" in text and "alice" not in text and \
                    "physics" not in text
            wait_for("nobody to read of alice and her account", hidden, 60)
            check(get(page("/metrics/detail", token=TOKEN), "slurm_user_jobs_running",
                      username="alice") >= 1, "nor who sends the token")
            for path in PAGES:
                equal(metrics.status(path, TOKEN), 200, "for the token")
                equal(metrics.status(path, TOKEN[1:]), 403, "for another token")
        wait_for("the agent to serve", bed.serves, 60)
        wait_for("alice to be shown", lambda: "alice" in page("/metrics/detail"), 60)
    restart()
    bed.run("scancel", job)
    bed.inside("rm", "-f", TOKEN_FILE)
    wait_for(f"job {job} to end", lambda: "CANCELLED" in
             bed.jobs()[int(job)]["job_state"])
    slurmctld.save()  # the next case kills it
    wait_for("the agent to serve", bed.serves, 60)


@contextlib.contextmanager
def other_host():
    """The command that runs a program where only the sandbox's bridge is, with an
    address of its own; and the address of the agent's host there."""
    first = urllib.parse.urlsplit(os.environ["SANDBOX_API"]).port
    bridge = f"sbx-{first}"
    subnet = f"10.88.{first // 32 % 256}"
    there = f"{bridge}-web"
    ip = ["ip", "-n", there]
    bed.inside("ip", "netns", "add", there)
    try:
        bed.inside("ip", "link", "add", f"{bridge}w", "type", "veth", "peer", "name",
                   "eth0", "netns", there)
        bed.inside("ip", "link", "set", f"{bridge}w", "master", bridge, "up")
        bed.inside(*ip, "addr", "add", f"{subnet}.10/24", "dev", "eth0")
        bed.inside(*ip, "link", "set", "eth0", "up")
        yield ["ip", "netns", "exec", there], f"{subnet}.1"
    finally:
        bed.inside("ip", "netns", "delete", there)


@case
def from_elsewhere():
    """off loopback, the Pods and jobs of /status and /explain are told on the agent's
    host, and elsewhere to those who send the token"""
    bed.create(bed.pod("secret"))
    bed.wait_job("secret", "RUNNING")
    port = bed.web_address().split(":")[1]
    bed.inside("sh", "-c", f"umask 077; echo {TOKEN} > {TOKEN_FILE}; "
               f"chown slurm {TOKEN_FILE}")
    with agent_conf.changed(lambda text: text.replace(
            f"WebAddress={bed.web_address()}", f"WebAddress=0.0.0.0:{port}") +
            f"MetricsTokenFile={TOKEN_FILE}\n"), other_host() as there:
        restart()
        wait_for("the agent to serve", bed.serves, 60)
        command, address = there

        def ask(path, *words):
            *text, status = bed.inside(
                *command, "curl", "-s", "--max-time", "10", "-w", "\n%{http_code}",
                *words, f"http://{address}:{port}{path}").splitlines()
            return int(status), "\n".join(text)
        for path in ("/status", "/explain?pod=secret"):
            status, text = ask(path)
            equal((status, "secret" in text), (403, False), f"{path} elsewhere: {text}")
            check("MetricsTokenFile" in text, text)
            status, text = ask(path, "-H", f"Authorization: Bearer {TOKEN}")
            equal((status, "secret" in text), (200, True), f"{path} with the token")
            equal(ask(path, "-H", f"Authorization: Bearer {TOKEN[1:]}")[0], 403,
                  f"{path} with another token")
        for path in ("/healthz", *PAGES):
            equal(ask(path)[0], 200, f"{path} elsewhere")
        for words in (["status"], ["explain", "secret"]):
            check("secret" in bed.inside("slurmk8s", *words), f"{words} here")
            text = bed.inside("curl", "-s", f"http://{address}:{port}/status")
            check(json.loads(text)["serving"], "from the host's other address")
    restart()
    bed.inside("rm", "-f", TOKEN_FILE)
    wait_for("the agent to serve", bed.serves, 60)


@case
def of_the_agent():
    """the agent counts its requests, its turns, and how long Pods waited"""
    binding = "slurmk8sd_pod_binding_seconds"
    posts = {"verb": "create", "resource": "pods/binding", "code": "201"}
    submits = {"call": "submit", "result": "ok"}

    def count():
        text = page()
        return [get(text, f"{binding}_count"),
                get(text, "slurmk8sd_kubernetes_requests_total", **posts) or 0,
                get(text, "slurmk8sd_slurm_requests_total", **submits) or 0]
    before = count()
    slept = get(page(), f"{binding}_bucket", le="0.5")
    for name in ("a", "b", "c"):
        bed.create(bed.pod(name))
        bed.wait_job(name, "RUNNING")
    wait_for("three of each", lambda: count() == [n + 3 for n in before])
    check(get(page(), f"{binding}_bucket", le="0.5") > slept,
          "none of three Pods was bound within half a second")
    equal(get(page(), "slurmk8sd_gang_pods", job_state="RUNNING"), 3, "Pods of gangs")
    check(get(page(), "slurmk8sd_turn_seconds_count") > 10, "turns")
    token = bed.inside("cat", "/etc/slurm/k8s/token").strip().split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    equal(get(page(), "slurmk8sd_token_expiry_timestamp_seconds"), claims["exp"],
          "when the token expires")


@case
def away():
    """while slurmctld does not answer there are no numbers of it, and they say so; the
    counts of jobs stay"""
    wait_for("numbers", lambda: get(page(), "slurm_up") == 1)
    before = ended()
    slurmctld.kill()
    try:
        wait_for("the numbers to be gone", lambda: get(page(), "slurm_up") == 0, 60)
        equal(get(page(), "slurm_nodes"), None, "nodes")
        equal(page("/metrics/detail").strip(), "", "series of nodes")
        equal(ended(), before, "ends")
    finally:
        slurmctld.start()
    wait_for("the numbers to be back", lambda: get(page(), "slurm_up") == 1, 60)
    wait_true()


run(before_each=bed.clean, after_each=bed.nothing_left, after_failure=bed.last_words)
