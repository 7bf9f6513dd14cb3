# SPDX-License-Identifier: GPL-2.0-or-later
"""What runs, what waits, what is broken: one page for everybody."""
from grafana import BAD, FULL, OLD, ALIVE, Dashboard


def now(board):
    board.row("Now")
    board.stat("slurmctld", "none", "Whether slurmctld answers the agent that acts.",
               "max(slurm_up{@})", ALIVE, (3, 4), {1: "answers", 0: "is away"})
    board.stat("Jobs that run", "short", "Jobs in the state RUNNING.",
               "sum(slurm_jobs_running{@})", size=(3, 4))
    board.stat("Jobs that wait", "short", "Jobs in the state PENDING.",
               "sum(slurm_jobs_pending{@})", size=(3, 4))
    board.stat("CPUs in use", "percentunit",
               "The part of the CPUs that jobs may have which they have.",
               "sum(slurm_cpus_alloc{@}) / (sum(slurm_cpus_effective{@}) > 0)", FULL,
               (3, 4))
    board.stat("Nodes down", "short", "Nodes in the state DOWN.",
               "sum(slurm_nodes_down{@})", BAD, (3, 4))
    board.stat("Nodes drained or draining", "short", "Nodes that take no new jobs, "
               "since somebody or a check has said so.",
               "sum(slurm_nodes_drain{@})", BAD, (3, 4))
    board.stat("Problems of the agents", "short", "What `slurmk8s status` lists as "
               "problems of agents that act; a standby always has one more.",
               "sum(slurmk8sd_problems{@} and on (job, instance) slurm_up{@})", BAD,
               (3, 4))
    board.stat("Age of the numbers", "s", "How long ago the agent has last asked "
               "slurmctld for the numbers of this page.",
               "time() - max(slurm_census_timestamp_seconds{@})", OLD, (3, 4))


def resources(board):
    board.row("Resources")
    board.graph("CPUs", "short", "CPUs of all nodes, those that jobs may have, and "
                "those that jobs have.", [
                    ("sum(slurm_cpus_alloc{@})", "allocated"),
                    ("sum(slurm_cpus_effective{@})", "for jobs"),
                    ("sum(slurm_cpus{@})", "all")], (8, 8))
    board.graph("Memory", "bytes", "Memory of all nodes, that which jobs may have, "
                "and that which jobs have.", [
                    ("sum(slurm_memory_alloc_bytes{@})", "allocated"),
                    ("sum(slurm_memory_effective_bytes{@})", "for jobs"),
                    ("sum(slurm_memory_bytes{@})", "all")], (8, 8))
    board.graph("GPUs and other GRES", "short", "GRES by name and type: what nodes "
                "have, and what of it jobs have.", [
                    ("sum by (gres, type) (slurm_gres_alloc{@})",
                     "{{gres}} {{type}} allocated"),
                    ("sum by (gres, type) (slurm_gres{@})", "{{gres}} {{type}} all")],
                (8, 8))
    board.graph("Nodes by state", "short", "Each node counts once; those that are "
                "drained or reserved as well are in the next panel.", [
                    (f"sum(slurm_nodes_{state}{{@}})", state)
                    for state in ("alloc", "mixed", "idle", "down", "unknown")],
                stack=True)
    board.graph("Nodes out of the ordinary", "short", "Nodes by what is true of "
                "them beside their state; one may count several times.", [
                    (f"sum(slurm_nodes_{state}{{@}})", state)
                    for state in ("drained", "draining", "noresp", "maint", "resv",
                                  "planned", "fail", "invalid_reg", "powered_down")])


def jobs(board):
    board.row("Jobs")
    board.graph("Jobs over time", "short", "Jobs by their state.", [
        (f"sum(slurm_jobs_{state}{{@}})", state)
        for state in ("running", "pending", "configuring", "completing", "suspended")],
                (8, 8))
    board.graph("Why jobs wait", "short", "Pending jobs by the reason that squeue "
                "shows for each.", [
                    ("sum by (reason) (slurm_jobs_pending_reason{@})", "{{reason}}")],
                (8, 8), stack=True)
    board.graph("Pods and native jobs", "short", "Running jobs by kind: native ones, "
                "ones that stand for Pods, and batch scripts that run as Pods.", [
                    ('sum by (kind) (slurmk8s_jobs{@, state="running"})',
                     "{{kind}}")], (8, 8), stack=True)
    board.graph("Jobs that end, per hour", "short", "Ended jobs by state, as a rate "
                "over the last quarter of an hour at least.", [
                    ("3600 * sum by (state) (rate(slurm_jobs_ended_total{@}"
                     "[$__rate_interval]))", "{{state}}")], stack=True,
                min_step="15m")
    board.table("Partitions", "short", "What each partition has, and what of it jobs "
                "have.", [
                    ("sum by (partition) (slurm_partition_nodes{@})", "nodes"),
                    ("sum by (partition) (slurm_partition_nodes_idle{@})", "idle"),
                    ("sum by (partition) (slurm_partition_nodes_down{@})", "down"),
                    ("sum by (partition) (slurm_partition_nodes_drain{@})", "drain"),
                    ("sum by (partition) (slurm_partition_cpus_alloc{@})",
                     "CPUs allocated"),
                    ("sum by (partition) (slurm_partition_cpus{@})", "CPUs"),
                    ("sum by (partition) (slurm_partition_jobs_running{@})",
                     "running"),
                    ("sum by (partition) (slurm_partition_jobs_pending{@})",
                     "pending")], "partition", (12, 8), first="pending")


def dashboard():
    board = Dashboard("overview", "Slurm: overview", "What runs in Slurm, what waits "
                      "and why, and what is broken.")
    now(board)
    resources(board)
    jobs(board)
    return board
