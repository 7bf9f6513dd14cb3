# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with devices: Pods with ResourceClaims or extended resources, alone and in
gangs, on Nodes of eight devices, whose drivers restart, publish anew, and lose
devices."""
import copy
import functools

import agent_conf
import bed
import chaos_watch
import claims
import devices
import gangs
from chaos_plan import DEVICES_OF_NODE, NODES
from pod_requests import quantity
from tap import wait_for

NAMESPACE = "chaos"
PATH = f"{claims.API}/namespaces/{NAMESPACE}"
CLASSES = {claims.A100: f"device.driver == '{devices.DRIVER}' && "
           f"device.attributes['{devices.DRIVER}'].model == 'A100'",
           claims.CLASS: f"device.driver == '{devices.DRIVER}'"}
RESOURCE = "devices.test/gpu"  # of all of them
GRES = (f"{claims.A100}:gpu:a100", f"{claims.CLASS}:gpu:h100")
HALF = DEVICES_OF_NODE // 2
NAMES = [f"a{i}" for i in range(HALF)] + \
    [f"h{i}" for i in range(HALF, DEVICES_OF_NODE)]


@functools.cache
def turn_on(gres=(), more="", drop_more=lambda: None):
    """The agent counts the devices until this program ends, also for the next
    seed; gres, more: what else its k8s.conf says."""
    def drop_all():
        _drop_all()
        drop_more()

    agent_conf.edit(lambda text: text + f"DeviceGres={','.join(GRES + gres)}\n"
                    f"{more}ResizeDelay=2\nNodeInterval=1\n", drop_all)


def _drop_all():
    devices.withdraw()
    for name in CLASSES:
        devices.drop("deviceclasses", name)


def ask(body, count, resource=RESOURCE):
    """The Pod asks for so many of the resource."""
    asks = body["spec"]["containers"][0]["resources"]
    asks["limits"] = {resource: str(count)}
    asks["requests"][resource] = str(count)


class Driver:
    """Of one Node: what it publishes."""

    def __init__(self, node):
        self.node = node
        self.generation = 0
        self.names = list(NAMES)
        self.lost = self.tainted = ""
        self.slices = 1

    def publish(self):
        """All slices of the next generation, then the older ones go."""
        self.generation += 1
        made = [devices.device(name, "NoSchedule" if name == self.tainted
                               else None)
                for name in self.names if name != self.lost]
        for i in range(self.slices):
            devices.publish(self.node, made[i::self.slices], self.generation,
                            self.slices, f"s{i}")
        for title in devices.names_of("resourceslices"):
            if title.startswith(f"{self.node}-s") and \
                    int(title[len(self.node) + 2]) >= self.slices:
                devices.drop("resourceslices", title)

    def withdraw(self):
        devices.withdraw(f"{self.node}-")
        self.generation = 0


class ClaimObserver:
    """Takes the claims of one namespace in the API server's own order; no device
    is ever in two of them, and no more of one than it has where these have shares
    of it. limits: {driver: {capacity: Decimal}} of each of its devices."""

    def __init__(self, report, limits=None):
        self.report = report
        self.limits = limits or {}
        self.holders = {}  # device: claim's uid
        self.shares = {}   # claim's uid: [(driver, device, capacity, amount)]
        self.names = {}

    def changed(self, claim):
        uid, name = claim["metadata"]["uid"], claim["metadata"]["name"]
        self.deleted(claim)
        self.names[uid] = name
        for result in claims.results(claim):
            device = f"{result['pool']}/{result['device']}"
            if result.get("shareID"):
                self._take_share(uid, device, result)
                continue
            other = self.holders.setdefault(device, uid)
            if other != uid:
                self.report(f"ResourceClaim {name}: {device} is in "
                            f"{self.names[other]}, too")

    def _take_share(self, uid, device, result):
        self.shares.setdefault(uid, []).extend(
            (result["driver"], device, capacity, quantity(amount))
            for capacity, amount in result["consumedCapacity"].items())
        for capacity, most in self.limits.get(result["driver"], {}).items():
            has = {self.names[one]: sum(
                amount for *what, amount in shares
                if what == [result["driver"], device, capacity])
                for one, shares in self.shares.items()}
            if sum(has.values()) > most:
                self.report(f"ResourceClaim {self.names[uid]}: of {device} "
                            f"claims have more than {most} {capacity}: " +
                            " ".join(f"{one}={amount}" for one, amount
                                     in has.items() if amount))

    def deleted(self, claim):
        uid = claim["metadata"]["uid"]
        self.holders = {d: u for d, u in self.holders.items() if u != uid}
        self.shares.pop(uid, None)

    def listed(self, known):
        """After a gap."""
        self.holders.clear()
        self.shares.clear()
        for claim in known:
            self.changed(claim)


class ChaosDevices:
    """The operations on devices of a Chaos run."""

    def __init__(self, chaos):
        self.chaos = chaos
        self.drivers = {f"kn{i + 1}": Driver(f"kn{i + 1}")
                        for i in range(NODES)}

    def prepare(self):
        _drop_all()
        for name, cel in CLASSES.items():
            offers = {"extendedResourceName": RESOURCE} \
                if name == claims.CLASS else {}
            devices.device_class(name, cel, **offers)
        for driver in self.drivers.values():
            driver.publish()
        parts = self.chaos.parts
        if parts:
            parts.prepare()
        wait_for("the Nodes to have their devices", self._is_counted, 120)
        watch = chaos_watch.Watch(
            f"{PATH}/resourceclaims",
            ClaimObserver(self.chaos.report, parts.limits if parts else None))
        watch.start()
        wait_for("the watch of claims", watch.connected.is_set)
        return watch

    def _is_counted(self):
        parts = self.chaos.parts
        wanted = f"gpu:a100:{HALF},gpu:h100:{DEVICES_OF_NODE - HALF}" + \
            ("," + parts.counted if parts else "")
        return all(devices.gres(node) == wanted for node in self.drivers) and \
            (not parts or parts.is_counted())

    # ---- Pods

    def _claim_spec(self, op):
        asked = op.words
        return claims.spec(claims.request(count=asked["devices"],
                                          model=asked.get("model")))

    def _do_apply_devices(self, op):
        """With a template of its own."""
        self._make_template(op)
        self.chaos.apply_pod(op, more=claims.with_template(op.pod))

    def _make_template(self, op):
        bed.api("POST", f"{PATH}/resourceclaimtemplates", {
            "metadata": {"name": op.pod},
            "spec": {"spec": self._claim_spec(op)}})

    def _do_apply_extended(self, op):
        self.chaos.apply_pod(op)

    def _do_apply_gang_devices(self, op):
        """Pods that are one job, each with devices of its own."""
        more = {}
        if op.words.get("devices"):
            self._make_template(op)
            more = claims.with_template(op.pod)
        self.make_gang(op, more=more)

    def make_gang(self, op, **options):
        """options: of apply_pod(), for each of the Pods."""
        count = op.words["count"]
        members = self.chaos.gangs.members[op.pod] = []
        for i in range(count):
            one = copy.deepcopy(op)
            one.pod = f"{op.pod}-{i}"
            members.append(one.pod)
            self.chaos.apply_pod(one, labels={gangs.GANG_LABEL: op.pod},
                                 sizes=[(gangs.SIZE, count)], **options)

    def _do_apply_shared(self, op):
        """Several Pods with one claim."""
        bed.api("POST", f"{PATH}/resourceclaims", {
            "metadata": {"name": op.pod}, "spec": self._claim_spec(op)})
        name = op.pod
        users = self.chaos.gangs.share(name, op.words["count"])
        for op.pod in users:
            self.chaos.apply_pod(op, more=claims.with_claims(name))

    # ---- Drivers

    def _do_driver_gone(self, op):
        self.drivers[op.node].withdraw()

    def _do_driver_back(self, op):
        self.drivers[op.node].publish()

    def _do_republish(self, op):
        """The same devices in another order, in one slice or in several."""
        driver = self.drivers[op.node]
        driver.names = op.words["order"].split(",")
        driver.slices = op.words["slices"]
        if driver.generation:
            driver.publish()

    def _change(self, op, **what):
        driver = self.drivers[op.node]
        vars(driver).update(what)
        driver.publish()

    def _do_device_lost(self, op):
        self._change(op, lost=op.words["device"])

    def _do_device_found(self, op):
        self._change(op, lost="")

    def _do_device_tainted(self, op):
        self._change(op, tainted=op.words["device"])

    def _do_device_untainted(self, op):
        self._change(op, tainted="")

    # ---- At rest

    def undo(self):
        for driver in self.drivers.values():
            driver.lost = driver.tainted = ""
            driver.publish()

    def sweep(self):
        """Templates and users' claims go; a Pod's own goes with it."""
        for kind in ("resourceclaimtemplates", "resourceclaims"):
            for item in bed.api("GET", f"{PATH}/{kind}")["items"]:
                try:
                    bed.api("DELETE", f"{PATH}/{kind}/"
                            f"{item['metadata']['name']}", {})
                except bed.ApiError as error:
                    if error.status != 404:
                        raise
        wait_for("all claims to go", lambda: not bed.api(
            "GET", f"{PATH}/resourceclaims")["items"], 60)
