# SPDX-License-Identifier: GPL-2.0-or-later
"""Where SlinkyProject's slurm-operator is. Needs no sandbox."""
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
_BUILD = """set -euo pipefail
. "$1/lib/settings.sh"; . "$HERE/lib/util.sh"; . "$HERE/lib/cache.sh"
cache_slurm_operator """


def built():
    """The directory of its program and its definitions, which are built unless the
    cache has them; or None, and why that cannot be."""
    done = subprocess.run(["bash", "-c", _BUILD, "bash", TOP / "contribs/sandbox"],
                          text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 0:
        return pathlib.Path(done.stdout.strip()), None
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return None, "; ".join(lines[-3:])


def why_not():
    return built()[1]
