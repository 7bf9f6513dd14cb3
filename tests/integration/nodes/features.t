#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""node_features/k8s: a slurmd beside a kubelet reports that and the labels of its
Node, and slurmctld makes features of them that ordinary jobs can ask for, agent
or no agent; the agent's own features come to no harm by it."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import hybrid
import slurmctld
from hybrid import NODE, PARTITION, pod
from tap import case, check, equal, run, wait_for

CONF = "/etc/slurm/k8s.conf"
LABELS_FILE = "/run/slurmk8s-node/labels.json"
ZONE = "topology.kubernetes.io/zone"


def slurm_node(name=NODE):
    listing = bed.json.loads(bed.run("scontrol", "show", "node", name, "--json"))
    return listing["nodes"][0]


def features(field="features"):
    return set(slurm_node()[field])


def label_node(value):
    """Kubernetes' word; and the file that contribs/systemd keeps of it."""
    bed.api("PATCH", f"/api/v1/nodes/{NODE}",
            {"metadata": {"labels": {ZONE: value}}},
            "application/merge-patch+json")
    labels = bed.api("GET", f"/api/v1/nodes/{NODE}")["metadata"]["labels"]
    bed.inside("sh", "-c", f"mkdir -p $(dirname {LABELS_FILE}) && "
               f"cat > {LABELS_FILE}", stdin=bed.json.dumps(labels))


def restart_slurmd():
    bed.ctl("restart", "slurmd-kwok")


def restart_slurmctld():
    bed.ctl("stop", "slurmctld")
    bed.ctl("start", "slurmctld")
    wait_for("slurmctld to answer",
             lambda: "is UP" in bed.run("scontrol", "ping", check=False))


def usable():
    node = slurm_node()
    return not set(node["state"]) & {"DOWN", "DRAIN", "INVALID_REG",
                                     "NOT_RESPONDING", "UNKNOWN"}


def sbatch(constraint, check_rc=True):
    return bed.run("sbatch", "--parsable", "--chdir=/tmp", "--output=none",
                   f"--partition={PARTITION}", f"--constraint={constraint}",
                   "--wrap", "true", user="alice", check=check_rc)


def wait_done(job):
    wait_for("the job to complete", lambda:
             bed.jobs()[job]["job_state"] == ["COMPLETED"])


def runs(constraint):
    wait_done(int(sbatch(constraint)))


@case
def loaded():
    """slurmctld has loaded the plugin, and its slurmds live with it"""
    shown = bed.run("scontrol", "show", "config")
    check(re.search(r"NodeFeaturesPlugins\s*= .*k8s", shown),
          "NodeFeaturesPlugins")
    for name in (NODE, "native1", "real1"):
        wait_for(f"{name} to be up", lambda: not set(slurm_node(name)["state"])
                 & {"DOWN", "INVALID_REG", "UNKNOWN", "NOT_RESPONDING"})
    equal([f for f in slurm_node("native1")["features"] if f.startswith("k8s")],
          [], "features of a node without a kubelet")


@case
def without_agent():
    """with the agent dead and slurmctld begun anew a job gets what it asks for:
    slurmd has reported the kubelet and the zone"""
    bed.ctl("kill", "slurmk8sd")
    label_node("zone-a")
    restart_slurmctld()
    restart_slurmd()
    wait_for("slurmd's word", lambda: {"k8s.kubelet", "k8s.zone.zone-a"} <=
             features() and usable())
    equal(features("active_features"), features(), "active ones")
    check("error" in sbatch("k8s.zone.zone-b", check_rc=False), "another zone")
    # the gate waits for the agent's word on what runs there
    job = int(sbatch("k8s.kubelet&k8s.zone.zone-a"))
    wait_for("the job to be given the node", lambda:
             bed.jobs()[job]["nodes"] == NODE)
    bed.ctl("start", "slurmk8sd")
    wait_done(job)


@case
def a_label_changes():
    """without the agent another label, or none, replaces what slurmd has reported
    before, and the node stays up"""
    bed.ctl("kill", "slurmk8sd")
    restart_slurmctld()  # it begins with slurm.conf's features
    for zone in ("zone-b", None):
        label_node(zone)
        restart_slurmd()
        wanted = {"k8s.kubelet"} | ({f"k8s.zone.{zone}"} if zone else set())
        wait_for(f"the features {wanted}", lambda: {
            f for f in features() if f.startswith("k8s.")} == wanted and usable())
        equal(features("active_features"), features(), "active ones")
    check("INVALID" not in str(slurm_node()["state"]), "its state")


@case
def beside_the_agent():
    """the agent's features stay when slurmd registers, and Pods run"""
    bed.ctl("start", "slurmk8sd")
    wait_for("the agent's feature", lambda: "k8s" in features())
    before = features()
    restart_slurmd()
    wait_for("slurmd to be there again", usable)
    bed.run("scontrol", "reconfigure")
    wait_for("the agent's feature again", lambda: "k8s" in features())
    wait_for("the node to be usable", usable)
    wait_for(f"all of {before}", lambda: before <= features())
    bed.create(pod("beside", 1))
    bed.wait_phase("beside", "Running")
    runs("k8s")


@case
def the_agent_follows():
    """beside a running slurmd another label is another feature at once, and what
    slurmd alone knows stays, over its next registration too"""
    label_node("zone-old")  # which slurmd says until the end
    wait_for("the agent's feature and slurmd's",
             lambda: {"k8s", "k8s.kubelet"} <= features())
    for zone in ("zone-c", "zone-d", None):
        bed.api("PATCH", f"/api/v1/nodes/{NODE}",
                {"metadata": {"labels": {ZONE: zone}}},
                "application/merge-patch+json")
        wanted = {"k8s.kubelet"} | ({f"k8s.zone.{zone}"} if zone else set())
        for when in ("at once", "after slurmd's word"):
            for field in ("features", "active_features"):
                wait_for(f"{wanted} {when}", lambda: {
                    f for f in features(field) if f.startswith("k8s.")} == wanted
                    and usable())
            restart_slurmd()
            wait_for("slurmd to be there again", usable)


@case
def lost_by_an_update():
    """the kubelet's feature comes back when an update removes it, such as one that
    was planned before slurmd registered"""
    bed.run("scontrol", "update", f"NodeName={NODE}", "Features=k8s",
            "ActiveFeatures=k8s")
    for field in ("features", "active_features"):
        wait_for(f"the {field}", lambda: {"k8s", "k8s.kubelet", "k8s-untainted"}
                 <= features(field))


@case
def check_wants_it():
    """slurmk8s check misses the plugin where there are hybrid nodes"""
    def said():
        answer = bed.json.loads(bed.run("slurmk8s", "--json", "check",
                                        check=False))
        return [f["change"] for f in answer["findings"]
                if "node_features/k8s" in f["says"]]
    equal(said(), [], "said while it is loaded")
    with slurmctld.changed_conf(lambda text: re.sub(
            "^NodeFeaturesPlugins=.*\n", "", text, flags=re.M)):
        wait_for("the agent to have its node", lambda: "k8s" in features())
        equal(said(), ["NodeFeaturesPlugins=k8s"], "said without it")
    wait_for("the node to be usable", usable)


@case
def static_cpus():
    """a kubelet that gives containers CPUs of their own is reported, and slurmk8s
    check names its node; one that does not any more is not"""
    state = bed.SANDBOX / "kwok-cpu-manager-state"  # which slurmd finds

    def said():
        answer = bed.json.loads(bed.run("slurmk8s", "--json", "check",
                                        check=False))
        return [f["about"] for f in answer["findings"]
                if f["change"].startswith("cpuManagerPolicy: none")]
    wait_for("the agent to have its node", lambda: "k8s" in features())
    equal(said(), [], "said of a kubelet that does not")
    state.write_text(bed.json.dumps({
        "policyName": "static", "defaultCpuSet": "0-15", "checksum": 1}))
    try:
        restart_slurmd()
        for field in ("features", "active_features"):
            wait_for(f"slurmd's word in {field}",
                     lambda: "k8s.static-cpus" in features(field))
        equal(said(), [f"node {NODE}"], "said of one that does")
        check("k8s" in features(), "the agent's own feature")
    finally:
        state.unlink()
        restart_slurmd()
    wait_for("it to be gone", lambda: "k8s.static-cpus" not in
             features() | features("active_features") and usable())


@case
def on_external_nodes():
    """an external node has the chosen labels as features, and a Pod that asks for
    one gets it there"""
    bed.api("PATCH", "/api/v1/nodes/kn2", {"metadata": {"labels": {ZONE: "far"}}},
            "application/merge-patch+json")
    try:
        wait_for("the zone of kn2", lambda:
                 "k8s.zone.far" in slurm_node("kn2")["features"])
        check("k8s.zone.far" not in slurm_node("kn1")["features"], "kn1 has it")
        asks = bed.pod("far", annotations={"slurmk8s/constraints": "k8s.zone.far"})
        bed.create(asks)
        bed.wait_phase("far", "Running")
        equal(bed.get("far")["spec"]["nodeName"], "kn2", "Node")
    finally:
        bed.api("PATCH", "/api/v1/nodes/kn2",
                {"metadata": {"labels": {ZONE: None}}},
                "application/merge-patch+json")
    wait_for("kn2 to be as it was", lambda:
             "k8s.zone.far" not in slurm_node("kn2")["features"])


with hybrid.hybrid_nodes():
    conf = bed.inside("cat", CONF)
    bed.inside("sh", "-c", f"cat > {CONF}",
               stdin=f"{conf}\nFeatureLabels={ZONE}\n")
    try:
        bed.ctl("start", "slurmk8sd")  # with what was changed
        run(before_each=bed.clean, after_failure=bed.last_words)
    finally:
        bed.clean()
        label_node(None)
        bed.inside("sh", "-c", f"rm -f {LABELS_FILE}; cat > {CONF}", stdin=conf)
        bed.ctl("start", "slurmk8sd")
        restart_slurmd()
