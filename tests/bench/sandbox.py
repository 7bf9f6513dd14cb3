# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox that is measured: up and down, its daemons' CPU time and memory, slurmctld's counts of RPCs."""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from kube import Failed

CHECKOUT = Path(__file__).resolve().parents[2]
SCRIPTS = CHECKOUT / "contribs/sandbox"
NODES, CPUS = 4, 16
AGENT = "slurmk8sd"
OURS, THEIRS = "slurm", "default-scheduler"                   # schedulerName of a Pod
CONTROLLERS = "kube-controller-manager"
KUBE_SCHEDULER = "kube-scheduler"
DAEMONS = (AGENT, "slurmctld", KUBE_SCHEDULER, "kube-apiserver", CONTROLLERS, "etcd", "kwok", "slurmdbd", "mariadb")
TICKS = os.sysconf("SC_CLK_TCK")

# One answer holds all jobs or nodes, whatever their number: what is read in bulk costs nothing for each Pod.
BULK = {"REQUEST_JOB_STATE", "REQUEST_JOB_INFO", "REQUEST_NODE_INFO", "REQUEST_RESERVATION_INFO", "REQUEST_PARTITION_INFO",
        "REQUEST_PING"}


def say(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


class Sandbox:
    def __init__(self):
        self.environment = dict(os.environ)
        self.environment.setdefault("SANDBOX_K8S_CONF_EXTRA", "TaintNodes=no")  # kube-scheduler shall place Pods there
        self.environment.setdefault("SANDBOX", str(CHECKOUT / ".sandbox-bench"))
        self.directory = Path(self.environment["SANDBOX"])
        self.existed = (self.directory / "port").exists()
        self.was_up = self.existed and not subprocess.run([str(SCRIPTS / "ctl"), "status"], env=self.environment,
                                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
        if not self.existed:                                  # else it remembers its ports
            self.environment.setdefault("SANDBOX_PORT", "22500")
        self._pids = {}

    def up(self):
        self._script("up", "--no-real-node", "--kube-scheduler", "--nodes", str(NODES), "--cpus", str(CPUS), "--gpus", "0")
        text = subprocess.run(["bash", "-c", 'eval "$("$0")"; env -0', str(SCRIPTS / "env")], env=self.environment, check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        self.environment = dict(line.split("=", 1) for line in text.split("\0") if "=" in line)
        self.init = int((self.directory / "init.pid").read_text().split()[0])
        self.has_agent = self.pid(AGENT) is not None

    def leave(self):
        """As it was found: up, down, or not there."""
        if not self.was_up:
            say("taking the sandbox down")
            self._script("down", *([] if self.existed else ["--purge"]))

    def _script(self, name, *words):
        if subprocess.run([str(SCRIPTS / name), *words], env=self.environment, stdout=subprocess.DEVNULL).returncode:
            raise Failed(f"contribs/sandbox/{name} failed")

    def command(self, *words):
        """The output of one of the sandbox's commands."""
        try:
            result = subprocess.run(words, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    timeout=60)
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(words)}: no answer in 60 s") from None
        if result.returncode:
            raise Failed(f"{' '.join(words)}: {result.stderr.strip()}")
        return result.stdout

    def wait_no_jobs(self, seconds=60):
        deadline = time.monotonic() + seconds
        while n := len(self.command("squeue", "--noheader", "--all", "--format=%i").split()):
            if time.monotonic() > deadline:
                raise Failed(f"{n} jobs are still in squeue {seconds} s after their Pods have gone")
            time.sleep(0.2)

    # --- daemons

    def ctl(self, *words):
        self._script("ctl", *words)

    def ctl_begin(self, *words):
        """As ctl, without waiting for what comes of it."""
        subprocess.Popen([str(SCRIPTS / "ctl"), *words], env=self.environment, stdout=subprocess.DEVNULL)

    def pid(self, daemon):
        """Its number on the host, where /proc can be read at once; None if it does not run."""
        known = self._pids.get(daemon)
        if known and Path(f"/proc/{known}").exists():
            return known
        result = subprocess.run([str(SCRIPTS / "ctl"), "pid", daemon], env=self.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)
        if result.returncode:
            return None
        inside, space = result.stdout.strip(), os.readlink(f"/proc/{self.init}/ns/pid")
        for proc in Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(proc / "ns/pid") == space and \
                        re.search(r"^NSpid:.*\s(\d+)$", (proc / "status").read_text(), re.M)[1] == inside:
                    self._pids[daemon] = int(proc.name)
                    return self._pids[daemon]
            except (OSError, TypeError):
                continue                                      # it has just ended
        return None

    def cpu(self):
        """CPU seconds of each daemon so far, and our own."""
        used = {"bench": time.process_time()}
        for daemon in DAEMONS:
            if (pid := self.pid(daemon)) is not None:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                used[daemon] = (int(fields[11]) + int(fields[12])) / TICKS
        return used

    def rss(self, daemon):
        """Resident MiB, or None."""
        if (pid := self.pid(daemon)) is None:
            return None
        return int(re.search(r"^VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)[1]) / 1024

    # --- slurmctld

    def rpcs(self):
        """What slurmctld has counted: RPCs by message type, RPCs by user."""
        text = self.command("sdiag", "--all", "--no-trunc")
        by = {}
        for what in ("message type", "user"):
            section = re.search(rf"^Remote Procedure Call statistics by {what}\n((?:\t.*\n)*)", text, re.M)
            rows = re.findall(r"^\t(\S+)\s+\(\s*\d+\)\s+count:(\d+)", section[1] if section else "", re.M)
            by[what] = {name: int(count) for name, count in rows}
        return by

    # --- what it is

    def versions(self):
        def first(*words, **options):
            try:
                return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
                                      **options).stdout.split("\n")[0]
            except (OSError, subprocess.CalledProcessError):
                return "unknown"
        api = self.command("kubectl", "get", "--raw", "/version")
        return {"slurm-k8s-bridge": first("git", "describe", "--always", "--dirty", "--tags", cwd=CHECKOUT),
                "Slurm": self.command("sinfo", "--version").split()[-1],
                "Kubernetes": re.search(r'"gitVersion": "([^"]+)"', api)[1],
                "Linux": os.uname().release}
