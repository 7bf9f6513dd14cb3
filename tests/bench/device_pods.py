# SPDX-License-Identifier: GPL-2.0-or-later
"""Pods with a ResourceClaim each, made from a template, on nodes with devices, for both schedulers. Nothing runs the driver: its
ResourceSlices are made here."""
import contextlib
import json
import os

from figures import agents_rpcs, difference, names, percentile, rates
from kube import NAMESPACE, Failed
from ours import more_nodes, node, until
from sandbox import AGENT, CONTROLLERS, KUBE_SCHEDULER, OURS

NODE_COUNT, NODE_DEVICES, NODE_CPUS = 100, 8, 16
ONE_PODS = NODE_COUNT * NODE_DEVICES
ATTRIBUTE_PODS = 8
FEW_NODES, MANY_NODES, FEW_DEVICES = 60, 1000, 4             # one of the nodes has what the claim asks for
# Of 1 to 8 devices. No more than there are nodes: then even the last one finds an empty node, wherever the others are.
MIXED_SIZES = [1 + i % NODE_DEVICES for i in range(96)]
TEMPLATES = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaimtemplates"
SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CLAIMS = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaims"


class Library:
    """What of tests/lib knows the sandbox: it takes it from the environment when it is loaded."""

    def __init__(self, sandbox):
        os.environ.update(sandbox.environment)
        import agent_conf
        import bed
        import claims
        import claims_check
        import devices
        import world
        self.agent_conf, self.bed, self.claims, self.claims_check, self.devices, self.world = \
            agent_conf, bed, claims, claims_check, devices, world

    @contextlib.contextmanager
    def failing(self):
        """Its errors as ours."""
        try:
            yield
        except (self.bed.ApiError, AssertionError) as error:
            raise Failed(str(error)) from None


def special(device):
    """The same with an attribute that no other node's devices have."""
    return {**device, "attributes": {**device["attributes"], "special": {"bool": True}}}


def node_names(count):
    return [f"dn{i + 1}" for i in range(count)]


@contextlib.contextmanager
def devices_of_slurm(bench, library, nodes, each=NODE_DEVICES):
    """DeviceGres in k8s.conf, and the devices of nodes that are about to come. Those of the last node are special."""
    devices, conf = library.devices, library.agent_conf
    before = conf.read(conf.CONF)
    all_devices = [devices.device(f"d{i}") for i in range(each)]
    slices = [devices.slice_of(name, all_devices) for name in nodes]
    slices[-1] = devices.slice_of(nodes[-1], [special(one) for one in all_devices])
    try:
        with library.failing():
            devices.device_class(library.claims.CLASS, f"device.driver == '{devices.DRIVER}'")
            bench.client.call_all([("POST", SLICES, body) for body in slices])
            conf.write(conf.CONF, before + f"DeviceGres={library.claims.CLASS}:gpu:any\n")
        bench.sandbox.ctl("start", AGENT)                     # anew, since its k8s.conf has changed
        yield
    finally:
        with library.failing():
            bench.client.call_all([("DELETE", f"{SLICES}/{body['metadata']['name']}") for body in slices])
            devices.drop("deviceclasses", library.claims.CLASS)
            conf.write(conf.CONF, before)
        bench.sandbox.ctl("start", AGENT)


@contextlib.contextmanager
def fast_controllers(bench):
    """By default kube-controller-manager makes 20 requests a second: claims for 10 Pods, which would be all that is measured."""
    bench.sandbox.environment["SANDBOX_CONTROLLERS_QPS"] = "5000"
    bench.sandbox.ctl("restart", CONTROLLERS)
    try:
        yield
    finally:
        del bench.sandbox.environment["SANDBOX_CONTROLLERS_QPS"]
        bench.sandbox.ctl("restart", CONTROLLERS)


@contextlib.contextmanager
def templates(bench, library):
    """One for each number of devices."""
    first, claims = bench.client.first, library.claims
    sizes = range(1, NODE_DEVICES + 1)
    for size in sizes:
        first.call("POST", TEMPLATES, {"metadata": {"name": f"take-{size}"},
                                       "spec": {"spec": claims.spec(claims.request(count=size))}})
    try:
        yield
    finally:
        for size in sizes:
            first.call("DELETE", f"{TEMPLATES}/take-{size}")


def all_free(bench, library, nodes, each):
    """No claim is left, and Slurm has every node, which is ready, with every device."""
    if bench.client.first.call("GET", CLAIMS)["items"]:
        return False
    records = {one["name"]: one for one in json.loads(bench.sandbox.command("scontrol", "show", "nodes", "--json"))["nodes"]}
    gres, indexes = f"gpu:any:{each}", [f"d{i}" for i in range(each)]
    return all(name in records and "DRAIN" not in records[name]["state"] and library.devices.gres_of(records[name]) == gres and
               sorted(library.devices.indexes_in(records[name]["extra"]).split()) == indexes for name in nodes)


def start_all(bench):
    """Both schedulers; what runs goes on."""
    for scheduler in bench.schedulers:
        bench.sandbox.ctl("start", AGENT if scheduler == OURS else KUBE_SCHEDULER)


@contextlib.contextmanager
def device_nodes(bench, count=NODE_COUNT, each=NODE_DEVICES):
    """So many nodes of so many devices are there only meanwhile, and all their devices are free before each run."""
    library = bench.library = Library(bench.sandbox)
    nodes = {name: node(name, NODE_CPUS) for name in node_names(count)}
    library.special_node = node_names(count)[-1]
    with fast_controllers(bench), devices_of_slurm(bench, library, list(nodes), each), more_nodes(bench, nodes), templates(bench, library):
        def settle():
            start_all(bench)
            until("all devices to be free", lambda: all_free(bench, library, nodes, each), 180 + count / 5, 0.5)
        settle()
        bench.settle = settle
        try:
            for scheduler in bench.schedulers:                # its caches are warm then
                bind_all(bench, scheduler, "first", 0, [1] * NODE_DEVICES)
                bench.tidy()
            yield
        finally:
            bench.settle = None
            start_all(bench)
            bench.tidy()                                      # the nodes cannot go otherwise, and hide why that is


def bind_all(bench, scheduler, case, run, sizes):
    """Pods that stay, of so many devices each: the rates until the last is bound, and runs."""
    client, watch = bench.client, bench.client.watch
    # Each has the machine for itself: the other would follow every Pod and claim. The agent would enter them into Slurm, too.
    bench.sandbox.ctl("stop", KUBE_SCHEDULER if scheduler == OURS else AGENT)
    client.refresh()                                          # what came before may have taken long
    pods = [client.pod(name, scheduler, spec=bench.library.claims.with_template(f"take-{size}"))
            for name, size in zip(names(case, scheduler, run, len(sizes)), sizes)]
    rpcs, requests = bench.sandbox.rpcs(), client.requests()
    watch.expect("bound", pods)
    client.create_all(pods)
    watch.wait(300)
    sample = rates(pods, "bound")
    # kwok's reports are in the API server's way before the last Pod is bound, or after it: all of them are in what follows.
    watch.expect("running", pods)
    watch.wait(300)
    sample["running rate"] = rates(pods, "running")["rate"]
    sample["requests"] = difference(client.requests(), requests)
    sample["rpcs"], sample["rpc types"] = agents_rpcs(bench.sandbox.rpcs(), rpcs)
    sample["check"] = lambda: check(bench.library, {(NAMESPACE, pod.name): size for pod, size in zip(pods, sizes)})
    return sample


def check(library, asked):
    """No device twice, every Pod on a node with all its devices: else there is no figure."""
    with library.failing():
        world = library.world.read()
    wrong = library.claims_check.wrong(world, asked)
    if wrong:
        raise Failed(f"{len(wrong)} things are wrong, such as {wrong[0]}")
    if missed := library.claims_check.unseen(world, asked):
        raise Failed(f"the check of claims does not see {', '.join(missed)}")


def devices(bench, scheduler, run):
    """A device for each Pod, until there is none left."""
    return bind_all(bench, scheduler, "devices", run, [1] * ONE_PODS)


def mixed_devices(bench, scheduler, run):
    """1 to 8 devices for each Pod."""
    return bind_all(bench, scheduler, "mixed", run, MIXED_SIZES)


@contextlib.contextmanager
def special_templates(bench, titles):
    """Each asks for the attribute in words of its own: nobody can use what he found out for another."""
    client, library = bench.client, bench.library
    attributes = f"device.attributes['{library.devices.DRIVER}']"
    for title in titles:
        cel = f"has({attributes}.special) && {attributes}.special && '{title}' != ''"
        client.first.call("POST", TEMPLATES, {"metadata": {"name": title}, "spec": {"spec": library.claims.spec(
            library.claims.request(selectors=[{"cel": {"expression": cel}}]))}})
    try:
        yield
    finally:
        for title in titles:
            client.first.call("DELETE", f"{TEMPLATES}/{title}")


def attribute(bench, scheduler, run):
    """Pods one after another with a claim that the devices of one node satisfy."""
    client, watch = bench.client, bench.client.watch
    bench.sandbox.ctl("stop", KUBE_SCHEDULER if scheduler == OURS else AGENT)
    client.refresh()
    titles = names("special", scheduler, run, ATTRIBUTE_PODS)
    with special_templates(bench, titles):
        pods = [client.pod(title, scheduler, spec=bench.library.claims.with_template(title)) for title in titles]
        for pod in pods:
            watch.expect("bound", [pod])
            client.create(client.first, pod)
            watch.wait(120)
            watch.expect("gone", [pod])
            client.delete(pod)
            watch.wait(30)
    special_node = bench.library.special_node
    if wrong := [pod.name for pod in pods if pod.node != special_node]:
        raise Failed(f"{wrong[0]} and {len(wrong) - 1} others were not bound to {special_node}")
    latency = [1000 * (pod.bound - pod.posted) for pod in pods]
    return {"p50": percentile(latency, 50), "worst": max(latency), "all": latency}
