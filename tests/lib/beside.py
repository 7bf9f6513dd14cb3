# SPDX-License-Identifier: GPL-2.0-or-later
"""A sandbox of another release of Kubernetes beside $SANDBOX, for as long as a
program runs. To be used before bed is imported, which reads the environment."""
import atexit
import os
import pathlib
import signal
import subprocess
import sys

import sandbox_cache
from tap import case, check

TOP = pathlib.Path(__file__).resolve().parents[2]
HERE = TOP / "contribs/sandbox"
PORTS = 96  # above $SANDBOX's; those between are of tests/long/80-sanitizers.t

_ENVIRONMENT = 'said=$("$1/env") && eval "$said" && env --null'


def built(release):
    """The directory of its daemons, which are built unless the cache has them; or
    None, and why that cannot be."""
    return sandbox_cache.built("cache_kubernetes", release)


def why_not_built(release):
    return built(release)[1]


def up(release, *options, name=None):
    """From now on os.environ is that of the sandbox $SANDBOX-RELEASE, or of
    $SANDBOX-NAME. It goes down at the end of the program, unless somebody had it up
    before."""
    base = pathlib.Path(os.environ["SANDBOX"])
    port = base / "port"
    port = int(port.read_text() if port.exists() else
               os.environ.get("SANDBOX_PORT", "22000"))
    os.environ["SANDBOX"] = f"{base}-{name or release}"
    os.environ["SANDBOX_PORT"] = str(port + PORTS)
    if subprocess.run([HERE / "ctl", "status"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode != 0:
        atexit.register(subprocess.run, [HERE / "down"])
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    done = _run([HERE / "up", "--kubernetes", release, *options])
    if done.returncode == 0:
        done = _bash(_ENVIRONMENT)
    if done.returncode != 0:
        print(f"1..1\nnot ok 1 - a sandbox of Kubernetes {release}")
        print("\n".join("# " + line for line in done.stderr.splitlines()[-40:]),
              flush=True)
        sys.exit(1)
    os.environ.update(word.split("=", 1)
                      for word in done.stdout.split("\0") if "=" in word)


def _bash(code, *words):
    return _run(["bash", "-c", code, "bash", HERE, *words])


def _run(command):
    return subprocess.run(command, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def passes(name, release):
    """A case: this integration script passes in the sandbox of the release."""
    def script():
        done = subprocess.run([TOP / f"tests/integration/{name}.t"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = done.stdout.splitlines()
        passed = [line for line in lines if line.startswith("ok ")]
        print(f"# {name}: {len(passed)} cases passed", flush=True)
        for line in passed:
            if "# SKIP" in line:
                print("#   " + line.replace("# SKIP", "is skipped:"))
        check(done.returncode == 0 and passed, "\n".join(
            line for line in lines if not line.startswith("ok ")))

    script.__name__ = name
    script.__doc__ = f"{name} passes on {release}"
    return case(script)
