# SPDX-License-Identifier: GPL-2.0-or-later
"""A sandbox with Karpenter beside $SANDBOX, for as long as a program runs: its one
other node has two CPUs, so that Karpenter cannot count on that once it is full. To
be used before bed is imported, which reads the environment."""
import os

import beside
import sandbox_cache
from tap import skip_all


def up():
    missing = sandbox_cache.built("cache_karpenter")[1]
    if missing:
        skip_all("Karpenter cannot be built here: " + missing)
    # Slurm keeps a node for this long after its Node. The pool is Karpenter's.
    os.environ["SANDBOX_K8S_CONF_EXTRA"] = (
        "ResizeDelay=2\nNodePool=default Nodes=30 CPUs=8 RealMemory=32768 "
        "Partitions=karpenter")
    beside.up("1.36", "--nodes", "1", "--cpus", "2", "--memory", "4000",
              "--no-real-node", "--karpenter", name="karpenter")
