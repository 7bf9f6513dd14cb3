#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmk8s check: finds what is spoilt, says which line to change, and has an
exit status for scripts; it works without the agent, slurmctld or the API
server, and for whoever runs it."""
import contextlib
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import bed
import slurmctld
from agent_conf import CONF, write
from tap import case, check, equal, run, wait_for

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def checked(*options, user=None):
    """Its exit status and what it says, as JSON."""
    done = subprocess.run(
        [str(bed.TOP / "contribs/sandbox/exec"), "slurmk8s", "--json",
         *options, "check"], text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=120,
        env={**bed.os.environ, **({"SANDBOX_USER": user} if user else {})})
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise AssertionError(f"no JSON: {done.stdout}") from error


def errors(answer):
    return [f for f in answer["findings"] if f["severity"] == "error"]


def finding(words, answer, severity=None):
    """The one finding with these words."""
    found = [f for f in answer["findings"]
             if words in f"{f['about']}: {f['says']}"
             and severity in (None, f["severity"])]
    equal(len(found), 1, f"findings of {words!r} in {answer}")
    return found[0]


def finds(words, severity, *change):
    """That, with these words in the line to change, and the right status."""
    status, answer = checked()
    found = finding(words, answer, severity)
    for word in change:
        check(word in found["change"], f"{word!r} in {found}")
    equal(status, 1 if errors(answer) else 0, "exit status")
    return found


def set_up():
    wait_for("the agent to serve", lambda: "is serving" in
             bed.run("slurmk8s", "status", check=False))


@contextlib.contextmanager
def damaged():
    """What the manifests install; they are applied afterwards."""
    try:
        yield
    finally:
        admission.apply()


@case
def in_order():
    """a sandbox in order has no error, nothing unchecked, and status 0"""
    status, answer = checked()
    equal(errors(answer), [], "errors")
    equal(answer["notChecked"], [], "not checked")
    equal(status, 0, "exit status")
    by_slurm_user, same = checked(user="slurm")
    equal((by_slurm_user, errors(same), same["notChecked"]), (0, [], []),
          "as SlurmUser")


@case
def for_people():
    """as text: a line for each finding, errors first, and a sum"""
    said = bed.inside("slurmk8s", "check", check=False)
    check(said.rstrip().splitlines()[-1].startswith("0 errors, "), said)
    kinds = [line.split(":")[0] for line in said.splitlines()[:-1]
             if not line.startswith("    ")]
    order = ["error", "warning", "note", "not checked"]
    equal(kinds, sorted(kinds, key=order.index), "the order of the lines")


@contextlib.contextmanager
def slurm_conf(**settings):
    """These settings hold meanwhile; None takes one away."""
    def edit(text):
        lines = [line for line in text.splitlines()
                 if line.split("=")[0] not in settings]
        return "\n".join(lines + [f"{key}={value}"
                                  for key, value in settings.items()
                                  if value is not None]) + "\n"
    with slurmctld.changed_conf(edit):
        yield
    set_up()


@case
def slurm_settings():
    """settings of slurm.conf that bite, read from the running slurmctld"""
    with slurm_conf(MinJobAge="60", EnforcePartLimits="NO", CompleteWait="5",
                    SchedulerParameters="bf_interval=30,bf_continue"):
        status, answer = checked()
        equal(status, 1, "exit status")
        equal(finding("MinJobAge is 60 s", answer, "error")["change"],
              "MinJobAge=300", "MinJobAge")
        finding("EnforcePartLimits is off", answer, "warning")
        finding("CompleteWait", answer, "warning")
        whole = ("SchedulerParameters=batch_sched_delay=0,bf_continue,"
                 "bf_interval=5,default_queue_depth=1000,"
                 "partition_job_depth=200")
        for words in ("backfill runs every 30 s", "batch_sched_delay",
                      "partition_job_depth", "looks at few jobs"):
            equal(finding(words, answer, "warning")["change"], whole, words)
        said = bed.inside("slurmk8s", "check", check=False)
        equal(said.count("change: SchedulerParameters="), 1,
              "lines to change it")


@case
def plugins():
    """plugins that are not loaded: each with the whole line"""
    with slurm_conf(PrEpPlugins="prep/script"):
        finds("prep/k8s is not loaded", "error",
              "PrEpPlugins=prep/script,prep/k8s")
    with slurm_conf(JobSubmitPlugins=None, BurstBufferType=None):
        finds("SbatchNamespace is set and BurstBufferType is not", "warning",
              "BurstBufferType=burst_buffer/k8s")
        finds("job_submit/k8s is not loaded", "error", "JobSubmitPlugins=k8s")


@case
def partitions():
    """a partition with GraceTime, and one that k8s.conf names and nobody has"""
    bed.run("scontrol", "update", "PartitionName=low", "GraceTime=60")
    try:
        finds("partition low: at the start of GraceTime", "warning",
              "GraceTime=0")
    finally:
        bed.run("scontrol", "update", "PartitionName=low", "GraceTime=0")
    before = bed.inside("cat", CONF)
    try:
        write(CONF, before + "Partition=nowhere\n"
              if "\nPartition=" not in before else
              before.replace("\nPartition=k8s", "\nPartition=nowhere"))
        finds("partition nowhere", "error", "PartitionName=nowhere")
    finally:
        write(CONF, before)


@case
def names_and_limits():
    """what k8s.conf says of Slurm: a QOS that slurmdbd does not have, more waiting
    jobs than slurmctld's table can hold"""
    before = bed.inside("cat", CONF)
    bed.run("sacctmgr", "-i", "add", "qos", "vip", check=False)
    try:
        write(CONF, before + "PriorityClass=known qos=vip\n"
              "PriorityClass=unknown qos=nowhere\nMaxPendingJobs=0\n")
        status, answer = checked()
        equal(status, 1, "exit status")
        found = finding("PriorityClass=unknown", answer, "error")
        equal(found["change"], "sacctmgr add qos nowhere", "the command")
        check(not [f for f in answer["findings"]
                   if "PriorityClass=known" in f["about"]], answer)
        check(finding("MaxPendingJobs sets no limit", answer, "warning")
              ["change"].startswith("MaxPendingJobs="), answer)
    finally:
        write(CONF, before)
        bed.run("sacctmgr", "-i", "delete", "qos", "vip", check=False)


@case
def policies():
    """a policy that is missing, one that denies nothing, and one that does not
    know a scheduler's name"""
    name = "slurm-k8s-bridge-node-name"
    with damaged():
        bed.api("DELETE", f"{ADMISSION}/validatingadmissionpolicies/{name}")
        finds(f"policy {name}: it is not installed", "error",
              "kubectl apply -k")
    with damaged():
        bed.api("PATCH",
                f"{ADMISSION}/validatingadmissionpolicybindings/{name}",
                {"spec": {"validationActions": ["Warn"]}}, admission.MERGE)
        finds(f"policy {name}: no binding", "error", "kubectl apply -k")
    before = bed.inside("cat", CONF)
    try:
        write(CONF, before.replace("SchedulerName=slurm,",
                                   "SchedulerName=slurm,third,"))
        finds(f"policy {name}: it does not know the scheduler name third",
              "error", "'third'")
    finally:
        write(CONF, before)


@case
def rights():
    """rights: one of the base, and a whole component"""
    path = f"{RBAC}/clusterroles/slurmk8sd"
    rules = [rule for rule in bed.api("GET", path)["rules"]
             if "pods/eviction" not in rule["resources"]]
    with damaged():
        bed.api("PATCH", path, {"rules": rules}, admission.MERGE)
        finds("rights: slurmk8sd may not create pods/eviction", "error",
              "kubectl apply -k contribs/kubernetes")
    with damaged():
        bed.api("DELETE", f"{RBAC}/clusterrolebindings/slurmk8sd-volumes")
        finds("volumes is off", "note", "components/volumes")


@case
def identities():
    """a namespace whose user nobody knows, and the token of somebody else"""
    admission.namespace("strange", annotations={"slurmk8s/user": "nobody-here"})
    try:
        finds("namespace strange", "error", "kubectl annotate")
    finally:
        admission.forget_namespace("strange")
        wait_for("it to be gone", lambda: not any(
            item["metadata"]["name"] == "strange" for item in
            bed.api("GET", "/api/v1/namespaces")["items"]))
    token = "/etc/slurm/k8s/token"
    before = bed.inside("cat", token)
    try:
        write(token, admission.token("default", "default"))
        status, answer = checked()
        finding("it is that of system:serviceaccount:default:default", answer,
                "error")
        equal(status, 1, "exit status")
        for garbage in ("no-token", "several words", "e30.e30.c2ln"):
            write(token, garbage)
            finds(token, "error", "slurmk8s setup")
    finally:
        write(token, before)


@case
def files():
    """a token that others may read, k8s.conf that others may write"""
    bed.inside("chmod", "644", "/etc/slurm/k8s/token")
    try:
        finds("others may read the agent's token", "error", "chmod 400")
    finally:
        bed.inside("chmod", "600", "/etc/slurm/k8s/token")
    bed.inside("chown", "root", "/etc/slurm/k8s/token")
    try:
        found = finds("the owner is root, the mode 0600", "error",
                      "chown slurm /etc/slurm/k8s/token")
        bed.inside("sh", "-c", found["change"])
        equal(errors(checked()[1]), [], "errors after the change")
    finally:
        bed.inside("chown", "slurm", "/etc/slurm/k8s/token")
        bed.inside("chmod", "600", "/etc/slurm/k8s/token")
    mode = bed.inside("stat", "-c", "%a", CONF).strip()
    bed.inside("chmod", "666", CONF)
    try:
        finds("others than root and SlurmUser may write it", "error", "chmod")
    finally:
        bed.inside("chmod", mode, CONF)


@case
def conf_with_a_mistake():
    """k8s.conf with a mistake, and without a file"""
    before = bed.inside("cat", CONF)
    try:
        write(CONF, before + "NoSuchKey=1\n")
        status, answer = checked()
        equal(status, 1, "exit status")
        found = finding("k8s.conf", answer, "error")
        check("NoSuchKey" in found["says"] and "line" in found["says"], found)
    finally:
        write(CONF, before)
    status, answer = checked("--conf", "/nowhere/k8s.conf")
    equal((status, answer["findings"]), (2, []), "without a file")
    check("/nowhere/k8s.conf" in answer["notChecked"][0], answer)


@case
def without_the_agent():
    """without the agent it checks all the same, and says so"""
    bed.ctl("stop", "slurmk8sd")
    try:
        status, answer = checked()
        finding("slurmk8sd: it does not answer", answer, "warning")
        equal((status, errors(answer), answer["notChecked"]), (0, [], []),
              "else")
    finally:
        bed.ctl("start", "slurmk8sd")


@case
def without_slurmctld():
    """without slurmctld the rest is checked, and the status is 2"""
    bed.ctl("stop", "slurmctld")
    try:
        status, answer = checked()
        equal(status, 2, f"exit status of {answer}")
        check([w for w in answer["notChecked"] if w.startswith("Slurm: ")],
              answer)
        check(not [f for f in answer["findings"]
                   if f["about"] == "slurm.conf"], answer)
    finally:
        bed.ctl("start", "slurmctld")
        set_up()


@case
def another_server():
    """a wrong port, an address for examples and a wrong certificate authority are
    errors with the line to change, and the rest is checked"""
    before = bed.inside("cat", CONF)

    def with_line(key, value):
        write(CONF, "".join(
            f"{key}={value}\n" if line.startswith(f"{key}=") else line
            for line in before.splitlines(True)))
        status, answer = checked()
        equal(status, 1, "exit status")
        check([w for w in answer["notChecked"]
               if w.startswith("Kubernetes: ")], answer)
        return answer
    try:
        for url, words in (
                ("https://127.0.0.1:9", "no API server answers at KubeApiServer"),
                ("https://192.0.2.10:6443", "is an address for examples"),
                ("https://k8s.example.com:6443", "is an address for examples")):
            found = finding(words, with_line("KubeApiServer", url), "error")
            check(url in found["says"], found)
            check(found["change"].startswith("KubeApiServer=https://"), found)
        found = finding("KubeCaFile", with_line(
            "KubeCaFile", "/etc/ssl/certs/ca-certificates.crt"), "error")
        check("kube-root-ca.crt" in found["change"], found)
    finally:
        write(CONF, before)


@case
def by_anybody():
    """a user who may not read the token gets what he may see, and status 2 or
    an error, never a crash"""
    status, answer = checked(user="alice")
    check(status in (1, 2), f"status {status}: {answer}")
    check(answer["notChecked"], answer)


@case
def changes_nothing():
    """it changes nothing: the agent serves, nothing is in its way"""
    equal(bed.status()["problems"], {}, "problems")


def forget_identities():
    """Whom Pods run as, in namespaces that other scripts have made."""
    for namespace in bed.api("GET", "/api/v1/namespaces")["items"]:
        said = namespace["metadata"].get("annotations", {})
        bed.api("PATCH", f"/api/v1/namespaces/{namespace['metadata']['name']}",
                {"metadata": {"annotations": {
                    key: None for key in said if key.startswith("slurmk8s/")}}},
                "application/merge-patch+json")


forget_identities()
admission.apply()
run(set_up, after_failure=bed.last_words)
