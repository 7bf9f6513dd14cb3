# SPDX-License-Identifier: GPL-2.0-or-later
"""What the alerts of contribs/monitoring/rules.yaml do with numbers that are made up,
as unit tests for promtool. There is a sample each minute, the first at 0."""
import collections
import re

# alert: its name; words: what happens; series: values by series, in promtool's
# notation ("1x4" are five samples of 1); fires: how many alerts fire after so many
# minutes; NEVER: none does until END.
Case = collections.namedtuple("Case", "alert words series fires")
NEVER = "never"
END = 100  # minutes
DAY = 86400
LONG = "x110"
CTL1, CTL2 = 'job="slurm",instance="ctl1:8473"', 'job="slurm",instance="ctl2:8473"'
DETAIL = 'job="slurm-nodes",instance="ctl1:8473"'

NODE_STATES = ("idle", "drained", "maint", "resv", "planned", "fail", "blocked",
               "powered_down", "powering_down")


def of(name, target=CTL1, **labels):
    """A series of an agent."""
    more = "".join(f',{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{target}{more}}}"


def partition(target=CTL1, waits="Resources", pending="3" + LONG,
              started="7" + LONG, **states):
    """A partition of ten nodes, of which four are idle; states: what differs."""
    series = {of("slurm_up", target): "1" + LONG,
              of("slurm_partition_nodes", target, partition="p"): "10" + LONG,
              of("slurm_partition_jobs_pending_reason", target, partition="p",
                 reason=waits): pending}
    for state in NODE_STATES:
        value = states.get(state, "4" if state == "idle" else "0")
        series[of(f"slurm_partition_nodes_{state}", target, partition="p")] = (
            value if "x" in value else value + LONG)
    if started:
        series[of("slurm_job_wait_seconds_count", target, partition="p",
                  qos="normal")] = started
    return series


def reservation(begins):
    return {of("slurm_reservation_nodes", reservation="maint"): "10" + LONG,
            of("slurm_reservation_start_timestamp_seconds", reservation="maint"):
            f"{begins}{LONG}"}


def agent(values, other="1" + LONG):
    return {of("up"): values, of("up", CTL2): other}


AGENTS = [
    Case("SlurmAgentDown", "an agent is away", agent("1x4 0x9 1x99"),
         {9: 0, 10: 1, 16: 0}),
    Case("SlurmAgentDown", "it is restarted", agent("1x4 0x3 1x99"), NEVER),
    Case("SlurmAgentDown", "only the page of nodes is away",
         {of("up", DETAIL): "0" + LONG}, NEVER),
    Case("SlurmNotCounted", "two agents stand by, then one acts",
         {**agent("1" + LONG), of("slurm_up"): "_x20 1x99"}, {9: 0, 10: 1, 22: 0}),
    Case("SlurmNotCounted", "one stands by beside one that acts",
         {**agent("1" + LONG), of("slurm_up", CTL2): "1" + LONG}, NEVER),
    Case("SlurmNotCounted", "slurmctld is away",
         {**agent("1" + LONG), of("slurm_up"): "0" + LONG}, NEVER),
    Case("SlurmAgentProblems", "a problem that is solved",
         {of("slurmk8sd_problems"): "0x4 2x14 0x99", of("slurm_up"): "1" + LONG},
         {14: 0, 15: 1, 20: 0}),
    Case("SlurmAgentProblems", "one problem that stays",
         {of("slurmk8sd_problems"): "1" + LONG, of("slurm_up"): "1" + LONG}, {10: 1}),
    Case("SlurmAgentProblems", "a standby cannot use the Lease",
         {of("slurmk8sd_problems", CTL2): "1x20 0x99"}, {9: 0, 10: 1, 22: 0}),
    Case("SlurmAgentProblems", "a standby",
         {of("slurmk8sd_problems", CTL2): "0" + LONG,
          of("slurmk8sd_problems"): "0" + LONG, of("slurm_up"): "1" + LONG}, NEVER),
    Case("SlurmAgentProblems", "a start of some minutes",
         {of("slurmk8sd_problems"): "0x4 3x8 0x99", of("slurm_up"): "1" + LONG}, NEVER),
    # Expires after 30 minutes; at 25 a new one comes.
    Case("SlurmTokenExpires", "a token of an hour is renewed late",
         {of("slurmk8sd_token_expiry_timestamp_seconds"): "1800x24 9000x50"},
         {20: 0, 23: 1, 26: 0}),
    Case("SlurmTokenExpires", "a token that nobody renews",
         {of("slurmk8sd_token_expiry_timestamp_seconds"): f"{7 * 3600}x500"},
         {6 * 60: 0, 6 * 60 + 4: 1}),
    Case("SlurmTokenExpires", "tokens of an hour are renewed at half of it",
         {of("slurmk8sd_token_expiry_timestamp_seconds"):
          " ".join(f"{3600 + 1800 * i}x29" for i in range(4))}, NEVER),
    Case("SlurmTokenExpires", "tokens of an hour are renewed at four fifths",
         {of("slurmk8sd_token_expiry_timestamp_seconds"):
          " ".join(f"{3600 + 2880 * i}x47" for i in range(3))}, NEVER),
    Case("SlurmTokenExpires", "a token is renewed nine minutes before its end",
         {of("slurmk8sd_token_expiry_timestamp_seconds"): "1800x21 90000x99"}, NEVER),
    Case("SlurmTokenExpires", "there is no token", {of("slurm_up"): "1" + LONG}, NEVER),
    Case("SlurmTurnsLong", "turns take seconds, then not",
         {of("slurmk8sd_turn_seconds_bucket", le="1.0"): "0+0x60 0+60x120",
          of("slurmk8sd_turn_seconds_bucket", le="5.0"): "0+60x60 3660+60x120",
          of("slurmk8sd_turn_seconds_bucket", le="+Inf"): "0+60x60 3660+60x120"},
         {15: 0, 17: 1, 100: 0}),
    Case("SlurmTurnsLong", "turns are short",
         {of("slurmk8sd_turn_seconds_bucket", le="0.1"): "0+60" + LONG,
          of("slurmk8sd_turn_seconds_bucket", le="+Inf"): "0+60" + LONG}, NEVER),
    Case("SlurmPodsOutsideQueue", "a Pod that goes",
         {of("slurmk8sd_pods_outside_queue"): "0x4 1x19 0x99"}, {19: 0, 20: 1, 26: 0}),
    Case("SlurmPodsOutsideQueue", "one for a while",
         {of("slurmk8sd_pods_outside_queue"): "0x4 5x13 0x99"}, NEVER),
]

CONTROLLER = [
    Case("SlurmctldAway", "it is away", {of("slurm_up"): "1x4 0x9 1x99"},
         {9: 0, 10: 1, 16: 0}),
    Case("SlurmctldAway", "it is restarted", {of("slurm_up"): "1x4 0x3 1x99"}, NEVER),
    Case("SlurmctldAway", "an agent stands by", agent("1" + LONG), NEVER),
    Case("SlurmCensusOld", "the numbers stand still",
         {of("slurm_census_timestamp_seconds"): "0x19 1200+60x99"},
         {10: 0, 11: 1, 21: 0}),
    Case("SlurmCensusOld", "they are of some minutes ago",
         {of("slurm_census_timestamp_seconds"): "-200+60" + LONG}, NEVER),
    Case("SlurmCensusOld", "slurmctld is away",
         {of("slurm_census_timestamp_seconds"): "0+60x10 _x99",
          of("slurm_up"): "1x10 0x99"}, NEVER),
    Case("SlurmSchedulerSlow", "cycles of three seconds, then of one",
         {of("slurm_sched_cycles_total"): "0+10" + LONG,
          of("slurm_sched_cycle_seconds_total"): "0+30x40 1230+10x99"},
         {15: 0, 17: 1, 70: 0}),
    Case("SlurmSchedulerSlow", "one slow cycle among many",
         {of("slurm_sched_cycles_total"): "0+10" + LONG,
          of("slurm_sched_cycle_seconds_total"): "0+1x40 100+1x120"}, NEVER),
    Case("SlurmSchedulerSlow", "no cycles",
         {of("slurm_sched_cycles_total"): "9" + LONG,
          of("slurm_sched_cycle_seconds_total"): "90" + LONG}, NEVER),
    Case("SlurmRpcFlood", "600 each second, then none",
         {of("slurm_rpcs_total", rpc="2003"): "0+30000x30 930000x99",
          of("slurm_rpcs_total", rpc="2007"): "0+6000x30 186000x99"},
         {13: 0, 16: 1, 40: 0}),
    Case("SlurmRpcFlood", "400 each second, and slurmctld counts anew",
         {of("slurm_rpcs_total", rpc="2003"): "0+24000x60 0+24000x99"}, NEVER),
    Case("SlurmctldBusy", "many threads", {of("slurm_server_threads"):
                                           "3x4 200x14 3x99"}, {14: 0, 15: 1, 20: 0}),
    Case("SlurmctldBusy", "many for a moment", {of("slurm_server_threads"):
                                                "3x4 255x5 3x99"}, NEVER),
    Case("SlurmDatabaseQueueGrows", "slurmdbd is away and comes back",
         {of("slurm_slurmdbd_queue_size"): "0x9 200+10x29 5x99"},
         {19: 0, 20: 1, 42: 0}),
    Case("SlurmDatabaseQueueGrows", "nothing more comes, it is away",
         {of("slurm_slurmdbd_queue_size"): "0x9 200x99"}, {20: 1, 60: 1}),
    Case("SlurmDatabaseQueueGrows", "a long queue that sinks",
         {of("slurm_slurmdbd_queue_size"): "9000-40" + LONG}, NEVER),
    Case("SlurmDatabaseQueueGrows", "a short one",
         {of("slurm_slurmdbd_queue_size"): "0+1x90 90x90"}, NEVER),
]


def reason(words, values, **labels):
    labels = {"node": "n1", "reason": words, "user": "slurm", **labels}
    return {of("slurm_node_reason_info", DETAIL, **labels): values}


NODES = [
    Case("SlurmNodeLost", "a Node is not Ready, then is again",
         reason("slurmk8sd: the Node is not ready", "_x5 1x14 stale"),
         {9: 0, 11: 1, 22: 0}),
    Case("SlurmNodeLost", "two slurmd do not answer",
         {**reason("Not responding", "1" + LONG),
          **reason("Not responding", "1" + LONG, node="n2")}, {4: 0, 5: 2}),
    Case("SlurmNodeLost", "a node is drained by somebody",
         {**reason("fan fails", "1" + LONG), **reason(
             "slurmk8sd: the Node is cordoned", "1" + LONG, node="n2")}, NEVER),
    Case("SlurmNodeLost", "PrivateData hides the reason",
         {of("slurm_node_reason_info", DETAIL, node="n1"): "1" + LONG}, NEVER),
    Case("SlurmNodeLost", "a Node is not Ready for a moment",
         reason("slurmk8sd: the Node is not ready", "_x5 1x3 stale"), NEVER),
    Case("SlurmNodesDown", "two nodes", {of("slurm_nodes_down"): "0x4 2x34 0x99"},
         {34: 0, 35: 1, 42: 0}),
    Case("SlurmNodesDown", "a reboot", {of("slurm_nodes_down"): "0x4 1x20 0x99"},
         NEVER),
    Case("SlurmManyNodesDrained", "twelve of a hundred",
         {of("slurm_nodes"): "100" + LONG, of("slurm_nodes_drain"): "0x4 12x34 9x99"},
         {34: 0, 35: 1, 42: 0}),
    Case("SlurmManyNodesDrained", "two of ten",
         {of("slurm_nodes"): "10" + LONG, of("slurm_nodes_drain"): "2" + LONG}, NEVER),
    Case("SlurmManyNodesDrained", "there are no nodes",
         {of("slurm_nodes"): "0" + LONG, of("slurm_nodes_drain"): "0" + LONG}, NEVER),
]

STUCK = [
    Case("SlurmQueueStuck", "none starts, then one does",
         partition(started="7x29 8x99"), {19: 0, 20: 1, 31: 0}),
    Case("SlurmQueueStuck", "jobs wait for Priority and none has ever started",
         partition(waits="Priority", started=None), {19: 0, 20: 1}),
    Case("SlurmQueueStuck", "fewer nodes are drained than idle",
         partition(drained="3"), {20: 1}),
    Case("SlurmQueueStuck", "a reservation begins in five days",
         {**partition(), **reservation(5 * DAY)}, {20: 1}),
    Case("SlurmQueueStuck", "a reservation has begun elsewhere",
         {**partition(), **reservation(-60)}, {20: 1}),
    Case("SlurmQueueStuck", "one starts each ten minutes",
         partition(started=" ".join(f"{i}x9" for i in range(11))), NEVER),
    Case("SlurmQueueStuck", "the first of a partition starts",
         partition(started="_x14 1x4 2x9 3x9 4x4"), {15: 0, 19: 0, 20: 0, 25: 0}),
    *(Case("SlurmQueueStuck", f"the idle nodes are {state}", partition(**{state: "4"}),
           NEVER) for state in NODE_STATES[1:]),
    Case("SlurmQueueStuck", "no node is idle", partition(idle="0"), NEVER),
    Case("SlurmQueueStuck", "a reservation of all nodes begins in two days",
         {**partition(), **reservation(2 * DAY)}, NEVER),
    Case("SlurmQueueStuck", "jobs wait for others", partition(waits="Dependency"),
         NEVER),
    Case("SlurmQueueStuck", "none waits any more after ten minutes",
         partition(pending="3x10 stale"), NEVER),
    Case("SlurmQueueStuck", "the agent is restarted",
         {series: values.replace(LONG, "x12 stale _x1 " + values[0] + "x10")
          for series, values in partition().items()}, {20: 0, 26: 0}),
]

FAILED = "slurm_jobs_ended_total"
ENDS = [
    Case("SlurmJobsFail", "most fail, then none",
         {of(FAILED, partition="p", state="failed"): "0+2x60 122x199",
          of(FAILED, partition="p", state="completed"): "0+1x259"},
         {15: 0, 40: 1, 160: 0}),
    Case("SlurmJobsFail", "nodes fail",
         {of(FAILED, partition="p", state="node_failed"): "0+1x199"}, {60: 1}),
    Case("SlurmJobsFail", "a quarter fails, as many are cancelled and time out",
         {of(FAILED, partition="p", state=state): "0+2x199"
          for state in ("failed", "cancelled", "timeout", "completed")}, NEVER),
    Case("SlurmJobsFail", "ten in an hour, all of which fail",
         {of(FAILED, partition="p", state="failed"):
          "0x5 1x5 2x5 3x5 4x5 5x5 6x5 7x5 8x5 9x5"}, NEVER),
    Case("SlurmJobsFail", "the counts begin anew",
         {of(FAILED, partition="p", state="failed"): "900x30 0x99",
          of(FAILED, partition="p", state="completed"): "0+1x30 0x99"}, NEVER),
]

CASES = [*AGENTS, *CONTROLLER, *NODES, *STUCK, *ENDS]

# A cluster in which nothing is wrong, with an agent that acts and a standby: no
# alert at all fires.
QUIET = {
    **agent("1" + LONG), of("up", DETAIL): "1" + LONG,
    of("slurmk8sd_problems"): "0" + LONG, of("slurmk8sd_problems", CTL2): "0" + LONG,
    of("slurmk8sd_pods_outside_queue"): "0" + LONG,
    of("slurmk8sd_pods_outside_queue", CTL2): "0" + LONG,
    **partition(pending="0" + LONG),
    of("slurm_census_timestamp_seconds"): "-20+60" + LONG,
    of("slurm_nodes"): "10" + LONG, of("slurm_nodes_down"): "0" + LONG,
    of("slurm_nodes_drain"): "1" + LONG, of("slurm_server_threads"): "2" + LONG,
    of("slurm_slurmdbd_queue_size"): "0" + LONG,
    of("slurm_sched_cycles_total"): "0+10" + LONG,
    of("slurm_sched_cycle_seconds_total"): "0+1" + LONG,
    of("slurm_rpcs_total", rpc="2003"): "0+60" + LONG}


def rewritten(series, change):
    return {name: change(values) for name, values in series.items()}


def _away(values):
    """The agent that acts is restarted: nothing for three minutes from the 30th."""
    first = re.match(r"-?\d+", values).group()
    step = re.match(r"-?\d+([+-]\d+)?", values).group(1) or "+0"
    later = int(first) + 33 * int(step)
    return f"{first}{step}x29 stale _x2 {later}{step}x160"


# The same, and what belongs to everyday life.
QUIET_CASES = {
    "nothing is wrong": QUIET,
    "the agent is restarted": {
        series: values if CTL2 in series else
        "1x29 0x2 1x160" if series.startswith("up{") else _away(values)
        for series, values in QUIET.items()}}


def firing(case):
    return f'ALERTS{{alertname="{case.alert}",alertstate="firing"}}'


def samples(count):
    return [{"labels": "{}", "value": count}] if count else []


def promtool_test(name, series, expected):
    """expected: triples of an expression, a minute and a count."""
    return {"name": name, "interval": "1m",
            "input_series": [{"series": one, "values": values}
                             for one, values in series.items()],
            "promql_expr_test": [
                {"expr": expression, "eval_time": f"{minute}m",
                 "exp_samples": samples(count)}
                for expression, minute, count in expected]}


def case_test(case):
    if case.fires == NEVER:
        ever = f"count(count_over_time({firing(case)}[{END}m]))"
        expected = [(ever, END, 0)]
    else:
        expected = [(f"count({firing(case)})", minute, count)
                    for minute, count in case.fires.items()]
    return promtool_test(f"{case.alert}: {case.words}", case.series, expected)


def quiet_test(words, series):
    ever = f'count(count_over_time(ALERTS{{alertstate="firing"}}[{END}m]))'
    return promtool_test(words, series, [(ever, END, 0)])


def first_fires(case):
    """The first minute at which it fires; None if it never does."""
    if case.fires == NEVER:
        return None
    return next((at for at, count in case.fires.items() if count), None)
