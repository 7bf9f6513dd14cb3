# SPDX-License-Identifier: GPL-2.0-or-later
"""A sandbox with nodes of both slurmd and kubelet, `up --hybrid`: kh1, whose
kubelet kwok plays, and real1."""
import contextlib
import os
import re
import subprocess

import bed
import world
from pod_requests import requests_of
from tap import check

NODE, CPUS, MEMORY = "kh1", 16, 32000  # MiB
PARTITION = "khybrid"
LOW = "khlow"  # PARTITION preempts it, by requeueing


def sandbox_up(*options):
    """Some seconds: nothing is built."""
    done = subprocess.run([str(bed.TOP / "contribs/sandbox/up"), *options],
                          env=dict(os.environ, SANDBOX_BUILD="no"), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, f"up {options}: {done.stdout}")


def is_up():
    return "HYBRID_WANTED=\"yes\"" in (bed.SANDBOX / "options").read_text()


@contextlib.contextmanager
def hybrid_nodes():
    """While it lasts; then the sandbox is as it was. What an earlier script left
    running would keep a node in use whose record has to go."""
    bed.clean()
    options = (bed.SANDBOX / "options").read_text()
    before = [f"--{'' if value == 'yes' else 'no-'}{name}" for name, value in (
        (name, re.search(variable + '="(.*)"', options)[1]) for name, variable in
        (("hybrid", "HYBRID_WANTED"), ("real-node", "REAL_NODE_WANTED")))]
    sandbox_up("--hybrid")
    try:
        yield
    finally:
        if before[0] == "--no-hybrid":
            sandbox_up(*before)


def pod(name, cpu, memory="64Mi", partition=PARTITION, annotations=None,
        **options):
    return bed.pod(name, cpu=str(cpu), memory=memory, annotations={
        bed.PARTITION: partition, **(annotations or {})}, **options)


def sbatch(cpus, *options, memory=64, script="sleep 600", partition=PARTITION):
    """An ordinary job of alice's; its id. memory: MiB."""
    return int(bed.run("sbatch", "--parsable", "--chdir=/tmp", "--output=none",
                       f"--ntasks={cpus}", f"--mem={memory}",
                       f"--partition={partition}", *options, "--wrap", script,
                       user="alice"))


def together(node=NODE):
    """(CPUs, jobs, Pods): of ordinary jobs whose processes run there, and of Pods
    that live there all of the time that this looks."""
    def live():
        pods = bed.api("GET", "/api/v1/pods")["items"]
        return {p["metadata"]["uid"]: p for p in pods if world.is_live(p) and
                p["spec"]["nodeName"] == node}
    before = live()
    jobs = [j for j in world.read_jobs() if j.has_processes and
            not j.was_suspended and node in j.nodes]
    pods = [p for uid, p in live().items() if uid in before]
    cpus = sum(j.nodes[node][0] for j in jobs) + \
        sum(requests_of(p)["cpu"] for p in pods)
    return cpus, len(jobs), len(pods)
