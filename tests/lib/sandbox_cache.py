# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cache of all sandboxes has, or builds. Needs no sandbox."""
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parents[2] / "contribs/sandbox"
_CALL = """set -euo pipefail
. "$1/lib/settings.sh"; . "$HERE/lib/util.sh"; . "$HERE/lib/cache.sh"
shift; "$@" """


def built(*call):
    """The directory that this function of lib/cache.sh names, with its words, which
    is built unless it is there; or None, and why that cannot be."""
    done = subprocess.run(["bash", "-c", _CALL, "bash", HERE, *call], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode == 0:
        return done.stdout.strip(), None
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return None, "; ".join(lines[-3:])
