# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests do to the sandbox's slurmctld: crashes, older states, other
configurations."""
import contextlib
import json

import bed
from tap import check, equal, wait_for

CONF = "/etc/slurm/slurm.conf"
STATE = "/var/spool/slurmctld"
KEPT = "/var/spool/slurmctld.kept"


def is_up():
    return "UP" in bed.run("scontrol", "ping", check=False)


def kill():
    bed.ctl("kill", "slurmctld")


def start():
    bed.ctl("start", "slurmctld")


def restart():
    """As after a crash: what was not saved is lost."""
    kill()
    start()


def save():
    """slurmctld saves jobs some seconds after a change, and before it replaces
    itself: until this returns it has."""
    bed.run("scontrol", "reconfigure")
    wait_for("slurmctld to be back", is_up)


def copy_state(to):
    """Copies the state while slurmctld runs. It replaces its files by renaming
    new ones, so that one may be gone between its listing and its copy: then the
    whole copy is made again. Each file is whole, as after a crash."""
    bed.inside("sh", "-c", f"for try in 1 2 3 4 5 6 7 8 9 10; do "
               f"rm -rf {to}; cp -a {STATE} {to} && exit; done; exit 1")


def keep_state():
    """Puts the state as it is now aside."""
    save()
    copy_state(KEPT)


def bring_state_back():
    """slurmctld is killed, and starts from the state that was put aside."""
    kill()
    bed.inside("sh", "-c", f"rm -rf {STATE} && cp -a {KEPT} {STATE}")
    start()


class changed_conf:
    """slurm.conf edited by edit(text), and slurmctld started with it; as it was
    after the block. how it ends before that: "kill", which forgets what was done
    in the last seconds, by the script before, too, or "stop", in good order."""

    def __init__(self, edit, how="kill"):
        self.edit, self.how = edit, how

    def __enter__(self):
        self.saved = bed.inside("cat", CONF)
        other = self.edit(self.saved)
        check(other != self.saved, "the edit changes nothing")
        self._start_with(other)

    def __exit__(self, *_):
        self._start_with(self.saved)

    def _start_with(self, text):
        bed.ctl(self.how, "slurmctld")
        bed.inside("sh", "-c", f"cat > {CONF}", stdin=text)
        start()


def waiting_pods(*names):
    """Pods whose jobs are held in Slurm; the ids of these."""
    bed.run("scontrol", "update", "PartitionName=kwok", "State=DOWN")
    try:
        for name in names:
            bed.create(bed.pod(name))
        ids = [bed.wait_job(name, "PENDING", 60)["job_id"] for name in names]
        bed.run("scontrol", "hold", ",".join(map(str, ids)))
    finally:
        bed.run("scontrol", "update", "PartitionName=kwok", "State=UP")
    return ids


def release(*ids):
    bed.run("scontrol", "release", ",".join(map(str, ids)))


def nodes():
    """The agent's nodes that slurmctld knows and may use, by name."""
    return set(bed.run("sinfo", "-h", "-p", "kwok", "-t", "idle,mix,alloc",
                       "-N", "-o", "%N").split())


def nodes_of(job):
    """Their names, of a job as bed.jobs() shows it."""
    return bed.run("scontrol", "show", "hostnames", job["nodes"]).split()


@contextlib.contextmanager
def node_down(name, reason="test"):
    """An administrator has set the node DOWN, until the block ends."""
    bed.run("scontrol", "update", f"NodeName={name}", "State=DOWN",
            f"Reason={reason}")
    try:
        yield
    finally:
        bed.run("scontrol", "update", f"NodeName={name}", "State=RESUME")


def in_order(names):
    """These nodes as jobs have them: in the order in which slurmctld knows them,
    which is not always that of their names."""
    shown = json.loads(bed.run("scontrol", "show", "nodes", "--json"))
    return [n["name"] for n in shown["nodes"] if n["name"] in names]


def living_jobs_of(name):
    over = {"CANCELLED", "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL",
            "PREEMPTED", "DEADLINE", "OUT_OF_MEMORY", "BOOT_FAIL"}
    return [job for job in bed.jobs_of(name) if not over & set(bed.state_of(job))]


class Running:
    """A Pod that runs now, and must go on whatever becomes of its job."""

    def __init__(self, name):
        self.name = name
        self.pod = bed.wait_phase(name, "Running")
        self.job = bed.wait_job(name, "RUNNING")
        self.sluid = self.pod["metadata"]["annotations"][bed.SLUID_ANNOTATION]

    def lives(self):
        now = bed.get(self.name)
        check(now, f"Pod {self.name} is gone")
        meta = now["metadata"]
        equal(meta["uid"], self.pod["metadata"]["uid"], f"Pod {self.name}")
        check("deletionTimestamp" not in meta, f"Pod {self.name} is deleted")
        check("activeDeadlineSeconds" not in now["spec"],
              f"Pod {self.name} is being ended")
        equal(now["status"]["phase"], "Running", f"phase of {self.name}")
        return now

    def keeps_its_job(self):
        self.lives()
        (job,) = living_jobs_of(self.name)
        equal(job["job_id"], self.job["job_id"], f"job of {self.name}")
        check("RUNNING" in bed.state_of(job), f"{self.name}: {job['job_state']}")

    def is_adopted(self, seconds=60):
        """By one new job on the Pod's own node, and the Pod says so."""
        job = wait_for(f"Pod {self.name} to be adopted", self._adopter, seconds)
        self.lives()
        equal(job["nodes"], self.pod["spec"]["nodeName"], "node of the new job")
        check(not bed.get(self.name)["metadata"].get("finalizers"), "finalizer")
        return job

    def _adopter(self):
        meta = self.lives()["metadata"]
        jobs = living_jobs_of(self.name)
        if len(jobs) != 1 or "RUNNING" not in bed.state_of(jobs[0]):
            return None
        sluid = jobs[0]["step_id"]["sluid"]
        stamped = (meta["annotations"][bed.SLUID_ANNOTATION] == sluid and
                   meta["labels"][bed.JOB_LABEL] == str(jobs[0]["job_id"]))
        return jobs[0] if stamped and sluid != self.sluid else None
