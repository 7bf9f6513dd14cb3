# SPDX-License-Identifier: GPL-2.0-or-later
"""One look at both sides: every Pod, Node and ResourceClaim of the API server,
every living job and node of slurmctld. Nothing is judged here."""
import dataclasses
import functools
import json
import re

import bed
from pod_requests import quantity

LIVING = {"PENDING", "RUNNING", "SUSPENDED"}  # base states of a job that lives
TERMINAL = ("Succeeded", "Failed")            # phases of a Pod that does not


@dataclasses.dataclass
class Job:
    id: int
    sluid: str
    states: set    # such as {"RUNNING", "CONFIGURING"}
    uid: str       # of the Pod or the gang, from the admin_comment; "" for none
    name: str      # of the gang, else the job's
    external: bool
    nodes: dict    # name: (CPUs, MiB) that it has been given
    was_suspended: bool = False  # or is
    shadow_of: str = ""  # the node whose room it holds for others' Pods
    tasks: int = 1
    script: str = ""  # of a batch job: the name of its file
    leader: int = 0   # of its heterogeneous job
    node_gres: str = ""  # that it asked for on each node
    partitions: str = ""  # separated by commas, while it waits
    reason: str = ""      # why it waits
    priority: int = 0
    features: str = ""    # that it asks for
    claims: tuple = ()    # users' claims that it counts for other Pods, too

    @property
    def whole(self):
        """The id of the job, or of that of which it is a component."""
        return self.leader or self.id

    @property
    def lives(self):
        return bool(self.states & LIVING)

    @property
    def has_processes(self):
        """Of an ordinary job: they may use its nodes. While it is CONFIGURING
        its prolog is held, and it has none yet."""
        return not self.external and "CONFIGURING" not in self.states and \
            bool(self.states & {"RUNNING", "COMPLETING"})

    def __str__(self):
        return f"job {self.id} ({self.sluid}) of {self.name}"


@dataclasses.dataclass
class SlurmNode:
    name: str
    states: set
    reason: str
    features: set
    cpus: int    # given to jobs
    memory: int  # given to jobs, MiB
    usable_cpus: int
    usable_memory: int
    gres: str = ""  # that it counts, such as "gpu:a100:4"

    @property
    def has_slurmd(self):
        return "EXTERNAL" not in self.states


@dataclasses.dataclass
class World:
    pods: list        # as the API server has them
    nodes: dict       # Node's name: as the API server has it
    jobs: list        # that live, or are COMPLETING
    slurm_nodes: dict
    ended: dict       # SLUID: (state, exit code) of terminal Pods' jobs
    conf: dict        # k8s.conf
    slurm_user: str   # its number
    claims: list = dataclasses.field(default_factory=list)  # ResourceClaims
    slices: list = dataclasses.field(default_factory=list)  # ResourceSlices
    partitions: dict = dataclasses.field(default_factory=dict)  # read_partitions()
    server_since: float = 0  # when this kube-apiserver began; 0: not asked

    @property
    def scheduler_names(self):
        return self.conf.get("SchedulerName", "slurm").split(",")


def is_live(pod):
    """Its containers may use its node."""
    return bool(pod["spec"].get("nodeName")) and not is_over(pod)


def is_over(pod):
    return pod["status"].get("phase") in TERMINAL


def slurm_name(node):
    """Of the Slurm node that stands for the Node."""
    labels = node["metadata"].get("labels", {})
    return labels.get("slinky.slurm.net/slurm-nodename",
                      node["metadata"]["name"])


def read():
    """Pods come first: what is begun while this reads has its job by then."""
    claims, slices = (bed.api("GET", f"/apis/resource.k8s.io/v1/{kind}")["items"]
                      for kind in ("resourceclaims", "resourceslices"))
    pods = bed.api("GET", "/api/v1/pods")["items"]
    nodes = bed.api("GET", "/api/v1/nodes")["items"]
    jobs = read_jobs()
    known = json.loads(bed.run("scontrol", "show", "nodes", "--json"))["nodes"]
    over = [p for p in pods if is_over(p) and
            bed.JOB_LABEL in p["metadata"].get("labels", {})]
    return World(
        pods, {n["metadata"]["name"]: n for n in nodes},
        jobs,
        {n["name"]: SlurmNode(n["name"], set(n["state"]), n["reason"],
                              set(n["features"]), n["alloc_cpus"],
                              n["alloc_memory"], n["effective_cpus"],
                              n["real_memory"] - n["specialized_memory"],
                              n["gres"])
         for n in known},
        accounted(over), k8s_conf(), slurm_user(), claims, slices,
        read_partitions(),
        server_since() if any(map(has_finalizer_alone, claims)) else 0)


def read_jobs():
    """All jobs that live or are COMPLETING."""
    listing = json.loads(bed.run("squeue", "--all", "--json"))
    return [_job(job) for job in listing["jobs"]]


def has_finalizer_alone(claim):
    """A ResourceClaim that nobody uses, without devices."""
    status = claim.get("status", {})
    return not status.get("allocation") and not status.get("reservedFor") and \
        any(name.startswith("resource.kubernetes.io/")
            for name in claim["metadata"].get("finalizers", []))


def server_since():
    """When the process of kube-apiserver began, in seconds since the epoch."""
    metrics = bed.run("kubectl", "get", "--raw", "/metrics")
    return float(re.search(r"^process_start_time_seconds (\S+)$", metrics,
                           re.M)[1])


def read_partitions():
    """{name: what `scontrol show partition` says, and the set "nodes"}"""
    partitions = {}
    for line in bed.run("scontrol", "--oneliner", "show",
                        "partition").splitlines():
        words = dict(word.split("=", 1) for word in line.split()
                     if "=" in word)
        words["nodes"] = _hostnames(words.get("Nodes", ""))
        partitions[words["PartitionName"]] = words
    return partitions


@functools.cache
def _hostnames(hostlist):
    if hostlist in ("", "(null)"):
        return frozenset()
    return frozenset(bed.run("scontrol", "show", "hostnames",
                             hostlist).split())


@functools.cache
def slurm_user():
    shown = bed.run("scontrol", "show", "config")
    return re.search(r"^SlurmUser\s*= \S+\((\d+)\)$", shown, re.M)[1]


def k8s_conf():
    lines = bed.inside("cat", "/etc/slurm/k8s.conf").splitlines()
    pairs = [line.split("=", 1) for line in lines
             if "=" in line and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in pairs}


def _job(job):
    tag = _tag(job["admin_comment"])
    return Job(job["job_id"], job["step_id"]["sluid"], set(job["job_state"]),
               tag.get("uid", ""), tag.get("gang", job["name"]),
               "EXTERNAL_JOB" in job["flags"], _allocation(job),
               bool((job.get("suspend_time") or {}).get("number")),
               tag.get("shadow", ""),
               (job.get("tasks") or {}).get("number") or 1,
               tag.get("sbatch", ""),
               (job.get("het_job_id") or {}).get("number") or 0,
               job.get("tres_per_node") or "",
               job.get("partition") or "", job.get("state_reason") or "",
               (job.get("priority") or {}).get("number") or 0,
               job.get("features") or "", tuple(tag.get("claims", ())))


def _tag(admin_comment):
    """The agent's words in it, or {}."""
    try:
        tag = json.loads(admin_comment)
        return tag if tag.get("slurmk8s") else {}
    except (ValueError, AttributeError):
        return {}


def _allocation(job):
    resources = job.get("job_resources") or {}
    allocated = resources.get("nodes", {}).get("allocation") or []
    return {node["name"]: (node["cpus"]["count"],
                           node["memory"]["allocated"]) for node in allocated}


def accounted(pods):
    """What sacct has of the Pods' jobs, by SLUID: the one that ended last where
    a job was requeued."""
    ids = sorted({p["metadata"]["labels"][bed.JOB_LABEL] for p in pods})
    found = {}
    for start in range(0, len(ids), 500):
        rows = bed.run("sacct", "--noheader", "--parsable2", "--allocations",
                       "--allusers", "--duplicates", "--starttime=1970-01-01",
                       f"--jobs={','.join(ids[start:start + 500])}",
                       "--format=SLUID,State,ExitCode,Comment")
        for row in rows.splitlines():
            sluid, state, code, comment = row.split("|", 3)
            found[sluid] = (state, code, comment)
    return found


def allocatable(node):
    """{resource: Decimal} of a Node."""
    given = node["status"].get("allocatable", {})
    return {name: quantity(amount) for name, amount in given.items()}
