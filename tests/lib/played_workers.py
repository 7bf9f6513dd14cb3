# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods of a NodeSet that kwok plays, for an agent that serves their namespace. The
test registers their nodes as slurmd would, as external ones with the Pods'
addresses."""
import agent_conf
import bed
import slinky
from tap import wait_for

NAMESPACE = "slurmds"  # the operator's tests have "workers"
PARTITION = "workers"
NODES = ("w-0", "w-1")
REQUEST = "slurmk8s/worker-request"
CORDON = "nodeset.slinky.slurm.net/pod-cordon"
PROTECT = "nodeset.slinky.slurm.net/pod-protect"
DEADLINE = "nodeset.slinky.slurm.net/pod-deadline"
DRAINED = "slurmk8s/Drained"
REGISTERED = "slurmk8s/Registered"
OURS = "slurm-operator: "
NODE_SET = {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet",
            "metadata": {"name": "w", "namespace": NAMESPACE},
            "spec": {"controllerRef": {"name": "outside"},
                     "slurmd": {"image": "slurmd"}}}
SETS = f"/apis/slinky.slurm.net/v1beta1/namespaces/{NAMESPACE}/nodesets"
_set = {}  # of the NodeSet: its uid


def path(name):
    return f"/api/v1/namespaces/{NAMESPACE}/pods/{name}"


def pod(name):
    return bed.get(name, NAMESPACE)


def annotate(name, **annotations):
    bed.api("PATCH", path(name),
            {"metadata": {"annotations": annotations["values"]}},
            "application/merge-patch+json")


def create_pod(name, controller="outside", node="kn1"):
    body = bed.pod(name, cpu=None, memory=None, namespace=NAMESPACE,
                   scheduler="default-scheduler", nodeName=node,
                   hostname=name, restartPolicy="Always",
                   tolerations=[{"operator": "Exists"}])
    body["metadata"]["labels"] = {"slinky.slurm.net/cluster": controller}
    body["metadata"]["ownerReferences"] = [
        {"apiVersion": NODE_SET["apiVersion"], "kind": "NodeSet", "name": "w",
         "uid": _set["uid"], "controller": True}]
    bed.create(body)


def make_pod(name, controller="outside"):
    """Its address, once it has one."""
    create_pod(name, controller)
    return wait_for(f"{name} to have an address", lambda:
                    pod(name)["status"].get("podIP"))


def register(name, address):
    """As slurmd does when it starts."""
    if f"NodeName={name} " in bed.run("scontrol", "-o", "show", "node", name,
                                      check=False):
        bed.run("scontrol", "update", f"NodeName={name}", f"NodeAddr={address}",
                user="slurm")
    else:
        bed.run("scontrol", "create", f"NodeName={name}", f"NodeAddr={address}",
                "CPUs=4", "RealMemory=1000", "Feature=w", "State=EXTERNAL",
                user="slurm")


def condition(name, kind):
    for one in pod(name)["status"].get("conditions", []):
        if one["type"] == kind:
            return {"reason": "", "message": "", **one}
    return {"status": "", "reason": "", "message": ""}


def wait_condition(name, kind, status, reason=None, seconds=10):
    wait_for(f"{kind} of {name} to be {status} {reason or ''}", lambda:
             condition(name, kind)["status"] == status and
             reason in (None, condition(name, kind)["reason"]), seconds)


def job(name, *words):
    made = bed.run("sbatch", "--parsable", "--external", "--ntasks=1",
                   f"--partition={PARTITION}", f"--nodelist={name}",
                   "--time=60", *words, user="slurm")
    number = int(made.strip().splitlines()[-1])
    wait_for(f"job {number} to run", lambda:
             "RUNNING" in bed.jobs()[number]["job_state"])
    return number


def request(name, verb, number):
    annotate(name, values={REQUEST: f"{verb} {number}"})


def answer_is(name, number):
    words = condition(name, DRAINED)
    return words["status"] == "True" and \
        f"uid={pod(name)['metadata']['uid']} request={number} " in \
        words["message"]


def begin():
    """The agent serves the namespace until this program ends."""
    slinky.define()
    slinky.namespace(NAMESPACE)
    bed.run("kubectl", "delete", "nodeset", "w", "-n", NAMESPACE,
            "--ignore-not-found")
    made = bed.api("POST", SETS, NODE_SET)
    agent_conf.edit(lambda text: f"{text}\nWorkerNamespace={NAMESPACE}\n"
                    "WorkerController=outside\n", at_end=forget_all)
    _set["uid"] = made["metadata"]["uid"]


def make_partition():
    """slurmctld forgets it when it is restarted."""
    bed.run("scontrol", "create", f"PartitionName={PARTITION}",
            f"Nodes={','.join(NODES)}", "State=UP", user="slurm")


def forget_all():
    slinky.delete_namespace(NAMESPACE)
    bed.run("scontrol", "delete", f"PartitionName={PARTITION}", user="slurm",
            check=False)
    for name in NODES:
        bed.run("scontrol", "delete", f"NodeName={name}", user="slurm",
                check=False)
