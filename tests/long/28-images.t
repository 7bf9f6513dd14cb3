#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The container images: makes them, looks into them, and runs them as Pods of the
real node: slurmd as a dynamic node of the sandbox's slurmctld, and a slurmctld of
its own with a worker. Takes the packages in $IMAGES_PACKAGES, or those that
25-packages.t has left in $SANDBOX/packages, or makes them.
IMAGES_BUILD=no takes the images that are in $SANDBOX/oci."""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))
import bed
import oci
import real_nodes
import slurmctld
import slurmd_pods
from slurmd_pods import KEY
from tap import Skip, case, check, equal, run, wait_for

IMAGES = ("slurmctld", "slurmd", "slurmdbd", "slurmk8sd", "slurmk8s-operator")
# Of each the port that it names, its user, and its arguments.
SAY = {"slurmctld": (["6817/tcp"], 64030, ["-D"]),
       "slurmd": (["6818/tcp"], 0, ["-D"]),
       "slurmdbd": (["6819/tcp"], 64030, ["-D"]),
       "slurmk8sd": ([], 64030, []),
       "slurmk8s-operator": (["6830/tcp"], 65532, [])}
BUILD = bed.TOP / "contribs/images/build"
MADE = bed.SANDBOX / "oci"
LABEL = "org.opencontainers.image."
NOT_ROOT = 64030   # Debian's user slurm
# What slurmd needs to become the user of a job, give him files and end him.
CAPABILITIES = ["SETUID", "SETGID", "CHOWN", "KILL"]
PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[\w+/=]{20}")


def packages():
    """The folder with the Debian packages; None: nobody has made them."""
    folder = pathlib.Path(os.environ.get("IMAGES_PACKAGES",
                                         bed.SANDBOX / "packages"))
    return folder if list(folder.glob("slurmk8sd_*.deb")) else None


def build(*words):
    done = subprocess.run([BUILD, *words], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    equal(done.returncode, 0, done.stdout[-4000:])
    return done.stdout


def given():
    """What build is told about packages."""
    return ["--packages", str(packages())] if packages() else []


_images = {}


def image(name):
    if name not in _images:
        _images[name] = oci.Image(MADE / f"{name}.oci.tar")
    return _images[name]


def installed(name):
    """Version by package, as dpkg has it in the image."""
    text = image(name).members()["/var/lib/dpkg/status"][1].decode()
    found = {}
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", block, re.M))
        if fields:
            equal(fields["Status"], "install ok installed", fields["Package"])
            found[fields["Package"]] = fields["Version"]
    return found


@case
def makes():
    """all images are made"""
    if os.environ.get("IMAGES_BUILD") != "no":
        said = build(*given())
        for name in IMAGES:
            check(f"{MADE}/{name}.oci.tar localhost/slurm-k8s-bridge/{name}:"
                  in said, said)


@case
def valid():
    """each archive is an OCI image with right digests and sizes; its configuration
    says how it is to be run; the first layer is the same in all"""
    for name in IMAGES:
        made = image(name)
        config = made.config["config"]
        equal((made.config["os"], made.config["architecture"]), ("linux", "amd64"),
              name)
        ports, user, arguments = SAY[name]
        equal((config["Entrypoint"], config.get("Cmd") or []),
              ([f"/usr/sbin/{name}"], arguments), name)
        equal(config["StopSignal"], "SIGTERM", name)
        equal(config["User"], f"{user}:{user}", name)
        equal(list(config.get("ExposedPorts") or []), ports, name)
        equal(len(made.layers), 2, f"layers of {name}")
        equal(made.layers[0], image(IMAGES[0]).layers[0], "the first layer")
        version = config["Labels"][LABEL + "version"]
        check(re.fullmatch(r"[0-9.]+[^ ]*\+slurm26\.05\.\d+", version), version)
        equal(made.reference, f"localhost/slurm-k8s-bridge/{name}:"
              f"{version.replace('+', '-')}", "reference")
        equal(config["Labels"][LABEL + "licenses"], "GPL-2.0-or-later", name)
        equal(config["Labels"][LABEL + "created"], made.config["created"], name)
        check(name in config["Labels"][LABEL + "title"], config)
        equal(made.manifest["annotations"], config["Labels"], name)
        size = sum(layer["size"] for layer in made.layers) >> 20
        check(size < 60, f"{name} has {size} MiB")


@case
def versions():
    """the packages are those that were made, and all of Slurm is of the release
    for which they were"""
    equal(set(_recipe_packages()), set(IMAGES), "images")
    for name, wanted in _recipe_packages().items():
        there = installed(name)
        equal(set(wanted) - set(there), set(), f"not in {name}")
        label = image(name).config["config"]["Labels"][LABEL + "version"]
        version, _, slurm = label.partition("+slurm")
        for package, has in there.items():
            if package.startswith(("slurm-k8s-plugins", "slurm-k8s-spank")):
                equal(has, label, package)
            elif package.startswith("slurmk8s"):
                equal(has, version, package)
            elif package.startswith(("slurm", "libslurm")):
                check(has.startswith(slurm + "-"), f"{package} {has}")


def _recipe_packages():
    return {name: words.split() for name, words in
            (line.split(": ") for line in build("--list").splitlines())}


@case
def nothing_foreign():
    """no mirror, no key, nothing of the machine that made them, also not in a
    layer where a later one hides it"""
    sources = bed.inside("cat", "/etc/apt/sources.list")
    hosts = set(re.findall(r"//([^/\s]+)/", sources))
    check(hosts, "no host in the sandbox's sources.list")
    secrets = ("/etc/munge/munge.key", "/etc/slurm/slurm.key", "/etc/slurm/jwt.key",
               "/etc/apt/sources.list", "/etc/ssh", "/var/lib/slurmk8s/token")
    for name in IMAGES:
        for path, data in image(name).files():
            # Programs of Debian's know its mirror, too.
            words = [str(bed.SANDBOX), str(bed.TOP)]
            words += hosts if path.startswith(("/etc/", "/var/")) else []
            words += ["Check-Valid", "Proxy"] if path.startswith("/etc/") else []
            equal([word for word in words if word.encode() in data], [],
                  f"in {path} of {name}")
            check(not PRIVATE_KEY.search(data), f"a key in {path} of {name}")
        members = image(name).members()
        equal([path for path, (member, _) in members.items() if member.isfile()
               and (path.startswith(secrets) or
                    path.endswith((".key", ".pem", ".token")))], [], name)
        for path, (_, data) in members.items():
            if path in ("/etc/machine-id", "/etc/hostname", "/etc/resolv.conf"):
                check(data in (b"", b"uninitialized\n"), f"{name}: {path} {data!r}")
        shadow = members["/etc/shadow"][1].decode().split()
        equal([line for line in shadow if line.split(":")[1] not in ("*", "!", "!*")],
              [], f"passwords in {name}")


@case
def small():
    """no manual page, no translation, no documentation but licences; who owns what
    the daemon writes"""
    for name in IMAGES:
        members = image(name).members()
        equal([path for path, (member, _) in members.items()
               if re.match(r"/usr/share/(man|locale|info|doc)/", path) and
               member.isfile() and not path.endswith("/copyright")],
              [], f"documentation in {name}")
        licences = [p for p in members if p.endswith("/copyright")]
        check(len(licences) > 50, f"{name}: {len(licences)} licences")
    owned = image("slurmctld").members()
    for path in ("/run/slurmctld", "/run/slurmk8s", "/var/spool/slurmctld",
                 "/var/lib/slurmk8s"):
        member, _ = owned[path]
        equal((member.uid, member.gid, member.mode & 0o777),
              (NOT_ROOT, NOT_ROOT, 0o755), path)
    check("extrausers" in owned["/etc/nsswitch.conf"][1].decode(), "nsswitch.conf")
    equal([path for name, word in (("slurmk8s-operator", "/libslurm"),
                                   ("slurmk8sd", "/usr/sbin/slurmctld"))
           for path in image(name).members() if word in path], [], "of Slurm")


@case
def reproducible():
    """the same packages make the same image, to the byte"""
    if os.environ.get("IMAGES_BUILD") == "no":
        raise Skip("IMAGES_BUILD=no")
    again = bed.SANDBOX / "oci-again"
    try:
        build(*given(), "--output", str(again), "slurmd")
        equal((again / "slurmd.oci.tar").read_bytes() ==
              (MADE / "slurmd.oci.tar").read_bytes(), True,
              f"{image('slurmd').digest} and "
              f"{oci.Image(again / 'slurmd.oci.tar').digest} are the same")
    finally:
        for path in again.glob("*"):
            path.unlink()
        again.rmdir()


# ---- as Pods of the real node

def ours():
    """Skips what needs a real node; gives it all images."""
    real_nodes.need_one()
    for name in IMAGES:
        equal(bed.ctl("import", str(MADE / f"{name}.oci.tar")).strip(),
              image(name).reference, "what ctl import says")


def give(kind, name, data):
    bed.api("POST", f"/api/v1/namespaces/{bed.NAMESPACE}/{kind}", {
        "apiVersion": "v1", "kind": "Secret" if kind == "secrets" else "ConfigMap",
        "metadata": {"name": name},
        "stringData" if kind == "secrets" else "data": data})


def take(kind, name):
    bed.run("kubectl", "delete", "--ignore-not-found", "-n", bed.NAMESPACE, kind,
            name)


def body_of(name, kind, arguments, sources, **spec):
    """A Pod of image kind, without any right in the cluster."""
    container = {
        "name": "main", "image": image(kind).reference, "args": arguments,
        "imagePullPolicy": "Never",
        "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False,
                            "seccompProfile": {"type": "RuntimeDefault"},
                            "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "etc", "mountPath": "/etc/slurm"}]}
    if kind == "slurmd":
        container["securityContext"]["capabilities"]["add"] = CAPABILITIES
    else:
        container["securityContext"]["runAsNonRoot"] = True
    return bed.pod(name, real=True, containers=[container],
                   automountServiceAccountToken=False, enableServiceLinks=False,
                   volumes=[{"name": "etc", "projected": {"sources": sources}}],
                   **spec)


def key_source(mode=0o400):
    return {"secret": {"name": KEY, "items": [
        {"key": "slurm.key", "path": "slurm.key", "mode": mode}]}}


def worker(name, server, feature, **spec):
    """A slurmd that gets everything but the key from the slurmctld at server."""
    return body_of(name, "slurmd", [
        "-D", "-Z", "--conf-server", server, "--conf",
        f"Feature={feature} CPUs=1 RealMemory=100"], [key_source()],
        shareProcessNamespace=True, **spec)


def execute(pod, *command):
    return bed.run("kubectl", "exec", "-n", bed.NAMESPACE, pod, "--", *command)


def pod_log(name):
    return bed.run("kubectl", "logs", "-n", bed.NAMESPACE, name, check=False)


@contextlib.contextmanager
def pods_with_key(*names):
    """The Secret, for Pods of these names. Neither is left at the end, and what the
    Pods said is in the words of a failure."""
    try:
        slurmd_pods.make_key()
        yield
    except AssertionError as error:
        said = "\n".join(map(pod_log, names))
        raise AssertionError(f"{error}\n{said}") from error
    finally:
        for name in names:
            if bed.get(name):
                bed.delete(name, grace=1)
                bed.wait_gone(name)
        take("secret", KEY)


def until_running(name):
    wait_for(f"{name} to be started", lambda: bed.get(name)["status"].get("phase")
             not in (None, "Pending"), 60)
    pod = bed.get(name)
    equal(pod["status"]["phase"], "Running", f"{name}, which said {pod_log(name)}")
    return pod


def address_of_bridge():
    node = bed.api("GET", "/api/v1/nodes/real1")
    (address,) = [a["address"] for a in node["status"]["addresses"]
                  if a["type"] == "InternalIP"]
    return address


def for_workers(conf):
    """slurm.conf with a slurmctld that Pods reach, and a partition for them."""
    conf = re.sub(r"^(SlurmctldHost=\w+)\([^)]*\)", rf"\1({address_of_bridge()})",
                  conf, count=1, flags=re.M)
    conf = re.sub(r"^CommunicationParameters=.*",
                  "CommunicationParameters=host_unreach_retry_count=1", conf,
                  flags=re.M)
    return slurmd_pods.with_workers(conf)


def node_is_idle(name):
    return bed.run("sinfo", "-hn", name, "-o", "%t", check=False).split()[:1] == [
        "idle"]


@contextlib.contextmanager
def no_worker_left():
    """Its Pod is gone without slurmctld having heard of it."""
    try:
        yield
    finally:
        wait_for("Slurm to delete the node", lambda: "worker-0" not in bed.run(
            "scontrol", "delete", "nodename=worker-0", check=False) and
            "worker-0" not in bed.run("sinfo", "-hN", "-o", "%N"))


@case
def external():
    """slurmd in a Pod without privileges registers as a dynamic node of the
    sandbox's slurmctld, from which it gets its configuration, and runs jobs"""
    ours()
    bed.clean()
    port = slurmd_pods.slurmctld_port()
    with slurmctld.changed_conf(for_workers), no_worker_left(), \
            pods_with_key("worker-0"):
        bed.create(worker("worker-0", f"{address_of_bridge()}:{port}", "w"))
        pod = until_running("worker-0")
        wait_for("the node to be idle", lambda: node_is_idle("worker-0"), 60)
        shown = json.loads(bed.run("scontrol", "show", "node", "worker-0",
                                   "--json"))["nodes"][0]
        equal((shown["address"], shown["cpus"], shown["real_memory"]),
              (pod["status"]["podIP"], 1, 100), "the node")
        check("DYNAMIC_NORM" in shown["state"], shown["state"])
        srun = ["srun", "-p", "workers", "-D", "/tmp"]
        equal(bed.run(*srun, "hostname", user="alice").strip(), "worker-0",
              "srun hostname")
        equal(bed.run(*srun, "id", "-u", user="alice").strip(), "1001", "id")
        out = bed.run("sbatch", "-W", "-p", "workers", "-D", "/tmp", "-o",
                      "/tmp/out", "--wrap", "srun hostname", user="alice")
        check("Submitted" in out, out)
        equal(execute("worker-0", "cat", "/tmp/out").strip(), "worker-0",
              "srun in a batch job")
        execute("worker-0", "sh", "-c", "echo dora:x:1004:1004::/:/bin/sh > "
                "/var/lib/extrausers/passwd")
        equal(bed.run(*srun, "id", "-u", "dora", user="alice").strip(), "1004",
              "a user from a file")


# slurmctld loads all of our plugins, without an agent beside it.
CONF = slurmd_pods.own_conf(
    "controller-0", "SelectTypeParameters=CR_Core_Memory", "JobSubmitPlugins=k8s",
    "PrEpPlugins=prep/k8s", "BurstBufferType=burst_buffer/k8s")
SERVICE = {"apiVersion": "v1", "kind": "Service",
           "metadata": {"name": "controller-0"},
           "spec": {"clusterIP": "None", "publishNotReadyAddresses": True,
                    "selector": {"test": "controller"}, "ports": [{"port": 6817}]}}


@contextlib.contextmanager
def slurm_conf_and_service():
    try:
        give("configmaps", "slurm-conf", {"slurm.conf": CONF,
                                          "cgroup.conf": "CgroupPlugin=disabled\n"})
        bed.api("POST", f"/api/v1/namespaces/{bed.NAMESPACE}/services", SERVICE)
        yield
    finally:
        take("configmap", "slurm-conf")
        take("service", "controller-0")


@case
def inside():
    """slurmctld in a Pod, not as root, starts with the slurm.conf that it is given
    and our plugins; the agent and the commands are there; a slurmd in a Pod
    registers there, and jobs run"""
    ours()
    bed.clean()
    with slurm_conf_and_service(), pods_with_key("worker-0", "controller-0"):
        body = body_of("controller-0", "slurmctld", ["-D", "-i"],
                       [key_source(0o440), {"configMap": {"name": "slurm-conf"}}],
                       securityContext={"fsGroup": NOT_ROOT})
        body["metadata"]["labels"] = {"test": "controller"}
        bed.create(body)
        until_running("controller-0")
        wait_for("slurmctld to serve", lambda: "is UP" in bed.run(
            "kubectl", "exec", "-n", bed.NAMESPACE, "controller-0", "--",
            "scontrol", "ping", check=False), 60)
        equal(execute("controller-0", "id", "-u").strip(), str(NOT_ROOT), "id")
        version = installed("slurmctld")["slurmk8s"].partition("-")[0]
        for command in ("slurmk8s", "slurmk8sd"):
            said = execute("controller-0", command, "--version")
            check(version in said, said)
        bed.create(worker("worker-0", "controller-0:6817", "w"))
        until_running("worker-0")
        wait_for("the worker to be idle", lambda: execute(
            "controller-0", "sinfo", "-h", "-o", "%t %D").strip() == "idle 1", 60)
        equal(execute("controller-0", "srun", "-D", "/tmp", "hostname").strip(),
              "worker-0", "srun hostname")


@case
def accounting():
    """slurmdbd in a Pod, not as root, starts and asks for its database"""
    ours()
    bed.clean()
    conf = ("DbdHost=localhost", "AuthType=auth/slurm", "SlurmUser=slurm",
            "PidFile=/run/slurmdbd/slurmdbd.pid", "StorageHost=127.0.0.1",
            "StorageType=accounting_storage/mysql")
    body = body_of("dbd", "slurmdbd", [], [key_source(0o440)],
                   securityContext={"fsGroup": NOT_ROOT})
    # slurmdbd takes the file only from its own user, who cannot own what a
    # volume has.
    (container,) = body["spec"]["containers"]
    container["command"] = ["sh", "-ec", f"""
        umask 077
        printf '%s\\n' {' '.join(conf)} > /etc/slurm/slurmdbd.conf
        exec slurmdbd -D"""]
    container["volumeMounts"] = [
        {"name": "etc", "mountPath": "/etc/slurm"},
        {"name": "key", "mountPath": "/etc/slurm/slurm.key",
         "subPath": "slurm.key"}]
    (volume,) = body["spec"]["volumes"]
    body["spec"]["volumes"] = [{**volume, "name": "key"},
                               {"name": "etc", "emptyDir": {}}]
    with pods_with_key("dbd"):
        bed.create(body)
        wait_for("slurmdbd to ask", lambda: "mysql_real_connect failed" in
                 pod_log("dbd"), 60)


run(after_failure=bed.last_words)
