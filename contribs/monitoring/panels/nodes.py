# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes and GPUs: what is broken, since when and by whom; what is in use."""
from grafana import BAD, Dashboard

NODE = "(slurm_node_%s{@})"


def broken(board):
    board.row("What is out of service")
    for title, state, words in (
            ("Down", "down", "Nodes in the state DOWN."),
            ("Drained", "drained", "Nodes that take no jobs and have none."),
            ("Draining", "draining", "Nodes that take no new jobs and still have "
             "some."),
            ("Not responding", "noresp", "Nodes of which slurmctld hears nothing."),
            ("Failing", "fail", "Nodes that are marked as failing."),
            ("Wrong registration", "invalid_reg", "Nodes whose slurmd has reported "
             "other resources than slurm.conf says.")):
        board.stat(title, "short", words, f"sum(slurm_nodes_{state}{{@}})", BAD)
    board.table("Nodes with a reason", "none", "Each node that is drained or down for "
                "a reason: why, who says so and since when; needs the page "
                "/metrics/detail.", [
                    ("max by (node, reason, user) (slurm_node_reason_info{@})", ""),
                    ("1000 * max by (node) "
                     "(slurm_node_reason_since_timestamp_seconds{@})", "since")],
                "node", (24, 10), {"since": "dateTimeFromNow"}, first="since")
    board.graph("Out of service, by partition", "short", "Nodes of each partition "
                "that are drained or down; one that is both counts twice.", [
                    ("sum by (partition) (slurm_partition_nodes_drain{@P})",
                     "{{partition}} drain"),
                    ("sum by (partition) (slurm_partition_nodes_down{@P})",
                     "{{partition}} down")])
    board.graph("Reasons", "short", "How many nodes have each reason, and who has set "
                "it.", [
                    ("count by (reason, user) (slurm_node_reason_info{@})",
                     "{{reason}} ({{user}})")])


def use(board):
    board.row("What is in use")
    part = "sum by (partition) (slurm_partition_%s{@P})"
    board.graph("CPUs in use, by partition", "percentunit", "The part of the CPUs "
                "that jobs may have which they have.", [
                    (part % "cpus_alloc" + " / (" + part % "cpus_effective" + " > 0)",
                     "{{partition}}")], (8, 8), most=1)
    board.graph("Memory in use, by partition", "percentunit", "The part of the memory "
                "that jobs may have which they have.", [
                    (part % "memory_alloc_bytes" + " / ("
                     + part % "memory_effective_bytes" + " > 0)",
                     "{{partition}}")], (8, 8), most=1)
    gres = "sum by (partition, gres, type) (slurm_partition_%s{@P})"
    board.graph("GPUs in use, by partition and type", "percentunit", "The part of "
                "each GRES of a partition that jobs have, by type.", [
                    (gres % "gres_alloc" + " / (" + gres % "gres" + " > 0)",
                     "{{partition}} {{gres}} {{type}}")], (8, 8), most=1)
    board.graph("GPUs by type", "short", "GRES that jobs have, by partition, name and "
                "type.", [
                    (gres % "gres_alloc", "{{partition}} {{gres}} {{type}}")],
                stack=True)
    board.graph("Idle nodes, by partition", "short", "Nodes without a job; one may be "
                "drained, reserved, planned for a job or powered down.", [
                    ("sum by (partition) (slurm_partition_nodes_idle{@P})",
                     "{{partition}}")])
    board.graph("Nodes that power up and down", "short", "Nodes of power saving, by "
                "what they do.", [
                    (f"sum(slurm_nodes_{state}{{@}})", state)
                    for state in ("powering_up", "powered_down", "powering_down",
                                  "reboot_req", "reboot_issued")])
    board.graph("Nodes that are kept free", "short", "Nodes that are reserved, under "
                "maintenance, or planned by backfill for a job that waits.", [
                    (f"sum by (partition) (slurm_partition_nodes_{state}{{@P}})",
                     "{{partition}} " + state)
                    for state in ("resv", "maint", "planned")])


def each(board):
    board.row("Each node (page /metrics/detail)")
    board.table("Nodes", "short", "What each node has, and what of it jobs have.", [
        ("max by (node) " + NODE % "cpus_alloc", "CPUs allocated"),
        ("max by (node) " + NODE % "cpus_effective", "CPUs for jobs"),
        ("max by (node) " + NODE % "memory_alloc_bytes", "memory allocated"),
        ("max by (node) " + NODE % "memory_effective_bytes", "memory for jobs"),
        ("max by (node) " + NODE % "memory_free_bytes", "memory free")],
                "node", (14, 12), {name: "bytes" for name in (
                    "memory allocated", "memory for jobs", "memory free")},
                "CPUs allocated")
    board.table("GPUs of nodes", "short", "GRES of each node by type, and what of "
                "these jobs have.", [
                    ("max by (node, gres, type) " + NODE % "gres_alloc", "allocated"),
                    ("max by (node, gres, type) " + NODE % "gres", "all")],
                size=(10, 12), first="allocated")


def dashboard():
    board = Dashboard("nodes", "Slurm: nodes and GPUs", "Which nodes are out of "
                      "service, why, since when and by whom; what of them is in use.",
                      partitions=True)
    broken(board)
    use(board)
    each(board)
    return board
