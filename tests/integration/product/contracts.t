#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The contract tests behind which the unit tests have fakes, held against the
real slurmctld and the real API server. They are in the program of the unit tests,
which is built for it where it is not there: so it comes late."""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
from tap import case, check, run

BUILD = str(bed.SANDBOX / "build")
UNIT_TESTS = f"{BUILD}/tests/unit/unit_tests"


def contract(name, *environment):
    """Runs one case of the unit tests as SlurmUser. The agent is away: it would
    take the contract's Pods, and end its jobs, which have none."""
    bed.ctl("kill", "slurmk8sd")
    try:
        said = bed.inside("env", *environment, "setpriv", "--reuid=slurm",
                          "--regid=slurm", "--init-groups", UNIT_TESTS,
                          f"-tc=*{name}*", check=False)
    finally:
        bed.ctl("start", "slurmk8sd")
    check(re.search(r"test cases: +1 \| +1 passed \| 0 failed", said), said)


@case
def slurm():
    """the real slurmctld does what the fake one does"""
    contract("the real slurmctld does", "SLURM_CONTRACT=1")


@case
def kubernetes():
    """the real API server does what the fake one does, with the agent's rights"""
    token = "/tmp/contract.token"
    bed.inside("install", "-m", "600", "-o", "slurm", "/etc/slurm/k8s/token",
               token)
    contract("real API server does", f"KUBE_TEST_TOKEN_FILE={token}",
             "SANDBOX_CA=/etc/slurm/k8s/ca.crt",
             f"SANDBOX_API={os.environ['SANDBOX_API']}",
             f"SANDBOX_TOKEN={os.environ['SANDBOX_TOKEN']}")


# Another sandbox may have run the unit tests.
bed.inside("make", "-s", "-C", BUILD, "tests/unit/unit_tests", timeout=1200)
run(before_each=bed.clean, after_failure=bed.last_words)
