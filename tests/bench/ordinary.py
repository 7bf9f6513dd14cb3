# SPDX-License-Identifier: GPL-2.0-or-later
"""Ordinary jobs, which slurmd runs, with our plugins in slurmctld and without, while a look-up of a user costs nothing, and 200 ms."""
import re
import sys
import time

from arrays import inside, sbatch
from kube import Failed
from sandbox import CHECKOUT

sys.path.append(str(CHECKOUT / "tests/lib"))
import user_database                                          # noqa: E402

CONF = "/etc/slurm/slurm.conf"
PLUGINS = re.compile("^(PrEpPlugins|JobSubmitPlugins|BurstBufferType)=.*\n", re.M)
DELAYS = {"0": 0, "200": 0.2}                                 # by the milliseconds that a look-up takes
JOBS, SLOW_JOBS = 40, 12


def jobs_a_second(bench, jobs):
    """From the release of so many jobs that were submitted one by one until all have ended."""
    wait(lambda: "idle" in bench.sandbox.command("sinfo", "--noheader", "--partition=native", "--format=%t"))
    numbers = [sbatch(bench, "--hold", "--partition=native", "--ntasks=1", "--mem=10", "--wrap=true") for _ in range(jobs)]
    began = time.monotonic()
    bench.sandbox.command("scontrol", "release", ",".join(numbers))
    wait(lambda: not bench.sandbox.command("squeue", "--noheader", "--partition=native").strip())
    return jobs / (time.monotonic() - began)


def wait(done):
    deadline = time.monotonic() + 300
    while not done():
        if time.monotonic() > deadline:
            raise Failed("not done after 300 s")
        time.sleep(0.1)


def start_with(bench, conf):
    bench.sandbox.ctl("stop", "slurmctld")
    inside(bench, "sh", "-c", f"cat > {CONF}", text=conf)
    bench.sandbox.ctl("start", "slurmctld")


def ordinary(bench, _, run):
    """The order changes with each run."""
    ours = inside(bench, "cat", CONF)
    confs = {"with": ours, "without": PLUGINS.sub("", ours)}
    sample = {}
    try:
        for name, seconds in DELAYS.items():
            with user_database.slow(seconds, bench.sandbox.environment):
                for which in sorted(confs, reverse=run % 2 == 1):
                    start_with(bench, confs[which])
                    sample[f"{which} {name}"] = jobs_a_second(bench, SLOW_JOBS if seconds else JOBS)
            sample[f"share {name}"] = sample[f"with {name}"] / sample[f"without {name}"]
    finally:
        start_with(bench, ours)
    return sample
