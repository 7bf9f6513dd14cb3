#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmk8s setup and uninstall on the real parts: back to nothing, from nothing
to a bound Pod, again without a change, and a dry run that changes nothing. The
cases build on each other; the last one makes the sandbox as it was before."""
import atexit
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import bed
import slurmctld
from agent_conf import CONF, write
from tap import case, check, equal, run, wait_for

CA = "/etc/slurm/k8s/ca.crt"
TOKEN = "/var/lib/slurmk8s/token"
STATE = "/var/lib/slurmk8s"  # in which the agent writes
INCLUDE = "/etc/slurm/slurm-k8s-bridge.conf"
FILES = [CONF, CA, TOKEN, agent_conf.TOKEN, INCLUDE, "/etc/slurm/slurm.conf",
         "/etc/slurm/k8s"]
KUBECONFIG = str(bed.SANDBOX / "admin.conf")
MANIFESTS = str(admission.KUBERNETES)
OURS = ("slinky.slurm.net/", "slurmk8s/")
MARKS = ("slurmk8s/tainted", "slurmk8s/cordoned", "slurmk8s/uncordoned",
         "slurmk8s/maintenance")
TAINT = "slinky.slurm.net/managed-node"


def slurmk8s(*words, user=None, kubeconfig=KUBECONFIG):
    """Its exit status and what it prints."""
    done = subprocess.run(
        [str(bed.TOP / "contribs/sandbox/exec"), "slurmk8s", words[0],
         f"--kubeconfig={kubeconfig}", f"--manifests={MANIFESTS}", *words[1:]],
        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=500,
        env={**bed.os.environ, **({"SANDBOX_USER": user} if user else {})})
    print("".join(f"# {line}\n" for line in done.stdout.splitlines()), end="",
          flush=True)
    return done.returncode, done.stdout


def says(status, words, *arguments, **options):
    got, said = slurmk8s(*arguments, **options)
    check(words in said, f"{words!r} in {said}")
    equal(got, status, f"exit status of {said}")
    return said


def ours(texts):
    return {key: value for key, value in (texts or {}).items()
            if any(mark in key for mark in OURS)}


def opted():
    """What Nodes and Namespaces have of ours."""
    found = {}
    for kind in ("nodes", "namespaces"):
        for item in bed.api("GET", f"/api/v1/{kind}")["items"]:
            meta = item["metadata"]
            found[kind, meta["name"]] = (
                ours(meta.get("labels")), ours(meta.get("annotations")),
                [t for t in item["spec"].get("taints", [])
                 if t["key"] == TAINT])
    return {name: what for name, what in found.items() if any(what)}


def manifests():
    """The versions of all objects of the manifests that are there."""
    text = bed.run("kubectl", "get", "-k", f"{MANIFESTS}/{admission.MANIFESTS}",
                   "--ignore-not-found", "-o", "json")
    items = json.loads(text)["items"] if text.strip() else []
    memory = bed.run("kubectl", "get", "configmap", "slurmk8s-setup",
                     "--namespace=slurm-k8s-bridge", "--ignore-not-found", "-o",
                     "json")
    items += [json.loads(memory)] if memory.strip() else []
    return {(item["kind"], item["metadata"]["name"]):
            item["metadata"]["resourceVersion"] for item in items}


def files():
    """Owner, mode, time of the last change and contents."""
    return bed.inside("sh", "-c", f"""
        for file in {' '.join(FILES)}; do
            stat -c '%n %U %G %a %Y' "$file" 2> /dev/null
            test -f "$file" && sha256sum "$file"
        done
        stat -c '%n %U %G %a' {STATE} 2> /dev/null; true""")


def everything():
    return opted(), manifests(), files()


def nodes_in_slurm():
    shown = json.loads(bed.run("scontrol", "show", "nodes", "--json"))["nodes"]
    return sorted(node["name"] for node in shown
                  if "k8s" in node["features"])


def kube_nodes():
    return [name for kind, name in saved["opted"] if kind == "nodes"]


def agent(verb):
    bed.ctl(verb, "slurmk8sd")


def states(said):
    """The first words of the lines of setup, without those of check."""
    lines = said.splitlines()
    return {line.split(":")[0] for line in lines
            if line.split(":")[0] in ("already", "done", "would do", "left",
                                      "to do", "slurmk8s")}


@case
def needs_root():
    """it must be root, and uninstall must be told"""
    says(1, "must be run as root", "setup", user="alice")
    says(1, "must be run as root", "uninstall", "--yes", user="alice")
    says(2, "--yes", "uninstall")
    says(2, "slurmk8s setup --help", "setup", "--no-such-option")
    says(0, "--node-selector", "setup", "--help")
    equal(everything()[0], saved["opted"], "Nodes and Namespaces")


@case
def refuses_with_pods():
    """uninstall refuses while a Pod of Slurm lives"""
    bed.create(bed.pod("lives"))
    bed.wait_phase("lives", "Running")
    before = everything()
    says(1, "1 Pods of Slurm live (test/lives)", "uninstall", "--yes")
    equal(everything(), before, "everything")
    bed.clean()


@case
def dry_uninstall():
    """a dry run of uninstall changes nothing, and says what it would do"""
    before = everything()
    said = says(0, "would do:", "uninstall", "--dry-run")
    equal(everything(), before, "everything")
    for words in ("Node kn1: is given to Slurm no more", "objects are deleted",
                  f"{CONF}: is deleted", "left:"):
        check(words in said, f"{words!r} in {said}")
    check("done:" not in said, said)


@case
def uninstall():
    """uninstall takes the Nodes out of Slurm while the agent runs, although an
    ordinary job waits, and all the rest once it is stopped; again it has nothing
    to do"""
    waits = bed.run("sbatch", "--parsable", "--hold", "--chdir=/tmp",
                    "--partition=native", "--wrap=true", user="alice").strip()
    try:
        says(1, "it still runs: stop it", "uninstall", "--yes")
        equal(nodes_in_slurm(), [], "nodes for Pods in Slurm")
    finally:
        bed.run("scancel", waits)
    agent("stop")
    said = says(0, "objects are deleted", "uninstall", "--yes")
    check("would do:" not in said, said)
    equal(opted(), {}, "what Nodes and Namespaces have of ours")
    equal(manifests(), {}, "manifests")
    check("slurm-k8s-bridge" not in bed.run("kubectl", "get", "namespaces"),
          "the namespace")
    for file in (CONF, agent_conf.TOKEN, CA, "/etc/slurm/k8s", STATE):
        check(file + " " not in files(), f"{file} in {files()}")
    for words in ("JobSubmitPlugins: k8s", "k8s_gate"):
        check(words in said, f"{words!r} in {said}")
    again = says(0, "already:", "uninstall", "--yes")
    equal(states(again), {"already", "left"}, "the second run")


@case
def dry_setup():
    """a dry run of setup changes nothing, also where there is nothing"""
    before = everything()
    said = says(0, "would do:", "setup", "--dry-run", "--nodes=kn1",
                "--namespace=default=alice")
    equal(everything(), before, "everything")
    check("done:" not in said, said)
    for words in ("objects", CA, TOKEN, "KubeApiServer=https://", "Node kn1",
                  "Namespace default", "slurmk8s check"):
        check(words in said, f"{words!r} in {said}")


@case
def setup():
    """from nothing to a bound Pod, with what k8s.conf has kept"""
    bed.inside("sh", "-c", f"umask 022; cat > {CONF}",
               stdin=f"# ours\nWebAddress={saved['web']}  # a port of ours\n"
               "DefaultUser=alice\nPartition=kwok\nResizeDelay=0\n")
    admission.namespace(bed.NAMESPACE)
    status, said = slurmk8s("setup", "--nodes=" + ",".join(kube_nodes()),
                            f"--namespace={bed.NAMESPACE}=alice:physics")
    equal(status, 0, f"exit status of {said}")
    check("to do:    systemctl enable --now slurmk8sd" in said, said)
    conf = bed.inside("cat", CONF)
    check(conf.startswith("# ours\nWebAddress=" + saved["web"] +
                          "  # a port of ours\nDefaultUser=alice\n"
                          "Partition=kwok\nResizeDelay=0\nKubeApiServer=")
          and f"KubeTokenFile={TOKEN}\n" in conf, conf)
    owners = bed.inside("stat", "-c", "%n %U %a", TOKEN, STATE, CA,
                        CONF).split("\n")
    equal(owners[:4], [f"{TOKEN} slurm 400", f"{STATE} slurm 700",
                       f"{CA} root 644", f"{CONF} root 644"], "files")
    for (kind, name), (labels, annotations, taints) in opted().items():
        if kind == "nodes":
            equal(labels, {"scheduler.slinky.slurm.net/external-node": "true"},
                  name)
            equal([(t["key"], t["effect"]) for t in taints],
                  [(TAINT, "NoSchedule")], name)
        else:
            equal((name, annotations),
                  (bed.NAMESPACE, {"slurmk8s/user": "alice",
                                   "slurmk8s/account": "physics"}), name)

    give_partitions()  # which setup does not know of
    agent("start")
    wait_for("all nodes in Slurm", lambda: nodes_in_slurm() == kube_nodes(), 60)
    bed.create(bed.pod("first", annotations={"sandbox/run": "100ms"}))
    job = bed.wait_ended("first", "COMPLETED", "0:0")
    equal((job["user_name"], job["account"]), ("alice", "physics"), "whose job")
    bed.clean()


def give_partitions():
    for (kind, name), (_, annotations, _) in saved["opted"].items():
        if kind == "nodes":
            bed.api("PATCH", f"/api/v1/nodes/{name}", {"metadata": {
                "annotations": {key: value for key, value in annotations.items()
                                if key not in MARKS}}}, admission.MERGE)


@case
def again():
    """the second run changes nothing, and says so everywhere"""
    before = everything()
    status, said = slurmk8s("setup", "--nodes=" + ",".join(kube_nodes()),
                            f"--namespace={bed.NAMESPACE}=alice:physics")
    equal(everything(), before, "everything")
    equal((status, states(said)), (0, {"already"}), "status and words")
    by_label = says(0, "already:  Node kn1", "setup",
                    "--node-selector=type=kwok")
    equal(states(by_label), {"already"}, "by label")
    equal(everything(), before, "everything")


@case
def repairs():
    """what was spoilt since is put right, and nothing else is touched"""
    ca = bed.inside("stat", "-c", "%Y %i", CA)
    for spoil, words in (
            (f"chmod 644 {TOKEN}", TOKEN),
            (f"echo no-token > {TOKEN}", TOKEN),
            (f"rm {TOKEN}", TOKEN),
            (f"sed -i s/^KubeCaFile/#KubeCaFile/ {CONF}", CONF),
            (f"sed -i 's|^KubeApiServer=.*|KubeApiServer=https://192.0.2.10:6443"
             f"|' {CONF}", CONF)):
        bed.inside("sh", "-c", spoil)
        said = says(0, f"done:     {words}: ", "setup")
        equal(said.count("done:"), 1, f"changes after {spoil}")
        equal(bed.inside("stat", "-c", "%U %a", TOKEN).strip(), "slurm 400",
              "the token")
    equal(bed.inside("stat", "-c", "%Y %i", CA), ca, "the authority's file")


@case
def components():
    """components that are chosen no more are deleted, and come back; what was
    chosen is remembered"""
    has = lambda: ("ClusterRole", "slurmk8sd-volumes") in manifests()
    check(has(), "the component is there")
    # Whether check finds errors without the others is its business.
    _, said = slurmk8s("setup", "--components=nodes-patch")
    check("deletes what they no longer have" in said, said)
    check("ClusterRole slurmk8sd-volumes" in said, said)
    check(not has(), "the component is gone")
    check(("ClusterRole", "slurmk8sd-nodes-patch") in manifests(), "the other")
    _, said = slurmk8s("setup")
    check("already:  manifests (nodes-patch)" in said, said)
    says(1, 'there is no component "volume"', "setup", "--components=volume")
    says(0, "done:     manifests (all)", "setup", "--components=all")
    check(has(), "the component is back")


@case
def lines_of_slurm_conf():
    """what slurm.conf lacks is one block to paste, or a file to include"""
    gone = ("JobSubmitPlugins", "MinJobAge", "SchedulerParameters",
            "EnforcePartLimits")

    def edit(text):
        lines = [line for line in text.splitlines()
                 if line.split("=")[0] not in gone]
        return "\n".join(lines + ["MinJobAge=60",
                                  "SchedulerParameters=bf_interval=30"]) + "\n"
    lines = ("JobSubmitPlugins=k8s", "MinJobAge=300", "EnforcePartLimits=ALL",
             "SchedulerParameters=batch_sched_delay=0,bf_interval=5,"
             "default_queue_depth=1000,partition_job_depth=200")
    with slurmctld.changed_conf(edit):
        before = files()
        said = says(1, "restart slurmctld", "setup")
        for line in lines:
            equal(said.count(f"    {line}\n"), 1, line)
        equal(files(), before, "files")
        try:
            said = says(1, f"include {INCLUDE}", "setup", "--write-slurm-conf")
            text = bed.inside("cat", INCLUDE)
            for line in (lines[0], lines[2]):  # keys that slurm.conf has not
                check(line + "\n" in text, f"{line} in {text}")
                check(f"    {line}\n" not in said, said)
            for line in (lines[1], lines[3]):
                check(line not in text, f"{line} in {text}")
                check(f"    {line}\n" in said, said)
        finally:
            bed.inside("rm", "-f", INCLUDE)


@case
def away():
    """without slurmctld, without the API server, without rights: a sentence, and
    nothing is changed"""
    before = everything()
    bed.ctl("stop", "slurmctld")
    try:
        says(1, "slurmctld does not answer", "setup")
    finally:
        bed.ctl("start", "slurmctld")
    says(1, "no kubeconfig of an administrator", "setup",
         kubeconfig="/nonexistent")
    config = json.loads(bed.run("kubectl", "config", "view", "--raw",
                                "--minify", "--flatten", "-o", "json"))
    other = str(bed.SANDBOX / "other.conf")

    def with_conf(words):
        pathlib.Path(other).write_text(json.dumps(config))
        says(1, words, "setup", kubeconfig=other)
    try:
        config["users"][0]["user"] = {
            "token": admission.token("default", "default")}
        with_conf("use that of an administrator")
        config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
        with_conf("the API server does not answer")
    finally:
        pathlib.Path(other).unlink(missing_ok=True)
    says(1, "there is no Node nowhere", "setup", "--nodes=kn1,nowhere")
    says(1, "there is no Namespace nowhere", "setup", "--namespace=nowhere=bob")
    equal(everything(), before, "everything")


def restore():
    """Everything of ours as it was, with a new token: the ServiceAccount is
    another one now."""
    if not saved:
        return
    admission.apply()
    bed.run("kubectl", "delete", "configmap", "slurmk8s-setup",
            "--namespace=slurm-k8s-bridge", "--ignore-not-found")
    for (kind, name), now in opted().items():
        then = saved["opted"].get((kind, name), ({}, {}, []))
        patch = {}
        for field, old, new in (("labels", then[0], now[0]),
                                ("annotations", then[1], now[1])):
            patch[field] = {key: None for key in new
                            if key not in old and key not in MARKS}
        bed.api("PATCH", f"/api/v1/{kind}/{name}", {"metadata": patch},
                admission.MERGE)
        if kind == "nodes":  # the agent sets its own, with its mark
            bed.run("kubectl", "taint", "node", name, f"{TAINT}-", check=False)
    for (kind, name), (labels, annotations, _) in saved["opted"].items():
        if kind == "namespaces" and name in ("slurm-jobs", "slurm-k8s-bridge"):
            continue
        bed.api("PATCH", f"/api/v1/{kind}/{name}", {"metadata": {
            "labels": labels,
            "annotations": {key: value for key, value in annotations.items()
                            if key not in MARKS}}}, admission.MERGE)
    bed.inside("sh", "-c", "install -d -m 750 -o root -g slurm /etc/slurm/k8s; "
               f"rm -rf {STATE} {INCLUDE}")
    token = bed.run("kubectl", "create", "token", "slurmk8sd",
                    "--namespace=slurm-k8s-bridge", "--duration=8760h")
    for path, text, owner, mode in ((CA, saved["ca"], "root", "644"),
                                    (agent_conf.TOKEN, token, "slurm", "600"),
                                    (CONF, saved["conf"], "root", "644")):
        bed.inside("sh", "-c", f"umask 077; cat > {path}; chmod {mode} {path}; "
                   f"chown {owner}:{owner} {path}", stdin=text)
    saved.clear()
    agent("start")


@case
def as_before():
    """the sandbox is as before"""
    wanted = saved["opted"]
    restore()
    wait_for("the agent to serve", bed.serves, 60)
    nodes = [name for kind, name in wanted if kind == "nodes"]
    wait_for("all nodes in Slurm", lambda: nodes_in_slurm() == nodes, 60)
    strip = lambda found: {name: (what[0], {k: v for k, v in what[1].items()
                                            if k != "slurmk8s/maintenance"})
                           for name, what in found.items()}
    wait_for("Nodes and Namespaces to be as before",
             lambda: strip(opted()) == strip(wanted), 60)
    bed.clean()
    bed.create(bed.pod("works", annotations={"sandbox/run": "100ms"}))
    bed.wait_ended("works", "COMPLETED", "0:0")
    bed.clean()


admission.apply()
agent("start")
bed.clean()
saved = {"opted": opted(), "conf": bed.inside("cat", CONF),
         "ca": bed.inside("cat", CA), "web": bed.web_address()}
atexit.register(restore)
# Nodes go at once, not after a minute.
write(CONF, saved["conf"] + "ResizeDelay=0\n")
agent_conf.hup()
run(after_failure=bed.last_words)
