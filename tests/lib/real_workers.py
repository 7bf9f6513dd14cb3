# SPDX-License-Identifier: GPL-2.0-or-later
"""Workers of a NodeSet w on the two real kubelets of a sandbox of `up --operator`,
for the slurmctld of the sandbox, which stays on its host. Nothing is played."""
import agent_conf
import bed
import operator_process
import slinky
import slurmctld
import slurmd_pods
from slurmd_pods import PARTITION
from tap import equal, wait_for

NAMESPACE = "workers"
SETS = f"{slinky.API}/namespaces/{NAMESPACE}/nodesets"
MERGE = "application/merge-patch+json"
PROTECT = "nodeset.slinky.slurm.net/pod-protect"
REQUEST = "slurmk8s/worker-request"
SLURMD = "registry.example.com/slurm/slurmd:26.05"
MANIFEST = f"kind: NodeSet\nspec:\n  slurmd:\n    image: {SLURMD}\n"


def begin():
    """The operator, and a partition for its workers. The agent serves their
    namespace until this program ends."""
    operator_process.install()
    bed.run(str(bed.TOP / "contribs/sandbox/ctl"), "name-images", stdin=MANIFEST)
    slinky.namespace(NAMESPACE)
    bed.inside("sh", "-c", f"cat > {slurmctld.CONF}",
               stdin=slurmd_pods.with_workers(bed.inside("cat", slurmctld.CONF)))
    slurmctld.restart()
    agent_conf.edit(lambda text: text + f"\nWorkerNamespace={NAMESPACE}\n")
    _make_controller()
    return operator_process.Operator().start().leads()


def _make_controller():
    slurmd_pods.make_key(NAMESPACE)
    where = {"host": slurmd_pods.slurmctld_address(),
             "port": slurmd_pods.slurmctld_port()}
    bed.api("POST", f"{slinky.API}/namespaces/{NAMESPACE}/controllers", {
        "apiVersion": f"{slinky.GROUP}/v1beta1", "kind": "Controller",
        "metadata": {"name": "slurm"}, "spec": {
            "external": True, "externalConfig": where,
            "slurmKeyRef": {"name": slurmd_pods.KEY, "key": "slurm.key"}}})


def make_set(**more):
    bed.api("POST", SETS, {
        "apiVersion": f"{slinky.GROUP}/v1beta1", "kind": "NodeSet",
        "metadata": {"name": "w"}, "spec": {
            "controllerRef": {"name": "slurm"}, "replicas": 2, "slurmd": {
                "image": SLURMD, "imagePullPolicy": "IfNotPresent",
                "resources": {"requests": {"cpu": "500m", "memory": "200Mi"}}},
            **more}})


def annotate(**annotations):
    """Those of slurmk8s, on the NodeSet; None removes one."""
    bed.api("PATCH", f"{SETS}/w", {"metadata": {"annotations": {
        f"slurmk8s/{name.replace('_', '-')}": value
        for name, value in annotations.items()}}}, MERGE)


def replicas():
    return bed.api("GET", f"{SETS}/w")["spec"]["replicas"]


def scale(replicas):
    bed.api("PATCH", f"{SETS}/w/scale", {"spec": {"replicas": replicas}}, MERGE)


def new_template(mark):
    """Another one, of the same image."""
    bed.api("PATCH", f"{SETS}/w", {"spec": {"template": {"metadata": {
        "annotations": {"example.com/mark": mark}}}}}, MERGE)


def is_updated():
    found = bed.api("GET", f"{SETS}/w").get("status", {}).get("conditions", [])
    return any(c["type"] == "Updated" and c["status"] == "True" for c in found)


def delete_set():
    bed.api("DELETE", f"{SETS}/w", {"propagationPolicy": "Background"})


def pods():
    return {pod["metadata"]["name"]: pod for pod in bed.pods(NAMESPACE)
            if pod["metadata"].get("ownerReferences")}


def uids():
    return {name: pod["metadata"]["uid"] for name, pod in pods().items()
            if "deletionTimestamp" not in pod["metadata"]}


def asked():
    """The names of those that are asked to drain."""
    return sorted(name for name, pod in pods().items()
                  if pod["metadata"].get("annotations", {}).get(
                      REQUEST, "").startswith("drain"))


def is_true(pod, kind):
    return any(one["type"] == kind and one["status"] == "True"
               for one in pod["status"].get("conditions", []))


def registered():
    return sorted(name for name, pod in pods().items()
                  if is_true(pod, "slurmk8s/Registered"))


def wait_registered(*names):
    wait_for(f"{', '.join(names)} to be registered",
             lambda: registered() == sorted(names), 90)


def answers_probes(pod):
    """Its kubelet has reached slurmd, and has not restarted it."""
    (status,) = pod["status"]["containerStatuses"]
    equal(status["restartCount"], 0, f"restarts of {pod['metadata']['name']}")
    return status["started"] and status["ready"]


def host_of(name):
    return pods()[name]["spec"]["hostname"]


def node(name):
    """The Slurm node; None if there is none."""
    found = bed.json.loads(bed.run("scontrol", "show", "node", name, "--json"))
    return next(iter(found["nodes"]), None)


def wait_idle(name):
    wait_for(f"{name} to be idle", lambda: node(name)["state"][:1] == ["IDLE"] and
             not set(node(name)["state"]) & {"DRAIN", "NOT_RESPONDING",
                                             "COMPLETING"}, 60)


def sbatch(script, *words):
    made = bed.run("sbatch", "--parsable", "-D", "/tmp", "-o", "none", "-p",
                   PARTITION, "-n1", "-t", "30", *words, "--wrap", script,
                   user="alice")
    return int(made.strip().splitlines()[-1])


def state_of(job):
    return bed.jobs()[job]["job_state"]


def wait_runs(job, seconds=60):
    wait_for(f"job {job} to run", lambda: state_of(job) == ["RUNNING"], seconds)


def end(operator):
    """Takes all away; returns the operator's exit status."""
    status = operator.stop()
    slinky.delete_namespace(NAMESPACE)
    operator_process.uninstall()
    return status


def last_words(operator):
    said = [operator.log.read_text()[-2000:] if operator else "",
            bed.log("slurmk8sd")]
    for name in pods():
        log = bed.run("kubectl", "logs", "-n", NAMESPACE, name, "-c", "slurmd",
                      "--tail=30", check=False)
        said.append(f"== {name}\n{log}")
    return "\n".join([*said, bed.last_words()])
