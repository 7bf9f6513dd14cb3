# shellcheck shell=bash
# What every script that runs inside the sandbox begins with.
. "$(dirname "${BASH_SOURCE[0]}")/settings.sh"
. "$HERE/lib/util.sh"
. "$HERE/lib/daemon.sh"
export KUBECONFIG=$ADMIN_CONF
