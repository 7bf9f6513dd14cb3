# SPDX-License-Identifier: GPL-2.0-or-later
"""What sacct should say of the job of a Pod that is over."""

# Slurm, or somebody who asked it to, may have ended the job in the moment in
# which the Pod ended: no agent can make these words, but for its own number. A
# slurmctld that is restarted meanwhile forgets who it was.
SLURMS_OWN = ("CANCELLED", "TIMEOUT", "PREEMPTED", "DEADLINE", "NODE_FAIL",
              "BOOT_FAIL")
# slurmdbd keeps these of a job that slurmctld lost in a crash ("runaway").
LOST = ("RUNNING", "PENDING", "SUSPENDED")
OOM = "OUT_OF_MEMORY"
# A crash set the job back to pending, and its Pod ended: Slurm gives such a job
# no exit code.
ALLOCATION_LOST = "slurmctld lost the allocation in a crash"
# Its Pod used devices that another job counted, and that one has ended.
UNCOUNTED = "which counted the devices of the shared ResourceClaim"
CANCELLED_BY_US = "its job is CANCELLED by the agent"
UNKNOWN = "sacct knows no job with its SLUID"


def wrong(pod, accounted, slurm_user):
    """Why the end does not fit, or "". accounted: (state, exit code, comment) as
    sacct prints them; None where it has no such job. slurm_user: the number as which
    the agent cancels jobs."""
    if accounted is None:
        return UNKNOWN
    state, code, comment = accounted
    by_the_agent = state == f"CANCELLED by {slurm_user}"
    if state in LOST or state.startswith(SLURMS_OWN) and not by_the_agent:
        return ""
    if by_the_agent and ("deletionTimestamp" in pod["metadata"] or
                         comment.startswith(ALLOCATION_LOST) or
                         UNCOUNTED in comment):
        return ""
    allowed = _allowed(pod)
    if (state, code) in allowed or (state, None) in allowed:
        return ""
    wanted = " or ".join(" ".join(filter(None, end)) for end in allowed)
    said = CANCELLED_BY_US if by_the_agent else f"its job is {state}"
    return f"{_words(pod)}, {said} {code}, not {wanted}"


def _ends(pod):
    """What became of its containers, those of init first."""
    status = pod["status"]
    for kind in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(kind, []):
            yield container.get("state", {}).get("terminated") or {}


def _failing(pod):
    """How its first failing container ended, or {}."""
    return next((end for end in _ends(pod) if end.get("exitCode")), {})


def _of_sbatch(pod):
    return "slurmk8s/sbatch" in pod["metadata"].get("annotations", {})


def _allowed(pod):
    """The (state, exit code) that its job may have; no exit code: any."""
    if _of_sbatch(pod) and any(e.get("reason") == "OOMKilled"
                               for e in _ends(pod)):
        return [(OOM, None)]  # as slurmd has it, whatever the script did then
    if pod["status"]["phase"] == "Succeeded":
        return [("COMPLETED", "0:0")]
    end = _failing(pod)
    if pod["status"].get("reason"):  # its kubelet ended it, or refused it
        return [("FAILED", None), (OOM, None)]
    if end.get("reason") == "OOMKilled":
        return [(OOM, None)]
    if end.get("signal"):
        return [("FAILED", f"0:{end['signal']}")]
    if end:
        return [("FAILED", f"{end['exitCode']}:0")]
    return [("FAILED", None)]


def _words(pod):
    end = _failing(pod)
    why = pod["status"].get("reason") or end.get("reason", "")
    return (f"it is {pod['status']['phase']} {why} with exit code "
            f"{end.get('exitCode', 0)}")
