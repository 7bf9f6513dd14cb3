# SPDX-License-Identifier: GPL-2.0-or-later
"""Chaos with parts of devices, beside that of chaos_devices.py: Pods with shares of
devices that many have, with CPU devices and with resources of device plugins, some
with all of them; and drivers that go, come back, and have fewer of them."""
import copy

import admission
import bed
import chaos_devices
import claims
import cpus
import devices
from chaos_plan import (CPUS_OF_NODE, NICS_OF_NODE, NODES, SHARED_DEVICES,
                        SHARED_MEMORY)
from pod_requests import quantity

DRIVER = "shares.test"
CLASS = "share.shares.test"
NIC = "plugin.test/nic"
GRES = (f"{cpus.CLASS}:cpu", f"{NIC}:nicbw:port")
CAPACITY = f"{DRIVER}/memory:gpumem:1Gi"
COUNTED = f"gpumem:{SHARED_DEVICES * SHARED_MEMORY},nicbw:port:{NICS_OF_NODE}"
# Of each device: for chaos_devices.ClaimObserver.
LIMITS = {DRIVER: {"memory": quantity(f"{SHARED_MEMORY}Gi")}}
CLASSES = {CLASS: f"device.driver == '{DRIVER}'",
           cpus.CLASS: f"device.driver == '{cpus.DRIVER}'"}
ALL_NODES = [f"kn{i + 1}" for i in range(NODES)]
ALL = {"share": list(range(SHARED_DEVICES)), "cores": list(range(CPUS_OF_NODE)),
       "nics": NICS_OF_NODE}
FEWER = {"share": ALL["share"][1:], "cores": ALL["cores"][CPUS_OF_NODE // 2:],
         "nics": NICS_OF_NODE // 2}
NONE = {"share": [], "cores": [], "nics": 0}
DRIVERS = {"share": DRIVER, "cores": cpus.DRIVER}


def turn_on():
    """Beside the devices: the agent counts all that until this program ends."""
    chaos_devices.turn_on(GRES, f"DeviceCapacity={CAPACITY}\n", drop_all)
    drop_all()
    for node in ALL_NODES:  # before the watches read what a Node has
        _offer(node, NICS_OF_NODE)


def drop_all():
    for driver in DRIVERS.values():
        _withdraw("", driver)
    for name in CLASSES:
        devices.drop("deviceclasses", name)
    for node in ALL_NODES:
        _offer(node, None)


def _offer(node, count):
    amount = None if count is None else str(count)
    bed.api("PATCH", f"/api/v1/nodes/{node}/status",
            {"status": {kind: {NIC: amount}
                        for kind in ("capacity", "allocatable")}},
            admission.STRATEGIC)


def _withdraw(node, driver, but_for=()):
    for name in devices.names_of("resourceslices"):
        if name.startswith(node) and name.endswith("." + driver) and \
                name not in but_for:
            devices.drop("resourceslices", name)


def _share(i):
    """A device of which whole Gi are given."""
    return {"name": f"s{i}", "allowMultipleAllocations": True, "capacity": {
        "memory": {"value": f"{SHARED_MEMORY}Gi", "requestPolicy": {
            "default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}}}


def _cpu(i):
    return cpus.device(i, int(i >= CPUS_OF_NODE // 2))


class NodeParts:
    """What one Node has, and its drivers publish."""

    def __init__(self, node):
        self.node = node
        self.generation = 0
        self.slices = 1
        self.has = dict(ALL)

    def publish(self, *kinds):
        self.generation += 1
        for kind in kinds or ALL:
            if kind == "nics":
                _offer(self.node, self.has[kind])
            else:
                self._publish_slices(kind)

    def _publish_slices(self, kind):
        make, driver = (_share if kind == "share" else _cpu), DRIVERS[kind]
        made = [make(i) for i in self.has[kind]]
        slices = self.slices if made else 0
        for i in range(slices):
            devices.publish(self.node, made[i::slices], self.generation, slices,
                            f"p{i}", driver=driver)
        _withdraw(f"{self.node}-", driver,
                  [f"{self.node}-p{i}.{driver}" for i in range(slices)])


class ChaosParts:
    """The operations on parts of devices of a Chaos run."""

    counted = COUNTED
    limits = LIMITS

    def __init__(self, chaos):
        self.chaos = chaos
        self.nodes = {name: NodeParts(name) for name in ALL_NODES}

    def prepare(self):
        for name, cel in CLASSES.items():
            devices.device_class(name, cel)
        self.undo()

    @staticmethod
    def is_counted():
        return all(map(cpus.has_feature, ALL_NODES))

    # ---- Pods

    @staticmethod
    def _claim_specs(op):
        """{entry of the Pod: spec of its claim}"""
        words = op.words
        asked = {}
        if words.get("devices"):
            asked["gpu"] = claims.request(count=words["devices"])
        if words.get("share"):
            asked["share"] = claims.request(
                "share", words["shares"] or 1, CLASS,
                capacity={"requests": {"memory": f"{words['share']}Gi"}})
        if words.get("cores"):
            asked["cpu"] = cpus.request(words["cores"])
        together = {"constraints": [{"requests": ["cpu"],
                                     "matchAttribute": cpus.NUMA}]} \
            if words["one_numa"] else {}
        if asked and words["one_claim"]:
            return {"all": claims.spec(*asked.values(), **together)}
        return {entry: claims.spec(request, **(
            together if entry == "cpu" else {}))
            for entry, request in asked.items()}

    @staticmethod
    def _edit(op, entries):
        def edit(body):
            if op.words.get("nics"):
                chaos_devices.ask(body, op.words["nics"], NIC)
            if op.words["uses"] and entries:
                cpus.with_uses(body, *entries)
        return edit

    def _options(self, op):
        """Of apply_pod(), for a Pod with claims of its own."""
        specs = self._claim_specs(op)
        for entry, spec in specs.items():
            bed.api("POST", f"{chaos_devices.PATH}/resourceclaimtemplates", {
                "metadata": {"name": f"{op.pod}-{entry}"},
                "spec": {"spec": spec}})
        return {"edit": self._edit(op, specs), "more": {"resourceClaims": [
            {"name": entry, "resourceClaimTemplateName": f"{op.pod}-{entry}"}
            for entry in specs]}}

    def _do_apply_parts(self, op):
        self.chaos.apply_pod(op, **self._options(op))

    def _do_apply_gang_parts(self, op):
        self.chaos.devices.make_gang(op, **self._options(op))

    def _do_apply_shared_parts(self, op):
        (spec,) = self._claim_specs(op).values()
        bed.api("POST", f"{chaos_devices.PATH}/resourceclaims",
                {"metadata": {"name": op.pod}, "spec": spec})
        options = {"edit": self._edit(op, [op.pod]),
                   "more": claims.with_claims(op.pod)}
        for name in self.chaos.gangs.share(op.pod, op.words["count"]):
            one = copy.deepcopy(op)
            one.pod = name
            self.chaos.apply_pod(one, **options)

    # ---- Drivers

    def _change(self, op, to):
        node, kind = self.nodes[op.node], op.words["kind"]
        node.has[kind] = to[kind]
        node.publish(kind)

    def _do_parts_gone(self, op):
        self._change(op, NONE)

    def _do_parts_fewer(self, op):
        self._change(op, FEWER)

    def _do_parts_back(self, op):
        node = self.nodes[op.node]
        node.has = dict(ALL)
        node.publish()

    def _do_parts_republish(self, op):
        node = self.nodes[op.node]
        node.slices = op.words["slices"]
        node.publish()

    # ---- At rest

    def undo(self):
        for node in self.nodes.values():
            node.has = dict(ALL)
            node.publish()
