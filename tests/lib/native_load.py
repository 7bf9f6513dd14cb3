# SPDX-License-Identifier: GPL-2.0-or-later
"""Ordinary jobs and small Pods that come and go beside whatever else a test does."""
import contextlib
import random
import subprocess
import threading

import bed

MOST = 25        # tasks in the queue of the partition
LICENSE = "fluent"
NODE = "native1"


class NativeLoad(threading.Thread):
    """Until stop(): arrays, held jobs, ones that fail, that are cancelled and that wait
    for a time or a license. What slurmctld does not take in time is left out."""

    def __init__(self, seed, pods=False):
        super().__init__(daemon=True)
        self.chance, self.pods = random.Random(seed), pods
        self.submitted = 0
        self._over = threading.Event()
        self._turn = threading.Lock()

    def stop(self):
        self._over.set()
        self.join()
        self._cancel()

    @contextlib.contextmanager
    def still(self):
        """What it has submitted ends, or waits for the node."""
        with self._turn:
            self._do("scontrol", "update", f"NodeName={NODE}", "State=DRAIN",
                     "Reason=still")
            yield
            self._do("scontrol", "update", f"NodeName={NODE}", "State=RESUME")

    @contextlib.contextmanager
    def paused(self):
        """No job of it is there for as long as the block lasts."""
        with self._turn:
            self._cancel()
            yield

    def _cancel(self):
        self._do("scancel", "--partition=native")

    def _do(self, *command, user=None):
        try:
            return bed.run("timeout", "5", *command, user=user)
        except (AssertionError, subprocess.SubprocessError):
            return ""

    def run(self):
        while not self._over.wait(self.chance.uniform(0.5, 2.5)):
            with self._turn:
                self._step()

    def _step(self):
        there = self._do("squeue", "-hr", "-p", "native", "-o", "%i").split()
        if len(there) > MOST:
            self._do("scancel", *self.chance.sample(there, 8))
            return
        self._submit()
        if self.pods:
            self._pod()

    def _submit(self):
        words = self.chance.choice((
            ("--array=0-3%2",), ("--hold",), ("--begin=now+40",), ("--array=1-5:2",),
            (f"--licenses={LICENSE}:2",), (), (), ("--mem=300",), ("--cpus-per-task=2",)
        ))
        seconds = self.chance.choice((0.2, 1, 2, 4))
        status = self.chance.choice((0, 0, 0, 1))
        self.submitted += bool(self._do(
            "sbatch", "--parsable", "-p", "native", "--time=1", *words, "--wrap",
            f"sleep {seconds}; exit {status}", "-D", "/tmp", "-o", "/dev/null",
            user=self.chance.choice(("alice", "bob"))))

    def _pod(self):
        name = f"load-{self.submitted}-{self.chance.randrange(10 ** 6)}"
        run = self.chance.choice(("1s", "2s", "5s"))
        try:
            bed.create(bed.pod(name, annotations={"sandbox/run": run}))
        except bed.ApiError:
            pass
