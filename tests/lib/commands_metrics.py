# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's metrics from another source: scontrol, sdiag, sshare and the API server
are asked each second. What they say is kept, and served to Prometheus on loopback in
its text format. Nothing comes from the agent."""
import collections
import http.client
import http.server
import json
import os
import ssl
import subprocess
import threading
import time
import urllib.request

import bed
import commands_counts
import commands_numbers
from commands_numbers import key

EACH = 1.0      # seconds
PATIENCE = 4    # seconds that a command may take
SLURM = {
    "sdiag": "sdiag --json",
    "nodes": "scontrol show nodes --json",
    "jobs": "scontrol show jobs --json",
    "licenses": "scontrol show licenses --json",
}
# What changes seldom: asked for with each SELDOM-th look.
SELDOM = 5
SELDOM_SLURM = {
    "partitions": "scontrol show partitions --all --json",
    "reservations": "scontrol show reservations --json",
}
SHARES = ("sshare -ahP -o Account,User,Partition,RawShares,NormShares,RawUsage,"
          "EffectvUsage,FairShare")
KUBERNETES = {"pods": "api/v1", "resourceclaims": "apis/resource.k8s.io/v1"}
_TLS = ssl.create_default_context(cafile=os.environ["SANDBOX_CA"])
# Pods that live, whose jobs slurmctld does not know any more: the agent may.
FORGOTTEN = "commands_forgotten_jobs"
CUT = "\x1e"  # between the answers
# What a dictionary of JSON is called in which an answer lies.
LISTS = {"sdiag": "statistics"}

# Which source was asked when, whether Slurm and Kubernetes have answered, and what
# they said. began, ended: seconds since the epoch.
Look = collections.namedtuple("Look", "began ended slurm kubernetes samples")


def _ask_slurm(commands):
    """One after the other, in one shell: the answers by name, or None."""
    script = " && ".join(f"timeout {PATIENCE} {command} && printf '{CUT}'"
                         for command in commands.values())
    done = subprocess.run([str(bed.TOP / "contribs/sandbox/exec"), "sh", "-c", script],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    texts = done.stdout.split(CUT)[:-1]
    if len(texts) != len(commands):
        return None
    return {name: json.loads(text)[LISTS.get(name, name)]
            if "--json" in commands[name] else text
            for name, text in zip(commands, texts)}


def _ask_kubernetes():
    """The objects by kind, as `kubectl get KIND -A -o json` prints them; or None. Not
    by kubectl, which takes longer than all of Slurm's commands."""
    found = {}
    for kind, group in KUBERNETES.items():
        request = urllib.request.Request(
            f"{os.environ['SANDBOX_API']}/{group}/{kind}",
            headers={"Authorization": "Bearer " + os.environ["SANDBOX_TOKEN"]})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE,
                                        context=_TLS) as reply:
                found[kind] = json.load(reply)["items"]
        except (OSError, ValueError, http.client.HTTPException):
            return None
    return found


class Source(threading.Thread):
    """Asks until it is stopped. people: users and accounts, too. alter, if set, changes
    the samples of each look before anybody sees them: for tests of the comparison."""

    def __init__(self, people=False, each=EACH):
        super().__init__(daemon=True)
        self.people, self.each = people, each
        self.alter = None
        self.history = []  # looks, the oldest first
        self.counts = commands_counts.JobCounts()
        self.failure = None
        self._jobs = {}    # all that were ever seen, by id
        self._kept = {}    # what was last said of what changes seldom
        self._page = None
        self._over = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Page)
        self._server.source = self
        self.address = f"127.0.0.1:{self._server.server_port}"

    def start(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        super().start()

    def stop(self):
        self._over.set()
        self.join()
        self._server.shutdown()
        self._server.server_close()
        if self.failure:
            raise self.failure

    def run(self):
        try:
            while not self._over.is_set():
                began = time.monotonic()
                look = self._look()
                self._page = _text(look.samples)
                self.history.append(look)
                self._over.wait(max(0.05, began + self.each - time.monotonic()))
        except Exception as error:  # stop() and the page tell it
            self.failure = error

    def _look(self):
        began = time.time()
        slurm, kubernetes = self._ask(), _ask_kubernetes()
        samples = {key("slurm_up"): int(slurm is not None)}
        if slurm:
            self.counts.see(slurm["jobs"])
            samples |= self._of_slurm(slurm)
            samples[key("slurm_census_timestamp_seconds")] = int(began)
        if slurm and kubernetes:
            names = {node["name"] for node in slurm["nodes"]}
            self._jobs |= {job["job_id"]: job for job in slurm["jobs"]}
            samples |= commands_numbers.of_pods(kubernetes["pods"], slurm["jobs"],
                                                names)
            samples[key(FORGOTTEN)] = commands_numbers.forgotten(
                kubernetes["pods"], slurm["jobs"], self._jobs.values())
            samples |= commands_numbers.of_claims(kubernetes["resourceclaims"])
        samples |= self.counts.samples()
        if self.alter:
            samples = self.alter(samples)
        return Look(began, time.time(), slurm is not None, kubernetes is not None,
                    samples)

    def _ask(self):
        """All answers of Slurm, or None."""
        commands = dict(SLURM)
        if len(self.history) % SELDOM == 0 or not self._kept:
            commands |= SELDOM_SLURM | ({"shares": SHARES} if self.people else {})
        said = _ask_slurm(commands)
        if said:
            self._kept |= {name: said[name] for name in said if name not in SLURM}
        return said and self._kept | said

    def _of_slurm(self, said):
        names = [partition["name"] for partition in said["partitions"]]
        found = {}
        for part in (
                commands_numbers.of_nodes(said["nodes"], names),
                commands_numbers.of_jobs(said["jobs"], names, self.people),
                commands_numbers.of_sdiag(said["sdiag"]),
                commands_numbers.of_reservations(said["reservations"]),
                commands_numbers.of_licenses(said["licenses"]),
                commands_numbers.of_shares(said.get("shares", ""), said["jobs"])):
            found |= part
        return found

    def page(self):
        """What was last said, in Prometheus' text format."""
        return None if self.failure else self._page


def _text(samples):
    """With the types of histograms, whose bounds Prometheus then writes as it writes
    those of the agent."""
    lines, histogram = [], None
    for (name, labels), value in sorted(samples.items()):
        family = name.removesuffix("_bucket")
        if family != name and family != histogram:
            histogram = family
            lines.append(f"# TYPE {family} histogram\n")
        words = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
        lines.append(f"{name}{{{words}}} {value}\n")
    return "".join(lines)


def _escaped(text):
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class _Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = self.server.source.page()
        self.send_response(200 if text else 503)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.end_headers()
        try:
            self.wfile.write((text or "").encode())
        except OSError:
            pass  # Prometheus waits for a scrape only until the next

    def log_message(self, *_):
        pass
