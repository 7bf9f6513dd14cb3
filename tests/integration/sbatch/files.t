#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sbatch --k8s-image with a site's template: its volumes, output files on them,
what a job may choose, and the default image of a partition."""
import contextlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import batch_site
import bed
import real_nodes
from agent_conf import CONF, hup, read, write
from batch import (IMAGE, NS, clear, end, job, logs, sbatch, submit, wait_state)
from batch_site import SITE, TEMPLATE
from tap import case, check, equal, run, wait_for



def template(**spec):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"annotations": {
                "example.com/site": "sandbox",
                "slurmk8s/choosable-volumes": "data"}},
            "spec": {
                "volumes": [{"name": "site", "hostPath": {"path": SITE}},
                            {"name": "data", "emptyDir": {}}],
                "tolerations": [{"key": "dedicated", "operator": "Exists"}],
                "containers": [{"name": "job", "volumeMounts": [
                    {"name": "site", "mountPath": SITE},
                    {"name": "data", "mountPath": "/data"}]}],
                **spec}}


@contextlib.contextmanager
def site(*lines, body=None):
    """k8s.conf has the template and these lines for as long as that lasts."""
    with batch_site.template(body or template(), *lines):
        try:
            yield
        finally:
            cancel_all()


def cancel_all():
    bed.run("scancel", "--user=alice")
    bed.run("scancel", "--user=bob")


def pod_of(number):
    return batch.pod_of(number) or batch.pod_of(number, "more-jobs")


def wait_running(number):
    batch.wait_running(number)
    return pod_of(number)


def before_each():
    clear("alice", "bob", namespaces=(NS, "more-jobs"))
    batch_site.directories(700, "alice", "bob")


@case
def mistakes():
    """a template with a mistake: the agent does not start with it; agent and
    slurmctld go on with what they had; the file and the field are named"""
    saved = read(CONF)
    end(wait_running(submit()))  # now slurmctld has read what there is
    size = bed.log_size("slurmctld")
    bad = template(hostNetwork=True)
    words = f"{TEMPLATE}: spec.hostNetwork: "
    write(TEMPLATE, json.dumps(bad))
    write(CONF, f"{saved}\nSbatchTemplate={TEMPLATE}\n")
    try:
        check(words in hup("was not read again"), "the log")
        said = bed.inside("slurmk8sd", "-t", "-f", CONF, check=False)
        check(words in said, said)
        said = bed.inside("slurmk8s", "check", check=False)
        check(words in said, said)
        numbers = [submit(), submit()]
        equal(bed.log_since("slurmctld", size).count(words), 1,
              "lines in slurmctld's log")
        for number in numbers:
            pod = wait_running(number)
            check("hostNetwork" not in pod["spec"], pod["spec"])
            end(pod)
            wait_state(number, "COMPLETED")
    finally:
        write(CONF, saved)
    hup()
    number = submit()
    end(wait_running(number))
    wait_state(number, "COMPLETED")


@case
def site_volumes():
    """the Pod has the site's volumes, and what is choosable only when chosen"""
    with site():
        for options, mounts in (((), [SITE]),
                                (("--k8s-volume=data",), [SITE, "/data"])):
            number = submit(*options)
            pod = wait_running(number)
            container = pod["spec"]["containers"][0]
            equal([m["mountPath"] for m in container["volumeMounts"]],
                  mounts + ["/slurmk8s", "/slurmk8s-pipes"]
                  + (["/slurmk8s/bin"] if batch.srun_sum() else []), "mounts")
            equal(pod["metadata"]["annotations"]["example.com/site"],
                  "sandbox", "annotation")
            check("slurmk8s/choosable-volumes" not in
                  pod["metadata"]["annotations"], pod["metadata"])
            end(pod)
            wait_state(number, "COMPLETED")


@case
def tolerations():
    """a job gets a node whose taint the template tolerates, and no other"""
    taint = {"spec": {"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}}
    other = {"spec": {"taints": [{"key": "others", "effect": "NoSchedule"}]}}
    names = [n["metadata"]["name"] for n in
             bed.api("GET", "/api/v1/nodes")["items"]
             if n["metadata"]["name"].startswith("kn")]
    old = {name: bed.api("GET", f"/api/v1/nodes/{name}")["spec"].get("taints")
           for name in names}
    try:
        with site():
            for name in names:
                bed.api("PATCH", f"/api/v1/nodes/{name}",
                        taint if name == names[0] else other, admission.MERGE)
            wait_for("one node to have the feature", lambda: [
                line.split()[0] for line in bed.run(
                    "sinfo", "-hN", "-p", "kwok", "-o", "%N %f").splitlines()
                if "k8s-sbatch" in line] == [names[0]], 60)
            number = submit()
            pod = wait_running(number)
            equal(pod["spec"]["nodeName"], names[0], "node")
            end(pod)
            wait_state(number, "COMPLETED")
    finally:
        for name in names:
            bed.api("PATCH", f"/api/v1/nodes/{name}",
                    {"spec": {"taints": old[name]}}, admission.MERGE)
    wait_for("the nodes to be as they were", lambda: bed.run(
        "sinfo", "-hN", "-p", "kwok", "-o", "%f").count("k8s-untainted") ==
        len(names), 60)


@case
def choices():
    """namespace, ServiceAccount, volumes and variables: what k8s.conf lists is
    had, by option and by environment, and what it does not is refused"""
    admission.namespace("more-jobs")
    for kind, name in (("roles", "slurmk8sd-sbatch"),
                       ("rolebindings", "slurmk8sd-sbatch")):
        api = "/apis/rbac.authorization.k8s.io/v1/namespaces/"
        found = bed.api("GET", f"{api}{NS}/{kind}/{name}")
        found["metadata"] = {"name": name}
        admission.make(f"{api}more-jobs/{kind}", found)
    admission.make("/api/v1/namespaces/more-jobs/serviceaccounts",
                   {"metadata": {"name": "spark"}})
    with site("SbatchChooseNamespace=more-jobs",
              "SbatchChooseServiceAccount=spark"):
        chosen = {"K8S_NAMESPACE": "more-jobs", "K8S_SERVICE_ACCOUNT": "spark",
                  "K8S_VOLUME": "data"}
        by_option = submit(*(f"--{name.lower().replace('_', '-')}={value}"
                             for name, value in chosen.items()),
                           "--k8s-env=A=it's 1", "--k8s-env=PATH=/bin")
        said = bed.inside(
            "env", *(f"SBATCH_{name}={value}" for name, value in chosen.items()),
            "SBATCH_K8S_ENV=A=it's 1\nPATH=/bin", "sbatch", IMAGE, "-p", "kwok",
            "-D", "/tmp", "--wrap", "true", user="alice")
        for number in (by_option, int(said.split()[-1])):
            pod = wait_running(number)
            equal(pod["metadata"]["namespace"], "more-jobs", "namespace")
            equal(pod["spec"]["serviceAccountName"], "spark", "account")
            equal(pod["spec"]["automountServiceAccountToken"], False, "token")
            check("/data" in json.dumps(pod["spec"]["containers"]), "volume")
            check("it's 1" not in json.dumps(pod), "the Pod has a variable")
            end(pod)
            wait_state(number, "COMPLETED")
        for options, words in (
                (["--k8s-namespace=kube-system"], "more-jobs"),
                (["--k8s-service-account=admin"], "spark"),
                (["--k8s-volume=site"], "data"),
                (["--k8s-volume=../x"], "must be names of volumes"),
                (["--k8s-env=SLURM_JOB_ID=1"], "variable of Slurm"),
                (["--k8s-env=no value"], "NAME=VALUE")):
            said = sbatch(IMAGE, *options, check=False)
            check("Submitted" not in said and words in said, f"{options}: {said}")
        said = sbatch("--k8s-volume=data", check=False)
        check("--k8s-image" in said and "Submitted" not in said, said)
    for option in ("--k8s-namespace=more-jobs", "--k8s-service-account=spark",
                   "--k8s-volume=data"):
        said = sbatch(IMAGE, option, check=False)
        check("Submitted" not in said and "none" in said, said)


@case
def help_text():
    """sbatch --help shows each option"""
    shown = bed.run("sbatch", "--help", user="alice")
    for name in ("image", "env", "volume", "service-account", "namespace"):
        check(f"--k8s-{name}=" in shown, shown[-900:])


@case
def default_image():
    """a plain sbatch into a partition with DefaultImage is a Pod's, and into
    another it is not; squeue shows what is ordinary"""
    with site("DefaultImage=kwok busybox:stable"):
        number = int(sbatch("-J", "plain").split()[-1])
        pod = wait_running(number)
        equal(pod["spec"]["containers"][0]["image"], "busybox:stable", "image")
        equal(job(number)["name"], "plain", "name")
        equal(bed.run("squeue", "--expand-patterns", "-hj", str(number), "-O",
                      "STDOUT:200").strip(),
              f"/tmp/slurm-{number}.out", "its output file")
        end(pod)
        wait_state(number, "COMPLETED")
        number = int(sbatch(partition="native").split()[-1])
        wait_state(number, "COMPLETED")
        equal(pod_of(number), None, "Pod")
        said = sbatch(partition="kwok,native", check=False)
        check("Submitted" not in said and "kwok,native" in said, said)


def file(path):
    return bed.inside("cat", path)


@case
def output_files():
    """the script's output is in the files that were asked for, its owner's, and
    in kubectl logs; names as sbatch has them"""
    real_nodes.need_one()
    mine = f"{SITE}/alice"
    with site():
        number = submit(
            "-J", "my job", "-o", "%x-%8j-%u-%N-%t.out", "-e",
            f"{mine}/%A.err", partition="real", directory=mine,
            script="#!/bin/sh\numask\nseq 1 50000\necho bad >&2\nexit 7\n")
        wait_state(number, "FAILED")
        equal(bed.exit_of(job(number)), "7:0", "exit code")
        out = f"{mine}/my job-{number:08}-alice-real1-0.out"
        said = file(out)
        check(said.endswith("\n49999\n50000\n"), said[-60:])
        equal(file(f"{mine}/{number}.err"), "bad\n", "the other file")
        equal(sorted(logs(number).splitlines()),
              sorted((said + "bad\n").splitlines()), "kubectl logs")
        equal(bed.inside("stat", "-c", "%U %G", out).strip(), "alice " +
              bed.inside("id", "-gn", "alice").strip(), "owner")


@case
def default_file_and_modes():
    """without --output the file is slurm-ID.out in the working directory; it is
    emptied, or added to with --open-mode=append"""
    real_nodes.need_one()
    mine = f"{SITE}/alice"
    with site():
        number = submit(partition="real", directory=mine,
                        script="#!/bin/sh\necho one\necho two >&2\n")
        wait_state(number, "COMPLETED")
        equal(sorted(file(f"{mine}/slurm-{number}.out").splitlines()),
              ["one", "two"], "the default file")
        for options, text in (((), "new\n"),
                              (("--open-mode=append",), "new\nnew\n"),
                              (("--open-mode=truncate",), "new\n")):
            number = submit("-o", "same.out", *options, partition="real",
                            directory=mine, script="#!/bin/sh\necho new\n")
            wait_state(number, "COMPLETED")
            equal(file(f"{mine}/same.out"), text, f"{options}")


@case
def no_directory():
    """a working directory that the container does not have: the log says so, and
    has the output; a file that was asked for fails the job"""
    real_nodes.need_one()
    script = "#!/bin/sh\necho ran\n"
    with site():
        number = submit(partition="real", directory="/no/such", script=script)
        wait_state(number, "COMPLETED")
        said = logs(number)
        check(f"cannot write the output file /no/such/slurm-{number}.out" in said,
              said)
        check("ran" in said.splitlines(), said)
        number = submit("-o", "x.out", partition="real", directory="/no/such",
                        script=script)
        wait_state(number, "FAILED")
        equal(bed.exit_of(job(number)), "53:0", "exit code")
        said = logs(number)
        check("could not open /no/such/x.out" in said, said)
        check("ran" not in said, said)


@case
def rights():
    """the user writes with his own rights: not into another's directory, not
    through a link, not as root; and has no privilege"""
    real_nodes.need_one()
    bed.inside("ln", "-s", f"{SITE}/bob/target", f"{SITE}/alice/link")
    with site():
        for path in (f"{SITE}/bob/x", f"{SITE}/alice/link", "/etc/x",
                     f"{SITE}/x", f"{SITE}/alice/../bob/x"):
            number = submit("-o", path, partition="real")
            wait_state(number, "FAILED")
            equal(bed.exit_of(job(number)), "53:0", path)
        equal(bed.inside("ls", "-A", f"{SITE}/bob"), "", "bob's directory")
        number = submit(
            partition="real", directory=f"{SITE}/alice",
            script="#!/bin/sh\ngrep -E '^(CapEff|NoNewPrivs|Uid)' "
            f"/proc/self/status\nls {SITE}/bob\n"
            "ls /var/run/secrets 2>&1\nexit 0\n")
        wait_state(number, "COMPLETED")
        said = file(f"{SITE}/alice/slurm-{number}.out")
        check("CapEff:\t0000000000000000" in said, said)
        check("NoNewPrivs:\t1" in said, said)
        check("Permission denied" in said, said)
        check("serviceaccount" not in said, said)


@case
def signals():
    """scancel's SIGTERM reaches the script, whose last words are in the file; and
    a script without a handler ends at once"""
    real_nodes.need_one()
    mine = f"{SITE}/alice"
    with site():
        number = submit(
            partition="real", directory=mine, script="#!/bin/sh\n"
            "trap 'echo got TERM; sleep 1; echo done; exit 3' TERM\n"
            "echo ready\nwhile :; do sleep 0.2; done\n")
        path = f"{mine}/slurm-{number}.out"
        wait_for("it to be ready", lambda: "ready" in bed.inside(
            "cat", path, check=False), 60)
        bed.run("scancel", str(number), user="alice")
        wait_state(number, "CANCELLED")
        wait_for("its last words", lambda: file(path) ==
                 "ready\ngot TERM\ndone\n", 60)
        number = submit(partition="real", directory=mine,
                        script="#!/bin/sh\necho ready\nsleep 600\n")
        path = f"{mine}/slurm-{number}.out"
        wait_for("it to be ready", lambda: "ready" in bed.inside(
            "cat", path, check=False), 60)
        bed.run("scancel", str(number), user="alice")
        wait_for("its Pod to be over", lambda: pod_of(number)["status"]["phase"]
                 == "Failed", 20)


@case
def dies_of_a_signal():
    """a script that dies of a signal, or cannot be run, has the exit code that
    the container has; what it leaves running does not keep the job"""
    real_nodes.need_one()
    mine = f"{SITE}/alice"
    with site():
        for script, code in (("#!/bin/sh\nkill -KILL $$\n", "137:0"),
                             ("#!/no/such/shell\n", "2:0"),
                             ("#!/bin/sh\nsleep 600 &\nexit 4\n", "4:0")):
            number = submit(partition="real", directory=mine, script=script)
            wait_state(number, "FAILED")
            equal(bed.exit_of(job(number)), code, script)


@case
def claim():
    """a volume of the template may be a PersistentVolumeClaim"""
    real_nodes.need_one()
    admission.make("/api/v1/persistentvolumes", {
        "metadata": {"name": "sbatch-site"},
        "spec": {"capacity": {"storage": "1Gi"},
                 "accessModes": ["ReadWriteMany"],
                 "storageClassName": "", "hostPath": {"path": SITE},
                 "persistentVolumeReclaimPolicy": "Retain",
                 "claimRef": {"namespace": NS, "name": "site"}}})
    admission.make(f"/api/v1/namespaces/{NS}/persistentvolumeclaims", {
        "metadata": {"name": "site"},
        "spec": {"accessModes": ["ReadWriteMany"], "storageClassName": "",
                 "volumeName": "sbatch-site",
                 "resources": {"requests": {"storage": "1Gi"}}}})
    body = template(volumes=[
        {"name": "site", "persistentVolumeClaim": {"claimName": "site"}},
        {"name": "data", "emptyDir": {}}])
    try:
        with site(body=body):
            number = submit(partition="real", directory=f"{SITE}/alice",
                            script="#!/bin/sh\necho here\n")
            wait_state(number, "COMPLETED")
            equal(file(f"{SITE}/alice/slurm-{number}.out"), "here\n", "file")
    finally:
        for item in bed.pods(NS):
            bed.delete(item["metadata"]["name"], NS, grace=1)
        for path in (f"/api/v1/namespaces/{NS}/persistentvolumeclaims/site",
                     "/api/v1/persistentvolumes/sbatch-site"):
            bed.api("DELETE", path)


admission.apply()
run(before_each=before_each, after_each=bed.nothing_left,
    after_failure=bed.last_words)
