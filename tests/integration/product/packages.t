#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages, without making them: together they have what "make
install" installs, and no file twice. tests/long makes and installs them."""
import fnmatch
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, run

DEBIAN = bed.TOP / "contribs/debian"
INSTALLED = "/var/tmp/packages-test"
# What debian/rules makes or takes away itself.
MADE = ["etc/slurm/k8s.conf", "etc/slurm/plugstack.conf.d/k8s.conf"]
DROPPED = "usr/lib/*/slurm-wlm/*.la"


def patterns():
    """Package and pattern of each line of the *.install files."""
    lines = [(path.stem, line) for path in sorted(DEBIAN.glob("*.install"))
             for line in path.read_text().split("\n") if line]
    check(len(lines) > 15, lines)
    return lines


def installed():
    """The paths that "make install" makes, as configured for Debian."""
    try:
        bed.inside("sh", "-ec", f"""
            rm -rf {INSTALLED}
            make -s -C {bed.SANDBOX}/build install DESTDIR={INSTALLED} \\
                zshcompletiondir=/usr/share/zsh/vendor-completions > /dev/null 2>&1
            """)
        said = bed.inside("sh", "-c", f"cd {INSTALLED} && find . ! -type d")
    finally:
        bed.inside("rm", "-rf", INSTALLED)
    return [name.removeprefix("./") for name in said.split()]


def covers(pattern, path):
    """As dh_install: a pattern that matches a folder has all that is in it."""
    return any(fnmatch.fnmatchcase(str(part), pattern)
               for part in [pathlib.PurePath(path), *pathlib.PurePath(path).parents]
               if str(part).count("/") == pattern.count("/"))


@case
def each_file_once():
    """each file that is installed is in exactly one package"""
    files = [f for f in installed() if not fnmatch.fnmatchcase(f, DROPPED)]
    check(len(files) > 60, f"only {len(files)} files")
    wrong, used = {}, set()
    for path in files + MADE:
        packages = [(p, pattern) for p, pattern in patterns()
                    if covers(pattern, path)]
        used |= set(packages)
        if len(packages) != 1:
            wrong[path] = [p for p, _ in packages]
    equal(wrong, {}, "files that are not in exactly one package")
    equal(set(patterns()) - used, set(), "lines of *.install without a file")


@case
def manifests():
    """the manifests, charts, dashboards, alerts, examples and what the guides link to
    are installed"""
    files = set(installed())
    shared = "usr/share/slurm-k8s-bridge"
    for path in [*(bed.TOP / "contribs/kubernetes").rglob("*"),
                 *(bed.TOP / "contribs/operator").rglob("*"),
                 *(bed.TOP / "contribs/helm").rglob("*/**/*")]:
        name = f"{shared}/{path.relative_to(bed.TOP / 'contribs')}"
        check(path.is_dir() or name in files, f"{name} is not installed")
    for path in [*(bed.TOP / "contribs/monitoring").glob("*.*"),
                 *(bed.TOP / "contribs/monitoring/dashboards").iterdir()]:
        name = f"{shared}/{path.relative_to(bed.TOP / 'contribs')}"
        check(name in files, f"{name} is not installed")
    for name in ("k8s.conf.example", "slurmd-node-labels.conf"):
        check(f"{shared}/{name}" in files, f"{name} is not installed")
    check("usr/share/doc/slurm-k8s-bridge/contribs" in files, "the guides' link")


@case
def packages_named():
    """each package of control has files and is in the guide"""
    names = set(re.findall(r"^Package: (.*)$", (DEBIAN / "control").read_text(),
                           re.M))
    equal({p for p, _ in patterns()}, names, "packages with files")
    guide = (bed.TOP / "doc/admin/packages.md").read_text()
    equal([n for n in sorted(names) if f"`{n}`" not in guide], [],
          "packages that the guide does not name")


run()
