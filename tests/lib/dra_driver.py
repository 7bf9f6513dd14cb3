# SPDX-License-Identifier: GPL-2.0-or-later
"""The real DRA driver on the sandbox's real node, and what containers see of
its devices. The driver is no part of this repository: see controllers.py."""
import re

import bed
import claims
import controllers
import devices
import hybrid
import real_nodes
from tap import wait_for

NODE = real_nodes.FIRST
DRIVER = "gpu.example.com"
PROGRAM = "dra-example-kubeletplugin"
FILE = bed.SANDBOX / "dra-driver"
# Says its environment, and ends by `kill 1` or when it is deleted.
COMMAND = "env; echo that is all; trap 'exit 0' TERM; sleep 3600 & wait"


def why_missing():
    """Why there can be none here; "": there can."""
    if why := real_nodes.why_missing():
        return why
    if hybrid.is_up():
        return f"{NODE} has a slurmd, and the GRES of its gres.conf"
    return controllers.why_missing(PROGRAM)


def start():
    """As `up` does. It serves when this returns; its slice may take longer."""
    controllers.unpack(PROGRAM, FILE)
    bed.ctl("start", "dra-driver")


def kill():
    bed.ctl("kill", "dra-driver")


def stop():
    """With its slices, which the kubelet would delete after 30 seconds."""
    bed.ctl("stop", "dra-driver")
    withdraw()


def uninstall():
    FILE.unlink(missing_ok=True)
    stop()


def published():
    """Whether the node's slices are those of the driver that runs."""
    there = slices()
    return there and all(s["metadata"].get("ownerReferences") for s in there)


def slices():
    return [s for s in bed.api("GET", f"{devices.API}/resourceslices")["items"]
            if s["spec"]["driver"] == DRIVER and
            s["spec"].get("nodeName") == NODE]


def withdraw():
    for one in slices():
        devices.drop("resourceslices", one["metadata"]["name"])


# ---- Pods


def use(body, container, **entry):
    """The container gets the devices of this entry of resourceClaims."""
    body["spec"]["containers"][container]["resources"] \
        .setdefault("claims", []).append(entry)


def pod(name, spec, **more):
    """The body of a Pod of which the first container gets all devices."""
    body = bed.pod(name, real=True, cpu="100m", command=COMMAND, **spec, **more)
    for entry in spec["resourceClaims"]:
        use(body, 0, name=entry["name"])
    return body


def environment(name, container="main"):
    """{variable: value}, as soon as the container has said it."""
    def said():
        # There is no log before there is a container.
        text = bed.run("kubectl", "logs", "-n", bed.NAMESPACE, name, "-c",
                       container, check=False)
        return text if "that is all\n" in text else None
    text = wait_for(f"container {container} of {name} to say its environment",
                    said, 60, every=0.2)
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def devices_seen(name, container="main"):
    """By the container: "gpu-0 gpu-2"."""
    return " ".join(sorted(
        value for variable, value in environment(name, container).items()
        if re.fullmatch(r"GPU_DEVICE_\d+", variable)))


def end(name):
    """Its container ends by itself, with exit code 0."""
    # What has killed it may be killed with it.
    bed.run("kubectl", "exec", "-n", bed.NAMESPACE, name, "--", "sh", "-c",
            "kill 1", check=False)


# ---- What Slurm says


def gres_of(name):
    """Of the Pod's job, as people read it: "gpu:solo:1(IDX:2)"; "": none."""
    job = bed.job_of(name)["job_id"]
    shown = bed.run("scontrol", "show", "job", "-d", str(job))
    return " ".join(re.findall(r"^ +Nodes=.* GRES=(\S*)$", shown, re.M))


def devices_of_job(name):
    """Those of its indexes: "gpu-0 gpu-2"."""
    names = devices.indexes(NODE).split()
    return " ".join(sorted(names[i]
                           for i in devices.gres_indexes(gres_of(name))))


def indexes_in_use():
    return devices.gres_indexes(devices.slurm_node(NODE)["gres_used"])


def devices_claimed(name=""):
    """Those of the Pod's claims, or of all: "gpu-0 gpu-2"."""
    uid = name and bed.get(name)["metadata"]["uid"]
    return " ".join(sorted(
        device for made in claims.all_claims()
        for device in claims.devices_in(made).split()
        if not name or uid in claims.consumer_uids(made)))
