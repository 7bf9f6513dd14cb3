# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox's k8s.conf with other contents, for as long as a program or a block
runs."""
import atexit
import contextlib
import signal
import sys
import time

import bed
from tap import check, wait_for

CONF = "/etc/slurm/k8s.conf"
TOKEN = "/etc/slurm/k8s/token"
PLUGIN_LOOKS = 1.5  # seconds; job_submit/k8s does so each second, and reads a file


def read(path):
    return bed.inside("cat", path)


def write(path, text):
    """In place: owner and mode stay."""
    bed.inside("sh", "-c", f"cat > {path}", stdin=text)


def edit(change, at_end=lambda: None):
    """The agent runs with change(text of k8s.conf) until this program ends; it
    is as before when at_end is called."""
    before = read(CONF)
    after = change(before)
    check(after != before, "the change of k8s.conf changes nothing")

    def undo():
        try:
            write(CONF, before)
            bed.ctl("start", "slurmk8sd")  # restarts what was changed
        finally:
            at_end()
    atexit.register(undo)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # atexit has its turn
    write(CONF, after)
    bed.ctl("start", "slurmk8sd")


def hup(words="was read again"):
    """The agent reads its files again, and says that. All that it says then. The
    plugin in slurmctld has read them, too."""
    size = bed.log_size("slurmk8sd")
    bed.ctl("kill", "--signal", "HUP", "slurmk8sd")
    wait_for(f"the agent to say {words}",
             lambda: words in bed.log_since("slurmk8sd", size))
    time.sleep(PLUGIN_LOOKS)
    return bed.log_since("slurmk8sd", size)


@contextlib.contextmanager
def changed(change):
    """For as long as the block lasts the agent has change(text of k8s.conf) of
    what it reads again."""
    before = read(CONF)
    write(CONF, change(before))
    try:
        hup()
        yield
    finally:
        write(CONF, before)
        hup()
