# SPDX-License-Identifier: GPL-2.0-or-later
"""A program on a terminal: what it shows, keys, other sizes, and how it leaves the
terminal behind."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from tap import PATIENCE, wait_for

HOME = "\x1b[H"   # a frame begins
END = "\x1b[J"    # and ends
_ESCAPES = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")


class Terminal:
    """For a program that shows its lines from the first row on, as slurmk8s top
    does."""

    def __init__(self, *command, rows=40, columns=100, env=None):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.before = self.modes()
        self.said = ""
        self.program = subprocess.Popen(
            command, stdin=self.slave, stdout=self.slave, stderr=self.slave,
            start_new_session=True, env={**os.environ, "TERM": "xterm", **(env or {})},
            preexec_fn=self._begin)

    @staticmethod
    def _begin():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        # Keys must not end what brings the program into the sandbox.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.program.send_signal(signal.SIGKILL)
        self.program.wait()
        os.close(self.slave)
        os.close(self.master)

    def pid(self):
        """Of the program itself, below those that brought it into the sandbox."""
        pid = self.program.pid
        while True:
            path = f"/proc/{pid}/task/{pid}/children"
            with open(path, encoding="ascii") as file:
                children = file.read().split()
            if not children:
                return int(pid)
            pid = children[0]

    def kill(self, which):
        os.kill(self.pid(), which)

    def modes(self):
        """As stty -a has them."""
        return termios.tcgetattr(self.slave)

    def resize(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds=0.0):
        """Takes what the program has written."""
        while select.select([self.master], [], [], seconds)[0]:
            said = os.read(self.master, 1 << 16)
            self.said += said.decode(errors="replace")
            seconds = 0
        return self.said

    def frames(self):
        """How many whole ones it has shown."""
        return self.read().count(END)

    def lines(self):
        """Those of the last whole frame, without bold and such."""
        said = self.read()
        end = said.rfind(END)
        begin = said.rfind(HOME, 0, max(end, 0))
        if begin < 0:
            return []
        frame = said[begin + len(HOME):end]
        return [_ESCAPES.sub("", line) for line in frame.split("\r\n")]

    def wait_line(self, what, holds, seconds=30):
        """Until holds(line) for a line of a frame."""
        return wait_for(f"the screen to show {what}", lambda: next(
            (line for line in self.lines() if holds(line)), None), seconds)

    def wait_end(self, seconds=10):
        """Its exit status; it is read from all the time, so that it can write."""
        limit = time.monotonic() + seconds * PATIENCE
        while self.program.poll() is None:
            self.read(0.05)
            if time.monotonic() > limit:
                raise AssertionError("the program does not end")
        self.read()
        return self.program.returncode

    def is_back(self):
        """The terminal is as it was, and shows the shell's screen again: "" or what
        is not so."""
        wrong = []
        if self.modes() != self.before:
            wrong.append(f"modes: {self.modes()}, not {self.before}")
        for there, back in (("?1049h", "?1049l"), ("?25l", "?25h"), ("?7l", "?7h")):
            if self.said.rfind(f"\x1b[{there}") >= self.said.rfind(f"\x1b[{back}"):
                wrong.append(f"no {back} after {there}")
        return "; ".join(wrong)
