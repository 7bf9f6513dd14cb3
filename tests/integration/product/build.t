#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is built and installed: the plugins export only entry points, the man
pages and the commands are there and well formed."""
import pathlib
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, run

PLUGINS = "/usr/lib/x86_64-linux-gnu/slurm-wlm"


@case
def exported_symbols():
    """the plugins export entry points of Slurm's and nothing else"""
    allowed = re.compile(r"^(plugin_(name|type|version)|init|fini|job_submit|"
                         r"job_modify|prep_p_\w+|node_features_p_\w+|"
                         r"slurm_spank_\w+|spank_plugin_version|bb_p_\w+)$")
    for plugin in ("prep_k8s", "job_submit_k8s", "node_features_k8s",
                   "spank_k8s", "burst_buffer_k8s"):
        listing = bed.inside("nm", "-D", "--defined-only",
                             f"{PLUGINS}/{plugin}.so")
        names = [line.split()[-1] for line in listing.splitlines()]
        check(names, f"{plugin} exports nothing")
        equal([n for n in names if not allowed.match(n)], [], plugin)


@case
def fuzz_sources():
    """tests/local.mk gives the fuzz program all sources that those it has refer
    to: else it is missed only where clang links it"""
    build = f"{bed.SANDBOX}/build"
    said = bed.inside("sh", "-c", f"cd {build} && make -s -f Makefile -f - listed "
                      "<< 'EOF'\nlisted:\n\t@echo $(tests_fuzz_fuzz_SOURCES)\nEOF")
    listed = {name[:-3] for name in said.split()
              if re.match(r"(agent|common)/.*\.cc$", name)}
    defined, needed, known = {}, {}, set()
    listing = bed.inside("sh", "-c", f"cd {build} && nm -A agent/*/.libs/*.o "
                         "common/*/.libs/*.o")
    for folder, name, kind, symbol in re.findall(
            r"^(\S+)/\.libs/(?:\w+_)?lib[a-z]+_la-(\w+)\.o:[0-9a-f ]* (\w) (\S+)",
            listing, re.M):
        source = f"{folder}/{name}"
        known.add(source)
        if kind == "U":
            needed.setdefault(source, set()).add(symbol)
        elif kind in "TDBR":
            defined[symbol] = source
    check(len(listed) > 100, f"only {len(listed)} sources")
    check(listed <= known, sorted(listed - known))
    lacking = {defined[symbol] for name in listed
               for symbol in needed.get(name, ())
               if symbol in defined} - listed
    equal(sorted(lacking), [], "sources that are lacking")


@case
def release():
    """the release has every file of the repository that it should, so that it
    builds elsewhere"""
    own = {".ci/run", ".clang-format", ".clang-tidy", ".git-blame-ignore-revs",
           ".gitignore", "agent/owner/.clang-tidy"}  # of the repository itself
    bed.inside("sh", "-c", f"cd {bed.SANDBOX}/build && make -s dist")
    archive, = pathlib.Path(f"{bed.SANDBOX}/build").glob("*.tar.gz")
    with tarfile.open(archive) as files:
        there = {name.partition("/")[2] for name in files.getnames()}
    archive.unlink()
    tracked = subprocess.run(["git", "-C", str(bed.TOP), "ls-files"], text=True,
                             check=True, stdout=subprocess.PIPE).stdout.split()
    equal(sorted(set(tracked) - there - own), [], "files that are lacking")


@case
def document_links():
    """each link of a document to another, or to a heading, leads there"""
    def anchor(heading):
        return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")

    texts = {path.resolve(): path.read_text()
             for path in [*bed.TOP.rglob("*.md")] if ".sandbox" not in str(path)}
    anchors = {path: set(map(anchor, re.findall(r"^#+ (.*)$", text, re.M)))
               for path, text in texts.items()}
    check(len(texts) > 8, f"only {len(texts)} documents")
    wrong = []
    for path, text in texts.items():
        for to, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
            target = (path.parent / to).resolve() if to else path
            if "://" not in to and not (
                    target.exists()
                    and (not heading or heading in anchors.get(target, ()))):
                wrong.append(f"{path.name}: {to}#{heading}")
    equal(wrong, [], "links that lead nowhere")


@case
def loaded():
    """slurmctld has loaded the plugins"""
    conf = bed.run("scontrol", "show", "config")
    check(re.search(r"JobSubmitPlugins\s*= .*k8s", conf), "JobSubmitPlugins")
    check(re.search(r"PrEpPlugins\s*= .*prep/k8s", conf), "PrEpPlugins")
    check(re.search(r"BurstBufferType\s*= .*k8s", conf), "BurstBufferType")


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
        if name == "tests/integration/product/build.t" or not path.is_file():
            continue
        if words.search(path.read_text(errors="replace")):
            found.append(name)
    equal(found, [], "files")


run(after_failure=bed.last_words)
