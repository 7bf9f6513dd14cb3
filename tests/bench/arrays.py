# SPDX-License-Identifier: GPL-2.0-or-later
"""A job array of sbatch: 1,000 tasks of 1 s as Pods on all slots, and as many for each CPU of the node that has a slurmd."""
import contextlib
import json
import subprocess
import time

from figures import agents_rpcs
from kube import Failed
from sandbox import AGENT, CPUS, NODES, SCRIPTS

ARRAY_TASKS, ARRAY_SLOTS = 1000, NODES * CPUS
NATIVE_SLOTS = 2                                              # NodeName=… CPUs=2 of the sandbox's slurm.conf
NATIVE_TASKS = NATIVE_SLOTS * -(-ARRAY_TASKS // ARRAY_SLOTS)  # as many rounds
CONF, TEMPLATE = "/etc/slurm/k8s.conf", "/etc/slurm/bench-pod.json"
SBATCH_PODS = "/api/v1/namespaces/slurm-jobs/pods"


def inside(bench, *words, text=None):
    return subprocess.run([str(SCRIPTS / "exec"), *words], env=bench.sandbox.environment, check=True, input=text, text=True,
                          stdout=subprocess.PIPE).stdout


def sbatch(bench, *options):
    """The JobId."""
    said = subprocess.run(["sbatch", "--parsable", "--chdir=/tmp", "--output=/dev/null", *options],
                          env={**bench.sandbox.environment, "SANDBOX_USER": "alice"}, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if said.returncode:
        raise Failed(f"sbatch: {said.stdout.strip()}")
    return said.stdout.split()[-1]


def hup(bench):
    bench.sandbox.ctl("kill", "--signal", "HUP", AGENT)
    time.sleep(2)                                             # and the nodes get the template's feature


@contextlib.contextmanager
def template(bench):
    """Pods of batch jobs end after a second, by kwok's annotation."""
    before = inside(bench, "cat", CONF)
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {"sandbox/run": "1s"}},
            "spec": {"containers": [{"name": "job"}]}}
    inside(bench, "sh", "-c", f"cat > {TEMPLATE}", text=json.dumps(body))
    inside(bench, "sh", "-c", f"cat > {CONF}", text=f"{before}\nSbatchTemplate={TEMPLATE}\n")
    try:
        hup(bench)
        yield
    finally:
        inside(bench, "sh", "-c", f"cat > {CONF}", text=before)
        hup(bench)


def run_array(bench, tasks, *options):
    """Seconds from sbatch to the end of the last task."""
    began = time.monotonic()
    number = sbatch(bench, f"--array=0-{tasks - 1}", "--ntasks=1", "--mem=10", "--wrap=sleep 1", *options)
    while bench.sandbox.command("squeue", "--noheader", "--states=all", f"--jobs={number}",
                                "--format=%T").replace("COMPLETED", "").strip():
        if time.monotonic() - began > 300:
            raise Failed(f"not all tasks of the array {number} are COMPLETED after 300 s")
        time.sleep(0.25)
    return time.monotonic() - began


def array(bench, scheduler, run):
    """What 64 slots make of it, and what the CPUs of slurmd do: shares of the ideal."""
    before = bench.sandbox.rpcs()
    seconds = run_array(bench, ARRAY_TASKS, "--partition=kwok", "--k8s-image=bench")
    rpcs, types = agents_rpcs(bench.sandbox.rpcs(), before)
    native = run_array(bench, NATIVE_TASKS, "--partition=native")
    # The ideal: each slot has its next task at once.
    sample = {"seconds": seconds, "rate": ARRAY_TASKS / seconds, "share": 100 * ARRAY_TASKS / ARRAY_SLOTS / seconds,
              "native share": 100 * NATIVE_TASKS / NATIVE_SLOTS / native, "rpcs": rpcs, "rpcs a task": rpcs / ARRAY_TASKS,
              "rpc types": types}
    bench.client.first.call("DELETE", SBATCH_PODS)
    deadline = time.monotonic() + 120
    while bench.client.first.call("GET", SBATCH_PODS)["items"]:
        if time.monotonic() > deadline:
            raise Failed("the Pods of the array are still there after 120 s")
        time.sleep(0.5)
    return sample
