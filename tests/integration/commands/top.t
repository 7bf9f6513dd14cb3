#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmk8s top: what it prints is what sinfo and squeue say; the live view repaints,
survives the end of what it reads from, and gives the terminal back as it was."""
import http.server
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import slurmctld
from tap import case, check, equal, run, wait_for
from terminal import Terminal

CONF = bed.SANDBOX / "top.conf"


def once(*options):
    """Exit status and lines of slurmk8s top --once."""
    done = subprocess.run(["slurmk8s", *options, "top", "--once"], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.splitlines()


def live(*options, **how):
    return Terminal("slurmk8s", *options, "top", "-d", "1", **how)


def row(lines, name):
    """The words of the line that begins so."""
    return next((line.split() for line in lines if line.split()[:1] == [name]), [])


def number(lines, words):
    """The number before these words."""
    found = re.search(rf"(\d+) {words}\b", "\n".join(lines))
    return int(found.group(1)) if found else 0


def sinfo(layout, *options):
    return bed.run("sinfo", "-h", *options, "-o", layout).splitlines()


def said_by_slurm():
    """What top should show, from sinfo and squeue."""
    want = {}
    nodes = {line.split()[0]: line.split()[1:] for line in sinfo("%n %T %C", "-N")}
    states = [state.rstrip("*").lower() for state, _ in nodes.values()]
    want["in all"] = len(nodes)
    for state in ("mixed", "allocated", "drained"):
        want[state] = states.count(state)
    want["idle"] = states.count("idle") + states.count("drained")
    cpus = [cpu.split("/") for _, cpu in nodes.values()]
    want["CPUs"] = (f"{sum(int(c[0]) for c in cpus)} of "
                    f"{sum(int(c[3]) for c in cpus)}")
    jobs = [line.split() for line in bed.run(
        "squeue", "-hr", "-O", "State:20,Reason:40,Partition:40").splitlines()]
    for state in ("RUNNING", "PENDING"):
        want[state.lower()] = sum(job[0] == state for job in jobs)
    for _, reason, _ in (job for job in jobs if job[0] == "PENDING"):
        want[f"why {reason}"] = want.get(f"why {reason}", 0) + 1
    for line in sinfo("%R %D %C"):
        partition, count, cpu = line.split()
        used, total = cpu.split("/")[0], cpu.split("/")[3]
        own = [job[0] for job in jobs if partition in job[2].split(",")]
        want[f"partition {partition}"] = (
            f"{count} {used} of {total} {own.count('RUNNING')} "
            f"{own.count('PENDING')}")
    return want


def shown(lines):
    have = {word: number(lines, word) for word in (
        "in all", "mixed", "allocated", "drained", "idle", "running", "pending")}
    have["CPUs"] = re.search(r"\d+ of \d+$", next(
        line for line in lines if line.startswith("CPUs"))).group()
    for line in lines:
        words = line.split()
        if len(words) > 2 and words[0].isdigit() and words[1].isalpha() and \
                line.startswith("  "):
            have[f"why {words[1]}"] = int(words[0])
        elif len(words) == 8 and words[3] == "of":
            del words[5]  # per cent
            have[f"partition {words[0]}"] = " ".join(words[1:])
    return have


def wait_true():
    found = [""]

    def true_now():
        want, have = said_by_slurm(), shown(once()[1])
        found[0] = "\n".join(f"{what}: {have.get(what)!r}, not {value!r}"
                             for what, value in want.items()
                             if have.get(what) != value)
        return not found[0]
    try:
        wait_for("top to show what Slurm says", true_now)
    except AssertionError as error:
        raise AssertionError(f"{error}\n{found[0]}\n" + "\n".join(once()[1])) from None


@case
def as_slurm_says():
    """top --once shows what sinfo and squeue say, with Pods and jobs that run and wait
    and a node that is drained"""
    wait_true()
    for name in ("a", "b"):
        bed.create(bed.pod(name, cpu="3"))
        bed.wait_job(name, "RUNNING")
    bed.run("sbatch", "--parsable", "--external", "--hold", "-p", "kwok", user="slurm")
    bed.run("sbatch", "--parsable", "-p", "native", "--array=0-9%2", "--begin",
            "now+1hour", "--wrap", "true", "-D", "/tmp", "-o", "none", user="alice")
    bed.run("scontrol", "update", "NodeName=kn4", "State=DRAIN",
            "Reason=Lüfter \x1b[31mfails")
    try:
        wait_true()
        status, lines = once()
        equal(status, 0, "exit status")
        check("slurmctld answers" in lines[0] and "no problem" in lines[0], lines[0])
        equal(row(lines, "10")[:2], ["10", "BeginTime"], "the reason of the array")
        check("it must not start before a given time" in "\n".join(lines), lines)
        check("Pods: 2 running" in "\n".join(lines), lines)
        node = row(lines, "kn4")
        equal((node[2], node[3]), ("s", "root"), "since when and who")
        equal(node[4:], ["Lüfter", "[31mfails"], "why, without the escape")
        check(not any("\x1b" in line for line in lines), lines)
    finally:
        bed.run("scontrol", "update", "NodeName=kn4", "State=RESUME")
        for user in ("alice", "slurm"):
            bed.run("scancel", "--state=PENDING", f"--user={user}")
    bed.end("a", "b")
    wait_true()


@case
def paints():
    """the live view shows a job that starts, other sizes at once, and q gives the
    terminal back as it was"""
    with live(rows=24, columns=80) as screen:
        screen.wait_line("the queue", lambda line: line.startswith("QUEUE"))
        check(screen.modes() != screen.before, "keys come one by one")
        bed.create(bed.pod("one"))
        screen.wait_line("the Pod", lambda line: "Pods: 1 running" in line)
        screen.wait_line("a rate", lambda line: "ended a minute (in" in line)
        screen.resize(30, 40)
        screen.wait_line("the narrow table", lambda line: re.match(
            r"PARTITION +USED +RUNNING +PENDING$", line), 5)
        check(all(len(line) <= 40 for line in screen.lines()), screen.lines())
        frames = screen.frames()
        wait_for("another frame", lambda: screen.frames() > frames, 5)
        check(len(screen.lines()) <= 30, screen.lines())
        screen.press("q")
        equal(screen.wait_end(), 0, "exit status")
        equal(screen.is_back(), "", "the terminal")
    bed.end("one")


@case
def ways_out():
    """Ctrl-C, Ctrl-\\ and signals give the terminal back; so does Ctrl-Z, until the
    program goes on; SIGPIPE, as of an agent that ends, changes nothing"""
    for way in ("\x03", "\x1c", signal.SIGINT, signal.SIGTERM, signal.SIGHUP,
                signal.SIGQUIT):
        with live() as screen:
            screen.wait_line("the queue", lambda line: line.startswith("QUEUE"))
            screen.press(way) if isinstance(way, str) else screen.kill(way)
            equal(screen.wait_end(), 0, f"exit status after {way!r}")
            equal(screen.is_back(), "", f"the terminal after {way!r}")
    with Terminal("bash", "-mc", "slurmk8s top -d 1; echo stopped; read line; fg",
                  rows=24, columns=80) as screen:
        screen.wait_line("the queue", lambda line: line.startswith("QUEUE"))
        # What Ctrl-Z sends, but not to nsenter, which stops when its child has.
        screen.kill(signal.SIGTSTP)
        wait_for("the shell to go on", lambda: "stopped" in screen.read(), 5)
        equal(screen.is_back(), "", "the terminal while it is stopped")
        frames = screen.frames()
        screen.press("\n")
        wait_for("another frame", lambda: screen.frames() > frames + 1, 5)
        check(screen.is_back(), "the terminal is not taken again")
        screen.press("q")
        equal(screen.wait_end(), 0, "exit status")
        equal(screen.is_back(), "", "the terminal")
    with live() as screen:  # no shell is there to go on
        screen.wait_line("the queue", lambda line: line.startswith("QUEUE"))
        screen.press("\x1a")
        screen.kill(signal.SIGPIPE)
        frames = screen.frames()
        wait_for("another frame", lambda: screen.frames() > frames + 1, 5)
        screen.press("q")
        equal(screen.wait_end(), 0, "exit status")
        equal(screen.is_back(), "", "the terminal")


@case
def no_terminal():
    """without a terminal it prints once; wrong options are refused"""
    def said(*words, env=None):
        done = subprocess.run(["slurmk8s", "top", *words], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=env)
        return done.returncode, done.stdout
    status, text = said()
    check(status == 0 and "QUEUE" in text and "\x1b" not in text, text)
    with Terminal("slurmk8s", "top", columns=60, env={"TERM": "dumb"}) as screen:
        equal(screen.wait_end(), 0, "exit status with TERM=dumb")
        check("QUEUE" in screen.said and "\x1b" not in screen.said, screen.said)
        check(max(map(len, screen.said.splitlines())) <= 60, screen.said)
    for words in (("-d", "0"), ("-d", "5s"), ("-d",), ("x",), ("--json",),
                  ("--delay=3601",)):
        equal(said(*words)[0], 2, f"exit status of {words}")
    equal(subprocess.run(["slurmk8s", "--json", "top"], stderr=subprocess.DEVNULL
                         ).returncode, 2, "exit status with --json")
    equal(said("-f", "/none")[0], 1, "exit status without k8s.conf")


@case
def slurmctld_away():
    """a slurmctld that is killed is shown, for how long, and cleared when it is back"""
    with live() as screen:
        screen.wait_line("the queue", lambda line: line.startswith("QUEUE"))
        slurmctld.kill()
        try:
            screen.wait_line("it", lambda line: re.search(
                r"slurmctld does not answer slurmk8sd: no numbers of Slurm \(for \d+ s",
                line), 60)
            check(not any(line.startswith("QUEUE") for line in screen.lines()),
                  screen.lines())
            status, lines = once()
            check(status == 1 and "does not answer slurmk8sd" in lines[0], lines)
        finally:
            slurmctld.start()
        screen.wait_line("it is back", lambda line: "slurmctld answers" in line, 60)
        screen.wait_line("the queue", lambda line: line.startswith("QUEUE"))
        screen.press("q")
        equal(screen.wait_end(), 0, "exit status")
        equal(screen.is_back(), "", "the terminal")
    wait_for("the agent to serve", bed.serves, 60)


@case
def agent_away():
    """an agent that is killed is shown and cleared; q while it is away ends with 1"""
    with live() as screen, live() as other:
        for one in (screen, other):
            one.wait_line("the queue", lambda line: line.startswith("QUEUE"))
        bed.ctl("kill", "slurmk8sd")
        try:
            for one in (screen, other):
                one.wait_line("it", lambda line: "slurmk8sd does not answer" in line)
            check(once() == (1, [f"slurmk8s: slurmk8sd does not answer at "
                                 f"{bed.web_address()}: is it running on this host?"]),
                  once())
            other.press("q")
            equal(other.wait_end(), 1, "exit status")
            equal(other.is_back(), "", "the terminal")
        finally:
            bed.ctl("start", "slurmk8sd")
        screen.wait_line("it is back", lambda line: "slurmctld answers" in line, 60)
        screen.press("q")
        equal(screen.wait_end(), 0, "exit status")


@case
def stopped_agent():
    """an agent that answers nothing and does not end either holds nobody: q ends at
    once"""
    with live() as screen:
        screen.wait_line("the queue", lambda line: line.startswith("QUEUE"))
        bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
        try:
            time.sleep(2)  # it has asked by now
            screen.press("q")
            began = time.monotonic()
            screen.wait_end()
            check(time.monotonic() - began < 2, "it has waited")
            equal(screen.is_back(), "", "the terminal")
        finally:
            bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
    wait_for("the agent to serve", bed.serves, 60)


@case
def storm():
    """on a terminal of any size, in a storm of sizes, and on one that nobody reads, it
    goes on"""
    with live(rows=3, columns=10) as screen:
        wait_for("a frame", screen.frames)
        for i in range(400):
            screen.resize(1 + i % 50, 1 + i * 7 % 200)
            screen.read()
        screen.resize(20, 10)
        wait_for("the last size", lambda: 10 < len(screen.lines()) <= 20 and all(
            len(line) <= 10 for line in screen.lines()), 5)
        screen.resize(0, 0)  # as of a terminal that does not say
        wait_for("the usual size", lambda: any(
            len(line) > 60 for line in screen.lines()), 5)
        for i in range(3000):  # and nobody reads
            screen.resize(100, 190 + i % 10)
            if i % 100 == 0:
                time.sleep(0.01)
        screen.kill(signal.SIGTERM)
        wait_for("its end", lambda: screen.program.poll() is not None, 5)
        equal(screen.modes(), screen.before, "the modes of the terminal")


class Agent(http.server.BaseHTTPRequestHandler):
    """Answers as somebody who has taken the agent's address."""
    page = ""        # of /metrics and /metrics/detail
    status = 200
    endless = False
    hangs = threading.Event()

    def do_GET(self):
        self.send_response(self.status)
        self.end_headers()
        try:
            if self.endless:
                while True:
                    self.wfile.write(b"a 1\n" * 10000)
            if self.page is None:
                self.hangs.wait(60)
                return
            self.wfile.write(self.page.encode())
        except OSError:
            pass  # it has had enough

    def log_message(self, *_):
        pass


def good_page(extra=""):
    return ("slurm_up 1\nslurmk8sd_problems 0\nslurm_nodes 1\n"
            f"slurm_census_timestamp_seconds {int(time.time())}\n{extra}")


@case
def false_agent():
    """a page of 10 MB, one without an end, labels with newlines and escapes, other
    statuses and no answer at all: it says so and goes on"""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Agent)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    CONF.write_text(f"WebAddress=127.0.0.1:{server.server_port}\n")
    CONF.chmod(0o644)
    conf = ("-f", str(CONF))
    big = "".join(f'slurm_node_reason_info{{node="n{i}",reason="\\n\\\\x\x1b]0;x\x07'
                  f'\u202e\u0301{"y" * 50}",user="\u2028"}} 1\n' for i in range(100000))
    try:
        Agent.page = good_page(big)
        check(len(Agent.page) > 10e6, len(Agent.page))
        status, lines = once(*conf)
        equal((status, len(lines) > 100000), (0, True), "10 MB")
        with live(*conf, rows=24, columns=80) as screen:
            screen.wait_line("them", lambda line: line.endswith(" more nodes"), 60)
            check(not re.search("[\x00-\x1f\x7f\u202e\u2028]",
                                "".join(screen.lines())), screen.lines())
            for page, status, words in (
                    ("a{b=\"c\nd\"} 1", 200, "line 1 is not a metric"),
                    ("<html>", 200, "line 1 is not a metric"),
                    (good_page(), 503, "HTTP status 503"),
                    ("", 200, "no numbers of Slurm yet"),
                    (good_page("slurm_cpus NaN\n"), 200, "slurmctld answers")):
                Agent.page, Agent.status = page, status
                screen.wait_line(words, lambda line: words in line)
            Agent.endless = True
            screen.wait_line("that it is too long", lambda line: "64 MiB" in line, 60)
            Agent.endless, Agent.page = False, None
            time.sleep(2)
            screen.press("q")
            began = time.monotonic()
            equal(screen.wait_end(), 1, "exit status")
            check(time.monotonic() - began < 2, "it has waited")
            equal(screen.is_back(), "", "the terminal")
    finally:
        Agent.hangs.set()
        server.shutdown()
        CONF.unlink()


run(before_each=bed.clean, after_each=bed.nothing_left, after_failure=bed.last_words)
