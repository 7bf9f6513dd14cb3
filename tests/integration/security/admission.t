#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# contribs/kubernetes against the sandbox's API server: what users may not do
# to Pods for Slurm, what everybody still may, and that the agent's rights are
# enough and no more. Run with the environment of contribs/sandbox/env.
set -uo pipefail

: "${KUBECONFIG:?run eval \"\$(contribs/sandbox/env)\" first}"
top=$(cd "$(dirname "$0")/../../.." && pwd)
ns=admission-$$
agent=system:serviceaccount:slurm-k8s-bridge:slurmk8sd
user=system:serviceaccount:$ns:user
jobid=scheduler.slinky.slurm.net/slurm-jobid
count=0 failed=0

as() { local who=$1; shift; kubectl --as="$who" --namespace="$ns" "$@"; }

report() { # RESULT NAME [DETAIL]
    ((++count))
    [[ $1 == 0 ]] && { echo "ok $count - $2"; return; }
    ((++failed))
    echo "not ok $count - $2"
    local detail=${3:-}
    echo "# ${detail//$'\n'/$'\n# '}"
}

works() { # NAME COMMAND…: it succeeds
    local name=$1 said status; shift
    said=$("$@" 2>&1 < /dev/null); status=$?
    report "$status" "$name" "$said"
}

refused() { # NAME TEXT COMMAND…: it fails, and TEXT is in the message
    local name=$1 text=$2 said status; shift 2
    said=$("$@" 2>&1 < /dev/null); status=$?
    [[ $status != 0 && $said == *"$text"* ]]
    report "$?" "$name" "exit $status: $said"
}

is() { # NAME EXPECTED GOT
    [[ $2 == "$3" ]]
    report "$?" "$1" "expected '$2', got '$3'"
}

# pod NAME SCHEDULER [METADATA] [SPEC] [CONTAINER]: JSON members to add.
pod() {
    cat <<JSON
{"apiVersion": "v1", "kind": "Pod",
 "metadata": {"name": "$1"${3:+, $3}},
 "spec": {"schedulerName": "$2", "restartPolicy": "Never"${4:+, $4},
  "containers": [{"name": "main", "image": "none",
   "resources": {"requests": {"cpu": "1", "memory": "1Mi"}}${5:+, $5}}]}}
JSON
}

create() { as "$1" create -f <(pod "${@:2}"); } # WHO + pod's arguments

bind() { # WHO POD [METADATA]
    bind_by "pods/$2/binding" "$@"
}

bind_by() { # RESOURCE WHO POD [METADATA]
    local resource=$1; shift
    as "$1" create --raw "/api/v1/namespaces/$ns/$resource" -f - <<JSON
{"apiVersion": "v1", "kind": "Binding",
 "metadata": {"name": "$2", "namespace": "$ns"${3:+, $3}},
 "target": {"apiVersion": "v1", "kind": "Node", "name": "$node"}}
JSON
}

patch() { # WHO POD PATCH [OPTION…]
    as "$1" patch pod "$2" --type=merge --patch="$3" "${@:4}"
}

of() { as "$agent" get pod "$1" --output=jsonpath="$2"; } # POD PATH

set_up() {
    kubectl apply -k "$top/contribs/kubernetes/${SANDBOX_MANIFESTS:-all}" ||
        return
    kubectl create namespace "$ns" || return
    kubectl -n "$ns" create serviceaccount user || return
    kubectl -n "$ns" create role user --verb='*' --resource=pods \
        --resource=pods/status --resource=pods/binding \
        --resource=pods/ephemeralcontainers --resource=pods/resize \
        --resource=bindings ||
        return
    kubectl -n "$ns" create rolebinding user --role=user \
        --serviceaccount="$ns:user" || return
    # Policies act about a second after they were made, and say nothing then.
    for ((try = 0; try < 300; try++)); do
        policies_act && return
        sleep 0.2
    done
    echo "the policies do not act"
    return 1
}

policies_act() {
    local try=(as "$user" create --dry-run=server -f)
    ! "${try[@]}" <(pod t slurm "\"labels\": {\"$jobid\": \"1\"}") &&
        ! "${try[@]}" <(pod t slurm '' '"nodeName": "n"') &&
        ! "${try[@]}" <(pod t slurm '' '' '"ports": [{"containerPort": 1,
                        "hostPort": 1}]')
} > /dev/null 2>&1

trap 'kubectl delete namespace "$ns" --wait=false > /dev/null 2>&1' EXIT
said=$(set_up 2>&1)
report "$?" "contribs/kubernetes is applied and acts" "$said"
node=$(kubectl get nodes --output=jsonpath='{.items[0].metadata.name}')

### owned metadata
owned="only slurmk8sd may set"
for key in slinky.slurm.net/slurm-node slurmk8s/sluid slurmk8s/generation; do
    refused "a user may not create a Pod with the annotation $key" "$owned" \
        create "$user" forged slurm "\"annotations\": {\"$key\": \"1\"}"
done
refused "a user may not create a Pod with our label" "$owned" \
    create "$user" forged slurm "\"labels\": {\"$jobid\": \"1\"}"
refused "not even an empty label" "$owned" \
    create "$user" forged slurm "\"labels\": {\"$jobid\": \"\"}"
refused "nor for another scheduler" "$owned" \
    create "$user" forged default-scheduler "\"labels\": {\"$jobid\": \"1\"}"
refused "nor with a JobId, as an administrator" "$owned" \
    kubectl -n "$ns" create -f <(pod forged slurm \
        "\"labels\": {\"$jobid\": \"1\"}")
works "a user creates a Pod with labels of its own" \
    create "$user" one slurm '"labels": {"app": "x"}, "annotations":
        {"slurmjob.slinky.slurm.net/partition": "p", "slurmk8s/account": "a"}'
refused "a user may not label it" "$owned" \
    patch "$user" one "{\"metadata\": {\"labels\": {\"$jobid\": \"1\"}}}"
refused "nor through pods/status" "$owned" \
    patch "$user" one "{\"metadata\": {\"labels\": {\"$jobid\": \"1\"}}}" \
    --subresource=status
refused "nor annotate it through pods/status" "$owned" patch "$user" one \
    '{"metadata": {"annotations": {"slurmk8s/sluid": "s"}}}' \
    --subresource=status
refused "nor through a binding" "$owned" \
    bind "$user" one "\"labels\": {\"$jobid\": \"1\"}"
refused "nor through the older kind of binding" "$owned" \
    bind_by bindings "$user" one "\"labels\": {\"$jobid\": \"1\"}"
refused "nor annotate it through a binding" "$owned" \
    bind "$user" one '"annotations": {"slurmk8s/sluid": "s"}'
works "a user changes labels of its own" \
    patch "$user" one '{"metadata": {"labels": {"app": "y"}}}'
works "a user's status patch without ours passes" patch "$user" one \
    '{"status": {"nominatedNodeName": "x"}}' --subresource=status

works "the agent raises the generation" patch "$agent" one \
    '{"metadata": {"annotations": {"slurmk8s/generation": "1"}}}'
uid=$(of one '{.metadata.uid}')
works "the agent binds with label and annotations" bind "$agent" one \
    "\"uid\": \"$uid\", \"labels\": {\"$jobid\": \"7\"}, \"annotations\":
     {\"slurmk8s/sluid\": \"s7\", \"slinky.slurm.net/slurm-node\": \"$node\"}"
is "the Pod is on its node" "$node" "$(of one '{.spec.nodeName}')"
is "the Pod carries its JobId" 7 \
    "$(of one '{.metadata.labels.scheduler\.slinky\.slurm\.net/slurm-jobid}')"
is "the Pod carries its SLUID" s7 \
    "$(of one '{.metadata.annotations.slurmk8s/sluid}')"
works "a user changes labels of a placed Pod" \
    patch "$user" one '{"metadata": {"labels": {"app": "z"}}}'
refused "a user may not change the JobId" "$owned" \
    patch "$user" one "{\"metadata\": {\"labels\": {\"$jobid\": \"8\"}}}"
refused "a user may not remove the JobId" "$owned" \
    patch "$user" one "{\"metadata\": {\"labels\": {\"$jobid\": null}}}"
refused "a user may not remove all labels" "$owned" \
    patch "$user" one '{"metadata": {"labels": null}}'
refused "a user may not remove the SLUID" "$owned" patch "$user" one \
    '{"metadata": {"annotations": {"slurmk8s/sluid": null}}}'
refused "a user may not change the node of record" "$owned" patch "$user" one \
    '{"metadata": {"annotations": {"slinky.slurm.net/slurm-node": "x"}}}'
works "a user adds an ephemeral container to a placed Pod" \
    as "$user" debug one --image=none --profile=general --attach=false
phase() { kubectl -n "$ns" wait pod/one --timeout=60s \
    --for=jsonpath='{.status.phase}'=Running; }
works "a kubelet's status writes pass: the Pod runs" phase

### the node's name
chosen="Slurm chooses the node"
for scheduler in slurm slurm-bridge-scheduler; do
    refused "a Pod for $scheduler may not come with a nodeName" "$chosen" \
        create "$user" placed "$scheduler" '' "\"nodeName\": \"$node\""
done
refused "not even from the agent" "cannot create" \
    create "$agent" placed slurm '' "\"nodeName\": \"$node\""
works "a Pod for another scheduler may have a nodeName" \
    create "$user" foreign default-scheduler '' "\"nodeName\": \"$node\""

### what is supported
affinity() {
    echo "\"affinity\": {\"$1\":
      {\"requiredDuringSchedulingIgnoredDuringExecution\":
       [{\"topologyKey\": \"kubernetes.io/hostname\",
         \"labelSelector\": {\"matchLabels\": {\"a\": \"b\"}}}]}}"
}
spread() {
    echo "\"topologySpreadConstraints\": [{\"maxSkew\": 1,
      \"topologyKey\": \"kubernetes.io/hostname\",
      \"whenUnsatisfiable\": \"$1\",
      \"labelSelector\": {\"matchLabels\": {\"a\": \"b\"}}}]"
}
port='"ports": [{"containerPort": 80, "hostPort": 8080}]'
for scheduler in slurm slurm-bridge-scheduler; do
    for kind in podAffinity podAntiAffinity; do
        refused "required $kind is refused for $scheduler" \
            "(anti-)affinity is not supported" \
            create "$user" no "$scheduler" '' "$(affinity $kind)"
    done
    refused "DoNotSchedule is refused for $scheduler" "DoNotSchedule" \
        create "$user" no "$scheduler" '' "$(spread DoNotSchedule)"
    refused "hostPort is refused for $scheduler" "hostPort" \
        create "$user" no "$scheduler" '' '' "$port"
done
refused "hostPort of an init container is refused" "hostPort" \
    create "$user" no slurm '' \
    "\"initContainers\": [{\"name\": \"i\", \"image\": \"none\", $port}]"
refused "ports with hostNetwork are refused" "hostPort" \
    create "$user" no slurm '' '"hostNetwork": true' \
    '"ports": [{"containerPort": 80}]'
refused "a terminationGracePeriodSeconds of a day is refused" "above 3600" \
    create "$user" no slurm '' '"terminationGracePeriodSeconds": 86400'
refused "so is a second more than an hour" "above 3600" \
    create "$user" no slurm '' '"terminationGracePeriodSeconds": 3601'
refused "one hostPort among other ports is refused" "hostPort" \
    create "$user" no slurm '' '' \
    '"ports": [{"containerPort": 79}, {"containerPort": 80, "hostPort": 8080}]'
refused "a terminationGracePeriodSeconds of 0 is refused" "use 1" \
    create "$user" no slurm '' '"terminationGracePeriodSeconds": 0'
works "so it is not for another scheduler" \
    create "$user" atonce default-scheduler '' \
    '"terminationGracePeriodSeconds": 0'
works "an hour, and ports of the Pod's own, are allowed" \
    create "$user" hour slurm '' \
    '"terminationGracePeriodSeconds": 3600, "schedulingGates":
     [{"name": "example.com/hold"}]' '"ports": [{"containerPort": 80}]'
works "ScheduleAnyway is allowed" \
    create "$user" anyway slurm '' "$(spread ScheduleAnyway)"
works "other schedulers are not concerned" \
    create "$user" other default-scheduler '' "$(affinity podAntiAffinity)" \
    "$port"

bigger='{"spec": {"containers": [{"name": "main",
         "resources": {"requests": {"cpu": "2"}}}]}}'
resize() { as "$user" patch pod "$1" --subresource=resize --patch="$bigger"; }
# Behind a gate, so that no agent binds it: kwok nodes do not resize at all.
works "a Pod for Slurm waits" create "$user" waits slurm '' \
    '"schedulingGates": [{"name": "example.com/hold"}]'
refused "it is not resized in place" "cannot be resized" resize waits
works "a Pod of another scheduler is" resize other

### the agent's rights
can() { as "$agent" auth can-i "${@}" --quiet; }
cannot() { ! can "$@"; }
for right in "create pods --subresource=eviction" \
    "list pods" "watch nodes" "get namespaces" \
    "create pods --subresource=binding" "patch pods --subresource=status" \
    "patch pods" "delete pods" "create events.events.k8s.io" \
    "patch events.events.k8s.io"; do
    # shellcheck disable=SC2086
    works "the agent may $right" can $right
done
for right in "create pods" "update pods" "get secrets" "list configmaps" \
    "delete nodes" "update nodes" "patch namespaces" \
    "create pods --subresource=exec" \
    "create serviceaccounts --subresource=token" "impersonate users" \
    "deletecollection pods"; do
    # shellcheck disable=SC2086
    works "the agent may not $right" cannot $right
done
token=$(kubectl -n slurm-k8s-bridge create token slurmk8sd)
whoami() {
    kubectl --kubeconfig=/dev/null --server="$SANDBOX_API" --token="$token" \
        --certificate-authority="$SANDBOX_CA" auth whoami \
        --output=jsonpath='{.status.userInfo.username}'
}
is "a token of the agent is the agent" "$agent" "$(whoami)"
works "the agent deletes a Pod" as "$agent" delete pod one --wait=false

echo "1..$count"
((failed == 0))
