# SPDX-License-Identifier: GPL-2.0-or-later
"""Who uses what: accounts and users, and their shares against their usage."""
from grafana import Dashboard

MOST = "topk(15, sum by (%s) (slurm_%s_jobs_%s{@}))"
NEEDS = """\
These numbers name users and accounts. The agent has them only with `MetricsUsers=yes`
in k8s.conf, and then they are on the page `/metrics/detail`. Where `PrivateData` of
slurm.conf hides users, Prometheus has to send the token of `MetricsTokenFile`, too.
"""


def who(board, of):
    """of: user or account."""
    label = "username" if of == "user" else of  # as slurmctld's own metrics have it
    board.row(f"By {of}")
    legend = f"{{{{{label}}}}}"
    board.graph(f"CPUs by {of}", "short", f"CPUs that the jobs of each {of} have; the "
                "fifteen with most.", [(MOST % (label, of, "cpus_alloc"), legend)],
                stack=True)
    board.graph(f"GPUs by {of}", "short", f"GRES that the jobs of each {of} have, by "
                "name and type.", [
                    (f"topk(15, sum by ({label}, gres, type) "
                     f"(slurm_{of}_jobs_gres_alloc{{@}}))",
                     legend + " {{gres}} {{type}}")], stack=True)
    board.graph(f"Jobs that wait, by {of}", "short", f"Pending jobs of each {of}; the "
                "fifteen with most.", [(MOST % (label, of, "pending"), legend)],
                stack=True)
    value = f"sum by ({label}) (slurm_{of}_jobs%s{{@}})"
    board.table(f"Jobs of each {of}", "short", "Jobs that slurmctld knows, and what "
                "these have now.", [
                    (value % "", "jobs"), (value % "_running", "running"),
                    (value % "_pending", "pending"),
                    (value % "_cpus_alloc", "CPUs"), (value % "_nodes_alloc", "nodes"),
                    (value % "_memory_alloc_bytes", "memory")],
                label, (12, 8), {"memory": "bytes"}, "CPUs")


def shares(board):
    board.row("Shares against usage")
    its = "max by (account, user, partition) (slurm_association_%s{@})"
    account = 'max by (account) (slurm_association_%s{@, user="", partition=""})'
    board.graph("Share and usage of accounts", "percentunit", "The part of its parent's shares that "
                "each account has, and its part of the parent's usage, which sinks "
                "with time (without Fair Tree, parts of the whole cluster).", [
                    (account % "shares_norm", "{{account}} share"),
                    (account % "usage_effective", "{{account}} usage")])
    board.graph("Usage by share", "none", "Usage divided by the share: an account "
                "above 1 has used more than its share, and its jobs wait behind "
                "others.", [
                    (account % "usage_effective" + " / (" + account % "shares_norm"
                     + " > 0)", "{{account}}")])
    board.table("Associations", "none", "Shares, usage and fair-share factor of each "
                "account and user, as sshare shows them; the row without a user is "
                "the account's own, and partition is empty but for associations of "
                "one.", [
                    (its % "shares", "raw shares"), (its % "shares_norm", "share"),
                    (its % "usage_raw", "raw usage"),
                    (its % "usage_effective", "usage"),
                    (its % "fairshare", "fair-share")],
                size=(24, 12), units={"share": "percentunit", "usage": "percentunit",
                                      "raw shares": "short", "raw usage": "short"},
                first="usage")


def dashboard():
    board = Dashboard("accounts", "Slurm: accounts and users", "Who uses what, and "
                      "how that compares to the shares.")
    board.text("What this page needs", "Where the numbers of this page come from.",
               NEEDS)
    who(board, "account")
    who(board, "user")
    shares(board)
    return board
