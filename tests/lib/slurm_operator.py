# SPDX-License-Identifier: GPL-2.0-or-later
"""SlinkyProject's slurm-operator in a sandbox: the real one, from the Go module
proxy, as a process with an administrator's rights. Its cluster runs on our images,
since its own are not to be had: a ConfigMap says that the user slurm has the uid
which they give it, and slurmd is started as their entrypoint does."""
import atexit
import json
import os
import pathlib
import signal
import subprocess

import bed
import sandbox_cache
import slinky

UID = 401  # of slurm in its images
PORT = 30  # of its health page, beyond the sandbox's first port


def _directory():
    return pathlib.Path(sandbox_cache.built("cache_slurm_operator")[0])


def define():
    """Its definitions, as `helm install slurm-operator-crds` makes them."""
    slinky.define("--force-conflicts", "--field-manager", "helm", "-f",
                  str(_directory() / "crds"))


class SlurmOperator:
    def __init__(self):
        port = int((bed.SANDBOX / "port").read_text()) + PORT
        self.log = bed.SANDBOX / "log" / "slurm-operator.log"
        self.command = [_directory() / "manager", "--metrics-addr", "0", "--health-addr",
                        f"127.0.0.1:{port}"]
        self.process = None
        atexit.register(self.stop)

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL,
                                            env=os.environ)
        return self

    def stop(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)
        self.process = None


# ---- What a site has on top of the manifests, so that they run on our images

USERS = "users"  # a ConfigMap


def _passwd():
    lines = bed.inside("cat", "/etc/passwd").splitlines()
    kept = [line for line in lines if int(line.split(":")[2]) < 100 or
            line.startswith("nobody:")]
    return "\n".join([*kept, f"slurm:x:{UID}:{UID}::/:/usr/sbin/nologin", ""])


def users():
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": USERS},
            "data": {"passwd": _passwd(), "group": f"root:x:0:\nslurm:x:{UID}:\n"}}


# No cgroups, as our images need it in this sandbox.
EXTRA = ("ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
         "JobAcctGatherType=jobacct_gather/none")
FILES = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "files"},
         "data": {"cgroup.conf": "CgroupPlugin=disabled\n"}}
MOUNTS = [{"name": USERS, "mountPath": f"/etc/{file}", "subPath": file}
          for file in ("passwd", "group")]
VOLUMES = [{"name": USERS, "configMap": {"name": USERS}}]
# It quotes what follows --conf for a shell.
SLURMD = ["/bin/sh", "-c", 'eval exec slurmd -D "$*"', "slurmd"]


def for_our_images(item):
    """An object of the manifest, for slurm-operator."""
    spec = item.get("spec", {})
    if item["kind"] == "Controller":
        spec["slurmctld"]["volumeMounts"] = MOUNTS
        spec["template"]["spec"]["volumes"] = VOLUMES
        spec["extraConf"] = "\n".join((spec["extraConf"], *EXTRA))
        spec["configFileRefs"] = [{"name": "files"}]
        spec["reconfigure"]["command"] = ["sleep", "infinity"]  # it calls bash
    if item["kind"] == "NodeSet":
        spec["controllerRef"]["namespace"] = "slurm"  # as this release wants it
        spec["slurmd"].update(command=SLURMD, volumeMounts=MOUNTS, resources={
            "requests": {"cpu": "300m", "memory": "200Mi"}})
        spec["template"]["spec"]["volumes"] = VOLUMES
    return item


def apply(items):
    """What its release does not know is left out, as kubectl warns."""
    bed.run("kubectl", "apply", "--validate=false", "-f", "-", stdin=json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": items}))
