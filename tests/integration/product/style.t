#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The style of the sources, which machines keep: clang-format, the layers, and
clang-tidy on what has changed; tests/long has clang-tidy on all."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, equal, run

# Its findings depend on what is compiled alone, so they are known as long as
# that is the same.
CACHE = pathlib.Path(os.environ.get("SANDBOX_CACHE", "~/.cache/slurm-k8s-bridge")
                     ).expanduser() / "tidy"
MANY = 15  # sources of a case: beside other lanes each takes up to 20 s


def with_clang(script):
    """Runs shell code in the checkout, where clang is: status and output."""
    done = subprocess.run(
        [bed.TOP / "contribs/sandbox/with-clang", "sh", "-c",
         f"cd '{bed.TOP}' && {script}"], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def layers(tree):
    done = subprocess.run([bed.TOP / "tests/layers", tree], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@case
def formatted():
    """each source is as clang-format writes it (make format)"""
    status, said = with_clang("tests/style check-format")
    equal((status, said), (0, ""), "differences")


@case
def layered():
    """each folder includes only what doc/layers allows (make lint)"""
    status, said = layers(bed.TOP)
    equal(status, 0, said)


@case
def upwards():
    """an include of a higher layer, a library in the wrong folder, a folder that
    doc/layers does not have, and a table that is out of order are told"""
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch)
        for folder in ("agent", "common", "cli", "plugins"):
            shutil.copytree(bed.TOP / folder, tree / folder)
        (tree / "doc").mkdir()
        table = (bed.TOP / "doc/layers").read_text()
        (tree / "doc/layers").write_text(table)
        equal(layers(tree)[0], 0, "the status of a copy")

        def said_of(path, text):
            file = tree / path
            file.parent.mkdir(exist_ok=True)
            before = file.read_text() if file.exists() else None
            file.write_text((before or "") + text)
            status, said = layers(tree)
            equal(status, 1, said)
            if before is None:
                file.unlink()
                if not any(file.parent.iterdir()):
                    file.parent.rmdir()
            else:
                file.write_text(before)
            return said

        said = said_of("common/kube/http.cc",
                       '#include "agent/objects/objects.h"\n')
        check("common/kube may not include agent/objects/objects.h" in said, said)
        said = said_of("agent/decide/decide.cc", "#include <slurm/slurm.h>\n")
        check("agent/decide may not include <slurm/slurm.h>" in said, said)
        said = said_of("agent/news/new.h", '#include "common/base/log.h"\n')
        check("doc/layers has no line for agent/news" in said, said)
        said = said_of("doc/layers", "agent/late: agent/later\n")
        check("agent/later stands below agent/late" in said, said)
        equal(layers(tree)[0], 0, "the status once all is as before")


CHANGED = subprocess.run([bed.TOP / "tests/style", "changed"], text=True,
                         check=True, stdout=subprocess.PIPE).stdout.split()
print(f"# {len(CHANGED)} sources have changed", flush=True)


def tidy(number, sources):
    """One case for some of them, as a case has its time."""
    def script():
        status, said = with_clang(
            f"STYLE_CACHE='{CACHE}' STYLE_FLAGS='-I{bed.SANDBOX}/build' "
            f"tests/style tidy {' '.join(sources)}")
        equal(status, 0, said)

    script.__name__ = f"tidy_{number}"
    script.__doc__ = (f"clang-tidy finds nothing in {sources[0]} and "
                      f"{len(sources) - 1} others that changed (make tidy)")
    return case(script)


for first in range(0, len(CHANGED), MANY):
    tidy(first // MANY + 1, CHANGED[first:first + MANY])

run(after_failure=None)
