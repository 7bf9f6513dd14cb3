#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Thirteen batch scripts run through slurmd and as Pods at once. What differs is
what doc/users/sbatch.md says, no more and no less."""
import fnmatch
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import batch
import batch_ways
import bed
import real_nodes
from batch_ways import SITE
from tap import case, check, run

SCRIPTS = f"{SITE}/scripts"
HEADING = "## What differs from a native job"


def allowed():
    """The patterns in the first column of the document's table: "FACT", or
    "SCRIPT: FACT" where it is that script's alone."""
    text = (bed.TOP / "doc/users/sbatch.md").read_text().split(f"{HEADING}\n")[1]
    table = text.split("\n## ")[0]
    patterns = []
    for line in table.splitlines():
        if line.startswith("| `"):
            patterns += re.findall("`([^`]+)`", line.split(" | ")[0])
    return patterns


def fits(pattern, script, fact):
    only, colon, rest = pattern.rpartition(": ")
    return only in ("", script) and fnmatch.fnmatchcase(
        fact, rest if colon else pattern)


def submit(way):
    """All thirteen. What needs a whole node or takes long comes first."""
    def script(name, *arguments, options=(), **more):
        bed.inside("install", "-d", "-o", "alice", "-g",
                   bed.inside("id", "-gn", "alice").strip(),
                   f"{way.directory}/{name}")
        if name == "files.sh":
            bed.inside("sh", "-c", f"cd {way.directory}/{name}; umask 022; "
                       f"echo before > {name}.err", user="alice")
        # Of a job without a limit backfill writes another one into sacct.
        return way.submit(name, [f"{SCRIPTS}/{name}", *arguments], "-t5",
                          *options, **more)
    script("environment.sh", options=(
        "-c2", "-n1", "--mem-per-cpu=60", "-J", "my job", "--comment=mine",
        "--open-mode=append"))
    script("warned.sh", options=("-t1", "--signal=B:USR1@50"))
    hello = script("hello.sh", "one", "two words", "", "it's $HOME")
    leaves = script("leaves.sh", options=("--ntasks-per-node=1",))
    script("dies.sh")
    script("files.sh", options=(
        "-o", "%x-%j-%8j-%u-%N-%t-%n.out", "-e", "%x.err",
        "--open-mode=append"), limits="umask 027;")
    script("input.sh", options=("-i", f"{SCRIPTS}/%x.bytes",))
    script("place.sh", limits="umask 037; ulimit -S -n 500 -c 0 -s 4096;")
    script("export.sh", options=("--export=GREETING,MINE=it is mine",))
    script("array.sh", options=("--array=1-3",))
    if batch.srun_sum():
        script("steps.sh", options=("-n2",))
    script("large.awk", options=("-o", "large.out"))
    script("after.sh", options=(
        f"--dependency=afterok:{hello},afternotok:{leaves}",))


def facts_of(way):
    return {name: {**batch_ways.accounted(way, name),
                   **batch_ways.files(way, name)} for name in way.jobs}


@case
def the_same_jobs():
    """output files, exit codes, environment and sacct of the same scripts differ
    in what the document says alone, and in all of that"""
    real_nodes.need_one()
    patterns = allowed()
    check(patterns, "the document has no table")
    if not batch.srun_sum():  # this system has no static libraries
        patterns = [p for p in patterns if not p.startswith("steps.sh: ")]
    with batch_ways.site():
        bed.inside("sh", "-c", f"cp -r {bed.TOP}/tests/batch {SCRIPTS}; "
                   f"head -c 70000 /dev/urandom > {SCRIPTS}/input.sh.bytes")
        both = batch_ways.ways()
        for way in both:
            submit(way)
        batch_ways.wait_ended(both, 60)
        native, pod = map(facts_of, both)
    unused, wrong = set(patterns), []
    for script in native:
        one, other = native[script], pod[script]
        for fact in sorted(set(one) | set(other)):
            if one.get(fact) == other.get(fact):
                continue
            found = [p for p in patterns if fits(p, script, fact)]
            unused -= set(found)
            if not found:
                wrong.append(f"{script}: {fact}: native {one.get(fact)!r}, "
                             f"as a Pod {other.get(fact)!r}")
    check(not wrong, "not in the document:\n" + "\n".join(wrong))
    check(not unused, f"in the document, and not there: {sorted(unused)}")


run(after_each=bed.nothing_left, after_failure=bed.last_words)
