# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch jobs both ways at once: through slurmd on native1, and as Pods on the
real kubelet. What a user sees of each is a set of facts, by name."""
import contextlib
import re
import shlex

import admission
import batch_site
import bed
import real_nodes
from batch import IMAGE, clear
from batch_site import SITE
from tap import wait_for

LARGE = 1 << 20  # bytes: such a file is not read, but its sum

FIELDS = ("State,ExitCode,DerivedExitCode,JobName,User,Group,Account,QOS,"
          "AllocCPUS,ReqCPUS,ReqMem,AllocTRES,ReqTRES,NNodes,Timelimit,"
          "WorkDir,StdIn,StdOut,StdErr,Restarts,Constraints,Comment,"
          "AdminComment,Flags,Partition,NodeList").split(",")


class Way:
    """One of the two, and the jobs that were submitted in it."""

    def __init__(self, directory, node, partition, *options):
        self.directory = f"{SITE}/alice/{directory}"
        self.node = node
        self.partition = partition
        self.options = options
        self.jobs = {}  # names to JobIds

    def submit(self, name, command, *options, limits=""):
        """A job on the way's node, in a directory of its own; command: the script
        and its arguments; limits: what a shell does before."""
        words = ["env", "-i", "PATH=/usr/bin:/bin", "HOME=/home/alice",
                 "USER=alice", "GREETING=good morning", "sbatch", "--parsable",
                 "-p", self.partition, "-w", self.node,
                 "-D", f"{self.directory}/{name}",
                 *self.options, *options, *command]
        said = bed.inside("sh", "-c", f"{limits} {shlex.join(words)}",
                          user="alice")
        self.jobs[name] = int(said.split()[-1])
        return self.jobs[name]

    def without_ids(self, text):
        """Of jobs, with zeros before them or not."""
        for name, number in self.jobs.items():
            text = re.sub(rf"(?<![0-9A-Za-z])(0*){number}(?![0-9A-Za-z])",
                          lambda m, name=name: f"{m[1] and '0'}<{name}>", text)
        return text

    def plain(self, text):
        """Without what no two jobs have in common."""
        text = text.replace(self.directory, "<directory>")
        text = re.sub(rf"\b{self.node}\b", "<node>", text)
        return re.sub(rf"\b{self.partition}\b", "<partition>", text)


def ways():
    return (Way("1", "native1", "native"),
            Way("2", real_nodes.FIRST, real_nodes.PARTITION, IMAGE))


OF_JOBS = ("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_ARRAY_JOB_ID",
           "SLURM_JOB_DEPENDENCY")


def _of_environment(way, name, value):
    if name in OF_JOBS:
        return way.without_ids(value)
    if name.endswith("_TIME") or name == "SLURM_TASK_PID":
        return re.sub("^[0-9]+$", "<number>", value)
    if name == "SLURM_JOB_SLUID":
        return re.sub("^s[0-9A-Z]{13}$", "<sluid>", value)
    return value


# A batch step whose script has just ended is still asked to stop when the job's end
# reaches slurmd first, and then writes this into the job's output. It is chance.
LATE_SIGNAL = re.compile(r"\[[-0-9T:.]+\] error: _handle_signal_container: failed "
                         r"signal [0-9]+ pid [0-9]+ StepId=\S+ No such process\n")


def _facts_of_text(way, text):
    """Lines "env NAME=VALUE" and their kin are facts of their own."""
    facts, rest = {}, []
    for line in text.splitlines(True):
        if LATE_SIGNAL.fullmatch(line):
            continue
        known = re.fullmatch(r"((?:env|process|limit) [^=]+)=(.*)\n", line)
        if known:
            name, value = known.groups()
            facts[name] = _of_environment(way, name.split()[1], value)
        else:
            rest.append(line)
    return facts, "".join(rest)


def files(way, name):
    """What is in the job's directory: mode, owner, and bytes."""
    mark = "=====file====="
    said = bed.inside("sh", "-c", f"""cd {way.directory}/{name} || exit
        for f in *; do
            printf '{mark}%s\\t%s\\n' "$f" "$(stat -c '%a %U %G %F' "$f")"
            if [ -d "$f" ]; then :
            elif [ "$(stat -c %s "$f")" -lt {LARGE} ]; then od -An -v -tx1 "$f"
            else cksum "$f"
            fi
        done""")
    facts = {}
    for part in said.split(mark)[1:]:
        head, body = part.split("\n", 1)
        file, mode = head.split("\t")
        file = way.plain(way.without_ids(file))
        facts[f"file {file}"] = mode
        if re.fullmatch(r"[0-9a-f\s]*", body):
            body = bytes.fromhex(body).decode("latin-1")
        own, rest = _facts_of_text(way, way.plain(body))
        facts.update(own)
        facts[f"text {file}"] = rest
    return facts


def accounted(way, name):
    """sacct's rows of the job, or of each task of an array."""
    said = bed.run("sacct", "-nPj", str(way.jobs[name]), "-o",
                   ",".join(["JobID", *FIELDS]))
    facts = {}
    for line in said.splitlines():
        number, *values = line.split("|")
        task, _, step = number.partition(".")
        task = "".join(f"{t} " for t in task.split("_")[1:])
        if step:
            facts[f"sacct {task}.{step}"] = "there"
            continue
        for field, value in zip(FIELDS, values):
            # Which part of the scheduler finds a node first is chance.
            value = re.sub("Sched(Main|Backfill|Submit),?", "", value)
            facts[f"sacct {task}{field}"] = way.plain(value)
    return facts


def ended(way):
    """All of the way's jobs have ended, as squeue has it and sacct too."""
    over = bed.run("squeue", "-hj", ",".join(map(str, way.jobs.values())),
                   "-o", "%i", check=False)
    if any(line.strip().split("_")[0].isdigit() for line in over.splitlines()):
        return False
    return not re.search("RUNNING|PENDING", bed.run(
        "sacct", "-nXPj", ",".join(map(str, way.jobs.values())), "-o", "State"))


def wait_ended(all_ways, seconds):
    for way in all_ways:
        wait_for("all jobs to end", lambda way=way: ended(way), seconds,
                 every=0.5)


# ---- What a site has


def large_ids():
    """In a fresh sandbox, JobIds that no task of an array has as its number."""
    bed.inside("sh", "-c", "while [ $(sbatch --parsable --hold -p native -D /tmp "
               "-o none --wrap true) -lt 100 ]; do :; done; scancel -u alice",
               user="alice", timeout=120)


@contextlib.contextmanager
def site():
    """The template has the volume SITE, where alice has a directory."""
    admission.apply()
    clear("alice")
    large_ids()
    batch_site.directories(755, "alice")
    with batch_site.template({
            "apiVersion": "v1", "kind": "Pod", "spec": {
                "volumes": [{"name": "site", "hostPath": {"path": SITE}}],
                "containers": [{"name": "job", "volumeMounts": [
                    {"name": "site", "mountPath": SITE}]}]}}):
        try:
            yield
        finally:
            clear("alice")
