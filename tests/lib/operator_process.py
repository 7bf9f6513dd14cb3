# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmk8s-operator in a sandbox: with the rights of contribs/operator and no
others, as a process on the host's side of the sandbox's API server."""
import http.client
import os
import pathlib
import re
import subprocess
import tempfile

import bed
import slinky
from tap import wait_for

ACCOUNT = "slurmk8s-operator"  # and its namespace
# OPERATOR names another one, such as that of the build tree.
PROGRAM = os.environ.get("OPERATOR", "/usr/sbin/slurmk8s-operator")
PORT = 31  # beyond the sandbox's first port; its last one


def install(*options):
    """Its definitions, its identity and its rights; options: of kubectl apply."""
    slinky.define(*options, "-k", str(bed.TOP / "contribs/operator"))


def uninstall():
    slinky.kubectl("delete", "--ignore-not-found", "-k",
                   str(bed.TOP / "contribs/operator"))


def account_token():
    path = f"/api/v1/namespaces/{ACCOUNT}/serviceaccounts/{ACCOUNT}/token"
    made = bed.api("POST", path, {"spec": {"expirationSeconds": 7200}})
    return made["status"]["token"]


class Operator:
    """A running operator. What it says is in its log, below $SANDBOX/log."""

    def __init__(self, *options):
        self.port = _first_port() + PORT
        self.log = bed.SANDBOX / "log" / "slurmk8s-operator.log"
        self.directory = tempfile.TemporaryDirectory(
            dir=bed.SANDBOX, prefix="operator-")
        token = pathlib.Path(self.directory.name) / "token"
        token.write_text(account_token())
        self.command = [
            str(bed.TOP / "contribs/sandbox/exec"), "sh", "-c",
            'echo "$$"; exec "$@" 2>> "$0"', str(self.log), PROGRAM,
            "--server", os.environ["SANDBOX_API"],
            "--ca-file", os.environ["SANDBOX_CA"], "--token-file", str(token),
            "--lease-namespace", ACCOUNT,
            "--web-address", f"127.0.0.1:{self.port}", *options]
        self.process = self.pid = None

    def start(self):
        self.process = subprocess.Popen(self.command, text=True,
                                        stdout=subprocess.PIPE)
        self.pid = self.process.stdout.readline().strip()
        wait_for("the operator to answer", self.answers)
        return self

    def leads(self):
        """Waits until it acts: after a kill its Lease has to expire first."""
        wait_for("the operator to have the Lease",
                 lambda: self.metric("leader") == 1, 40)
        return self

    def page(self, name):
        """The status and the text of a page, or None."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                timeout=5)
        try:
            connection.request("GET", name)
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        except OSError:
            return None
        finally:
            connection.close()

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"it has ended: {self.log.read_text()[-2000:]}")
        return self.page("/healthz") == (200, "ok\n")

    def metric(self, name):
        text = (self.page("/metrics") or (0, ""))[1]
        found = [int(value) for value in re.findall(
            rf"^slurmk8s_operator_{re.escape(name)}\S* (\d+)$", text, re.M)]
        return sum(found) if found else None

    def signal(self, name):
        bed.inside("kill", f"-{name}", self.pid)

    def stop(self, name="TERM"):
        """Its exit status."""
        if self.process and self.process.poll() is None:
            self.signal(name)
        status = self.process.wait(60) if self.process else 0
        self.process = None
        return status

    def check_unused(self, *options):
        """The exit status of another one that only looks, and what it says."""
        done = subprocess.run([*self.command, "--check-unused", *options], text=True,
                              stdout=subprocess.PIPE, timeout=60)
        return done.returncode, done.stdout.partition("\n")[2].strip()

    def rss(self):
        """What it has in memory, in MiB."""
        text = bed.inside("cat", f"/proc/{self.pid}/status")
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1]) // 1024


def _first_port():
    return int(os.environ["SANDBOX_API"].rsplit(":", 1)[1])
