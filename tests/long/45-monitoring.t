#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A real Prometheus shows what is true: each expression of each panel of
contribs/monitoring has the values that Slurm's commands and kubectl have, while chaos
runs; and the alerts fire and clear on real faults. MINUTES in the environment says how
long chaos runs (10), SEED which."""
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import agent_conf
import bed
import chaos
import chaos_log
import commands_metrics
import live_alerts
import metrics
import monitoring
import native_load
import panel_compare
import panel_counters
import panel_times
import prometheus
import slurmctld
from tap import case, check, equal, run, wait_for

MINUTES = float(os.environ.get("MINUTES", "10"))
SEED = int(os.environ.get("SEED", "45"))
# Seconds of load without outages: rates of slurmctld's own numbers need them.
CALM = int(os.environ.get("CALM", "300"))
PAUSE = 0.4  # seconds after each operation of chaos: looks are a second apart
STILL = 60    # seconds in which nothing happens
HISTORY = "/var/lib/slurmk8s/job-history"
RESERVATION = "panels"
LEAST = 20       # comparisons with a value, of each expression
LEAST_RATES = 5


def least(expression):
    return LEAST_RATES if "rate(" in expression else LEAST


def known(server):
    """Names of metrics that this agent can have, or has."""
    names = server.ask("label/__name__/values", **{"match[]": '{instance="agent"}'})
    return monitoring.in_sources() | set(names)


class Chaos(chaos.Chaos):
    """With ordinary jobs beside it, which end for the times when all has to be at
    rest. In the second half of each cycle it rests, unless somebody is away. In the
    first half of the run slurmctld is stopped where it would be killed: after a crash
    counts of jobs may differ."""

    def __init__(self, *words, **kinds):
        super().__init__(*words, **kinds)
        self.load = native_load.NativeLoad(SEED)
        self.source = None
        self.rests = 0
        # Of slurmctld, which runs a new process to reconfigure, too: seconds since
        # the epoch.
        self.stops = []

    def run(self, count, seconds):
        self.kills_from = time.monotonic() + seconds / 2
        self.load.start()
        try:
            return super().run(count, seconds)
        finally:
            self.load.stop()

    def _do(self, op):
        super()._do(op)
        time.sleep(PAUSE)
        rest = panel_times.CYCLE - time.time() % panel_times.CYCLE
        if rest < panel_times.CYCLE / 2 and self._all_there():
            self.rests += 1
            with self.load.still():
                time.sleep(rest)

    def _all_there(self):
        look = self.source.history[-1]
        return look.slurm and look.kubernetes and bed.serves()

    def _do_slurmctld_kill(self, op):
        if time.monotonic() < self.kills_from:
            self._do_slurmctld_stop(op)
        else:
            super()._do_slurmctld_kill(op)

    def _do_slurmctld_stop(self, op):
        self.stops.append(time.time())
        super()._do_slurmctld_stop(op)

    def _do_reconfigure(self, op):
        self.stops.append(time.time())
        super()._do_reconfigure(op)

    def _sweep(self):
        with self.load.paused():
            super()._sweep()


def conf(text):
    """MinJobAge is short, so that slurmctld forgets jobs that were counted."""
    return text.replace("MinJobAge=300", "MinJobAge=60") + \
        f"Licenses={native_load.LICENSE}:3\n"


class Stage:
    """Chaos with its devices, a license, a reservation, and an agent that counts jobs
    from 0, as the commands do, which are looked at from then on."""

    def __init__(self):
        self.began = time.time()
        self.log = open(bed.SANDBOX / "log/monitoring-chaos.log", "w", buffering=1)
        self.conf = slurmctld.changed_conf(conf, "stop")
        self.conf.__enter__()
        agent_conf.edit(lambda text: re.sub(
            "(?m)^MetricsInterval=.*", f"MetricsInterval={panel_times.INTERVAL}",
            text))
        self.chaos = Chaos(SEED, self._say, gangs=True, devices=True)
        bed.run("scontrol", "create", "reservation", f"ReservationName={RESERVATION}",
                "StartTime=now+1day", "Duration=60", "Nodes=native1", "Users=root")
        bed.ctl("stop", "slurmk8sd")
        bed.inside("rm", "-f", HISTORY)
        self.source = commands_metrics.Source(people=True)
        self.chaos.source = self.source
        self.source.start()
        wait_for("the commands' first answers", lambda: self.source.page())
        bed.ctl("start", "slurmk8sd")
        wait_for("numbers", lambda: metrics.get(metrics.page(), "slurm_up") == 1)
        self.prometheus = prometheus.Prometheus(self.source.address,
                                               scrape=panel_times.SCRAPE)
        self.began = time.time()

    def _say(self, text):
        print(f"{time.time() - self.began:8.1f} {text}", file=self.log)
        if any(sign in text for sign in chaos_log.SIGNS):
            print(f"# {text}", flush=True)

    def crashes(self):
        return [at.timestamp() for at, _ in self.chaos.crashes]

    def end(self):
        self.prometheus.stop()
        self.source.stop()
        bed.run("scontrol", "delete", f"ReservationName={RESERVATION}", check=False)
        self.conf.__exit__()
        self.log.close()


def play(stage):
    """Chaos, then load without outages, then nothing. Violations of chaos."""
    violations, counts = stage.chaos.run(10 ** 6, 60 * MINUTES), stage.chaos.counts
    print(f"# chaos: {sum(counts.values())} operations, {counts['agent-kill']} times "
          f"the agent killed, {counts['agent-stop']} times frozen, "
          f"{len(stage.chaos.crashes)} times slurmctld killed, "
          f"{stage.chaos.load.submitted} native submissions, "
          f"{stage.chaos.rests} rests", flush=True)
    load = native_load.NativeLoad(SEED, pods=True)
    load.start()
    bed.create(bed.pod("outside", scheduler="nobody", nodeName="kn2"))
    bed.create(bed.pod("too-big", cpu="17"))
    bed.run("scontrol", "update", "NodeName=kn3", "State=DRAIN",
            'Reason=the "fan" fails, it says')
    for _ in range(max(1, CALM // panel_times.CYCLE)):
        time.sleep(panel_times.CYCLE / 2)
        with load.still():
            time.sleep(panel_times.CYCLE / 2)
    load.stop()
    bed.run("sbatch", "--hold", "-p", "native", "--wrap", "true", "-D",
            "/tmp", user="alice")
    time.sleep(STILL)
    return violations


def judge(stage, violations):
    """What is wrong with what Prometheus has seen: words."""
    looks, names = stage.source.history, known(stage.prometheus)
    compared = panel_compare.Comparison(stage.prometheus, looks, stage.began + 15,
                                        looks[-2].began)
    print(f"# {len(looks)} looks in {looks[-1].ended - looks[0].began:.0f} s, "
          f"{sum(not look.slurm for look in looks)} without slurmctld, "
          f"{sum(not look.kubernetes for look in looks)} without the API server",
          flush=True)
    wrong, compared.lost = panel_counters.compare_counters(
        panel_counters.Counters(compared, stage.crashes(), stage.chaos.stops))
    wrong += [f"chaos: {one}" for one in violations]
    wrong += panel_compare.compare_all(compared, names, least)
    count, said = compared.outages()
    print(f"# {count} seconds without slurmctld", flush=True)
    return wrong + said + [f"wrong values are found true: {one}" for one in
                           panel_compare.blind(compared, names)]


@case
def panels():
    """each expression of each panel has the values of Slurm's commands and kubectl,
    under chaos, under load and at rest; numbers that are not true are found"""
    stage = Stage()
    try:
        wrong = judge(stage, play(stage))
        check(not wrong, f"{len(wrong)}:\n" + "\n".join(wrong))
    finally:
        bed.run("scontrol", "update", "NodeName=kn3", "State=RESUME", check=False)
        stage.end()


# ---- What the panels' numbers leave out


@case
def reasons_as_scontrol():
    """pending jobs by reason are what scontrol shows as their reason, also where squeue
    says more than one word"""
    bed.run("scontrol", "update", "NodeName=native1", "State=DRAIN", "Reason=test")
    job = bed.run("sbatch", "--parsable", "-p", "native", "--wrap", "true", "-D",
                  "/tmp", "-o", "none", user="alice").strip()
    try:
        wait_for("squeue to say more", lambda: "," in bed.run(
            "squeue", "-h", "-j", job, "-o", "%r"))
        wait_for("the same reason", lambda: _reasons() == {
            bed.jobs()[int(job)]["state_reason"]}, 10)
    finally:
        bed.run("scancel", job)
        bed.run("scontrol", "update", "NodeName=native1", "State=RESUME")


def _reasons():
    return {dict(labels)["reason"] for (name, labels), value in
            metrics.samples(metrics.page()).items()
            if name == "slurm_jobs_pending_reason" and value}


@case
def waits_of_released():
    """a job that is held and released while it runs has waited for no more than it did,
    though slurmctld no longer says since when it was eligible"""
    before, last = _waited(), _census()
    wait_for("the agent to have asked just now", lambda: _census() != last)
    bed.create(bed.pod("one"))
    job = bed.wait_job("one", "RUNNING")["job_id"]
    bed.run("scontrol", "hold", str(job))
    time.sleep(1)  # released earlier it keeps that time
    bed.run("scontrol", "release", str(job))
    equal(bed.jobs()[job]["eligible_time"]["number"], 0, "its eligible time")
    wait_for("its start to be counted", lambda: _waited()[0] > before[0])
    waited = _waited()[1] - before[1]
    check(waited < 60, f"a job that started at once has waited {waited:.0f} s")


def _census():
    return metrics.get(metrics.page(), "slurm_census_timestamp_seconds")


def _waited():
    """Starts in the partition, and the sum of their waiting times."""
    text = metrics.page()
    return [metrics.get(text, f"slurm_job_wait_seconds_{what}", partition="kwok",
                        qos="normal") or 0 for what in ("count", "sum")]


@case
def jobs_of_a_moment():
    """a job that starts and ends in the same second counts among those that started"""
    def counts():
        text = metrics.page()
        return sum(value for (name, labels), value in metrics.samples(text).items()
                   if name == "slurm_job_run_seconds_count"
                   and ("partition", "native") in labels)
    before = counts()
    jobs = [bed.run("sbatch", "--parsable", "-p", "native", "--wrap", "true", "-D",
                    "/tmp", "-o", "none", user="alice").strip() for _ in range(10)]
    wait_for("them to end", lambda: all("COMPLETED" in bed.jobs()[int(job)]["job_state"]
                                        for job in jobs))
    short = [job for job in jobs if bed.jobs()[int(job)]["start_time"] ==
             bed.jobs()[int(job)]["end_time"]]
    print(f"# {len(short)} of them in the same second", flush=True)
    try:
        wait_for("all to be counted", lambda: counts() == before + len(jobs), 10)
    except AssertionError as error:
        raise AssertionError(f"{error}: {counts() - before:.0f} of {len(jobs)}, of "
                             f"which {len(short)} ended in the second in which they "
                             "began") from None


# ---- Alerts


@case
def at_rest():
    """no alert fires while nothing is wrong"""
    wait_for("both pages to be scraped", lambda: {
        health for health, _ in live_alerts.server().targets().values()} == {"up"})
    time.sleep(30)
    equal(live_alerts.all_firing(), [], "alerts that fire")


def kubelet(node, alive):
    """kwok plays the kubelet of Nodes with its annotation."""
    fake = {"kwok.x-k8s.io/node": "fake" if alive else None}
    bed.api("PATCH", f"/api/v1/nodes/{node}", {"metadata": {"annotations": fake}},
            "application/merge-patch+json")
    if not alive:
        bed.api("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [
            {"type": "Ready", "status": "False", "reason": "Test"}]}},
            "application/strategic-merge-patch+json")


@case
def node_lost():
    """a Node that is NotReady: SlurmNodeLost"""
    with live_alerts.fires("SlurmNodeLost", lambda: kubelet("kn2", True), node="kn2"):
        kubelet("kn2", False)


@case
def slurmd_killed():
    """a slurmd that is killed: SlurmNodeLost, and SlurmNodesDown"""
    def conf(text):
        return text.replace("SlurmdTimeout=300", "SlurmdTimeout=10")

    with slurmctld.changed_conf(conf, "stop"):
        wait_for("the agent to serve", bed.serves, 60)
        wait_for("numbers", lambda: metrics.get(metrics.page(), "slurm_up") == 1, 60)

        def back():
            bed.ctl("start", "slurmd")
        with live_alerts.fires("SlurmNodeLost", back, 120, node="native1"):
            bed.ctl("kill", "slurmd")
            wait_for("SlurmNodesDown to fire",
                     lambda: live_alerts.firing("SlurmNodesDown"), 120, 0.5)
    wait_for("SlurmNodesDown to clear",
             lambda: not live_alerts.firing("SlurmNodesDown"), 60, 0.5)


@case
def agent_down():
    """an agent that is stopped: SlurmAgentDown, and SlurmNotCounted never since no
    agent answers"""
    with live_alerts.fires("SlurmAgentDown", lambda: bed.ctl("start", "slurmk8sd")):
        bed.ctl("stop", "slurmk8sd")
    equal(live_alerts.firing("SlurmNotCounted"), [], "SlurmNotCounted")


@case
def slurmctld_away():
    """a slurmctld that is killed: SlurmctldAway"""
    with live_alerts.fires("SlurmctldAway", slurmctld.start):
        slurmctld.kill()
    wait_for("the agent to serve", bed.serves, 60)


@case
def queue_stuck():
    """a job that waits for Resources while nodes are idle and not planned for it:
    SlurmQueueStuck; it clears when the job starts"""
    job = []

    def start():
        bed.run("scontrol", "update", "NodeName=kn4", "State=RESUME")
        wait_for("the job to start", lambda: "RUNNING" in
                 bed.jobs()[job[0]]["job_state"], 60)
    bed.run("scontrol", "update", "NodeName=kn4", "State=DRAIN", "Reason=test")
    try:
        with live_alerts.fires("SlurmQueueStuck", start, 90, partition="kwok"):
            job.append(int(bed.run(
                "sbatch", "--parsable", "--external", "-p", "kwok", "-N4", "--time=10",
                user="slurm")))
    finally:
        bed.run("scancel", *map(str, job), check=False)
        bed.run("scontrol", "update", "NodeName=kn4", "State=RESUME", check=False)


@case
def token_expires():
    """a token with ten minutes to live: SlurmTokenExpires; a good one clears it"""
    good = agent_conf.read(agent_conf.TOKEN)

    def bring_back():
        agent_conf.write(agent_conf.TOKEN, good)
    with live_alerts.fires("SlurmTokenExpires", bring_back):
        agent_conf.write(agent_conf.TOKEN, bed.run(
            "kubectl", "create", "token", "slurmk8sd", "-n", "slurm-k8s-bridge",
            "--duration=10m"))


@case
def outside_the_queue():
    """a Pod that names its Node itself: SlurmPodsOutsideQueue"""
    with live_alerts.fires("SlurmPodsOutsideQueue", lambda: bed.delete("outside")):
        bed.create(bed.pod("outside", scheduler="nobody", nodeName="kn2"))


def before():
    bed.clean()
    if "panels" not in sys.argv[1:]:
        live_alerts.begin()


try:
    run(before_each=before, after_failure=bed.last_words)
finally:
    live_alerts.stop()
