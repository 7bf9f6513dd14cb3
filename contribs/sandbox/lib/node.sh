# shellcheck shell=bash
# Running things on the real node: daemons/node holds its namespaces.

# in_node CMD…: runs CMD there.
in_node() { nsenter --target "$(daemon_pid node)" --mount --pid -- "$@"; }

# A daemon of the node is put into its PID namespace first (where run-daemon can still see the sandbox's /proc) …
node_pid=$(daemon_pid node || true)
enter=(nsenter --target "$node_pid" --pid)

# … and then, by exec_in_node CMD…, into its mounts.
exec_in_node() { exec nsenter --target "$node_pid" --mount -- "$@"; }
