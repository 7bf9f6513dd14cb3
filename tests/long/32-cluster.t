#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""All of Slurm in Kubernetes, in a sandbox of `up --operator`: manifests made for
slurm-operator become a slurmctld, a slurmdbd and workers on two real kubelets.
Only the keys are filled in. Nothing is played."""
import contextlib
import json
import pathlib
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

beside.up("1.36", "--nodes", "0", "--operator")

import bed
import slinky
import tokens
from operator_process import Operator, install, uninstall
from real_nodes import FIRST
from tap import case, check, equal, last_case, run, wait_for

NAMESPACE = "slurm"  # as the manifests have it
CORE = f"/api/v1/namespaces/{NAMESPACE}"
MERGE = "application/merge-patch+json"
SET, POD = "slurm-worker-slinky", "slurm-controller-0"
PARTITION = "slinky"  # of its NodeSet, as slurm-operator names it
IMAGE = "registry.example/slinkyproject/slurmctld:26.05-ubuntu26.04"
PROTECT = "nodeset.slinky.slurm.net/pod-protect"
EXTRA = "PartitionName=all Nodes=ALL Default=YES MaxTime=UNLIMITED"

operator = None


def path(plural, name=""):
    return f"{slinky.API}/namespaces/{NAMESPACE}/{plural}" + \
        (f"/{name}" if name else "")


def apply(name):
    """A file of tests/data/slinky, with keys and the local images."""
    bed.run(str(TOP / "contribs/sandbox/ctl"), "name-images",
            stdin=(slinky.DATA / name).read_text())
    items = [slinky.with_keys(item) for item in slinky.objects(slinky.DATA / name)]
    bed.run("kubectl", "apply", "-f", "-", stdin=json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": items}))


def inside(*words, container="slurmctld", **options):
    """A command in the Pod of slurmctld, as its user."""
    return bed.run("kubectl", "exec", "-n", NAMESPACE, POD, "-c", container, "--",
                   *words, **options).strip()


def condition(plural, name, kind):
    found = bed.api("GET", path(plural, name)).get("status", {})
    return next((c for c in found.get("conditions", []) if c["type"] == kind), {})


def wait_condition(plural, name, kind, status, words="", seconds=60):
    wait_for(f"{kind} of {plural}/{name} to be {status} and to say {words!r}",
             lambda: condition(plural, name, kind).get("status") == status and
             words in condition(plural, name, kind)["message"], seconds)


def scale(replicas):
    bed.run("kubectl", "scale", "-n", NAMESPACE, f"nodeset/{SET}",
            f"--replicas={replicas}")


def workers():
    return {pod["metadata"]["name"]: pod for pod in bed.pods(NAMESPACE)
            if pod["metadata"].get("labels", {}).get("app.kubernetes.io/name") ==
            "slurmd"}


def hosts():
    return sorted(pod["spec"]["hostname"] for pod in workers().values())


def idle():
    return inside("sinfo", "-hN", "-t", "idle", "-o", "%N", check=False).split()


def wait_idle(*names):
    wait_for(f"{names} to be idle", lambda: set(names) <= set(idle()), 90)


def sbatch(script, *words):
    return inside("sbatch", "--parsable", "-D", "/tmp", "-o", "none", "-n1",
                  "-t", "10", *words, "--wrap", script)


def shown(job):
    said = inside("scontrol", "show", "job", job, "--json", check=False)
    return json.loads(said)["jobs"][0] if said.startswith("{") else None


def state_of(job):
    found = shown(job)
    return found["job_state"][0] if found else None


def wait_state(job, state, seconds=60):
    wait_for(f"job {job} to be {state}", lambda: state_of(job) == state, seconds)


def wait_serves():
    """Until slurmctld's Pod is ready, and slurmctld answers there."""
    wait_condition("controllers", "slurm", "Available", "True", seconds=90)
    wait_for("slurmctld to answer",
             lambda: "UP" in inside("scontrol", "ping", check=False), 60)


def uid():
    try:
        return bed.api("GET", f"{CORE}/pods/{POD}")["metadata"]["uid"]
    except bed.ApiError as error:
        if error.status != 404:
            raise
        return None


def wait_other_pod(before):
    wait_for("another Pod of slurmctld", lambda: uid() not in (None, before), 90)
    wait_serves()


def runs_on_two():
    """srun runs on two workers."""
    wait_for("two workers", lambda: len(workers()) == 2)
    wait_idle(*hosts())
    said = inside("srun", "-N2", "-D", "/tmp", "hostname")
    equal(sorted(said.splitlines()), hosts(), "srun hostname")


@case
def from_manifest():
    """cluster.yaml applies; with two replicas srun runs on both kubelets"""
    global operator
    install()
    slinky.namespace(NAMESPACE)
    operator = Operator("--agent-image", IMAGE).start().leads()
    began = time.monotonic()
    apply("cluster.yaml")
    scale(2)
    wait_serves()
    runs_on_two()
    print(f"# from apply to srun -N2: {time.monotonic() - began:.1f} s")
    equal(len({pod["spec"]["nodeName"] for pod in workers().values()}), 2,
          "Nodes of the workers")
    wait_condition("controllers", "slurm", "Served", "False", "logfile")
    wait_condition("restapis", "slurm", "Served", "False", "not served yet")


@case
def rights():
    """slurmk8sd alone has a token, for this namespace only"""
    secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
    check("token" in inside("ls", secrets, container="slurmk8sd"), "no token")
    check("No such file" in inside("ls", secrets, check=False), "slurmctld has one")
    name = next(iter(workers()))
    check("No such file" in bed.run("kubectl", "exec", "-n", NAMESPACE, name, "--",
                                    "ls", secrets, check=False), "slurmd has one")
    account = f"system:serviceaccount:{NAMESPACE}:slurm-controller"
    for verb, what, namespace, may in (
            ("list", "pods", NAMESPACE, "yes"), ("list", "pods", "default", "no"),
            ("get", "secrets", NAMESPACE, "no"),
            ("create", "pods", NAMESPACE, "no"),
            ("get", "nodes", NAMESPACE, "no")):
        said = bed.run("kubectl", "auth", "can-i", verb, what, "-n", namespace,
                       f"--as={account}", check=False).splitlines()
        equal(said[-1], may, f"{verb} {what} in {namespace}")


@case
def scale_in():
    """one replica less while both nodes have jobs: each job ends by itself, and its
    Pod goes after that"""
    wait_idle(*hosts())
    by_pod = {name: pod["spec"]["hostname"] for name, pod in workers().items()}
    jobs = {name: sbatch("sleep 20; exit 3", "-w", host)
            for name, host in by_pod.items()}
    for job in jobs.values():
        wait_state(job, "RUNNING")
    wait_for("both to be protected", lambda: all(
        pod["metadata"]["labels"].get(PROTECT) == "true"
        for pod in workers().values()))
    scale(1)
    gone = wait_for("a request", lambda: next(
        (name for name, pod in workers().items() if "slurmk8s/worker-request" in
         pod["metadata"].get("annotations", {})), None))
    while gone in workers():
        ended = state_of(jobs[gone]) != "RUNNING"
        pod = workers().get(gone)
        check(ended or pod and "deletionTimestamp" not in pod["metadata"],
              "the Pod goes before its job has ended")
    for job in jobs.values():
        wait_state(job, "FAILED")
        equal(shown(job)["exit_code"]["return_code"]["number"], 3, "exit code")
        equal(shown(job)["restart_cnt"], 0, f"restarts of job {job}")
    scale(2)
    wait_for("two workers", lambda: len(workers()) == 2)
    wait_idle(*hosts())


@case
def slurmctld_dies():
    """slurmctld's Pod is killed at once: running jobs go on, and end as they would"""
    wait_idle(*hosts())
    job = sbatch("sleep 30; exit 5")
    wait_state(job, "RUNNING")
    before, there = uid(), {n: p["metadata"]["uid"] for n, p in workers().items()}
    bed.delete(POD, NAMESPACE, grace=0)
    wait_other_pod(before)
    equal(state_of(job), "RUNNING", "the job after the death")
    wait_state(job, "FAILED", 90)
    equal(shown(job)["exit_code"]["return_code"]["number"], 5, "exit code")
    equal(shown(job)["restart_cnt"], 0, "restarts")
    equal({n: p["metadata"]["uid"] for n, p in workers().items()}, there, "workers")


@case
def agent_dies():
    """slurmk8sd alone ends: it is started again, and goes on to tell of the workers"""
    inside("kill", "1", container="slurmk8sd")

    def restarted():
        pod = bed.api("GET", f"{CORE}/pods/{POD}")
        return {c["name"]: c["restartCount"] for c in
                pod["status"]["containerStatuses"]} == {
                    "slurmctld": 0, "slurmk8sd": 1}
    wait_for("only slurmk8sd to be started again", restarted, 60)
    name, pod = next(iter(workers().items()))
    inside("scontrol", "update", f"NodeName={pod['spec']['hostname']}",
           "State=DRAIN", "Reason=fan")
    wait_for("the condition", lambda: any(
        c["type"] == "SlurmNodeStateDrain" and c["status"] == "True"
        for c in workers()[name]["status"]["conditions"]), 60)
    inside("scontrol", "update", f"NodeName={pod['spec']['hostname']}",
           "State=RESUME")


def starts():
    """Which Pod of slurmctld it is, and how often slurmctld was started in it."""
    pod = bed.api("GET", f"{CORE}/pods/{POD}")
    (restarts,) = (c["restartCount"] for c in pod["status"]["containerStatuses"]
                   if c["name"] == "slurmctld")
    return pod["metadata"]["uid"], restarts


def extra_conf(*lines):
    """Adds lines to the extraConf of the manifest."""
    bed.api("PATCH", path("controllers", "slurm"),
            {"spec": {"extraConf": "\n".join((EXTRA, *lines))}}, MERGE)


def wait_config(words):
    wait_for(f"slurmctld to have {words}", lambda: words in inside(
        "scontrol", "show", "config", check=False), 90)


def on_worker(*words):
    """A command in the first worker."""
    return bed.run("kubectl", "exec", "-n", NAMESPACE, sorted(workers())[0], "-c",
                   "slurmd", "--", *words, check=False).strip()


@case
def configuration():
    """extraConf, and a partition of the NodeSet: slurmctld reads them in its Pod,
    without another start, and jobs run on"""
    wait_idle(*hosts())
    job = sbatch("sleep 60")
    wait_state(job, "RUNNING")
    before = starts()
    began = time.monotonic()
    extra_conf("KillWait=47")
    wait_config("KillWait                = 47 sec")
    print(f"# from a change of extraConf to its effect: "
          f"{time.monotonic() - began:.1f} s")
    bed.api("PATCH", path("nodesets", SET),
            {"spec": {"partition": {"enabled": True, "config": "MaxTime=9"}}},
            MERGE)
    wait_for("the partition", lambda: "MaxTime=00:09:00" in inside(
        "scontrol", "show", "partition", PARTITION, check=False), 90)
    wait_condition("controllers", "slurm", "ConfigApplied", "True")
    wait_serves()
    equal(state_of(job), "RUNNING", "the job")
    equal(shown(job)["restart_cnt"], 0, "restarts of the job")
    equal(starts(), before, "the Pod, and starts of slurmctld")
    inside("scancel", job)


@case
def bad_configuration():
    """an extraConf that slurmctld refuses: its words are in the condition, the one that
    runs goes on with its job; a corrected one takes effect"""
    wait_idle(*hosts())
    job = sbatch("sleep 100")
    wait_state(job, "RUNNING")
    before = starts()
    for line, words in (("NoSuchKey=1", "unrecognized key: NoSuchKey"),
                        ("PartitionName=bad Nodes=nothere",
                         "Invalid node names in partition bad")):
        extra_conf("KillWait=48", line)
        wait_condition("controllers", "slurm", "ConfigValid", "False", words, 90)
        equal(starts(), before, "the Pod, and starts of slurmctld")
        check("UP" in inside("scontrol", "ping"), "slurmctld does not answer")
        check("= 47 sec" in inside("scontrol", "show", "config"),
              "slurmctld has another configuration")
        equal(state_of(job), "RUNNING", "the job")
    bed.delete(POD, NAMESPACE)  # it starts with what was accepted
    wait_other_pod(before[0])
    equal(starts()[1], 0, "starts of slurmctld")
    wait_config("KillWait                = 47 sec")
    before = starts()
    extra_conf("KillWait=49")
    wait_config("KillWait                = 49 sec")
    wait_condition("controllers", "slurm", "ConfigValid", "True")
    wait_serves()
    equal(starts(), before, "the Pod, and starts of slurmctld")
    equal(state_of(job), "RUNNING", "the job")
    equal(shown(job)["restart_cnt"], 0, "restarts of the job")
    inside("scancel", job)


@case
def scripts():
    """scripts and a file by reference: they run on workers and beside slurmctld, and a
    change of a ConfigMap takes effect by itself"""
    def config_map(name, data):
        body = {"apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": NAMESPACE}, "data": data}
        bed.run("kubectl", "apply", "-f", "-", stdin=json.dumps(body))

    def prolog(word):
        return {"say.sh": f"#!/bin/sh\necho {word} >> /tmp/prologs\n"}

    def wait_said(word):
        def said():
            wait_idle(*hosts())
            inside("srun", f"-N{len(hosts())}", "-D", "/tmp", "true", check=False)
            return word in on_worker("cat", "/tmp/prologs")
        wait_for(f"a prolog to say {word}", said, 90)

    before = starts()
    config_map("prologs", prolog("one"))
    config_map("ends", {"end.sh": "#!/bin/sh\necho $SLURM_JOB_ID >> /tmp/ends\n"})
    config_map("files", {"more.conf": "KillWait=50\n"})
    bed.api("PATCH", path("controllers", "slurm"), {"spec": {
        "configFileRefs": [{"name": "files"}],
        "prologScriptRefs": [{"name": "prologs"}],
        "epilogSlurmctldScriptRefs": [{"name": "ends"}]}}, MERGE)
    extra_conf("Include more.conf")
    wait_config("KillWait                = 50 sec")
    wait_said("one")
    check(inside("cat", "/tmp/ends").isdigit() or
          "\n" in inside("cat", "/tmp/ends"), "no EpilogSlurmctld has run")
    config_map("prologs", prolog("two"))
    wait_said("two")
    config_map("files", {"more.conf": "KillWait=51\n"})
    wait_config("KillWait                = 51 sec")
    config_map("files", {"more.conf": "KillWeight=1\n"})
    wait_condition("controllers", "slurm", "ConfigValid", "False",
                   "unrecognized key: KillWeight", 90)
    equal(starts(), before, "the Pod, and starts of slurmctld")
    bed.api("PATCH", path("controllers", "slurm"), {"spec": {
        "configFileRefs": None, "prologScriptRefs": None,
        "epilogSlurmctldScriptRefs": None, "extraConf": EXTRA}}, MERGE)
    wait_config("KillWait                = 30 sec")
    wait_serves()


def stop_operator():
    """Otherwise it would put the number of Pods right."""
    equal(operator.stop(), 0, "the operator's exit status")


def replicas(kind, name, number):
    bed.run("kubectl", "scale", "-n", NAMESPACE, f"{kind}/{name}",
            f"--replicas={number}")


@contextlib.contextmanager
def keeper_of_the_state():
    """A Pod that has the claim of slurmctld's state, as doc/admin/cluster.md has it."""
    bed.api("POST", f"{CORE}/pods", {"metadata": {"name": "keeper"}, "spec": {
        "automountServiceAccountToken": False,
        "securityContext": {"runAsUser": 64030, "fsGroup": 64030},
        "containers": [{
            "name": "keeper", "image": IMAGE, "imagePullPolicy": "IfNotPresent",
            "command": ["sleep", "3600"],
            "volumeMounts": [{"name": "state", "mountPath": "/state"}]}],
        "volumes": [{"name": "state", "persistentVolumeClaim": {
            "claimName": f"statesave-{POD}"}}]}})
    wait_for("the Pod keeper", lambda: bed.get("keeper", NAMESPACE)["status"].get(
        "phase") == "Running", 60)
    try:
        yield
    finally:
        bed.delete("keeper", NAMESPACE, grace=0)


@case
def state_restored():
    """StateSaveLocation is saved while slurmctld runs; restored, it has a job that was
    cancelled since, and an idle cluster again"""
    wait_idle(*hosts())
    job = sbatch("true", "--hold")
    wait_state(job, "PENDING")
    saved = ""

    def has_job():
        nonlocal saved  # slurmctld writes its state some seconds later
        saved = inside("sh", "-c",
                       "cd /var/spool/slurmctld && tar -cf - * 2> /dev/null | "
                       "base64 -w0")
        return f"job.{job}" in inside("sh", "-c", "ls /var/spool/slurmctld/hash.*")
    wait_for("the job's script in the state", has_job)
    time.sleep(6)  # the interval in which slurmctld writes the rest
    has_job()
    inside("scancel", job)
    wait_state(job, "CANCELLED")
    stop_operator()
    replicas("statefulset", "slurm-controller", 0)
    wait_for("slurmctld to be gone", lambda: uid() is None, 60)
    with keeper_of_the_state():
        bed.run("kubectl", "exec", "-i", "-n", NAMESPACE, "keeper", "--", "sh", "-c",
                "find /state -mindepth 1 -delete; base64 -d | tar -C /state -xf -",
                stdin=saved)
    replicas("statefulset", "slurm-controller", 1)
    operator.start().leads()
    wait_for("slurmctld", uid, 60)
    wait_serves()
    equal(state_of(job), "PENDING", "the job")
    inside("scontrol", "release", job)
    wait_state(job, "COMPLETED")
    wait_idle(*hosts())


@case
def deleted_first():
    """a Controller that is deleted before its NodeSet: slurmctld stays until the last
    job has ended; then all of it goes, but the claim"""
    wait_idle(*hosts())
    job = sbatch("sleep 20; exit 6")
    wait_state(job, "RUNNING")
    bed.api("DELETE", path("controllers", "slurm"), {})
    wait_condition("controllers", "slurm", "Deleting", "True", "drained")
    wait_state(job, "FAILED")
    equal(shown(job)["exit_code"]["return_code"]["number"], 6, "exit code")
    equal(shown(job)["restart_cnt"], 0, "restarts")
    bed.api("DELETE", path("nodesets", SET), {})
    for plural in ("controllers", "nodesets"):
        wait_for(f"no {plural}", lambda plural=plural:
                 not bed.api("GET", path(plural))["items"], 60)
    wait_for("no Pod", lambda: not bed.pods(NAMESPACE), 90)
    claims = bed.api("GET", f"{CORE}/persistentvolumeclaims")["items"]
    equal([c["metadata"]["name"] for c in claims], [f"statesave-{POD}"], "claims")


def database():
    """MariaDB under the name that the manifest has, and its password."""
    bed.ctl("start", "database")
    port = int((bed.SANDBOX / "port").read_text()) + 10
    bridge = bed.api("GET", f"/api/v1/nodes/{FIRST}")["status"]["addresses"][0]
    for kind, body in (
            ("services", {"metadata": {"name": "mariadb"},
                          "spec": {"ports": [{"port": 3306}]}}),
            ("secrets", {"metadata": {"name": "mariadb-password"},
                         "stringData": {"password": "slurm"}})):
        bed.api("POST", f"{CORE}/{kind}", body)
    bed.api("POST", f"/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/"
            "endpointslices", {
                "metadata": {"name": "mariadb", "labels": {
                    "kubernetes.io/service-name": "mariadb"}},
                "addressType": "IPv4", "endpoints": [
                    {"addresses": [bridge["address"]]}],
                "ports": [{"port": port}]})


@case
def full_cluster():
    """cluster-full.yaml: slurmctld waits for slurmdbd; with two replicas srun runs on
    both kubelets, jobs are accounted for, and conditions say what is not served"""
    for name in ("slurm-auth-slurm", "slurm-auth-jwt"):
        bed.run("kubectl", "delete", "secret", "-n", NAMESPACE, name)
    bed.run("kubectl", "delete", "pvc", "-n", NAMESPACE, "--all")
    began = time.monotonic()
    apply("cluster-full.yaml")
    scale(2)
    wait_condition("controllers", "slurm", "Available", "False",
                   "for the first time when Accounting slurm is available")
    check(uid() is None, "slurmctld does not wait for slurmdbd")
    database()
    wait_condition("accountings", "slurm", "Available", "True", seconds=120)
    wait_serves()
    runs_on_two()
    print(f"# from apply of the full one, with its database: "
          f"{time.monotonic() - began:.1f} s")
    job = sbatch("exit 7")
    wait_for("its record", lambda: "FAILED|7:0" in inside(
        "sacct", "-nXPj", job, "-o", "State,ExitCode", check=False), 60)
    for plural, name in (("loginsets", "slurm-login-slinky"),
                         ("restapis", "slurm")):
        wait_condition(plural, name, "Served", "False", "not served yet")


def slurmdbd_pods():
    return [p["metadata"]["name"] for p in bed.pods(NAMESPACE)
            if p["metadata"]["name"].startswith("slurm-accounting-")]


def states_with(token):
    """What slurmdbd says of jobs to somebody who has nothing but this token."""
    return inside("env", f"SLURM_JWT={token}", "sacct", "-nXPu", "slurm", "-o", "State",
                  check=False)


@case
def keys_of_others():
    """slurmdbd takes tokens of an identity provider. While its keys are missing, or are
    such that slurmdbd would die of them, it stays as it is, and a condition says why"""
    def accepted(status, words=""):
        wait_condition("accountings", "slurm", "Accepted", status, words)

    def refer(reference):
        bed.api("PATCH", path("accountings", "slurm"),
                {"spec": {"jwksKeyRef": reference}}, MERGE)

    ours, other = tokens.Provider(), tokens.Provider()
    before = slurmdbd_pods()
    refer({"name": "ids", "key": "jwks.json"})
    accepted("False", 'no ConfigMap "ids"')
    bed.api("POST", f"{CORE}/configmaps", {"metadata": {"name": "ids"},
                                           "data": {"jwks.json": "{"}})
    accepted("False", "no JSON")
    equal(slurmdbd_pods(), before, "Pods of slurmdbd")
    bed.api("PATCH", f"{CORE}/configmaps/ids", {"data": {"jwks.json": ours.keys()}},
            MERGE)
    accepted("True")
    wait_for("a token of the provider to be taken",
             lambda: "FAILED" in states_with(ours.token("slurm")), 120, 2)
    check("FAILED" not in states_with(other.token("slurm")), "another key is taken")
    bed.api("DELETE", f"{CORE}/configmaps/ids", {})
    accepted("False", 'no ConfigMap "ids"')
    (pod,) = slurmdbd_pods()
    bed.delete(pod, NAMESPACE, grace=0)
    wait_for("another slurmdbd that has the keys", lambda: pod not in slurmdbd_pods()
             and "FAILED" in states_with(ours.token("slurm")), 120, 2)
    refer(None)
    accepted("True")
    wait_for("slurmdbd without the keys", lambda: "FAILED" not in states_with(
        ours.token("slurm")) and "FAILED" in inside(
            "sacct", "-nXPu", "slurm", "-o", "State", check=False), 120, 2)


def on_database(script, **options):
    """A command beside the database, with the options of its clients as $1."""
    return bed.inside("sh", "-c", script, "sh", "--socket=/run/mysqld-pods/mysqld.sock",
                      **options)


@case
def database_restored():
    """a dump of the database, restored while slurmdbd is stopped: the records are there
    again, and slurmctld goes on with them"""
    def records():
        return inside("sacct", "-nXP", "-u", "slurm", "-o", "JobID,State",
                      check=False).split()
    before = wait_for("records", records)
    dump = on_database("mariadb-dump --no-defaults $1 --single-transaction "
                       "slurm_acct_db 2> /dev/null")
    stop_operator()
    replicas("deployment", "slurm-accounting", 0)
    wait_for("slurmdbd to be gone", lambda: not slurmdbd_pods(), 60)
    on_database("mariadb --no-defaults $1 -e "
                "'DROP DATABASE slurm_acct_db; CREATE DATABASE slurm_acct_db'")
    on_database("mariadb --no-defaults $1 slurm_acct_db", stdin=dump)
    replicas("deployment", "slurm-accounting", 1)
    operator.start().leads()
    wait_condition("accountings", "slurm", "Available", "True", seconds=120)
    wait_for("the records", lambda: set(before) <= set(records()), 60)
    job = sbatch("exit 8")
    wait_for("another one", lambda: "FAILED|8:0" in inside(
        "sacct", "-nXPj", job, "-o", "State,ExitCode", check=False), 60)


@case
def slurmdbd_is_away():
    """a later start of slurmctld does not wait for slurmdbd"""
    bed.ctl("stop", "database")
    pod = slurmdbd_pods()[0]
    bed.delete(pod, NAMESPACE, grace=0)
    wait_condition("accountings", "slurm", "Available", "False")
    before = uid()
    bed.delete(POD, NAMESPACE, grace=0)
    wait_other_pod(before)
    wait_idle(*hosts())
    equal(inside("srun", "-D", "/tmp", "hostname"), hosts()[0], "srun hostname")


@case
def at_once():
    """the annotation slurmk8s/delete: now on a Controller that is deleted ends its
    jobs, and nothing stays"""
    job = sbatch("sleep 300")
    wait_state(job, "RUNNING")
    for plural, name in (("nodesets", SET), ("controllers", "slurm")):
        bed.api("PATCH", path(plural, name), {"metadata": {"annotations": {
            "slurmk8s/delete": "now"}}}, MERGE)
        bed.api("DELETE", path(plural, name), {})
    for plural in ("controllers", "nodesets"):
        wait_for(f"no {plural}", lambda plural=plural:
                 not bed.api("GET", path(plural))["items"], 60)
    wait_for("no worker", lambda: not workers(), 60)


@last_case
def ends():
    """the operator ends by a signal"""
    equal(operator.stop(), 0, "its exit status")
    slinky.delete_namespace(NAMESPACE)
    uninstall()


def last_words():
    said = [operator.log.read_text()[-2000:] if operator else ""]
    for container in ("slurmctld", "slurmk8sd"):
        said.append(bed.run("kubectl", "logs", "-n", NAMESPACE, POD, "-c",
                            container, "--tail=15", check=False))
    said.append(bed.run("kubectl", "get", "pods", "-n", NAMESPACE, "-o", "wide",
                        check=False))
    return "\n".join(said)


run(after_failure=last_words)
