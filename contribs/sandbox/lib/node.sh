# shellcheck shell=bash
# The real nodes, and running things on them: real1 of the daemons node, containerd and kubelet, and real2 of their namesakes with a 2
# behind, which are their first's file with the facts of another node.

# real_node NAME: the facts of the real node of that name: $node, its name; $machine, the daemon that holds its namespaces; $disk; $address,
# its kubelet's on the bridge; $pods_from and $pods_to, the addresses of its Pods, a few more than the 110 that a kubelet takes; $cgroup.
real_node() {
    node=$1
    case $node in
        "$REAL_NODE")
            machine=node disk=$SANDBOX/real-node cgroup=$CGROUP
            address=$SUBNET.1 pods_from=$SUBNET.16 pods_to=$SUBNET.131 ;;
        "$REAL_NODE2")
            machine=node2 disk=$SANDBOX/real-node2 cgroup=$CGROUP2
            address=$SUBNET.2 pods_from=$SUBNET.132 pods_to=$SUBNET.254 ;;
        *) fail "no real node is called $node" ;;
    esac
}

# bridge_up: the sandbox's bridge, which has no way out of the machine: Pods, the kubelet's port and the DNS are on it. With an address of
# its own, since it would else have that of a Pod's interface, and a new one when that goes: nothing from other Pods would arrive until they
# ask for it anew.
bridge_up() {
    ip link show "$BRIDGE" > /dev/null 2>&1 || ip link add "$BRIDGE" type bridge
    ip link set "$BRIDGE" address 0a:58:0a:58:00:01
    ip addr replace "$SUBNET.1/24" dev "$BRIDGE"
    ip link set "$BRIDGE" up
}

# write_cni: how Pods of $node get their addresses. With a router Services are behind it, and other Pods too: what a Service's Pod answers
# must come back through it.
write_cni() {
    local routes=() network
    [[ $OPERATOR_WANTED == no ]] ||
        for network in "$SERVICES" "${PODS[@]}"; do routes+=("{\"dst\": \"$network\", \"gw\": \"$ROUTER\"}"); done
    mkdir -p "$disk/etc/cni"
    write "$disk/etc/cni/10-sandbox.conflist" <<EOF
{"cniVersion": "1.0.0", "name": "sandbox", "plugins": [{"type": "bridge", "bridge": "$BRIDGE", "isGateway": false, "ipMasq": false,
  "ipam": {"type": "host-local", "dataDir": "/run/cni", "routes": [$(IFS=,; echo "${routes[*]}")],
           "ranges": [[{"subnet": "$SUBNET.0/24", "rangeStart": "$pods_from", "rangeEnd": "$pods_to", "gateway": "$SUBNET.1"}]]}}]}
EOF
}

# in_node CMD…: runs CMD there.
in_node() { nsenter --target "$(daemon_pid "$machine")" --mount --pid -- "$@"; }

# daemon_of_node NAME: the daemon that is described belongs to that node. It is put into the node's PID namespace first (where run-daemon
# can still see the sandbox's /proc) …
daemon_of_node() {
    real_node "$1"
    node_pid=$(daemon_pid "$machine" || true)
    enter=(nsenter --target "$node_pid" --pid)
}

# … and then, by exec_in_node CMD…, into its mounts.
exec_in_node() { exec nsenter --target "$node_pid" --mount -- "$@"; }
