# SPDX-License-Identifier: GPL-2.0-or-later
"""Job arrays that run as Pods: the tasks of one, and what a crash of slurmctld
makes of them."""
import bed
import slurmctld
from batch import NS
from tap import equal, wait_for


def tasks(array):
    """Those that have a job of their own: job by index."""
    found = {}
    for job in bed.jobs().values():
        index = job.get("array_task_id") or {}
        if (job.get("array_job_id") or {}).get("number") == array and \
                index.get("set"):
            found[index["number"]] = job
    return found


def states(array, index):
    return tasks(array).get(index, {}).get("job_state", [])


def wait_state(array, index, state, seconds=30):
    wait_for(f"task {array}_{index} to be {state}",
             lambda: state in states(array, index), seconds)


def wait_running(array, index):
    wait_for(f"task {array}_{index} to run",
             lambda: states(array, index) == ["RUNNING"], 60)


def names_of(kind):
    """The Secrets or Services of batch jobs."""
    return [item["metadata"]["name"] for item in bed.api(
        "GET", f"/api/v1/namespaces/{NS}/{kind}")["items"]
        if item["metadata"]["name"].startswith("job-")]


def forget_starts(array, ended, others, agent_too):
    """slurmctld is killed, and back with the state that was kept before the array
    was released. No task runs twice: that which ended with 5 does so again, and the
    others, whose Pods go on, are cancelled."""
    if agent_too:
        bed.ctl("kill", "slurmk8sd")
    slurmctld.bring_state_back()
    if agent_too:
        bed.ctl("start", "slurmk8sd")
    wait_for("slurmctld to be up", slurmctld.is_up)
    bed.run("scontrol", "release", str(array))

    wait_state(array, ended, "FAILED", 90)
    equal(bed.exit_of(tasks(array)[ended]), "5:0", f"exit code of task {ended}")
    for index in others:
        wait_state(array, index, "CANCELLED", 90)


def adopters():
    """The jobs of Pods that have lost theirs, where nothing else runs."""
    return [job for job in bed.jobs().values()
            if job["job_state"] == ["RUNNING"]]
