# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of Pods that ask something of Slurm: the jobs that come of them, or the
sentences."""
import atexit
import json

import bed
import slurmctld
from tap import check, equal, wait_for

PREFIXES = ("slurmk8s/", "slurmjob.slinky.slurm.net/", "slinky.slurm.net/")


def with_slurm_conf(text):
    """slurmctld runs with this added to slurm.conf until this program ends."""
    conf = slurmctld.changed_conf(
        lambda before: f"{before}\n{text}\n", how="stop")
    conf.__enter__()
    atexit.register(conf.__exit__)


def asks(name, run="100ms", namespace=bed.NAMESPACE, cpu="1", prefix=PREFIXES[0],
         spec=None, **wishes):
    """A Pod with these wishes, '_' in their names being '-'; partition=None
    leaves it out."""
    annotations = {"sandbox/run": run} if run else {}
    wishes.setdefault("partition", "kwok")
    for wish, value in wishes.items():
        if value is not None:
            annotations[prefix + wish.replace("_", "-")] = value
    body = bed.pod(name, cpu=cpu, annotations=annotations, namespace=namespace,
                   **(spec or {}))
    if bed.PARTITION not in annotations:
        del body["metadata"]["annotations"][bed.PARTITION]
    return bed.create(body)


def plain(value):
    """A number of scontrol's JSON, which may be set or infinite, or the value
    itself."""
    if not isinstance(value, dict) or "set" not in value:
        return value
    if value.get("infinite"):
        return "infinite"
    return value["number"] if value["set"] else None


def shows(job, **fields):
    """scontrol shows the job with these values; a function must say yes."""
    for field, wanted in fields.items():
        got = plain(job[field])
        if callable(wanted):
            check(wanted(got), f"{field} of job {job['job_id']}: {got!r}")
        else:
            equal(got, wanted, f"{field} of job {job['job_id']}")


def sentence(name, *words, namespace=bed.NAMESPACE, seconds=30):
    """Until the Pod's condition says all of these words; it has no job but such
    as slurmctld keeps of what it refused."""
    def said():
        message = bed.condition(name, namespace).get("message", "")
        return all(word in message for word in words) and message
    message = wait_for(f"Pod {name} to say {words}, not "
                       f"{bed.condition(name, namespace).get('message')!r}",
                       said, seconds)
    check(all("FAILED" in bed.state_of(job) for job in bed.jobs_of(name)),
          f"Pod {name} has no job")
    return message


def make_namespace(name, **annotations):
    """With annotations slurmk8s/…, and only those."""
    meta = {"annotations": {"slurmk8s/" + key: value
                            for key, value in annotations.items()}}
    try:
        bed.api("POST", "/api/v1/namespaces",
                {"metadata": {"name": name, **meta}})
    except bed.ApiError as error:
        check(error.status == 409, str(error))
        there = bed.api("GET", f"/api/v1/namespaces/{name}")
        gone = {key: None for key in there["metadata"].get("annotations", {})
                if key.startswith("slurmk8s/")}
        bed.api("PATCH", f"/api/v1/namespaces/{name}",
                {"metadata": {"annotations": {**gone, **meta["annotations"]}}},
                content_type="application/merge-patch+json")
    wait_for("its ServiceAccount", lambda: bed.service_account(name))


def clean_namespaces(*names):
    for name in names:
        try:
            for item in bed.pods(name):
                bed.delete(item["metadata"]["name"], name, grace=1)
        except bed.ApiError as error:
            check(error.status == 404, str(error))
        wait_for(f"the Pods of {name} to be gone",
                 lambda name=name: not bed.pods(name), 60)


def sacctmgr(*words, check=True):
    return bed.run("sacctmgr", "-i", *words, check=check)


def features(node):
    shown = json.loads(bed.run("scontrol", "show", "node", node, "--json"))
    return shown["nodes"][0]["features"]
