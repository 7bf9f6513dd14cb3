# SPDX-License-Identifier: GPL-2.0-or-later
"""Gangs: one of 1,000 Pods on 250 nodes, and 40 of 32 Pods at once, for which there is room for 31, then as many
lone Pods there."""
from figures import names, percentile
from ours import more_nodes, node

BIG_NODES, BIG_PODS, BIG_CPUS = 250, 1000, 4
MANY_GANGS, MANY_PODS, MANY_RUN = 40, 32, "500ms"
PARTITION = "real"                                            # where nothing else is


def gang(bench, name, scheduler, size, run=None):
    """The Pods of one gang, of 1 CPU each."""
    labels, said = {"slurmk8s/gang": name}, {"slurmk8s/gang-size": str(size)}
    return [bench.client.pod(pod, scheduler, run=run, partition=PARTITION, labels=labels, annotations=said)
            for pod in names(name, scheduler, 0, size)]


def turnover(bench, groups):
    """Pods that come all at once, run a moment and give their place to the next: Pods a second from the first POST until the last is
    bound, and until the last has finished."""
    watch, pods = bench.client.watch, [pod for one in groups for pod in one]
    watch.expect("finished", pods)
    bench.client.create_all(pods)
    watch.wait(600)
    first = min(pod.posted for pod in pods)
    bench.client.delete_all(300)
    bench.sandbox.wait_no_jobs(120)
    return [len(pods) / (max(getattr(pod, moment) for pod in pods) - first) for moment in ("bound", "finished")]


def gangs(bench, scheduler, run):
    """Their nodes are there only meanwhile."""
    client, watch, sandbox = bench.client, bench.client.watch, bench.sandbox
    with more_nodes(bench, {name: node(name, BIG_CPUS, PARTITION) for name in (f"gn{i + 1}" for i in range(BIG_NODES))}):
        big = gang(bench, f"big{run}", scheduler, BIG_PODS)
        watch.expect("bound", big)
        client.create_all(big)
        watch.wait(120)
        # Slurm is asked for the job when the last one exists, and idle nodes are given at once.
        last = max(pod.replied for pod in big)
        sample = {"big": max(pod.bound for pod in big) - last, "big first": min(pod.bound for pod in big) - last}
        client.delete_all(120)
        sandbox.wait_no_jobs(120)

        many = [gang(bench, f"many{run}x{i}", scheduler, MANY_PODS, MANY_RUN) for i in range(MANY_GANGS)]
        sample["many bound"], sample["many rate"] = turnover(bench, many)
        sample["many gangs rate"] = sample["many rate"] / MANY_PODS
        sample["many apart p99"] = percentile([1000 * (max(p.bound for p in one) - min(p.bound for p in one)) for one in many], 99)
        lone = [[client.pod(pod, scheduler, run=MANY_RUN, partition=PARTITION)]
                for pod in names(f"lone{run}", scheduler, 0, MANY_GANGS * MANY_PODS)]
        sample["lone bound"], sample["lone rate"] = turnover(bench, lone)
        for what in ("bound", "rate"):
            sample[f"{what} to lone"] = sample[f"many {what}"] / sample[f"lone {what}"]
        return sample
