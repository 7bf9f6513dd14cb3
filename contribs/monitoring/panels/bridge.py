# SPDX-License-Identifier: GPL-2.0-or-later
"""How the agent, slurmctld, the API server and the operator do."""
from grafana import BAD, Dashboard

RATE = "[$__rate_interval]"


def health(board):
    board.row("The agent")
    board.stat("Agents that act", "short", "Agents that have numbers of Slurm: one "
               "for each cluster, since a standby has none.",
               "count(slurm_up{@})")
    board.stat("Problems", "short", "What `slurmk8s status` lists as problems of "
               "agents that act.",
               "sum(slurmk8sd_problems{@} and on (job, instance) slurm_up{@})", BAD)
    board.stat("Pods outside the queue", "short", "Pods on Slurm's nodes that no job "
               "stands for and no DaemonSet owns.",
               "sum(slurmk8sd_pods_outside_queue{@})", BAD)
    board.stat("Pods that vanished", "short", "Pods that were deleted by force and "
               "whose containers may still run.",
               "sum(slurmk8sd_pods_vanished{@})", BAD)
    board.stat("Token expires in", "s", "How long the token with which the agent "
               "asks the API server is still valid.",
               "min(slurmk8sd_token_expiry_timestamp_seconds{@}) - time()",
               ((None, "red"), (600, "yellow"), (1800, "green")))
    board.stat("Jobs in line for a place", "short", "Gangs that wait for "
               "MaxPendingJobs, or for their namespace's share of it.",
               'sum(slurmk8sd_pending_jobs{@, where="line"})')
    board.graph("Problems over time", "short", "Problems of each agent, of those that "
                "act alone.", [
                    ("slurmk8sd_problems{@} and on (job, instance) slurm_up{@}",
                     "{{instance}}")], (8, 7))
    board.graph("Gangs by the state of their job", "short", "Pods that share a job "
                "are one gang; many that stay CONFIGURING do not get "
                "on.", [
                    ("sum by (job_state) (slurmk8sd_gangs{@})", "{{job_state}}")],
                (8, 7), stack=True)
    board.graph("Pods by the state of their job", "short", "Those that have not ended.", [
        ("sum by (job_state) (slurmk8sd_gang_pods{@})", "{{job_state}}")], (8, 7),
                stack=True)


def work(board):
    board.row("What the agent does")
    bound = "sum by (le) (rate(slurmk8sd_pod_binding_seconds_bucket{@}" + RATE + "))"
    board.graph("From a Pod's creation to its binding", "s", "How long half, nine of "
                "ten and 99 of 100 Pods waited to be bound, in Slurm's queue and "
                "after it.", [
                    (f"histogram_quantile({part}, {bound})", f"p{part * 100:.0f}")
                    for part in (0.5, 0.9, 0.99)], (8, 8), min_step="15m")
    board.graph("Pods that are bound, per minute", "short", "Pods that were bound to "
                "a node.", [
                    ("60 * sum(rate(slurmk8sd_pod_binding_seconds_count{@}" + RATE
                     + "))", "bound")], (8, 8))
    turn = "sum by (le, instance) (rate(slurmk8sd_turn_seconds_bucket{@}" + RATE + "))"
    board.graph("Turns of the owner thread", "s", "How long half and 99 of 100 turns "
                "of the thread take that decides; nothing else is decided "
                "meanwhile.", [
                    (f"histogram_quantile({part}, {turn})",
                     f"{{{{instance}}}} p{part * 100:.0f}") for part in (0.5, 0.99)],
                (8, 8))
    board.graph("Time of the owner thread", "percentunit", "The part of the time in "
                "which the owner thread is in a turn.", [
                    ("sum by (instance) (rate(slurmk8sd_turn_seconds_sum{@}" + RATE
                     + "))", "{{instance}}")], (8, 8), most=1)
    board.graph("Actions", "ops", "What the agent does for gangs, by action and "
                "result; results other than ok should not grow.", [
                    ("sum by (action, result) (rate(slurmk8sd_actions_total{@}" + RATE
                     + "))", "{{action}} {{result}}")], (8, 8))
    board.graph("Tasks that wait", "short", "Tasks that wait for a worker; a queue "
                "that grows means that slurmctld or the API server is slow.", [
                    ("sum by (queue) (slurmk8sd_tasks{@})", "{{queue}}")], (8, 8))
    board.graph("Events", "ops", "What the agent is told by the API server and by "
                "the plugins.", [
                    ("sum by (event) (rate(slurmk8sd_events_total{@}" + RATE + "))",
                     "{{event}}")])
    board.graph("Resource claims", "short", "ResourceClaims that the agent knows, by "
                "state.", [
                    ("sum by (state) (slurmk8sd_resource_claims{@})", "{{state}}")])


def requests(board):
    board.row("Requests of the agent")
    kube, slurm = "slurmk8sd_kubernetes_request", "slurmk8sd_slurm_request"
    board.graph("Requests to the API server", "reqps", "By verb, resource and the "
                "code of the answer; error means that there was none.", [
                    (f"sum by (verb, resource, code) (rate({kube}s_total{{@}}{RATE}))",
                     "{{verb}} {{resource}} {{code}}")])
    board.graph("Mean time of these requests", "s", "By verb and resource, without "
                "watches, which last.", [
                    (f"sum by (verb, resource) (rate({kube}_seconds_total{{@}}{RATE}))"
                     " / sum by (verb, resource) (rate("
                     f'{kube}s_total{{@, verb!="watch"}}{RATE}))',
                     "{{verb}} {{resource}}")])
    board.graph("Requests to slurmctld", "reqps", "Calls of libslurm by result.", [
        (f"sum by (call, result) (rate({slurm}s_total{{@}}{RATE}))",
         "{{call}} {{result}}")])
    board.graph("Mean time of these calls", "s", "How long a call of libslurm "
                "takes.", [
        (f"sum by (call) (rate({slurm}_seconds_total{{@}}{RATE}))"
         f" / sum by (call) (rate({slurm}s_total{{@}}{RATE}))", "{{call}}")])


def scheduler(board):
    board.row("slurmctld")
    mean = "sum by (instance) (rate(slurm_%s_cycle_seconds_total{@}" + RATE + "))"
    count = "sum by (instance) (rate(slurm_%s_cycles_total{@}" + RATE + "))"
    board.graph("Mean length of scheduler cycles", "s", "How long a cycle of the main "
                "scheduler and one of backfill take.", [
                    (f"{mean % name} / {count % name}", f"{{{{instance}}}} {words}")
                    for name, words in (("sched", "main"), ("bf", "backfill"))],
                (8, 8), min_step="5m")
    board.graph("Last and longest cycles", "s", "What sdiag shows; the longest since "
                "slurmctld counts, which it begins anew each day.", [
                    ("max(slurm_sched_last_cycle_seconds{@})", "main, last"),
                    ("max(slurm_sched_max_cycle_seconds{@})", "main, longest"),
                    ("max(slurm_bf_last_cycle_seconds{@})", "backfill, last"),
                    ("max(slurm_bf_max_cycle_seconds{@})", "backfill, longest")],
                (8, 8))
    board.graph("Cycles per minute", "short", "How often the main scheduler and "
                "backfill run.", [
                    ("60 * " + count % "sched", "{{instance}} main"),
                    ("60 * " + count % "bf", "{{instance}} backfill")], (8, 8),
                min_step="5m")
    board.graph("Jobs in a cycle", "short", "Jobs at the last cycle of the main "
                "scheduler, and jobs that the last cycle of backfill tried.", [
                    ("sum(slurm_sched_queue_length{@})", "main"),
                    ("sum(slurm_bf_last_depth{@})", "backfill")], (8, 8))
    board.graph("Jobs by backfill, per hour", "short", "Jobs that backfill has "
                "started.", [
                    ("3600 * sum(rate(slurm_bf_backfilled_jobs_total{@}" + RATE
                     + "))", "started")], (8, 8), min_step="15m")
    board.graph("Threads and queues", "short", "Threads of slurmctld that serve "
                "requests, messages to slurmd and to slurmdbd that wait.", [
                    ("sum(slurm_server_threads{@})", "threads"),
                    ("sum(slurm_agents{@})", "agents"),
                    ("sum(slurm_agent_queue_size{@})", "to slurmd"),
                    ("sum(slurm_slurmdbd_queue_size{@})", "to slurmdbd")], (8, 8))
    board.graph("RPCs by type", "reqps", "The ten most frequent RPCs by their number; "
                "sdiag shows which is which.", [
                    ("topk(10, sum by (rpc) (rate(slurm_rpcs_total{@}" + RATE + ")))",
                     "{{rpc}}")])
    board.graph("Time in RPCs by type", "percentunit", "The ten types of RPC that "
                "take most time, in threads that are always busy with them.", [
                    ("topk(10, sum by (rpc) (rate(slurm_rpc_seconds_total{@}" + RATE
                     + ")))", "{{rpc}}")])


def operator(board):
    board.row("slurmk8s-operator (its own target)")
    board.graph("Pods of NodeSets", "short", "Pods that each NodeSet should have, "
                "has, and has ready.", [
                    ("sum by (namespace, nodeset, state) "
                     "(slurmk8s_operator_nodeset_pods)",
                     "{{namespace}}/{{nodeset}} {{state}}")])
    board.graph("Steps of the operator", "ops", "Its requests to change something, "
                "by verb and result.", [
                    ("sum by (verb, result) (rate(slurmk8s_operator_steps_total"
                     + RATE + "))", "{{verb}} {{result}}")])


def dashboard():
    board = Dashboard("bridge", "Slurm: health of the bridge", "How the agent, "
                      "slurmctld, the API server and the operator do.")
    health(board)
    work(board)
    requests(board)
    scheduler(board)
    operator(board)
    return board
