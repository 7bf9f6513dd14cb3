# SPDX-License-Identifier: GPL-2.0-or-later
"""Helm, and the charts in contribs/helm. Needs no sandbox."""
import os
import pathlib
import subprocess

from tap import check

TOP = pathlib.Path(__file__).resolve().parents[2]
WITH_HELM = TOP / "contribs/sandbox/with-helm"
CHARTS = TOP / "contribs/helm"


def why_not(build=True):
    """Why there is no Helm, or None. It is built, which takes minutes, unless the
    cache has it or build is false."""
    more = {} if build else {"SANDBOX_CACHE_ONLY": "yes"}
    done = subprocess.run([WITH_HELM, "true"], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **more})
    return None if done.returncode == 0 else " ".join(done.stdout.split())[-200:]


def says(*words):
    """Its status, and what it says."""
    done = subprocess.run([WITH_HELM, "helm", *map(str, words)], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout


def helm(*words):
    """What it says; it must succeed."""
    status, said = says(*words)
    check(status == 0, f"helm {' '.join(map(str, words))}: {said}")
    return said


def refused(words, *arguments):
    """What it says; it must fail, and say these words."""
    status, said = says(*arguments)
    check(status != 0, f"this was allowed: {arguments}: {said}")
    check(words in said, f"refused for another reason: {arguments}: {said}")
    return said


def lints(chart, *options):
    """helm lint --strict finds nothing."""
    said = helm("lint", "--strict", chart, *options)
    check("0 chart(s) failed" in said, said)
    check(not any(line.startswith(("[WARNING]", "[ERROR]"))
                  for line in said.splitlines()), said)
