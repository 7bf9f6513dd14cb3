#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is built and installed: the plugins export only entry points, the man
pages and the commands are there and well formed."""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
from tap import case, check, equal, run

PLUGINS = "/usr/lib/x86_64-linux-gnu/slurm-wlm"


@case
def exported_symbols():
    """the plugins export entry points of Slurm's and nothing else"""
    allowed = re.compile(r"^(plugin_(name|type|version)|init|fini|job_submit|"
                         r"job_modify|prep_p_\w+|node_features_p_\w+|"
                         r"slurm_spank_\w+|spank_plugin_version)$")
    for plugin in ("prep_k8s", "job_submit_k8s", "node_features_k8s",
                   "spank_k8s"):
        listing = bed.inside("nm", "-D", "--defined-only",
                             f"{PLUGINS}/{plugin}.so")
        names = [line.split()[-1] for line in listing.splitlines()]
        check(names, f"{plugin} exports nothing")
        equal([n for n in names if not allowed.match(n)], [], plugin)


@case
def loaded():
    """slurmctld has loaded both plugins"""
    conf = bed.run("scontrol", "show", "config")
    check(re.search(r"JobSubmitPlugins\s*= .*k8s", conf), "JobSubmitPlugins")
    check(re.search(r"PrEpPlugins\s*= .*prep/k8s", conf), "PrEpPlugins")


@case
def man_pages():
    """the man pages have no warnings"""
    for page in sorted((bed.TOP / "doc/man").glob("man*/*")):
        said = bed.inside("groff", "-ww", "-man", "-Tutf8", "-z", str(page))
        equal(said.strip(), "", page.name)


@case
def commands():
    """slurmk8s says what the agent does, also as kubectl slurm"""
    said = bed.run("slurmk8s", "status")
    check("slurmk8sd is serving" in said, said)
    check("slurmk8sd is serving" in bed.run("kubectl", "slurm", "status"), said)
    check("Usage: slurmk8s" in bed.run("slurmk8s", "--help"), "--help")
    check("Usage: slurmk8s" in bed.run("slurmk8s", "frobnicate", check=False),
          "a wrong command")


@case
def example_conf():
    """the example configuration is well formed"""
    example = bed.TOP / "contribs/k8s.conf.example"
    said = bed.inside("slurmk8sd", "-t", "-f", str(example))
    check("well formed" in said, said)


@case
def health():
    """the agent's probes answer"""
    equal(bed.inside("curl", "-s", f"http://{bed.web_address()}/healthz"),
          "ok\n", "/healthz")
    metrics = bed.inside("curl", "-s", f"http://{bed.web_address()}/metrics")
    check("# TYPE slurmk8sd_gangs gauge" in metrics, metrics)


@case
def only_loopback():
    """nothing of the sandbox listens outside of loopback and its own bridge"""
    listing = bed.inside("ss", "-Hltnp")
    open_to_all = [line for line in listing.splitlines()
                   if re.search(r"slurm|kube|etcd|kwok|maria", line)
                   and not re.search(r"127\.0\.0\.1:|10\.88\.\d+\.1:|\[::1\]:",
                                     line)]
    equal(open_to_all, [], "open sockets")


@case
def no_foreign_names():
    """nothing committed names a path of a work place or the host of a registry"""
    tracked = subprocess.run(["git", "-C", str(bed.TOP), "ls-files"], text=True,
                             stdout=subprocess.PIPE).stdout.split()
    words = re.compile(r"(proxy\.golang\.org|deb\.debian\.org|registry\.k8s\.io|"
                       r"docker\.io)")
    found = []
    for name in tracked:
        path = bed.TOP / name
        if name == "tests/integration/00-build.t" or not path.is_file():
            continue
        if words.search(path.read_text(errors="replace")):
            found.append(name)
    equal(found, [], "files")


run(after_failure=bed.last_words)
