#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The invariant checker sees what it is for: with the agent stopped each rule is
broken on purpose, and the checker names it. With the agent back nothing is
left to say."""
import contextlib
import dataclasses
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import bed
import claims
import devices
import gangs
import invariants
import world
from tap import case, check, equal, run, wait_for

SETTLE = 0.6  # the agent is stopped: nothing will pass by itself


def pod_path(name):
    return f"/api/v1/namespaces/{bed.NAMESPACE}/pods/{name}"


def patch(path, body, token=None):
    return bed.api("PATCH", path, body, "application/merge-patch+json",
                   token=token)


def may(path, body, token):
    """Whether the patch was taken."""
    try:
        patch(path, body, token)
    except bed.ApiError as error:
        if error.status != 403:
            raise
        return False
    return True


@contextlib.contextmanager
def unguarded(name):
    """Without this policy, which forbids what is to be seen."""
    path = ("/apis/admissionregistration.k8s.io/v1/"
            "validatingadmissionpolicybindings")
    binding = bed.api("GET", f"{path}/{name}")
    bed.api("DELETE", f"{path}/{name}")
    try:
        yield
    finally:
        bed.api("POST", path, {**binding, "metadata": {"name": name}})


def agents_token():
    return bed.inside("cat", "/etc/slurm/k8s/token").strip()


def by_rule(wrong):
    """The words of what is wrong, by rule."""
    return {rule: [str(w) for w in wrong if w.rule == rule]
            for rule in {w.rule for w in wrong}}


def sees(rule, *words, also=()):
    """The checker comes to report this rule with these words, and no rule but
    those: what a busy machine is late with passes."""
    found = {}

    def seen():
        nonlocal found
        found = by_rule(invariants.settled(SETTLE))
        return not set(found) - {rule, *also} and any(
            all(w in line for w in words) for line in found.get(rule, []))
    try:
        wait_for(f"{rule} {words}", seen, 10)
    except AssertionError as late:
        raise AssertionError(f"{late} alone, with {also}: {found}") from None


def running(name, **options):
    bed.create(bed.pod(name, **options))
    bed.wait_phase(name, "Running")
    return bed.wait_job(name, "RUNNING")


@contextlib.contextmanager
def agent_stopped():
    """From a state in which there is nothing to report."""
    equal([str(w) for w in invariants.settled()], [], "before")
    bed.ctl("kill", "--signal", "STOP", "slurmk8sd")
    try:
        yield
    finally:
        bed.ctl("kill", "--signal", "CONT", "slurmk8sd")


def placeholder(uid, gang="test/made", node=None):
    """A job as the agent would submit it, of one CPU; its id."""
    words = ["sbatch", "--parsable", "--external", "--ntasks=1", "--mem=64",
             "--partition=kwok", *([f"--nodelist={node}"] if node else [])]
    job = bed.run(*words, user="slurm").strip()
    tag = json.dumps({"slurmk8s": 1, "gang": gang, "uid": uid,
                      "generation": 0}, separators=(",", ":"))
    bed.run("scontrol", "update", f"JobId={job}", f"AdminComment={tag}")
    wait_for(f"job {job} to run", lambda: bed.run(
        "squeue", "--noheader", f"--jobs={job}", "--format=%T").strip()
        == "RUNNING")
    return job


def bind(name, node):
    """As an administrator would, past the agent."""
    bed.api("POST", pod_path(name) + "/binding",
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
             "target": {"kind": "Node", "name": node}})
    bed.wait_phase(name, "Running")


@case
def pod_gone():
    """job-without-pod: a Pod is gone, its job lives"""
    running("gone")
    with agent_stopped():
        bed.delete("gone")
        bed.wait_gone("gone")
        sees("job-without-pod", "test/gone", "its Pod is gone")


@case
def pod_over():
    """job-without-pod: a Pod is over, its job lives"""
    running("over")
    with agent_stopped():
        bed.end("over")
        bed.wait_phase("over", "Succeeded")
        sees("job-without-pod", "Pod/test/over is Succeeded")


@case
def job_made():
    """job-without-pod: a placeholder is submitted for a Pod that never was, and
    one for none"""
    with agent_stopped():
        made = placeholder("00000000-0000-0000-0000-000000000000")
        nobodys = placeholder("")
        sees("job-without-pod", f"Job/{made}", "its Pod is gone")
        sees("job-without-pod", f"Job/{nobodys}", "names no Pod")
        bed.run("scancel", made, nobodys)


@case
def bound_by_hand():
    """pod-without-job: a Pod is bound past the agent; waits-without-word: one
    has neither job nor condition"""
    with agent_stopped():
        bed.create(bed.pod("hand"))
        sees("waits-without-word", "Pod/test/hand")
        bind("hand", "kn1")
        sees("pod-without-job", "Pod/test/hand: on kn1")
        bed.delete("hand")
        bed.wait_gone("hand")


@case
def job_ended():
    """pod-without-job, stuck: a job was cancelled, its Pod lives on"""
    running("lives")
    with agent_stopped():
        bed.run("scancel", str(bed.job_of("lives")["job_id"]))
        bed.wait_job("lives", "COMPLETING")
        sees("pod-without-job", "Pod/test/lives", also=["stuck"])
        sees("stuck", "stays COMPLETING", also=["pod-without-job"])


def full_nodes():
    for i in range(4):
        bed.create(bed.pod(f"full-{i}", cpu="16"))
    for i in range(4):
        bed.wait_job(f"full-{i}", "RUNNING")
    bed.create(bed.pod("next"))
    bed.wait_job("next", "PENDING")


@case
def never_started():
    """stuck: a job was allocated, and nobody lets it run"""
    full_nodes()
    with agent_stopped():
        bed.run("scancel", str(bed.job_of("full-0")["job_id"]))
        bed.wait_job("next", "CONFIGURING")
        sees("stuck", "test/next stays CONFIGURING", also=["pod-without-job"])


@case
def label_altered():
    """label: the job's id or SLUID on a bound Pod is not its job's"""
    running("named")
    with agent_stopped():
        altered = {"metadata": {"labels": {bed.JOB_LABEL: "999999"}}}
        patch(pod_path("named"), altered, agents_token())
        sees("label", "Pod/test/named", bed.JOB_LABEL, "999999")
        right = str(bed.job_of("named")["job_id"])
        patch(pod_path("named"), {"metadata": {
            "labels": {bed.JOB_LABEL: right},
            "annotations": {bed.SLUID_ANNOTATION: "s00000000000000"}}},
            agents_token())
        sees("label", bed.SLUID_ANNOTATION, "s00000000000000")


@case
def label_on_unbound():
    """left-behind: a Pod that is not bound has a job's id, or our finalizer"""
    with agent_stopped():
        bed.create(bed.pod("unbound"))
        patch(pod_path("unbound"),
              {"metadata": {"labels": {bed.JOB_LABEL: "1"}}}, agents_token())
        patch(pod_path("unbound"),
              {"metadata": {"finalizers": ["slurmk8s/test"]}})
        sees("left-behind", "it is not bound, and has " + bed.JOB_LABEL,
             also=["waits-without-word"])
        sees("left-behind", "it has the finalizer slurmk8s/test",
             also=["waits-without-word"])
        patch(pod_path("unbound"), {"metadata": {"finalizers": None}})
        bed.delete("unbound")


@case
def second_job():
    """two-jobs: a second job lives for one gang; when the first is gone the Pod
    is not where its job is: double-bind, label"""
    running("twice")
    with agent_stopped():
        first = bed.job_of("twice")
        other = "kn2" if first["nodes"] != "kn2" else "kn1"
        second = placeholder(bed.get("twice")["metadata"]["uid"], "test/twice",
                             other)
        sees("two-jobs", "Gang/test/twice", f"job {first['job_id']} ",
             f"job {second} ", also=["double-bind", "not-covered"])
        bed.run("scancel", str(first["job_id"]))
        sees("double-bind", "Pod/test/twice", f"job {second} ",
             also=["label", "stuck", "not-covered"])
        sees("label", "Pod/test/twice", second,
             also=["double-bind", "stuck", "not-covered"])
        bed.run("scancel", second)


@case
def half_a_gang():
    """partial-gang: a Pod of a gang waits though its job runs and has room"""
    for i in range(2):
        bed.create(gangs.member(f"half-{i}", "half", 2))
        if i == 0:
            bed.wait_words("half-0", "1 of 2 Pods")
    for i in range(2):
        bed.wait_phase(f"half-{i}", "Running")
    with agent_stopped():
        bed.delete("half-1", grace=0)
        wait_for("it to be gone", lambda: not bed.get("half-1"))
        # Under another name: kwok, as it ends the old Pod, writes the status of
        # whatever has its name.
        bed.create(gangs.member("half-2", "half", 2))
        sees("partial-gang", "Gang/test/half", "has 2 tasks, 1 Pods live by it, "
             "1 wait")
        bed.delete("half-2")


@case
def too_much():
    """overcommit: live Pods ask for more than their Node has; not-covered: one
    asks for more than its job was given"""
    # The node of the Pod that the case before deleted by force counts as in use
    # for a while; an agent that is started anew does not know of it.
    bed.ctl("restart", "slurmk8sd")
    with agent_stopped():
        bed.create(bed.pod("big", cpu="12"))
        bed.create(bed.pod("bigger", cpu="12"))
        uid = bed.get("big")["metadata"]["uid"]
        bind("big", "kn1")
        placeholder(uid, "test/big", "kn1")
        # what the binding would have written
        job = bed.job_of("big")
        patch(pod_path("big"), {"metadata": {
            "labels": {bed.JOB_LABEL: str(job["job_id"])},
            "annotations": {bed.NODE_ANNOTATION: "kn1",
                            bed.SLUID_ANNOTATION: job["step_id"]["sluid"]}}},
            agents_token())
        sees("not-covered", "Pod/test/big", "1 CPUs", "asks for 12",
             also=["waits-without-word"])
        bind("bigger", "kn1")
        sees("overcommit", "Node/kn1", "24 cpu", "has 16",
             also=["not-covered", "pod-without-job"])
        for name in ("big", "bigger"):
            bed.delete(name)
            bed.wait_gone(name)
        bed.run("scancel", str(job["job_id"]))


def ended_well():
    bed.create(bed.pod("well", annotations={"sandbox/run": "100ms"}))
    bed.wait_ended("well", "COMPLETED", "0:0")


@case
def wrong_end():
    """end-state: a Pod's phase says another end than sacct"""
    ended_well()
    with agent_stopped():
        patch(pod_path("well") + "/status", {"status": {"phase": "Failed"}})
        sees("end-state", "Pod/test/well", "COMPLETED 0:0, not FAILED")


@case
def foreign_pod():
    """foreign: another scheduler's Pod has an annotation of ours"""
    with agent_stopped():
        bed.create(bed.pod("theirs", scheduler="somebody-else"))
        with unguarded("slurm-k8s-bridge-agent"):
            wait_for("the agent's policy to be gone", lambda: may(
                pod_path("theirs") + "?fieldManager=slurmk8sd",
                {"metadata": {"annotations": {bed.GENERATION_ANNOTATION: "1"}}},
                agents_token()))
        sees("foreign", "Pod/test/theirs", bed.GENERATION_ANNOTATION)
        sees("foreign", "Pod/test/theirs", "wrote to it")


@case
def claims_left():
    """claim-left, device-twice, claim-elsewhere: claims keep devices for nobody,
    share one, and are on another node than their Pod"""
    with agent_stopped():
        try:
            for name in ("one", "two"):
                made = claims.claim(name)
                claims.put_status(made, {
                    "allocation": claims.allocation("kn1", "gpu-0")})
            sees("claim-left", "test/one", "nobody uses it", also=("device-twice",))
            sees("device-twice", "gpu-0", "test/one and", also=("claim-left",))
            claims.drop("two")
            body = bed.pod("elsewhere", **claims.with_claims("one"))
            bed.create(body)
            bind("elsewhere", "kn2")  # its controller reserves the claim
            sees("claim-elsewhere", "test/elsewhere", "it is on kn2",
                 also=("pod-without-job", "claim-left"))
            bed.delete("elsewhere")
            bed.wait_gone("elsewhere")
        finally:
            bed.delete_claims()


@case
def too_much_shared():
    """share-over: claims have more of a device in shares than it has"""
    with agent_stopped():
        try:
            devices.publish("kn1", [
                {"name": "s0", "allowMultipleAllocations": True,
                 "capacity": {"memory": {"value": "8Gi"}}}])
            for name in ("one", "two"):
                allocation = claims.allocation("kn1", "s0")
                allocation["devices"]["results"][0].update(
                    shareID="8f4474d0-b89b-4660-ae22-ba4ddc3c74ff",
                    consumedCapacity={"memory": "5Gi"})
                claims.put_status(claims.claim(name),
                                  {"allocation": allocation})
            sees("share-over", f"kn1/s0: claims have {10 * 2 ** 30} memory of "
                 f"{8 * 2 ** 30}", also=("claim-left",))
            claims.drop("two")
            sees("claim-left", "test/one", "nobody uses it")
        finally:
            devices.withdraw()
            bed.delete_claims()


@case
def too_many_cpus():
    """cpus-short: its claims give a Pod more CPUs than its job has, one by one, in
    shares, or with the other Pods of the job"""
    running("two", cpu="2")
    now = world.read()
    (pod,) = [p for p in now.pods if p["metadata"]["name"] == "two"]
    pod["spec"]["resourceClaims"] = [
        {"name": name, "resourceClaimName": name} for name in ("a", "b")]

    def claim(name, *results):
        return {"metadata": {"namespace": bed.NAMESPACE, "name": name},
                "spec": {"devices": {"requests": [
                    {"name": "cpu", "exactly": {"deviceClassName": "cpu.test"}},
                    {"name": "any", "firstAvailable": [
                        {"name": "one", "deviceClassName": "cpu.test"},
                        {"name": "gpu", "deviceClassName": "gpu.test"}]}]}},
                "status": {"reservedFor": [{"uid": pod["metadata"]["uid"]}],
                           "allocation": {"devices": {"results": [
                               {"driver": "d", "pool": "kn1", **result}
                               for result in results]}}}}

    def wrong(*made):
        conf = now.conf | {"DeviceGres": "gpu.test:gpu:a, cpu.test:cpu",
                           "DeviceCapacity": "d/cores:cpu"}
        return by_rule(invariants.violations(dataclasses.replace(
            now, claims=list(made), conf=conf))).get("cpus-short", [])

    one = {"request": "cpu", "device": "c0"}
    other = {"request": "any/one", "device": "c1"}
    gpu = {"request": "any/gpu", "device": "g0"}
    share = {"request": "cpu", "device": "all", "shareID": "x",
             "consumedCapacity": {"cores": "1500m"}}
    equal(wrong(claim("a", one, other, gpu), claim("b", gpu)), [], "two of two")
    equal(wrong(claim("a", share)), [], "a share of two")
    for made in ([claim("a", one, other), claim("b", one)],
                 [claim("a", one, other, {**one, "device": "c2"})],
                 [claim("a", one), claim("b", share)]):
        found = wrong(*made)
        check(found and "the claims of the Pod (or its gang) 3" in found[0],
              f"three of two: {found}")


@case
def behind_a_tier():
    """not-covered, label, double-bind: the job of a Pod that lives waits; but it may
    where it adopts the Pod, a job of a higher PriorityTier waits for the node, and
    another partition would mean more than a name"""
    running("one")
    now = world.read()
    (pod,) = [p for p in now.pods if p["metadata"]["name"] == "one"]
    node = pod["spec"]["nodeName"]
    (job,) = [j for j in now.jobs if j.uid == pod["metadata"]["uid"]]
    waits = dict(states={"PENDING"}, nodes={}, reason="Resources")
    first = dataclasses.replace(job, **waits, id=0, uid="", priority=1,
                                partitions="high", external=False)
    rules = {"not-covered", "label", "double-bind"}

    def wrong(before=first, **changed):
        adopts = waits | {"features": f"k8s&k8s-node-{node}", "sluid": "new",
                          "priority": 0xfffffffd, "partitions": "low"} | changed
        others = [j for j in now.jobs if j is not job]
        return rules & set(by_rule(invariants.violations(dataclasses.replace(
            now, jobs=[*others, dataclasses.replace(job, **adopts), before]))))

    equal(wrong(), set(), "of a partition that is preempted")
    equal(wrong(partitions="kwok"), rules, "of one that is not")
    equal(wrong(partitions="high"), rules, "of the highest")
    equal(wrong(features="k8s"), rules, "that adopts nothing")
    equal(wrong(priority=5), rules, "that is not first")
    equal(wrong(reason="PartitionDown"), rules, "that waits for something else")
    equal(wrong(dataclasses.replace(first, priority=0)), rules,
          "behind one that is held")
    equal(wrong(dataclasses.replace(first, partitions="requeue")), rules,
          "behind one of its own tier")


@case
def finalizer_alone():
    """claim-left: a claim without devices has the finalizer; but a user's may,
    where a kube-apiserver has died since it was made"""
    now = world.read()

    def wrong(claim, **changed):
        return by_rule(invariants.violations(dataclasses.replace(
            now, claims=[claim], **changed))).get("claim-left", [])

    def claim(**meta):
        return {"metadata": {
            "namespace": bed.NAMESPACE, "name": "c",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "finalizers": ["resource.kubernetes.io/delete-protection"]} | meta}

    since = world.server_since()
    check(since > 0, "no time of kube-apiserver's start")
    equal(wrong(claim(), server_since=since), [], "a user's, older than it")
    check(wrong(claim(creationTimestamp="2999-01-01T00:00:00Z"),
                server_since=since), "younger than it")
    check(wrong(claim()), "not asked")
    check(wrong(claim(ownerReferences=[{"uid": "u", "controller": True}]),
                server_since=since), "a Pod's own")
    check(wrong(claim() | {"status": {"allocation": {"devices": {}}}},
                server_since=since), "with devices")


@case
def drain_mark():
    """drained: a healthy Node is drained with our mark, a cordoned one is not"""
    with agent_stopped():
        bed.run("scontrol", "update", "NodeName=kn1", "State=DRAIN",
                "Reason=slurmk8sd: for a test")
        patch("/api/v1/nodes/kn2", {"spec": {"unschedulable": True}})
        sees("drained", "Node/kn1", "it is healthy", "slurmk8sd: for a test")
        sees("drained", "Node/kn2", "it is cordoned, Slurm uses it")
        bed.run("scontrol", "update", "NodeName=kn1", "State=UNDRAIN")
        patch("/api/v1/nodes/kn2", {"spec": {"unschedulable": None}})


@case
def taints():
    """tainted: a tainted Node's Slurm node is open to all, an untainted one's is
    not"""
    with agent_stopped():
        patch("/api/v1/nodes/kn1", {"spec": {"taints": [
            {"key": "test/dedicated", "effect": "NoSchedule"}]}})
        bed.run("scontrol", "update", "NodeName=kn2", "Features=k8s,kwok",
                "ActiveFeatures=k8s,kwok")
        sees("tainted", "Node/kn1", "test/dedicated")
        sees("tainted", "Node/kn2", "lacks k8s-untainted")
        patch("/api/v1/nodes/kn1", {"spec": {"taints": None}})


@case
def slurms_ledger():
    """ledger: a node of Slurm's has given away what no job has"""
    running("counted")
    now = world.read()
    node = bed.job_of("counted")["nodes"]
    equal(by_rule(invariants.violations(now)), {}, "as it is")
    now.slurm_nodes[node] = dataclasses.replace(now.slurm_nodes[node], cpus=7)
    check("ledger" in by_rule(invariants.violations(now)), "seven CPUs")
    now.slurm_nodes[node] = dataclasses.replace(now.slurm_nodes[node], cpus=1,
                                                memory=7)
    check("ledger" in by_rule(invariants.violations(now)), "seven MiB")


@case
def shared_node():
    """shared: an ordinary job and a Pod have more of a node than there is"""
    running("beside", cpu="10")
    now = world.read()
    name = bed.job_of("beside")["nodes"]
    there = now.slurm_nodes[name]
    there.states.discard("EXTERNAL")  # as if it had a slurmd

    def with_job(cpus, states):
        job = world.Job(1, "s1", states, "", "wrap", False, {name: (cpus, 64)})
        node = dataclasses.replace(there, cpus=10 + cpus,
                                   memory=there.memory + 64)
        return by_rule(invariants.violations(dataclasses.replace(
            now, jobs=[*now.jobs, job],
            slurm_nodes={**now.slurm_nodes, name: node})))

    equal(with_job(6, {"RUNNING"}), {}, "what fits")
    found = with_job(7, {"RUNNING"})
    check("17 cpu of 16" in str(found.get("shared")), f"shared: {found}")
    check("17 CPUs" in str(found.get("ledger")), f"ledger: {found}")
    check("shared" not in with_job(7, {"RUNNING", "CONFIGURING"}),
          "a job whose prolog is held")


@case
def what_passes():
    """what passes by itself is not reported, though it is seen"""
    running("slow", annotations={"sandbox/stop": "2s"},
            terminationGracePeriodSeconds=30)
    seen = []

    def read():
        now = world.read()
        if not seen:
            bed.ctl("kill", "--signal", "CONT", "slurmk8sd")
        seen.append(by_rule(invariants.violations(now)))
        return now

    with agent_stopped():
        bed.run("scancel", str(bed.job_of("slow")["job_id"]))
        bed.wait_job("slow", "COMPLETING")
        equal([str(w) for w in invariants.settled(read=read)], [], "reported")
    check("pod-without-job" in seen[0], f"seen first: {seen[0]}")
    equal(seen[-1], {}, "seen last")


@case
def command():
    """tests/invariants prints a line for each, and its exit status tells"""
    tool = str(bed.TOP / "tests/invariants")
    equal(bed.run(tool), "", "what it says of nothing")
    made = placeholder("00000000-0000-0000-0000-000000000000")
    said = bed.run("sh", "-c", f"{tool} --settle 1; echo $?").splitlines()
    bed.run("scancel", made)
    equal(said[-1], "1", "exit status")
    check(said[0].startswith(f"job-without-pod Job/{made}: "), said[0])
    said = bed.run("sh", "-c", f"SANDBOX_API=https://127.0.0.1:1 {tool}; "
                   "echo $?")
    check(said.endswith("\n2\n") and "cannot tell" in said, said)


run(before_each=bed.clean, after_failure=bed.last_words)
