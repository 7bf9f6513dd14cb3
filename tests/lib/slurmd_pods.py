# SPDX-License-Identifier: GPL-2.0-or-later
"""What slurmd and slurmctld in Pods need of the sandbox: its key, the way to its
slurmctld, a partition, and a slurm.conf of their own."""
import re

import bed
import slurmctld

KEY = "slurm-key"  # the Secret
PARTITION, FEATURE = "workers", "w"
_NODES = f"NodeSet={FEATURE} Feature={FEATURE}\n" \
         f"PartitionName={PARTITION} Nodes={FEATURE}"


def make_key(namespace=bed.NAMESPACE):
    """The Secret with slurm.key, which is not text."""
    encoded = bed.inside("base64", "-w0", "/etc/slurm/slurm.key").strip()
    bed.api("POST", f"/api/v1/namespaces/{namespace}/secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": KEY},
        "data": {"slurm.key": encoded}})


def with_workers(conf):
    """The sandbox's slurm.conf with a partition for them."""
    return f"{conf}\n{_NODES}\n"


def slurmctld_port():
    return int(re.search(r"^SlurmctldPort=(\d+)",
                         bed.inside("cat", slurmctld.CONF), re.M).group(1))


def slurmctld_address():
    """Where the sandbox of `up --operator` has its slurmctld."""
    return re.search(r"^SlurmctldHost=\w+\(([\d.]+)\)",
                     bed.inside("cat", slurmctld.CONF), re.M).group(1)


def own_conf(host, *more):
    """slurm.conf of a slurmctld in a Pod, which is at host."""
    return "\n".join((
        "ClusterName=inside", f"SlurmctldHost={host}", "SlurmUser=slurm",
        "AuthType=auth/slurm", "CredType=cred/slurm",
        "StateSaveLocation=/var/spool/slurmctld",
        "SlurmctldPidFile=/run/slurmctld/slurmctld.pid",
        "SlurmctldParameters=enable_configless",
        "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
        "MpiDefault=none", "JobAcctGatherType=jobacct_gather/none",
        "SelectType=select/cons_tres", *more, "MaxNodeCount=16",
        f"{_NODES} Default=YES", ""))
