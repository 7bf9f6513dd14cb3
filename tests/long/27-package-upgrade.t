#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Upgrade and rollback by packages, with 50 Pods and 20 jobs in every state, in
three orders. Takes the packages that 25-packages.t has left in
$SANDBOX/packages, or makes them, and installs them into the sandbox. The next
release has the same programs under another version: 60-compat.t has programs of
two releases."""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import slurmctld
from tap import case, check, equal, last_case, run, wait_for

PACKAGES = bed.SANDBOX / "packages"
NEXT = "/var/tmp/packages-next"
PLUGINS = ("slurm-k8s-plugins", "slurm-k8s-plugins-slurmd", "slurm-k8s-spank")
AGENT = ("slurmk8sd", "slurmk8s", "slurm-k8s-bridge-common")
REMAKE = f"""
rm -rf {NEXT}
mkdir -p {NEXT}
for package in {PACKAGES}/*.deb; do
    rm -rf /var/tmp/remade
    dpkg-deb -R $package /var/tmp/remade
    sed -i 's/0\\.1\\.0-1/0.1.1-1/g' /var/tmp/remade/DEBIAN/control
    dpkg-deb --root-owner-group -Znone -b /var/tmp/remade {NEXT} > /dev/null
done
rm -rf /var/tmp/remade
"""


def install(directory, names):
    """By dpkg, with the sandbox's k8s.conf kept."""
    paths = " ".join(f"{directory}/{name}_*.deb" for name in names)
    return bed.inside("sh", "-c", "dpkg --force-confold --force-downgrade "
                      f"--install {paths}")


def versions():
    said = bed.inside("dpkg-query", "-W", "-f", "${Version}\\n",
                      *PLUGINS, *AGENT)
    return {line.partition("+")[0] for line in said.split()}


def restart(*daemons):
    for daemon in daemons:
        bed.ctl("restart", daemon)
    wait_for("slurmctld to answer", slurmctld.is_up, 60)
    wait_for("the agent to serve", bed.serves, 60)


def plugins_then_agent(directory):
    install(directory, PLUGINS)
    restart("slurmctld", "slurmd")
    install(directory, AGENT)
    restart("slurmk8sd")


def agent_then_plugins(directory):
    install(directory, AGENT)
    restart("slurmk8sd")
    install(directory, PLUGINS)
    restart("slurmd", "slurmctld")


def both_at_once(directory):
    install(directory, PLUGINS + AGENT)
    restart("slurmctld", "slurmk8sd", "slurmd")


class Work:
    """50 Pods and 20 jobs, and what must become of them."""

    def __init__(self):
        self.running = [f"run-{n}" for n in range(30)]
        self.starting = [f"start-{n}" for n in range(5)]
        self.waiting = [f"wait-{n}" for n in range(5)]
        self.ending = [f"end-{n}" for n in range(10)]
        # More than three of the four nodes have, so that none is ever empty.
        for number, name in enumerate(self.running + self.ending):
            bed.create(bed.pod(name, cpu="2" if number < 15 else "1"))
        for name in self.starting:
            bed.create(bed.pod(name, annotations={"sandbox/start": "never"}))
        for name in self.running + self.ending:
            bed.wait_phase(name, "Running", 60)
        for name in self.waiting:  # for a node that is empty
            bed.create(bed.pod(name, cpu="16"))
        for name in self.starting:
            bed.land(name, 60)
        for name in self.waiting:
            bed.wait_job(name, "PENDING", 60)
        self.jobs = [int(bed.run("sbatch", "--parsable", "-p", "native", "-D",
                                 "/tmp", "-o", "none", "--wrap", "sleep 7200",
                                 user="bob").strip().splitlines()[-1])
                     for _ in range(20)]
        self.of_pod = {name: bed.job_of(name)["job_id"] for name in
                       self.running + self.starting + self.waiting}
        slurmctld.save()

    def goes_on(self):
        """None ended, none doubled, none lost."""
        def settled():
            found = bed.jobs_by_pod()
            return all(found[name] == [["RUNNING"]]
                       for name in self.running + self.starting) and \
                all(found[name] == [["PENDING"]] for name in self.waiting)
        wait_for("each Pod to have one job, as before", settled, 60)
        for name, job in self.of_pod.items():
            equal(bed.job_of(name)["job_id"], job, f"job of {name}")
        for name in self.running:
            check(bed.phase_is(name, "Running"), f"{name} does not run")
        jobs = bed.jobs()
        states = [jobs[job]["job_state"] for job in self.jobs]
        check(all(s in (["RUNNING"], ["PENDING"]) for s in states), states)

    def end_some(self, count):
        names, self.ending = self.ending[:count], self.ending[count:]
        bed.end(*names)
        return names

    def over(self):
        bed.run("scancel", *map(str, self.jobs))


def upgraded(how):
    work = Work()
    ended = work.end_some(2)
    how(NEXT)
    equal(versions(), {"0.1.1-1"}, "versions")
    work.goes_on()
    ended += work.end_some(2)
    how(PACKAGES)
    equal(versions(), {"0.1.0-1"}, "versions")
    work.goes_on()
    ended += work.end_some(6)
    for name in ended:
        bed.wait_ended(name, "COMPLETED", "0:0", 60)
        equal(len(bed.jobs_of(name)), 1, f"jobs of {name}")
    work.over()


@case
def order_of_the_guide():
    """plugins, then the agent; and back"""
    upgraded(plugins_then_agent)


@case
def other_order():
    """the agent, then the plugins; and back"""
    upgraded(agent_then_plugins)


@case
def at_once():
    """everything at once; and back"""
    upgraded(both_at_once)


@last_case
def taken_back():
    """the packages go, and the sandbox has its own build again"""
    said = bed.inside("dpkg", "--purge", *PLUGINS, *AGENT)
    check("slurm.conf names plugins that go now" in said, said)
    bed.run(str(bed.TOP / "contribs/sandbox/up"), timeout=1800)
    restart("slurmctld", "slurmk8sd", "slurmd")


if not list(PACKAGES.glob("*.deb")):
    subprocess.run([str(bed.TOP / "contribs/debian/build")], check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ))
bed.inside("sh", "-ec", REMAKE)
install(PACKAGES, PLUGINS + AGENT)
restart("slurmctld", "slurmk8sd", "slurmd")
run(before_each=bed.clean, after_each=bed.nothing_left,
    after_failure=bed.last_words)
