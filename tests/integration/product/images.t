#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The container images, without making them: their recipes name Debian packages
that there are. tests/long/28-images.t makes and runs them."""
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / "tests/lib"))
from tap import case, check, equal, run

BUILD = TOP / "contribs/images/build"
RECIPES = TOP / "contribs/images/recipes"
# What the daemons of Slurm need from Debian. Their release is that of our plugins.
DEBIAN = {"slurmctld", "slurmd", "slurmdbd", "slurm-client",
          "slurm-wlm-jwt-plugin", "libnss-extrausers"}
# Who has what without a word in the table.
SLURM_HAS = {"slurm-wlm-jwt-plugin", "libnss-extrausers"}
ALSO_HAVE = {"slurmctld": SLURM_HAS | {"slurm-client"},
             "slurmd": SLURM_HAS | {"slurm-client"},
             "slurmdbd": SLURM_HAS | {"slurm-client"},
             "slurmk8sd": SLURM_HAS, "slurmk8s-operator": set()}


def build(*words):
    done = subprocess.run([BUILD, *words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def listed():
    """The Debian packages of each image."""
    status, said = build("--list")
    equal(status, 0, said)
    return {name: packages.split() for name, packages in
            (line.split(": ") for line in said.splitlines())}


def ours():
    """The packages of contribs/debian."""
    return set(re.findall(r"^Package: (.*)$",
                          (TOP / "contribs/debian/control").read_text(), re.M))


@case
def scripts():
    """bash reads the scripts and the recipes"""
    for path in (BUILD, TOP / "contribs/images/finish", *RECIPES.iterdir()):
        done = subprocess.run(["bash", "-n", path], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        equal((done.returncode, done.stdout), (0, ""), str(path))


@case
def packages():
    """each image is of packages that contribs/debian makes or Debian has, and each
    daemon has the plugins that it loads"""
    found = listed()
    equal(set(found), {path.name for path in RECIPES.iterdir()}, "images")
    equal({name for names in found.values() for name in names} - ours() - DEBIAN,
          set(), "packages that nobody makes")
    for image, wanted in (
            ("slurmctld", {"slurmctld", "slurm-k8s-plugins", "slurmk8sd",
                           "slurmk8s"}),
            ("slurmd", {"slurmd", "slurm-k8s-plugins-slurmd"}),
            ("slurmdbd", {"slurmdbd"}), ("slurmk8sd", {"slurmk8sd"})):
        equal(wanted - set(found[image]), set(), f"packages that {image} lacks")
    equal(found["slurmk8s-operator"], ["slurmk8s-operator"], "the operator's")
    check("slurmctld" not in found["slurmk8sd"], "slurmctld beside the token")


@case
def nobody_is_root():
    """only slurmd, which becomes the user of each job, begins as root"""
    equal({path.name for path in RECIPES.iterdir()
           if re.search(r"^user=0:", path.read_text(), re.M)}, {"slurmd"}, "root")


@case
def guide():
    """README names each image, its packages and its user"""
    text = (TOP / "contribs/images/README.md").read_text()
    for image, names in listed().items():
        row = re.search(rf"^\| `{image}` \|.*$", text, re.M)
        check(row, f"README has no row of {image}")
        also = ALSO_HAVE[image]
        check(also <= set(names), names)
        equal(set(re.findall("`(.*?)`", row.group())[1:]), set(names) - also, image)
        user = re.search(r"^user=(\d+):", (RECIPES / image).read_text(), re.M)
        check(f"| {user.group(1)} |" in row.group(), row.group())


@case
def words():
    """--help tells, and what is no option and no image is refused"""
    status, said = build("--help")
    equal(status, 0, said)
    for word in ("--packages DIR", "--version VERSION", "--list", "oci.tar"):
        check(word in said, said)
    for wrong, words in (
            (["nothing"], "nothing is none of the images slurmctld"),
            (["../build"], "../build is none of the images"),
            (["--wrong"], "--wrong is not an option"),
            (["--packages", "/nowhere/at/all"], "--packages wants a directory"),
            (["--packages", "/", "--version", "1"], "--version is of packages"),
            (["--packages", str(RECIPES)], "no packages of contribs/debian/build")):
        status, said = build(*wrong)
        equal(status, 1, f"{wrong}: {said}")
        check(words in said, f"{wrong}: {said}")


run()
