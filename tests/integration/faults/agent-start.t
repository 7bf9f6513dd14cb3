#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent with bad configuration, a wrong token, and either side away: a
clear message, patience, no crash."""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from agent_conf import CONF, TOKEN, hup, read, write
from tap import case, check, equal, run, wait_for


class changed:
    """A file with other contents, for as long as the block lasts."""

    def __init__(self, path, text):
        self.path, self.text = path, text

    def __enter__(self):
        self.saved = read(self.path)
        write(self.path, self.text)

    def __exit__(self, *_):
        write(self.path, self.saved)


def start_by_hand(*words):
    """slurmk8sd as its user, until it ends by itself."""
    return bed.inside("setpriv", "--reuid=slurm", "--regid=slurm",
                      "--init-groups", "timeout", "20", "slurmk8sd", *words,
                      check=False)


def start_unready():
    """ctl start waits until the agent serves, which it cannot yet."""
    subprocess.Popen([str(bed.TOP / "contribs/sandbox/ctl"), "start",
                      "slurmk8sd"], stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)


def works(name):
    bed.create(bed.pod(name, annotations={"sandbox/run": "100ms"}))
    bed.wait_ended(name, "COMPLETED", "0:0", 60)


@case
def malformed_conf():
    """each mistake in k8s.conf is named with its line, and the agent does not start"""
    for text, words in (
            ("Nonsense=1\n", ("line 1", "unknown key", "Nonsense")),
            ("KubeApiServer=https://x\n\nWorkers=many\n", ("line 3", "Workers")),
            ("KubeApiServer=http://x\n", ("line 1", "https")),
            ("Workers=1\nworkers=2\n", ("line 2", "twice")),
            ("just words\n", ("line 1", "Key=Value"))):
        path = "/tmp/bad.conf"
        write(path, text)
        said = start_by_hand("-f", path)
        for word in words:
            check(word in said, f"{text!r}: {said}")
    said = start_by_hand("-f", "/nonexistent.conf")
    check("cannot read /nonexistent.conf" in said, said)


@case
def tests_its_conf():
    """slurmk8sd -t checks a configuration; --help and --version say what they should"""
    check("well formed" in start_by_hand("-t", "-f", CONF), "-t")
    check("Usage: slurmk8sd" in start_by_hand("--help"), "--help")
    check("slurm-k8s-bridge" in start_by_hand("--version"), "--version")
    check("Try 'slurmk8sd --help'" in start_by_hand("--frobnicate"), "bad option")


@case
def second_agent():
    """a second agent on the same socket refuses to start and says why"""
    said = start_by_hand("-f", CONF)

    check("already listens" in said, said)
    works("first-agent")


# Starts the agent as systemd does, and says what systemd would hear.
AS_SYSTEMD = """
import os, socket, subprocess, sys
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind("\\0wrong-user")
heard.setblocking(False)
done = subprocess.run(sys.argv[2:], user=sys.argv[1], group=sys.argv[1],
                      extra_groups=[], timeout=20, text=True,
                      env={**os.environ, "NOTIFY_SOCKET": "@wrong-user"},
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(done.stdout, "status", done.returncode)
try:
    print("heard", heard.recv(1000))
except BlockingIOError:
    print("heard nothing")
"""


@case
def wrong_user():
    """an agent that runs as another user than SlurmUser refuses to serve: it says
    what to edit, takes neither socket nor Lease, and never tells systemd that
    it is ready"""
    path = ("/apis/coordination.k8s.io/v1/namespaces/slurm-k8s-bridge/leases/"
            "slurmk8sd")
    bed.ctl("stop", "slurmk8sd")
    try:
        before = bed.api("GET", path)["spec"]
        for user in ("alice", "root"):
            said = bed.inside("python3", "-c", AS_SYSTEMD, user, "slurmk8sd",
                              "-f", CONF)
            for words in (f"it runs as {user}, and must run as SlurmUser, which "
                          "slurm.conf says is slurm", "User=slurm",
                          "/etc/systemd/system/slurmk8sd.service.d/user.conf",
                          "status 1", "heard nothing"):
                check(words in said, f"{words!r} in {said}")
            equal(bed.api("GET", path)["spec"], before, "the Lease")
    finally:
        bed.ctl("start", "slurmk8sd")
    works("right-user")


@case
def unreadable_token():
    """a token that the agent may not read: whose it is, as whom the agent runs, and
    the command that helps; it heals by itself"""
    bed.ctl("kill", "slurmk8sd")
    bed.inside("chown", "root", TOKEN)
    try:
        size = bed.log_size("slurmk8sd")
        start_unready()
        wait_for("the complaint", lambda: f"chown slurm {TOKEN}" in
                 bed.log_since("slurmk8sd", size))
        said = bed.log_since("slurmk8sd", size)
        check("its owner is root" in said and "runs as slurm" in said, said)
        check("kubectl apply" not in said, said)
    finally:
        bed.inside("chown", "slurm", TOKEN)
    works("readable")


@case
def reload_all_or_nothing():
    """SIGHUP takes a good file and keeps the old settings for a bad one"""
    good = read(CONF)
    with changed(CONF, good + "Nonsense=1\n"):
        hup("unknown key")
        works("old-settings")
    with changed(CONF, good.replace("DefaultUser=alice", "DefaultUser=carol")):
        hup()
        bed.create(bed.pod("carols", annotations={"sandbox/run": "100ms"}))
        equal(bed.wait_ended("carols", "COMPLETED")["user_name"], "carol", "user")
    bed.ctl("kill", "--signal", "HUP", "slurmk8sd")


@case
def wrong_token():
    """with a wrong token the agent says so, keeps trying, and heals when the
    token is right; the token is in no log"""
    good = read(TOKEN)
    bad = "not-a-token-of-anybody"
    bed.ctl("kill", "slurmk8sd")
    with changed(TOKEN, bad):
        size = bed.log_size("slurmk8sd")
        start_unready()
        wait_for("the complaint", lambda: "401" in
                 bed.log_since("slurmk8sd", size) or "Unauthorized" in
                 bed.log_since("slurmk8sd", size))
    bed.create(bed.pod("healed", annotations={"sandbox/run": "100ms"}))
    bed.wait_ended("healed", "COMPLETED", "0:0", 90)
    said = bed.log_since("slurmk8sd", 0)
    check(bad not in said and good.strip() not in said, "a token in the log")


@case
def api_server_away():
    """the API server is away at the start and later: back-off, no crash, and
    what happened meanwhile is caught up"""
    bed.create(bed.pod("ends", annotations={"sandbox/exit": "9"}))
    bed.wait_phase("ends", "Running")
    bed.ctl("kill", "slurmk8sd")
    bed.end("ends")
    bed.ctl("kill", "kube-apiserver")
    size = bed.log_size("slurmk8sd")
    start_unready()
    wait_for("the complaint", lambda: "what=Lease" in
             bed.log_since("slurmk8sd", size))
    bed.ctl("start", "kube-apiserver")
    bed.wait_ended("ends", "FAILED", "9:0", 90)

    bed.ctl("kill", "kube-apiserver")
    bed.ctl("start", "kube-apiserver")
    works("back")
    bed.ctl("wait", "kube-controller-manager")


@case
def slurmctld_away_at_start():
    """slurmctld is away when the agent starts: it waits for it, and then serves"""
    bed.ctl("kill", "slurmk8sd")
    bed.ctl("kill", "slurmctld")
    size = bed.log_size("slurmk8sd")
    start_unready()
    wait_for("the complaint", lambda: "slurmctld" in
             bed.log_since("slurmk8sd", size), 60)
    bed.ctl("start", "slurmctld")

    works("patient")


run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
