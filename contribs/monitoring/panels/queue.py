# SPDX-License-Identifier: GPL-2.0-or-later
"""What waits, why and for how long; what has ended, and how."""
from grafana import Dashboard

ENDED = "slurm_jobs_ended_total{@P}[$__rate_interval]"


def quantile(part, by, family):
    """Of how long jobs waited or ran; a point stands for an hour at least, since
    few jobs start in a minute."""
    return (f"histogram_quantile({part}, sum by (le, {by}) "
            f"(rate({family}_bucket{{@P}}[$__rate_interval])))")


def waiting(board):
    board.row("What waits")
    board.graph("Why jobs of partitions wait", "short", "Pending jobs by the reason "
                "that squeue shows; one counts in each partition it may start in.", [
                    ("sum by (reason) (slurm_partition_jobs_pending_reason{@P})",
                     "{{reason}}")], stack=True)
    board.graph("Jobs that wait, by partition", "short", "Pending jobs; one counts "
                "in each partition in which it may start.", [
                    ("sum by (partition) (slurm_partition_jobs_pending{@P})",
                     "{{partition}}")], stack=True)
    board.table("Partitions and reasons", "short", "Pending jobs now, by partition "
                "and reason.", [
                    ("sum by (partition, reason) "
                     "(slurm_partition_jobs_pending_reason{@P}) > 0", "jobs")],
                size=(8, 8), first="jobs")
    board.graph("Held jobs", "short", "Pending jobs with the priority 0, which wait "
                "until somebody releases them.", [
                    ("sum by (partition) (slurm_partition_jobs_hold{@P})",
                     "{{partition}}")], (8, 8))
    board.graph("Waiting jobs by kind", "short", "Pending jobs by kind: native ones, "
                "ones that stand for Pods, and batch scripts to run as Pods.", [
                    ('sum by (kind) (slurmk8s_jobs{@, state="pending"})',
                     "{{kind}}")], (8, 8), stack=True)


def times(board):
    board.row("How long jobs wait and run")
    for by, name in (("partition", "partition"), ("qos", "QOS")):
        board.graph(f"Waiting time by {name}", "s", "How long half of the jobs, and "
                    "nine of ten, were eligible before they started; exact to the "
                    "histogram's steps (1, 10 s, 1, 5, 15, 30 min, 1, 4, 12 h, 1, 3, "
                    "7 days).", [
                        (quantile(0.5, by, "slurm_job_wait_seconds"),
                         f"{{{{{by}}}}} p50"),
                        (quantile(0.9, by, "slurm_job_wait_seconds"),
                         f"{{{{{by}}}}} p90")], min_step="1h")
    board.graph("Run time by partition", "s", "How long half of the jobs that ended, "
                "and nine of ten, ran, without suspended time.", [
                    (quantile(0.5, "partition", "slurm_job_run_seconds"),
                     "{{partition}} p50"),
                    (quantile(0.9, "partition", "slurm_job_run_seconds"),
                     "{{partition}} p90")], min_step="1h")
    board.graph("Jobs that start, per hour", "short", "Jobs that have started, by "
                "partition.", [
                    ("3600 * sum by (partition) (rate(slurm_job_wait_seconds_count"
                     "{@P}[$__rate_interval]))", "{{partition}}")], stack=True,
                min_step="15m")


def ends(board):
    board.row("What runs and ends")
    board.graph("Jobs that run, by partition", "short", "Jobs in the state RUNNING.", [
        ("sum by (partition) (slurm_partition_jobs_running{@P})", "{{partition}}")],
                stack=True)
    board.graph("CPUs of jobs, by partition", "short", "CPUs that the jobs of each "
                "partition have.", [
                    ("sum by (partition) (slurm_partition_jobs_cpus_alloc{@P})",
                     "{{partition}}")], stack=True)
    board.graph("Jobs that end, by state", "short", "Ended jobs per hour, by state.", [
        (f"3600 * sum by (state) (rate({ENDED}))", "{{state}}")], stack=True,
                min_step="15m")
    board.graph("Part of the jobs that fail", "percentunit", "Of the jobs that ended, "
                "the part that ended FAILED, NODE_FAIL, BOOT_FAIL or OUT_OF_MEMORY.", [
                    ("sum by (partition) (rate(slurm_jobs_ended_total{@P, state=~"
                     '"failed|node_failed|bootfail|outofmemory"}[$__rate_interval]))'
                     f" / sum by (partition) (rate({ENDED}))", "{{partition}}")],
                min_step="1h", most=1)


def claims_of_sites(board):
    board.row("Reservations and licenses")
    reserved = "max by (reservation) (slurm_reservation_%s{@})"
    board.table("Reservations", "short", "Reservations that slurmctld knows, with "
                "their begin and end.", [
                    (reserved % "nodes", "nodes"), (reserved % "cores", "cores"),
                    ("1000 * " + reserved % "start_timestamp_seconds", "begins"),
                    ("1000 * " + reserved % "end_timestamp_seconds", "ends")],
                "reservation", (12, 8),
                {"begins": "dateTimeAsLocal", "ends": "dateTimeAsLocal"})
    board.graph("Licenses", "short", "Licenses that there are, that jobs have, and "
                "that are reserved.", [
                    ("sum by (license, nodes) (slurm_licenses_used{@})",
                     "{{license}} {{nodes}} used"),
                    ("sum by (license, nodes) (slurm_licenses_reserved{@})",
                     "{{license}} {{nodes}} reserved"),
                    ("sum by (license, nodes) (slurm_licenses{@})",
                     "{{license}} {{nodes}} all")])


def dashboard():
    board = Dashboard("queue", "Slurm: queue and waiting", "What waits in Slurm, why "
                      "and for how long; what has ended, and how.", partitions=True)
    waiting(board)
    times(board)
    ends(board)
    claims_of_sites(board)
    return board
