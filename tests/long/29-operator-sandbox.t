#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The sandbox of `up --operator`, in one of its own beside $SANDBOX: Services, the
API server, claims, images by other names, and a slurmd in a Pod, on two real
kubelets. Nothing of the host's network changes but the sandbox's own bridge."""
import contextlib
import json
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lib"))
import beside

FORWARD = pathlib.Path("/proc/sys/net/ipv4/ip_forward")
forwarded = FORWARD.read_text()
beside.up("1.36", "--nodes", "0", "--operator")

import bed
import slurmctld
import slurmd_pods
from admission import make
from real_nodes import FIRST, SECOND
from slurmd_pods import KEY
from tap import case, check, equal, last_case, run, wait_for

DEFAULT = "default-scheduler"
CORE = f"/api/v1/namespaces/{bed.NAMESPACE}"
CLAIMS = f"{CORE}/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
# Names as a manifest has them, of images that nobody has.
MANIFEST = """
kind: NodeSet
spec:
  slurmd:
    image: registry.example.com/slurm/slurmd:26.05
  logfile:
    image: "registry.example.com/library/alpine:latest"
  login:
    image: registry.example.com/slurm/login:26.05
"""
SLURMD, ALPINE = ("registry.example.com/slurm/slurmd:26.05",
                  "registry.example.com/library/alpine:latest")
# Answers who has asked.
SERVER = """
    mkdir -p /tmp/www/cgi-bin
    printf '#!/bin/sh\\necho\\necho $REMOTE_ADDR\\n' > /tmp/www/cgi-bin/who
    chmod 755 /tmp/www/cgi-bin/who
    exec httpd -f -p 8080 -h /tmp/www"""


def pod(name, node, command="exec sleep 3600", image=None, **spec):
    """A Pod of kube-scheduler's that is to be on node; None: on any."""
    body = bed.pod(name, cpu="50m", scheduler=DEFAULT, command=command, **spec)
    if node:
        body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": node}
    (container,) = body["spec"]["containers"]
    container["imagePullPolicy"] = "IfNotPresent"  # nothing can be pulled
    container["image"] = image or container["image"]
    return body


def mounting(body, claim):
    body["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim":
                                {"claimName": claim}}]
    body["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "v", "mountPath": "/v"}]
    return body


def execute(name, *command, **options):
    return bed.run("kubectl", "exec", "-n", bed.NAMESPACE, name, "--", *command,
                   **options).strip()


def take(kind, *names):
    bed.run("kubectl", "delete", "--ignore-not-found", "-n", bed.NAMESPACE, kind,
            *names)


def address(name):
    return bed.wait_phase(name, "Running", 60)["status"]["podIP"]


def who(client, server):
    """The address that the server sees; httpd has it as one of version 6."""
    said = wait_for(f"{client} to reach {server}", lambda: execute(
        client, "wget", "-T", "5", "-q", "-O", "-", f"http://{server}/cgi-bin/who",
        check=False), 60)
    return said.strip("[]").removeprefix("::ffff:")


@contextlib.contextmanager
def service(name, port, target=None):
    """Of the Pods with its name as label; without target, of nobody yet."""
    spec = {"ports": [{"port": port, "targetPort": target or port}]}
    if target:
        spec["selector"] = {"app": name}
    make(f"{CORE}/services", {"metadata": {"name": name}, "spec": spec})
    try:
        yield f"{name}.{bed.NAMESPACE}.svc.cluster.local"
    finally:
        take("service", name)


@case
def services():
    """a Pod reaches a Pod of the other node by its Service, which sees the Pod's own
    address; and each of both itself; and a Pod without Service"""
    bed.clean()
    for name, node in (("server", FIRST), ("client", SECOND)):
        body = pod(name, node, SERVER)
        body["metadata"]["labels"] = {"app": name}
        bed.create(body)
    with service("server", 80, 8080) as name, service("client", 80, 8080) as other:
        client = address("client")
        equal(who("client", name), client, "who asked the Service")
        equal(who("client", f"{address('server')}:8080"), client, "who asked")
        for each, its in (("server", name), ("client", other)):
            check(who(each, its), f"{each} does not reach itself by its Service")
    gone = execute("client", "wget", "-T", "2", "-q", "-O", "-", f"http://{name}/",
                   check=False)
    check("bad address" in gone, f"a Service that is gone: {gone}")


@case
def api_server():
    """a Pod reaches the API server by its Service, by address and by name, and both
    are in its certificate"""
    bed.clean()
    # Slurm's image has the library that kubectl wants.
    (image,) = [word for word in bed.ctl(
        "import", str(bed.SANDBOX / "oci/slurmctld.oci.tar")).split()]
    body = pod("client", SECOND, image=image)
    body["spec"]["volumes"] = [{"name": "bin", "hostPath": {
        "path": str(bed.SANDBOX / "bin")}}]
    body["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "bin", "mountPath": "/mnt", "readOnly": True}]
    bed.create(body)
    bed.wait_phase("client", "Running", 60)
    secrets = "/var/run/secrets/kubernetes.io/serviceaccount"
    for words in ("", "--server=https://kubernetes.default.svc "
                      f"--certificate-authority={secrets}/ca.crt "
                      f"--token=$(cat {secrets}/token)"):
        said = execute("client", "sh", "-c",
                       f"HOME=/tmp /mnt/kubectl get --raw /version {words}")
        check(json.loads(said)["gitVersion"].startswith("v1.36."), said)
    said = execute("client", "sh", "-c", "HOME=/tmp /mnt/kubectl auth whoami")
    check(f"system:serviceaccount:{bed.NAMESPACE}:default" in said, said)


def claim(name, mode, **spec):
    make(CLAIMS, {"metadata": {"name": name}, "spec": {
        "accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}},
        **spec}})


def bound(name):
    """The volume of the claim."""
    def volume():
        found = bed.api("GET", f"{CLAIMS}/{name}")
        return found["status"].get("phase") == "Bound" and found["spec"]["volumeName"]
    return bed.api("GET", f"{VOLUMES}/" + wait_for(f"{name} to be bound", volume))


def volumes():
    return [v["metadata"]["name"] for v in bed.api("GET", VOLUMES)["items"]]


@case
def claims():
    """a claim of the default class is bound; Pods of both nodes see the same files,
    and may write with their fsGroup; with the claim its directory goes"""
    bed.clean()
    claim("shared", "ReadWriteMany")
    try:
        volume = bound("shared")
        user = {"runAsUser": 64030, "runAsGroup": 64030, "fsGroup": 64030}
        for name, node in (("one", FIRST), ("two", SECOND)):
            bed.create(mounting(pod(name, node, securityContext=user), "shared"))
        for name in ("one", "two"):
            bed.wait_phase(name, "Running", 60)
        execute("one", "sh", "-c", "echo hello > /v/file")
        equal(execute("two", "cat", "/v/file"), "hello", "what the other has written")
        equal(execute("two", "stat", "-c", "%g", "/v"), "64030", "whose group it is")
    finally:
        bed.clean()
        take("pvc", "shared")
    directory = pathlib.Path(volume["spec"]["local"]["path"])
    wait_for("the volume to be gone", lambda: volume["metadata"]["name"] not in
             volumes())
    check(not directory.exists(), f"{directory} is still there")


@case
def once():
    """a ReadWriteOncePod claim is for one Pod at a time; a volume of a class that
    retains stays, with what is in it"""
    bed.clean()
    claim("mine", "ReadWriteOncePod", storageClassName="sandbox-retain")
    try:
        volume = bound("mine")
        bed.create(mounting(pod("one", None, "echo kept > /v/file; exec sleep 3600"),
                            "mine"))
        bed.wait_phase("one", "Running", 60)
        bed.create(mounting(pod("two", None), "mine"))
        bed.wait_words("two", "ReadWriteOncePod")
        bed.delete("one", grace=1)
        bed.wait_phase("two", "Running", 60)
        equal(execute("two", "cat", "/v/file"), "kept", "what the first has written")
    finally:
        bed.clean()
        take("pvc", "mine")
    name = volume["metadata"]["name"]
    wait_for("the volume to be released", lambda: bed.api(
        "GET", f"{VOLUMES}/{name}")["status"]["phase"] == "Released")
    directory = pathlib.Path(volume["spec"]["local"]["path"])
    equal((directory / "file").read_text(), "kept\n", "what is kept")
    bed.run("kubectl", "delete", "pv", name)


@case
def names():
    """images have the names that a manifest says; which of them there are not is
    told"""
    said = bed.run(str(TOP / "contribs/sandbox/ctl"), "name-images",
                   stdin=MANIFEST).splitlines()
    for name in (SLURMD, ALPINE):
        check(name in said, said)
    check([line for line in said if "no image for" in line and "login" in line],
          said)


@contextlib.contextmanager
def key():
    """slurm.key as a Secret."""
    slurmd_pods.make_key()
    try:
        yield
    finally:
        take("secret", KEY)


@case
def database():
    """slurmdbd in a Pod, by its own name for the image, serves with the database that
    Pods have, which it reaches by a Service"""
    bed.clean()
    bed.ctl("start", "database")
    (image,) = bed.ctl("import", str(bed.SANDBOX / "oci/slurmdbd.oci.tar")).split()
    conf = ("DbdHost=localhost", "AuthType=auth/slurm", "SlurmUser=slurm",
            "PidFile=/run/slurmdbd/slurmdbd.pid", "StorageHost=mariadb",
            "StorageUser=slurm", "StoragePass=slurm", "StorageType="
            "accounting_storage/mysql")
    # slurmdbd takes its files from its own user only, who cannot own a volume's.
    body = pod("dbd", SECOND, f"""
        umask 077
        cp /mnt/slurm.key /etc/slurm/
        printf '%s\\n' {' '.join(conf)} > /etc/slurm/slurmdbd.conf
        exec slurmdbd -D""", image, securityContext={"fsGroup": 64030}, volumes=[
            {"name": "key", "secret": {"secretName": KEY,
                                       "defaultMode": 0o440}},
            {"name": "etc", "emptyDir": {}}])
    body["spec"]["containers"][0]["volumeMounts"] = [
        {"name": "key", "mountPath": "/mnt"},
        {"name": "etc", "mountPath": "/etc/slurm"}]
    port = int((bed.SANDBOX / "port").read_text()) + 10
    bridge = bed.api("GET", f"/api/v1/nodes/{FIRST}")["status"]["addresses"][0]
    with key(), service("mariadb", 3306):
        make(f"/apis/discovery.k8s.io/v1/namespaces/{bed.NAMESPACE}/endpointslices", {
            "metadata": {"name": "mariadb", "labels": {
                "kubernetes.io/service-name": "mariadb"}},
            "addressType": "IPv4", "endpoints": [{"addresses": [bridge["address"]]}],
            "ports": [{"port": port}]})
        bed.create(body)
        try:
            wait_for("slurmdbd to serve", lambda: "slurmdbd version" in bed.run(
                "kubectl", "logs", "-n", bed.NAMESPACE, "dbd", check=False), 60)
        finally:
            bed.delete("dbd", grace=1)
            bed.wait_gone("dbd")
            take("endpointslice", "mariadb")
            bed.ctl("stop", "database")


def of_the_host():
    """The sandbox's own slurmctld, as HOST:PORT."""
    return f"{slurmd_pods.slurmctld_address()}:{slurmd_pods.slurmctld_port()}"


def worker(name, server, node=SECOND):
    """slurmd that gets all but the key from the slurmctld at server."""
    body = pod(name, node, None, SLURMD, shareProcessNamespace=True,
               automountServiceAccountToken=False, volumes=[
                   {"name": "key", "secret": {"secretName": KEY,
                                              "defaultMode": 0o400}}])
    body["spec"]["containers"][0].update(
        args=["-D", "-Z", "--conf-server", server, "--conf",
              "Feature=w CPUs=1 RealMemory=100"],
        securityContext={"allowPrivilegeEscalation": False, "capabilities": {
            "drop": ["ALL"], "add": ["SETUID", "SETGID", "CHOWN", "KILL"]}},
        volumeMounts=[{"name": "key", "mountPath": "/etc/slurm"}])
    return body


def host_has_idle_worker():
    return bed.run("sinfo", "-hn", "worker-0", "-o", "%t",
                   check=False).split()[:1] == ["idle"]


def host_forgets_worker():
    bed.run("scontrol", "delete", "nodename=worker-0", check=False)
    return "worker-0" not in bed.run("sinfo", "-hN", "-o", "%N").split()


@case
def slurmd():
    """a slurmd that kube-scheduler has placed, with its image by the manifest's name,
    registers with its Pod's address at the slurmctld of the host, and runs srun"""
    names()
    bed.clean()
    with slurmctld.changed_conf(slurmd_pods.with_workers), key():
        bed.create(worker("worker-0", of_the_host()))
        try:
            there = address("worker-0")
            wait_for("the node to be idle", host_has_idle_worker, 60)
            shown = json.loads(bed.run("scontrol", "show", "node", "worker-0",
                                       "--json"))["nodes"][0]
            equal(shown["address"], there, "NodeAddr")
            equal(bed.run("srun", "-p", "workers", "-D", "/tmp", "hostname",
                          user="alice").strip(), "worker-0", "srun hostname")
            # A job that is still COMPLETING on a Pod that is gone stays so.
            wait_for("the job to be over", host_has_idle_worker, 60)
        except AssertionError as error:
            said = bed.run("kubectl", "logs", "-n", bed.NAMESPACE, "worker-0",
                           check=False)
            raise AssertionError(f"{error}\n{said}") from error
        finally:
            bed.delete("worker-0", grace=1)
            bed.wait_gone("worker-0")
            wait_for("Slurm to delete the node", host_forgets_worker)


CONF = slurmd_pods.own_conf("controller-0(controller)")


def controller(image, node):
    """A slurmctld of its own, whose state is on a claim."""
    body = pod("controller-0", node, None, image, volumes=[
        {"name": "state", "persistentVolumeClaim": {"claimName": "state"}},
        {"name": "etc", "projected": {"sources": [
            {"secret": {"name": KEY, "items": [
                {"key": "slurm.key", "path": "slurm.key", "mode": 0o440}]}},
            {"configMap": {"name": "slurm-conf"}}]}}],
        securityContext={"fsGroup": 64030})
    body["metadata"]["labels"] = {"app": "controller"}
    body["spec"]["containers"][0].update(args=["-D", "-i"], volumeMounts=[
        {"name": "etc", "mountPath": "/etc/slurm"},
        {"name": "state", "mountPath": "/var/spool/slurmctld"}])
    return body


def node_is(state, address_of_it):
    said = execute("controller-0", "scontrol", "show", "node", "worker-0",
                   check=False)
    return (f"NodeAddr={address_of_it} " in said and
            re.search(rf"State={state}[+ ]", said))


@case
def inside():
    """slurmctld in a Pod, behind a Service, sees the address of a slurmd that comes
    by the Service, and runs srun there; on the other node it has the same state"""
    names()
    bed.clean()
    (image,) = bed.ctl("import", str(bed.SANDBOX / "oci/slurmctld.oci.tar")).split()
    claim("state", "ReadWriteOncePod")
    make(f"{CORE}/configmaps", {"metadata": {"name": "slurm-conf"}, "data": {
        "slurm.conf": CONF, "cgroup.conf": "CgroupPlugin=disabled\n"}})
    try:
        with key(), service("controller", 6817, 6817):
            bed.create(controller(image, FIRST))
            bed.create(worker("worker-0", "controller:6817"))
            there = address("worker-0")
            wait_for("the worker to be idle", lambda: node_is("IDLE", there), 60)
            equal(execute("controller-0", "srun", "-D", "/tmp", "hostname"),
                  "worker-0", "srun hostname")
            bed.delete("controller-0")
            bed.wait_gone("controller-0")
            bed.create(controller(image, SECOND))
            bed.wait_phase("controller-0", "Running", 60)
            wait_for("the worker to be idle again", lambda: node_is("IDLE", there),
                     60)
            equal(execute("controller-0", "srun", "-D", "/tmp", "hostname"),
                  "worker-0", "srun hostname after the move")
    except AssertionError as error:
        said = "\n".join(bed.run("kubectl", "logs", "-n", bed.NAMESPACE, name,
                                 check=False) for name in ("controller-0",
                                                           "worker-0"))
        raise AssertionError(f"{error}\n{said}") from error
    finally:
        bed.clean()
        take("configmap", "slurm-conf")
        take("pvc", "state")


def host_tables():
    """The host's nftables, by the sandbox's nft."""
    return bed.run(str((bed.SANDBOX / "nftables/nft").resolve()), "list", "tables")


def links():
    name = f"sbx-{(bed.SANDBOX / 'port').read_text().strip()}"
    return [path.name for path in pathlib.Path("/sys/class/net").iterdir()
            if path.name.startswith(name)]


@last_case
def host_stays():
    """neither while it is up nor after `down` has the host a table or a sysctl of the
    sandbox's; `down` leaves no interface"""
    for when in ("while it is up", "after down"):
        tables = host_tables()
        check(not re.search(r"kube-proxy|sandbox", tables), f"{when}: {tables}")
        equal(FORWARD.read_text(), forwarded, f"ip_forward {when}")
        if when == "while it is up":
            check(links(), "its bridge has another name")
            done = subprocess.run([TOP / "contribs/sandbox/down"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            equal(done.returncode, 0, done.stdout)
    equal(links(), [], "interfaces after down")


run(after_failure=bed.last_words)
