# SPDX-License-Identifier: GPL-2.0-or-later
"""What a site has for its batch jobs: a template of their Pods, and directories."""
import contextlib
import json

import agent_conf
import bed
from tap import wait_for

TEMPLATE = "/etc/slurm/k8s-pod.json"
SITE = "/srv/sbatch"  # on the sandbox's disk, which real1 has, too


def directories(mode, *users):
    """SITE anew, with one for each of them."""
    bed.inside("sh", "-c",
               f"rm -rf {SITE}; mkdir -m 755 {SITE}; for u in {' '.join(users)}; "
               f"do install -d -m {mode} -o $u -g $(id -g $u) {SITE}/$u; done")


@contextlib.contextmanager
def template(body, *lines):
    """k8s.conf has this template and these lines for as long as the block lasts."""
    agent_conf.write(TEMPLATE, json.dumps(body))
    with agent_conf.changed(lambda text: "\n".join(
            (text, f"SbatchTemplate={TEMPLATE}", *lines)) + "\n"):
        wait_for("the nodes to have the template's feature",
                 lambda: "k8s-sbatch" in bed.run("sinfo", "-h", "-o", "%f"))
        yield
