#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The names of a batch job's nodes, in its containers on two real kubelets: by
glibc's resolver and the cluster's DNS each is the Pod on that node."""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lib"))
import admission
import batch
import batch_site
import bed
import node_moves as nodes
import real_nodes
from batch import NS, clear, wait_state
from tap import case, check, equal, run, wait_for

SCRIPT = "#!/bin/sh\necho $SLURM_JOB_NODELIST\nexec sleep 1000\n"
SLOW = "#!/bin/sh\ntrap 'sleep 3; exit 0' TERM\nsleep 1000 & wait\n"
DOTS, LABELLED, LABEL = "kn8.example.org", "kn9.example.org", "kn-9"
ASK = """for name; do
    { getent ahosts "$name" || echo none; } | sed "s/^/$name /"
done"""


def submit(*options, partition=real_nodes.PARTITION, script=SCRIPT):
    return batch.submit("--output=/dev/null", "-N2", "--ntasks-per-node=1",
                        *options, script=script, partition=partition)


def wait_running(number):
    """Its Pods, all with containers, by the names of their nodes in Slurm."""
    batch.wait_running(number)

    def running():
        pods = batch.pods_of(number)
        return len(pods) == 2 and all(
            pod["status"]["phase"] == "Running" for pod in pods) and pods
    pods = wait_for("all Pods to run", running, 60)
    return {pod["metadata"]["annotations"][bed.NODE_ANNOTATION]: pod
            for pod in pods}


def domain_of(number):
    name = batch.pod_of(number)["metadata"]["name"]
    return f"{name}.{NS}.svc.cluster.local"


def within(pod, *command):
    meta = pod["metadata"]
    return bed.run("kubectl", "exec", "-n", meta["namespace"], meta["name"],
                   "--", *command)


def asked(pod, names):
    """The addresses that a program in that container gets for each of the
    names, by getaddrinfo()."""
    said = [line.split() for line in
            within(pod, "sh", "-c", ASK, "sh", *names).splitlines()]
    return {name: {words[1] for words in said if words[0] == name} - {"none"}
            for name in names}


def wait_resolved(pods, wanted):
    """Until programs in all of these get what they should."""
    for pod in pods:
        try:
            wait_for("the names to resolve", lambda pod=pod:
                     asked(pod, wanted) == wanted, 10, every=0.25)
        except AssertionError:
            equal(asked(pod, wanted), wanted,
                  f"names in {pod['metadata']['name']}")


def addresses(pods, domain=None):
    """What the API server says of their names: the short ones, or those in the
    domain."""
    return {f"{node}.{domain}" if domain else node: {pod["status"]["podIP"]}
            for node, pod in pods.items()}


@contextlib.contextmanager
def two_of_other_names():
    """Nodes whose names are no DNS labels; that of one in Slurm is."""
    nodes.make(DOTS)
    nodes.make(LABELLED, **{nodes.SLURM_NAME: LABEL})
    try:
        for name in (DOTS, LABEL):
            wait_for(f"Slurm to have {name}", lambda name=name:
                     nodes.usable(name))
        yield
    finally:
        clear("alice")
        for name, slurm_name in ((DOTS, DOTS), (LABELLED, LABEL)):
            nodes.delete(name)
            wait_for(f"{slurm_name} to be drained", lambda name=slurm_name:
                     not nodes.usable(name))
            bed.run("scontrol", "delete", f"nodename={slurm_name}")


@case
def each_container_knows_its_own():
    """each container knows its own name, and in which domain to look for the
    others'"""
    number = submit()
    pods = wait_running(number)
    domain = domain_of(number)

    for node, pod in pods.items():
        said = within(pod, "cat", "/etc/resolv.conf", "/etc/hosts")
        searches = [line.split() for line in said.splitlines()
                    if line.startswith("search ")]
        equal(len(searches), 1, said)
        check(domain in searches[0], f"{domain} is not in {searches}")
        check([pod["status"]["podIP"], f"{node}.{domain}", node] in
              [line.split() for line in said.splitlines()], said)
        equal(within(pod, "hostname"), f"{node}\n", "host name")


@case
def names_of_the_nodes():
    """in the script's Pod and in the other each name of SLURM_JOB_NODELIST, by
    itself and in the job's domain, is the Pod on that node, and back"""
    number = submit()
    pods = wait_running(number)
    domain = domain_of(number)
    said = wait_for("the script to run", lambda: batch.logs(number)).strip()
    equal(bed.run("scontrol", "show", "hostnames", said).split(), list(pods),
          "SLURM_JOB_NODELIST")

    wait_resolved(pods.values(),
                  addresses(pods) | addresses(pods, domain))

    (_, first), (node, second) = pods.items()
    equal(within(first, "getent", "hosts", second["status"]["podIP"]).split(),
          [second["status"]["podIP"], f"{node}.{domain}"], "reverse")


@case
def two_jobs_on_the_same_nodes():
    """each of two jobs on the same nodes sees its own Pods, whose names go with
    the job's end, also where the script stops last, whose Pod is still there"""
    one, other = submit(script=SLOW), submit()
    pods, others = wait_running(one), wait_running(other)
    equal(list(pods), list(others), "nodes")
    domain, its = domain_of(one), domain_of(other)
    full = addresses(pods, domain) | addresses(others, its)

    wait_resolved(pods.values(), addresses(pods) | full)
    wait_resolved(others.values(), addresses(others) | full)
    bed.run("scancel", str(one), user="alice")
    wait_state(one, "CANCELLED")

    gone = {f"{node}.{domain}": set() for node in pods} | {domain: set()}
    wait_resolved(others.values(),
                  addresses(others) | addresses(others, its) | gone)
    check(batch.pod_of(one), "the script's Pod is gone")


@case
def no_other_domain():
    """with dnsPolicy None in the template no search domain comes before the job's"""
    server = next(a["address"] for a in
                  nodes.get(real_nodes.FIRST)["status"]["addresses"]
                  if a["type"] == "InternalIP")
    with batch_site.template({
            "apiVersion": "v1", "kind": "Pod",
            "spec": {"dnsPolicy": "None",
                     "dnsConfig": {"nameservers": [server]},
                     "containers": [{"name": "job"}]}}):
        number = submit()
        pods = wait_running(number)
        for pod in pods.values():
            equal(sorted(within(pod, "cat", "/etc/resolv.conf").splitlines()),
                  [f"nameserver {server}", f"search {domain_of(number)}"],
                  "resolv.conf")
        wait_resolved(pods.values(), addresses(pods))
        clear("alice")


@case
def names_that_are_no_labels():
    """a Pod has no name where that of its node in Slurm has a dot; the label by
    which a Node has another one there gives it to the Pod"""
    bed.create(bed.pod("asks", real=True, cpu="100m",
                       command="exec sleep 1000"))
    with two_of_other_names():
        number = submit("-w", f"{DOTS},{LABEL}", partition="kwok")
        pods = wait_running(number)
        domain = domain_of(number)
        equal({node: pod["spec"].get("hostname") for node, pod in pods.items()},
              {DOTS: None, LABEL: LABEL}, "host names")

        wait_resolved(
            [bed.wait_phase("asks", "Running")],
            {f"{LABEL}.{domain}": {pods[LABEL]["status"]["podIP"]},
             domain: {pod["status"]["podIP"] for pod in pods.values()},
             f"{DOTS}.{domain}": set(), DOTS: set(),
             f"{DOTS.split('.')[0]}.{domain}": set()})


def before_each():
    clear("alice")


def after_each():
    clear("alice")
    bed.nothing_left()


real_nodes.all_need_one()
admission.apply()
with real_nodes.both():
    try:
        run(before_each=before_each, after_each=after_each,
            after_failure=bed.last_words)
    finally:
        clear("alice")  # before the second node goes
