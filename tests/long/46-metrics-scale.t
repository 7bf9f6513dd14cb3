#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of 5,000 nodes with 64 CPUs, all of them allocated: right in every number,
bounded in series, read by Prometheus' own tools, and beside slurmctld's own, of
which each difference has its reason. Nodes and jobs are external ones of a real
slurmctld. How long a scrape takes is told, not checked. NODES is how many there
are."""
import collections
import os
import pathlib
import re
import statistics
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "1", "--no-kube-scheduler")

import bed
import metrics
import slurmctld
from metrics import OPEN_METRICS, get, page
from tap import case, check, equal, run, wait_for

NODES = int(os.environ.get("NODES", "5000"))
CPUS, MEMORY, GPUS = 64, 256000, 8
SINGLE = NODES // 2      # jobs of one node; one job has the others
ARRAY = 10000            # tasks that wait
NAMES = f"big[0001-{NODES:04}]"
PAGES = ("/metrics", "/metrics/detail")
SCRAPES = 50
COUNTED = {"partition": "big"}
SLURMCTLD = int((bed.SANDBOX / "port").read_text()) + 5  # its port
_conf = slurmctld.changed_conf(
    lambda text: text + "MetricsType=metrics/openmetrics\n", "stop")


def in_slurm(*script):
    return bed.inside("sh", "-ec", "\n".join(script), user="slurm")


def sizes(path):
    return bed.inside("curl", "-s", "-o", "/dev/null", "-w",
                      "%{time_total} %{size_download}",
                      f"http://{bed.web_address()}{path}").split()


@case
def made():
    """all nodes are allocated, by one job and by many, and as many jobs wait"""
    _conf.__enter__()
    wait_for("the agent to serve", bed.serves, 60)
    # One by one: slurmctld takes no GRES for a list of nodes.
    size = (f"CPUs={CPUS} RealMemory={MEMORY} Gres=gpu:a100:{GPUS} "
            f"GresConf=count={GPUS},name=gpu,type=a100,file=/dev/null")
    bed.inside("scontrol", user="slurm", stdin="".join(
        f"create NodeName=big{number:04} NodeAddr=127.0.0.1 {size} Feature=big "
        "State=EXTERNAL\n" for number in range(1, NODES + 1)))
    in_slurm(f"scontrol create PartitionName=big Nodes={NAMES} MaxTime=INFINITE")
    whole = "sbatch --external --time=600 -p big --output=none --exclusive"
    in_slurm(f"{whole} -N {NODES - SINGLE} --gres=gpu:a100:{GPUS} --mem=0 -J large",
             f"i=0; while [ $i -lt {SINGLE} ]; do i=$((i + 1))",
             f"{whole} -N 1 --gres=gpu:a100:{GPUS} --mem=0 -J single >/dev/null; done",
             f"sbatch -p big --array=0-{ARRAY - 1} -N1 --time=5 -D /tmp -o none "
             "-J waits --wrap true || true")
    wait_for("all CPUs to be allocated", lambda: get(
        page(), "slurm_partition_cpus_alloc", **COUNTED) == NODES * CPUS, 600)


@case
def right():
    """CPUs, memory and GPUs are all there, in 64 bits and in bytes"""
    text = page()
    have = metrics.samples(text)
    labels = (("partition", "big"),)
    for name, value in (
            ("nodes", NODES), ("nodes_alloc", NODES), ("nodes_idle", 0),
            ("cpus", NODES * CPUS), ("cpus_alloc", NODES * CPUS),
            ("memory_bytes", (NODES * MEMORY) << 20),
            ("memory_alloc_bytes", (NODES * MEMORY) << 20),
            ("jobs_running", SINGLE + 1), ("jobs_cpus_alloc", NODES * CPUS),
            ("jobs_nodes_alloc", NODES),
            ("jobs_memory_alloc_bytes", (NODES * MEMORY) << 20)):
        equal(have[f"slurm_partition_{name}", labels], value, name)
    for name in ("slurm_partition_gres", "slurm_partition_gres_alloc"):
        equal(get(text, name, partition="big", gres="gpu", type="a100"),
              NODES * GPUS, name)
    wait_for("every number to be that of Slurm's commands", lambda: all(
        metrics.samples(page()).get(key, 0) == value
        for key, value in metrics.expected().items()))


@case
def read_by_others():
    """promtool and a parser of OpenMetrics find nothing wrong; the series are as many
    as the documents say"""
    for path in PAGES:
        equal(metrics.promtool(page(path)), "", f"what promtool says of {path}")
        print(f"# {path}: {metrics.parsed(page(path, OPEN_METRICS))} families and "
              "samples", flush=True)
    detail = metrics.samples(page("/metrics/detail"))
    of_nodes = [name for name, labels in detail if dict(labels).get("node", "")
                .startswith("big")]
    # Seven of each node but what slurmd has reported, as it has none; two of its GRES.
    equal(len(of_nodes), NODES * (6 + 2), "series of nodes")
    check(len(metrics.samples(page())) < 3000, "series that are not of nodes")


def served():
    return {line.split()[0]: int(line.split("count:")[1].split()[0])
            for line in bed.run("sdiag").splitlines()
            if "count:" in line and "(" in line}


@case
def costs():
    """how long a scrape takes, and that none asks slurmctld for anything"""
    for path in PAGES:
        times = [float(sizes(path)[0]) * 1000 for _ in range(SCRAPES)]
        print(f"# {path}: {statistics.median(times):.1f} ms (median of {SCRAPES}), "
              f"{max(times):.1f} ms at most, {int(sizes(path)[1]) >> 10} KiB")
    before, seconds = served(), time.monotonic()
    for _ in range(SCRAPES):
        for path in PAGES:
            check(sizes(path), "no page")
    now, seconds = served(), time.monotonic() - seconds
    asked = sum(now.values()) - sum(before.values())
    print(f"# {asked} RPCs of all kinds while {2 * SCRAPES} pages were read in "
          f"{seconds:.1f} s: the agent counts each 5 s, whoever reads")
    check(asked < SCRAPES, f"RPCs: {before}, {now}")


def theirs():
    """What slurmctld's own pages say."""
    found = {}
    for name in ("jobs", "nodes", "partitions"):
        text = bed.inside("curl", "-s", "--max-time", "60", "-w",
                          "\n# took %{time_total} s",
                          f"http://127.0.0.1:{SLURMCTLD}/metrics/{name}")
        print(f"# slurmctld's /metrics/{name}: {text.splitlines()[-1]}, "
              f"{len(text) >> 10} KiB", flush=True)
        for line in text.splitlines():
            match = re.match(r"^(\w+)(?:\{(.*)\})? (\S+)", line)
            if match and not line.startswith("#"):
                labels = tuple(sorted(re.findall(r'(\w+)="([^"]*)"', match[2] or "")))
                found[match[1], labels] = float(match[3])
    return found


def reason(name, theirs, ours):
    """Why slurmctld says something else; "" if there is no known reason."""
    if "bytes" in name and theirs * (1 << 20) == ours:
        return "MiB that are called bytes"
    return ""


@case
def beside_theirs():
    """what slurmctld's own endpoint says of the same names is the same, or differs for
    a reason that is known"""
    ours = {**metrics.samples(page()), **metrics.samples(page("/metrics/detail"))}
    other = theirs()
    check(len(other) > 1000, f"slurmctld has {len(other)} samples")
    same, reasons, unknown = 0, {}, []
    for key, value in other.items():
        if key not in ours:
            continue
        if ours[key] == value:
            same += 1
        elif why := reason(key[0], value, ours[key]):
            reasons.setdefault(why, []).append((key, value))
        else:
            unknown.append(f"{key[0]}{dict(key[1])}: {value:g}, not {ours[key]:g}")
    print(f"# {same} samples are the same")
    for why, which in reasons.items():
        key, value = which[0]
        print(f"# {len(which)} differ by {why}: {key[0]}{dict(key[1])} is {value:g} "
              f"there, {ours[key]:.0f} here")
    for whose, only in (("there", other.keys() - ours.keys()),
                        ("here", ours.keys() - other.keys())):
        names = collections.Counter(name for name, _ in only)
        print(f"# only {whose}: {len(only)}, as "
              + ", ".join(f"{count} {name}" for name, count in names.most_common(8)))
    for name, labels in (("slurm_jobs_cpus_alloc", ()),
                         ("slurm_partition_cpus", (("partition", "big"),)),
                         ("slurm_partition_jobs_cpus_alloc", (("partition", "big"),)),
                         ("slurm_partition_nodes_cpus_alloc", (("partition", "big"),))):
        print(f"# {name}: {other.get((name, labels))} there, "
              f"{ours.get((name, labels))} here")
    equal(unknown, [], "differences without a known reason")


@case
def over():
    """the jobs, the nodes and the configuration go again"""
    bed.run("scancel", "-p", "big", user="slurm")
    wait_for("the jobs to be gone", lambda: not bed.run(
        "squeue", "-h", "-p", "big").strip(), 300)
    in_slurm("scontrol delete PartitionName=big",
             f"scontrol delete NodeName={NAMES}")
    _conf.__exit__(None, None, None)


run(after_failure=bed.last_words)
