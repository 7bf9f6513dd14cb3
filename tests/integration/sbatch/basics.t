#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image: a batch job of Slurm runs as a Pod, as the user who has
submitted it."""
import base64
import contextlib
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import agent_conf
import bed
import faults
import real_nodes
import slurmctld
from batch import (IMAGE, NS, SCRIPT, SCRIPTS, clear, drop_files, end, files, job,
                   pod_of, pods_of, sbatch, secret, submit, variables_of, wait_running,
                   wait_state)
from tap import case, check, equal, run, wait_for


def refused(*options, **more):
    """What sbatch says of a job that is not taken; nothing stays of it."""
    before = files()
    said = sbatch(*options, check=False, **more)
    check("Submitted" not in said, said)
    equal(files(), before, "files of scripts")
    return said


def wait_nothing_left(pod):
    wait_for("the Secret to be gone", lambda: secret(pod) is None)
    wait_for("the script's file to be gone", lambda: not files())


def before_each():
    clear("alice")
    wait_for("the scripts' files to be gone", lambda: not files(), 60)


@case
def help_text():
    """sbatch --help shows the option"""
    shown = bed.run("sbatch", "--help", user="alice")

    check("--k8s-image=image" in shown, shown[-400:])


@case
def runs_as_a_pod():
    """a batch job waits in Slurm, gets its Pod on its node when it has one, and
    looks ordinary"""
    number = submit("-J", "mine", "-c", "2", "--mem=200")

    pod = wait_running(number)

    shown = job(number)
    equal(shown["name"], "mine", "JobName")
    equal(shown["user_name"], "alice", "user")
    equal(pod["spec"]["nodeName"], shown["nodes"], "node")
    equal(pod["metadata"]["labels"][bed.JOB_LABEL], str(number), "JobId label")
    security = pod["spec"]["securityContext"]
    equal(str(security["runAsUser"]), bed.inside("id", "-u", "alice").strip(),
          "runAsUser")
    equal(str(security["runAsGroup"]), bed.inside("id", "-g", "alice").strip(),
          "runAsGroup")
    check(security["runAsNonRoot"], "runAsNonRoot")
    container = pod["spec"]["containers"][0]
    equal(container["image"], "busybox:stable", "image")
    equal(container["resources"]["requests"], {"cpu": "2", "memory": "200Mi"},
          "requests")
    data = secret(pod)["data"]
    equal(base64.b64decode(data["script"]).decode(), SCRIPT, "script")
    variables = base64.b64decode(data["run"]).decode()
    check(f"'SLURM_JOB_ID={number}'" in variables, variables)
    check(f"'SLURM_JOB_NODELIST={shown['nodes']}'" in variables, variables)
    end(pod)
    wait_state(number, "COMPLETED")


@case
def memory_of_a_whole_node():
    """a job that is given all memory of its node gets a Pod with that as its
    limit, however slurmctld prints it"""
    number = submit("--mem=0")

    pod = wait_running(number)

    node = job(number)["nodes"]
    memory = bed.run("sinfo", "-hN", "-n", node, "-o", "%m").split()[0]
    equal(pod["spec"]["containers"][0]["resources"]["limits"]["memory"],
          f"{memory}Mi", "limit")
    bed.ctl("restart", "slurmk8sd")  # its job is read again
    end(pod)
    wait_state(number, "COMPLETED")


@case
def exit_code():
    """the Pod's exit code is the job's, also in sacct, and what was kept for it
    goes"""
    number = submit()
    pod = wait_running(number)
    equal(len(files()), 1, "files of scripts")

    end(pod, exit="7")

    wait_state(number, "FAILED")
    equal(bed.exit_of(job(number)), "7:0", "exit code")
    wait_for("sacct to have it", lambda: "FAILED|7:0" in bed.run(
        "sacct", "-nPX", "-j", str(number), "-o", "State,ExitCode"))
    wait_nothing_left(pod)
    check(pod_of(number), "its Pod stays, for its logs")


@case
def environment_variable():
    """SBATCH_K8S_IMAGE is the option's equal, and is looked at as it is"""
    said = bed.inside("env", "SBATCH_K8S_IMAGE=busybox:stable", "sbatch", "-p",
                      "kwok", "-D", "/tmp", "--wrap", "true", user="alice")
    number = int(said.split()[-1])
    end(wait_running(number))
    wait_state(number, "COMPLETED")

    said = bed.inside("env", "SBATCH_K8S_IMAGE=a b", "sbatch", "-D", "/tmp",
                      "--wrap", "true", user="alice", check=False)
    check("must be the name of an image" in said, said)
    check("Submitted" not in said, said)


@case
def refusals():
    """what cannot be is refused by sbatch, in words, and leaves no file"""
    image = "--k8s-image=busybox:stable"
    for options, words in (
            (["--k8s-image="], "must not be empty"),
            (["--k8s-image=a b"], "must be the name of an image"),
            (["--k8s-imagine=x"], "unrecognized option"),
            ([image, "-N", "2", "--no-kill"], "--no-kill"),
            ([image, "--gres=gpu:1"], "--gres"),
            ([image, "-C", "[k8s]"], "--constraint"),
            ([image, "--requeue"], "--requeue"),
            ([image, "--signal=R:USR1@60"], "--signal")):
        said = refused(*options)
        check(words in said, f"{options}: {said}")
    said = refused(image, script="#!/bin/sh\n#" + "x" * 600000 + "\n")
    check("MaxScriptSize" in said, said)
    said = refused(image, user=None)
    check("root" in said, said)


@case
def large_requests():
    """what would take long to look at is refused before it is looked at, with or
    without an image, also when a job is changed"""
    image = "--k8s-image=busybox:stable"
    volumes = ",".join(f"v{number}" for number in range(101))
    partitions = ",".join(["x"] * 50000)
    features = "&".join(["k8s"] * 25000)
    for options, words in (
            ([image, f"--k8s-volume={volumes}"], "more than 100 volumes"),
            ([image, f"--k8s-volume={volumes * 20}"], "at most 4096 characters"),
            ([image, "-p", partitions], "partition: more than 1024 characters"),
            (["-p", partitions], "partition: more than 1024 characters"),
            (["-C", features], "features: more than 1024 characters")):
        said = refused(*options)
        check(words in said, f"{options[0]}: {said[-300:]}")

    number = submit("--hold")
    said = bed.run("scontrol", "update", f"JobId={number}", f"Features={features}",
                   user="alice", check=False)
    check(said.strip(), "nothing was said")
    check("k8s&k8s&k8s" not in job(number)["features"], "features of the job")


@case
def secrecy():
    """another user reads neither the file nor the job's words"""
    number = submit(script="#!/bin/sh\n# my password\n")
    pod = wait_running(number)

    file = f"{SCRIPTS}/{files().pop()}"
    said = bed.inside("cat", file, user="bob", check=False)
    check("password" not in said, said)
    for path, mode in ((file, "600 slurm"), (SCRIPTS, "700 slurm")):
        equal(bed.inside("stat", "-c", "%a %U", path).strip(), mode,
              f"mode and owner of {path}")
    shown = bed.run("scontrol", "show", "job", str(number), user="bob")
    check("password" not in shown, shown)
    check("password" not in json.dumps(pod), "the Pod has it")
    end(pod)


@case
def environment_names_nobody():
    """whom the Pod runs as is Slurm's user, whatever the environment says"""
    said = bed.inside("env", "USER=root", "LOGNAME=root", "UID=0",
                      "SLURM_JOB_UID=0", "SLURM_JOB_USER=root", "sbatch",
                      "--k8s-image=busybox:stable", "-p", "kwok", "-D", "/tmp",
                      "--wrap", "true", user="alice")
    number = int(said.split()[-1])
    pod = wait_running(number)

    alice = bed.inside("id", "-u", "alice").strip()
    equal(str(pod["spec"]["securityContext"]["runAsUser"]), alice, "runAsUser")
    variables = variables_of(pod)
    for entry in (f"SLURM_JOB_UID={alice}", "SLURM_JOB_USER=alice"):
        check(f"'{entry}'" in variables, f"{entry} is not in {variables}")
    end(pod)


@case
def cancelled_while_it_runs():
    """scancel ends the Pod, and nothing stays but its logs"""
    number = submit()
    pod = wait_running(number)

    bed.run("scancel", str(number), user="alice")

    wait_state(number, "CANCELLED")
    wait_for("the Pod to end", lambda: pod_of(number)["status"]["phase"] ==
             "Failed")
    wait_for("the job to leave COMPLETING",
             lambda: "COMPLETING" not in job(number)["job_state"])
    wait_nothing_left(pod)


@case
def cancelled_while_it_waits():
    """a job that is cancelled while it waits never gets a Pod"""
    number = submit("--hold")
    equal(len(files()), 1, "files of scripts")

    bed.run("scancel", str(number), user="alice")

    wait_state(number, "CANCELLED")
    bed.ctl("restart", "slurmk8sd")  # it lists all jobs, as from time to time
    wait_for("the script's file to be gone", lambda: not files(), 60)
    equal(pod_of(number), None, "Pod")


@case
def agent_is_away():
    """jobs that are submitted, and get their nodes, while the agent is away run
    once it is back"""
    bed.ctl("kill", "slurmk8sd")
    numbers = [submit() for _ in range(3)]
    for number in numbers:
        wait_for(f"job {number} to have a node",
                 lambda n=number: "CONFIGURING" in job(n)["job_state"])
    bed.ctl("start", "slurmk8sd")

    for number in numbers:
        end(wait_running(number))
        wait_state(number, "COMPLETED")


@case
def killed_at_each_write():
    """kill -9 before and after each write of the agent for a batch job: one Pod,
    bound once, and nothing left"""
    known = faults.points()
    bed.ctl("kill", "slurmk8sd")
    numbers = []
    for write in ("create_pod", "put_secret", "set_tag"):
        for side in ("before", "after"):
            point = f"{write}:{side}"
            check(point in known, f"there is no fault point {point}")
            numbers.append(submit())
            faults.Fault(point).wait_dead(60)
    bed.ctl("start", "slurmk8sd")

    for number in numbers:
        pod = wait_running(number)
        equal(len(pods_of(number)), 1, f"Pods of job {number}")
        check(secret(pod), f"job {number} has no Secret")
        end(pod)
    for number in numbers:
        wait_state(number, "COMPLETED")
        wait_nothing_of(number)


def wait_nothing_of(number):
    wait_for(f"the Secret of job {number} to be gone",
             lambda: secret(pod_of(number)) is None)


@case
def killed_at_its_end():
    """kill -9 before and after the Secret goes: it goes, and so does the file"""
    for side in ("before", "after"):
        number = submit()
        pod = wait_running(number)
        bed.ctl("kill", "slurmk8sd")
        end(pod)
        faults.Fault(f"delete_secret:{side}").wait_dead(60)
        bed.ctl("start", "slurmk8sd")

        wait_state(number, "COMPLETED")
        wait_nothing_left(pod)


@case
def slurmctld_starts_anew():
    """a batch job outlives a crash of slurmctld, waiting or running"""
    running = submit()
    waiting = submit("--hold")
    pod = wait_running(running)
    slurmctld.save()

    slurmctld.restart()

    wait_for("slurmctld to be up", slurmctld.is_up)
    bed.run("scontrol", "release", str(waiting))
    for number in (running, waiting):
        end(wait_running(number))
        wait_state(number, "COMPLETED")
    equal(len([p for p in bed.pods(NS) if p["metadata"]["uid"] ==
               pod["metadata"]["uid"]]), 1, "the same Pod")


@case
def slurmctld_loses_the_allocation():
    """a crash of slurmctld that takes back a batch job's node, and what the agent
    wrote on the job, leaves its Pod running: a job of the same user adopts it, and
    the first one does not run again"""
    number = submit("--hold", "--time=7")
    slurmctld.keep_state()
    bed.run("scontrol", "release", str(number))
    pod = wait_running(number)

    slurmctld.bring_state_back()

    def adopter():
        now = pod_of(number)
        label = now["metadata"]["labels"][bed.JOB_LABEL]
        return label != str(number) and int(label)
    wait_for("slurmctld to be up", slurmctld.is_up)
    other = wait_for("the Pod to be adopted", adopter, 60)
    equal(pod_of(number)["metadata"]["uid"], pod["metadata"]["uid"], "Pod")
    equal(job(other)["user_name"], "alice", "user of the job that adopts")
    check(job(other)["time_limit"]["number"] <= 7, "its time limit is the first's")
    wait_state(number, "CANCELLED")
    equal(len(pods_of(number)), 1, "Pods")
    end(pod, exit="7")
    wait_state(other, "FAILED")
    equal(bed.exit_of(job(other)), "7:0", "exit code")
    wait_nothing_left(pod)


@case
def without_its_script():
    """a job whose file is gone for two minutes fails, and its comment says why"""
    number = submit("--hold")
    bed.inside("rm", f"{SCRIPTS}/{files().pop()}")

    bed.run("scontrol", "release", str(number))

    wait_state(number, "FAILED", 150)
    check("its script is no longer there" in job(number)["comment"],
          job(number)["comment"])


@case
def full_file_system():
    """where bytes or inodes for scripts run out, a job with an image is refused with
    a sentence, before slurmctld's own state has no room"""
    for limit, fill in (("size=1m", f"head -c 950000 /dev/zero > {SCRIPTS}/x"),
                        ("nr_inodes=20", f"cd {SCRIPTS} && touch $(seq 18)")):
        bed.inside("sh", "-c", f"mount -t tmpfs -o {limit},mode=700,uid=$(id -u slurm) "
                   f"tmpfs {SCRIPTS} && {fill}")
        try:
            wait_for("a refusal", lambda: "slurmctld cannot store the script: see its "
                     "log. Try again later." in sbatch(IMAGE, check=False))
            check("almost full" in bed.log("slurmctld"), "it is in the log")
        finally:
            bed.inside("umount", SCRIPTS)
            drop_files()
        wait_for("jobs to be taken again", lambda: "Submitted" in
                 sbatch(IMAGE, "--hold", check=False))
        bed.run("scancel", "-u", "alice")


POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
BIND_TIMEOUT = 10


def quick_to_fail():
    return agent_conf.changed(
        lambda text: f"{text}\nBindTimeout={BIND_TIMEOUT}\n")


@contextlib.contextmanager
def policy(expression):
    """A site's own: Pods must be so, or are refused with "not at this site"."""
    name = "sbatch-test"
    admission.make(POLICIES + "ies", {"metadata": {"name": name}, "spec": {
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {
                "kubernetes.io/metadata.name": NS}},
            "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"],
                "operations": ["CREATE"], "resources": ["pods"]}]},
        "validations": [{"expression": expression,
                         "message": "not at this site"}]}})
    admission.make(POLICIES + "ybindings", {"metadata": {"name": name}, "spec": {
        "policyName": name, "validationActions": ["Deny"]}})
    try:
        wait_for("the policy to act", lambda: is_refused(REFUSED))
        yield
    finally:
        for kind in ("ybindings", "ies"):
            bed.api("DELETE", f"{POLICIES}{kind}/{name}")
        wait_for("the policy to act no more", lambda: not is_refused(REFUSED))


REFUSED = "refused.example.com/app:1"


def is_refused(image):
    body = bed.pod("tried", namespace=NS)
    body["spec"]["containers"][0]["image"] = image
    try:
        admission.As(None).create(admission.pods_path(ns=NS), body)
    except bed.ApiError as error:
        return "not at this site" in error.message
    return False


@case
def one_pod_is_refused():
    """a job whose Pod the API server goes on to refuse fails after BindTimeout, with
    the API server's words, while no other job is submitted"""
    with quick_to_fail(), policy(
            f"object.spec.containers.all(c, c.image != '{REFUSED}')"):
        other = submit()
        pod = wait_running(other)
        began = time.monotonic()

        number = int(sbatch(f"--k8s-image={REFUSED}").split()[-1])

        wait_state(number, "CONFIGURING")
        wait_state(number, "FAILED")
        took = time.monotonic() - began
        check(took > BIND_TIMEOUT, f"it failed after {took} s")
        equal(bed.exit_of(job(number)), "1:0", "exit code")
        comment = job(number)["comment"]
        check("no Pod could be made" in comment and "not at this site" in
              comment, comment)
        equal(pod_of(number), None, "Pod")
        equal(bed.status()["problems"], {}, "problems")
        equal(len(pods_of(other)), 1, "Pods of the other job")
        end(pod)
        wait_state(other, "COMPLETED")


@case
def all_pods_are_refused():
    """where the API server refuses what it took before, jobs wait longer than
    BindTimeout, slurmk8s status says why, and they run once it takes them"""
    with quick_to_fail():
        other = submit()
        pod = wait_running(other)
        with policy("false"):
            number = submit()
            said = wait_for("the problem", lambda: bed.status()["problems"], 60)
            check("not at this site" in said.get("Pods of batch jobs", ""), said)
            check("CONFIGURING" in job(number)["job_state"], job(number))
        for ended in (wait_running(number), pod):
            end(ended)
        for ended in (number, other):
            wait_state(ended, "COMPLETED")
        equal(bed.status()["problems"], {}, "problems")


@case
def users_make_no_such_pods():
    """nobody but the agent may mark a Pod as a batch job's"""
    body = bed.pod("forged", namespace=NS, annotations={
        "slurmk8s/sbatch": "1 s0000000000001 " + "0" * 32})
    try:
        bed.create(body)
        raise AssertionError("it was created")
    except bed.ApiError as error:
        check("only slurmk8sd may set" in error.message, error.message)


def on_real1(script):
    real_nodes.need_one()
    return submit(script=script, partition="real")


def exit_code_of(pod):
    status, = pod["status"]["containerStatuses"]
    return status["state"].get("terminated", {}).get("exitCode")


@case
def signals_itself():
    """a script on the real kubelet can end itself by a signal"""
    number = on_real1("#!/bin/sh\nkill -TERM $$\nsleep 60\nexit 0\n")

    wait_state(number, "FAILED")

    # A container's exit code says no more of a signal than a shell's $? does.
    equal(bed.exit_of(job(number)), "143:0", "exit code")


@case
def cancelled_on_the_real_kubelet():
    """scancel ends a script without traps, and what it has started, by TERM and
    not after the grace period"""
    number = on_real1("#!/bin/sh\nsleep 1000\n")
    pod = wait_running(number)
    wait_for("its container to run", lambda: pod_of(number)["status"]["phase"]
             == "Running", 60)

    bed.run("scancel", str(number), user="alice")

    wait_state(number, "CANCELLED")
    ended = wait_for("the container to end", lambda: exit_code_of(
        pod_of(number)), 60)
    equal(ended, 143, "exit code, of which 137 would be KILL")
    equal(pod_of(number)["metadata"]["uid"], pod["metadata"]["uid"], "Pod")


@case
def no_such_image():
    """an image's name that is none is refused by sbatch"""
    for image in ("Ubuntu:24.04", "a::b", "registry.example.com/a//b"):
        said = refused(f"--k8s-image={image}")
        check("must be the name of an image" in said, said)


@case
def on_the_real_kubelet():
    """on the real kubelet the script runs as the user, with its environment,
    arguments, directory and exit code, and kubectl logs has its output"""
    real_nodes.need_one()
    script = ('#!/bin/sh\nid -u\nid -G\npwd\nprintf "%s|" "$SLURM_JOB_ID" '
              '"$SLURM_JOB_NODELIST" "$MINE"\necho\n'
              'grep -c . /slurmk8s/script > /dev/null && echo readable\n'
              '(: > /slurmk8s/x) 2>/dev/null || echo read-only\nexit 7\n')
    number = submit("--export=MINE=it's mine", script=script, partition="real")

    wait_state(number, "FAILED")

    equal(bed.exit_of(job(number)), "7:0", "exit code")
    user = bed.inside("id", "-u", "alice").strip()
    groups = bed.inside("id", "-G", "alice").strip()
    pod = pod_of(number)
    equal(bed.run("kubectl", "logs", "-n", NS, pod["metadata"]["name"]),
          f"{user}\n{groups}\n/tmp\n{number}|real1|it's mine|\nreadable\n"
          "read-only\n", "kubectl logs")
    wait_nothing_left(pod)


admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
