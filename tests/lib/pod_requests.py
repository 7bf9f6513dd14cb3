# SPDX-License-Identifier: GPL-2.0-or-later
"""What a Pod asks its node for, told apart from the agent's own code: the
checker must not repeat the agent's mistakes. As Kubernetes' PodRequests."""
import decimal

_UNITS = {"": 1, "n": "1e-9", "u": "1e-6", "m": "1e-3", "k": "1e3", "M": "1e6",
          "G": "1e9", "T": "1e12", "P": "1e15", "E": "1e18", "Ki": 2 ** 10,
          "Mi": 2 ** 20, "Gi": 2 ** 30, "Ti": 2 ** 40, "Pi": 2 ** 50,
          "Ei": 2 ** 60}


def quantity(text):
    """"100m", "2Gi", "1e3" as a Decimal."""
    text = str(text)
    digits = text.rstrip("".join(_UNITS))
    if text[len(digits):] not in _UNITS:  # such as 1E3, which is no unit
        return decimal.Decimal(text)
    return decimal.Decimal(digits) * decimal.Decimal(_UNITS[text[len(digits):]])


def _amounts(requests):
    return {name: quantity(amount) for name, amount in (requests or {}).items()}


def _sum(one, other):
    return {name: one.get(name, 0) + other.get(name, 0) for name in one | other}


def _larger(one, other):
    return {name: max(one.get(name, 0), other.get(name, 0))
            for name in one | other}


def _of(container):
    resources = container.get("resources", {})
    return _amounts(resources.get("limits", {}) | resources.get("requests", {}))


def requests_of(pod):
    """{resource: Decimal} of all containers, as the kubelet adds them up."""
    spec = pod["spec"]
    total, sidecars, peak = {}, {}, {}
    for container in spec["containers"]:
        total = _sum(total, _of(container))
    for container in spec.get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            total = _sum(total, _of(container))
            sidecars = _sum(sidecars, _of(container))
            peak = _larger(peak, sidecars)
        else:
            peak = _larger(peak, _sum(_of(container), sidecars))
    total = _larger(total, peak)
    total |= _of(spec)  # those of the whole Pod come first
    return _sum(total, _amounts(spec.get("overhead")))


def node_requests_of(pod):
    """Without the extended resources that a ResourceClaim gives it: of these the
    Node has none to count."""
    in_claim = {one["resourceName"] for one in pod.get("status", {}).get(
        "extendedResourceClaimStatus", {}).get("requestMappings", [])}
    return {name: amount for name, amount in requests_of(pod).items()
            if name not in in_claim}
