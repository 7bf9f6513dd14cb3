# shellcheck shell=bash
# Where a sandbox keeps its things, and which ports it uses. Sourced by every script, outside and inside the sandbox.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)        # contribs/sandbox
CHECKOUT=$(cd "$HERE/../.." && pwd)

SANDBOX=$(realpath -m "${SANDBOX:-$CHECKOUT/.sandbox}")
SANDBOX_CACHE=$(realpath -m "${SANDBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slurm-k8s-bridge}")

# A sandbox keeps the ports that it was made with, so that they need be named only once.
if [[ -s $SANDBOX/port ]]; then
    [[ ${SANDBOX_PORT:-$(< "$SANDBOX/port")} == "$(< "$SANDBOX/port")" ]] || {
        echo "the sandbox in $SANDBOX was made with SANDBOX_PORT=$(< "$SANDBOX/port"), not $SANDBOX_PORT" >&2
        exit 1
    }
    SANDBOX_PORT=$(< "$SANDBOX/port")
fi
SANDBOX_PORT=${SANDBOX_PORT:-21000}
export SANDBOX SANDBOX_CACHE SANDBOX_PORT

# The port map: 32 ports from SANDBOX_PORT, all on loopback, but for the kubelet's, which is on the sandbox's own bridge.
PORT_APISERVER=$((SANDBOX_PORT + 0))
PORT_ETCD=$((SANDBOX_PORT + 1))
PORT_ETCD_PEER=$((SANDBOX_PORT + 2))
PORT_CONTROLLER_MANAGER=$((SANDBOX_PORT + 3))
PORT_KUBELET=$((SANDBOX_PORT + 4))
PORT_SLURMCTLD=$((SANDBOX_PORT + 5))
PORT_SLURMDBD=$((SANDBOX_PORT + 6))
PORT_SLURMD=$((SANDBOX_PORT + 7))
PORT_AGENT=$((SANDBOX_PORT + 8))
PORT_COREDNS=$((SANDBOX_PORT + 9))                           # whether it serves: names are on port 53 of the bridge
PORT_DATABASE=$((SANDBOX_PORT + 10))                         # MariaDB for Pods, on the bridge
PORT_KARPENTER=$((SANDBOX_PORT + 11))                         # metrics
PORT_KARPENTER_HEALTH=$((SANDBOX_PORT + 12))                  # both on all addresses: it knows no other way
PORT_SLURMD_KWOK=$((SANDBOX_PORT + 14))
PORT_SLURMD_HYBRID=$((SANDBOX_PORT + 15))
# what is left up to +15 is for daemons still to come, +16 … +31 for tests
PORT_TESTS=$((SANDBOX_PORT + 16))

# Names on the host must differ between sandboxes: the bridge, what is plugged into it, its subnet, and the real nodes' cgroups, of which none begins with
# another's name, as a kubelet looks at all that begin with its own.
BRIDGE=sbx-$SANDBOX_PORT
SUBNET=10.88.$((SANDBOX_PORT / 32 % 256))                      # the first three bytes
CABLE=$BRIDGE-r                                               # from the bridge to the router, of `up --operator`
CGROUP=sandbox-$SANDBOX_PORT                                  # in the root of each cgroup hierarchy
CGROUP2=sandbox2-$SANDBOX_PORT

# The addresses of the subnet: .1 and .2 are the real nodes', on the host; .3 is the router's; Pods have those from .16 on (lib/node.sh), so that
# a few routes say what is a Pod. Services are known inside of a sandbox only.
ROUTER=$SUBNET.3
MACHINES=$SUBNET.0/28
PODS=("$SUBNET.16/28" "$SUBNET.32/27" "$SUBNET.64/26" "$SUBNET.128/25")
SERVICES=10.0.0.0/24
API_SERVICE=10.0.0.1                                          # that of the Service `kubernetes`

REAL_NODE=real1
REAL_NODE2=real2
KWOK_HYBRID=kh1                                               # a kwok Node with a slurmd, of this size whatever the machine has
KWOK_HYBRID_CPUS=16 KWOK_HYBRID_MEMORY=32000
NATIVE_NODE=native1                                           # slurmd's name in Slurm
HOSTNAME_INSIDE=ctl
BACKUP_HOST=ctl2                                              # the second controller, of `up --backup`
BACKUP_ADDRESS=127.0.0.2
PLUGIN_DIR=/usr/lib/x86_64-linux-gnu/slurm-wlm                # Debian's, on amd64

# The checkout's name where it is compiled, in every sandbox the same, so that what ccache holds of one checkout serves all.
export SOURCE=/usr/src/slurm-k8s-bridge

# Outside and inside see these at the same path.
LOG=$SANDBOX/log
PKI=$SANDBOX/pki
BIN=$SANDBOX/bin
ADMIN_CONF=$SANDBOX/admin.conf
API=https://127.0.0.1:$PORT_APISERVER
KUBE_BIN=$SANDBOX/kubernetes                                  # these seven are links into the cache
KWOK=$SANDBOX/kwok
IMAGES=$SANDBOX/images
COREDNS=$SANDBOX/coredns                                      # only where there was DNS
KUBE_PROXY=$SANDBOX/kube-proxy                                # these two only with --operator
NFTABLES=$SANDBOX/nftables
KARPENTER=$SANDBOX/karpenter                                  # only with --karpenter

# What `up` was asked for last; options that are not given keep their value.
NODES=4 CPUS=16 MEMORY=64000 GPUS=0 REAL_NODE_WANTED=yes REAL_NODE2_WANTED=no HYBRID_WANTED=no KUBE_SCHEDULER_WANTED=no BACKUP_WANTED=no
DNS_WANTED=yes PACKAGES_WANTED=no OPERATOR_WANTED=no KARPENTER_WANTED=no
KUBERNETES=1.36
# shellcheck source=/dev/null
[[ ! -s $SANDBOX/options ]] || . "$SANDBOX/options"

# What is the Kubernetes release's own: its version, its flags, the manifests for it.
# shellcheck source=/dev/null
. "$HERE/kubernetes/$KUBERNETES/settings.sh"

# Where Slurm's daemons and commands listen: where Pods reach them, if Pods are to be workers.
SLURM_ADDRESS=127.0.0.1
[[ $OPERATOR_WANTED == no ]] || SLURM_ADDRESS=$SUBNET.1
