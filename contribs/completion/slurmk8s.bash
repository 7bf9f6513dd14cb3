# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completes the commands, options, jobs and Pods of slurmk8s(1) in bash. It asks
# Slurm for the caller's own jobs only, and Kubernetes only for "explain".

_slurmk8s_jobs()
{
    squeue --me --noheader --format=%A "$@" 2> /dev/null
}

_slurmk8s_pods()
{
    local namespace=()
    [[ ! $1 ]] || namespace=(--namespace "$1")
    kubectl get pods --request-timeout=2s "${namespace[@]}" \
        --output='jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' 2> /dev/null
}

_slurmk8s_namespaces()
{
    kubectl get namespaces --request-timeout=2s \
        --output='jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' 2> /dev/null
}

_slurmk8s_complete()
{
    mapfile -t COMPREPLY < <(compgen "$@")
}

# What others have named is compared, never expanded, as compgen -W would do.
_slurmk8s_choose()
{
    local line
    while read -r line; do
        [[ $line != "$1"* ]] || COMPREPLY+=("$line")
    done
}

_slurmk8s()
{
    local commands='status explain top check setup uninstall logs attach salloc'
    local options='-n --namespace -j --json -f --conf -V --version -h --help'
    local batch='--k8s-image= --k8s-env= --k8s-volume= --k8s-service-account= --k8s-namespace='
    local both='--kubeconfig --manifests -f --conf --dry-run -h --help'
    local setup='--components --api-server --partition --token-lifetime --nodes --node-selector
        --namespace --write-slurm-conf'
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command='' namespace='' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case $command:${COMP_WORDS[i]} in
            *:--) return ;;                   # what follows is the user's command
            setup:--namespace) ((++i)) ;;
            *:-n | *:--namespace) ((++i)); namespace=${COMP_WORDS[i]} ;;
            *:-f | *:--conf) [[ $command == logs ]] || ((++i)) ;;
            *:-*) ;;
            *) command=${command:-${COMP_WORDS[i]}} ;;
        esac
    done
    case $before in
        -n | --namespace)
            [[ $command != setup ]] || return
            _slurmk8s_choose "$word" < <(_slurmk8s_namespaces)
            return ;;
        -f | --conf)
            [[ $command == logs ]] || { _slurmk8s_complete -f -- "$word"; return; } ;;
        --kubeconfig | --manifests) _slurmk8s_complete -f -- "$word"; return ;;
    esac
    case $command:$word in
        :-* | status:-* | explain:-* | check:-*) _slurmk8s_complete -W "$options" -- "$word" ;;
        :*) _slurmk8s_complete -W "$commands" -- "$word" ;;
        setup:-*) _slurmk8s_complete -W "$setup $both" -- "$word" ;;
        uninstall:-*) _slurmk8s_complete -W "--yes --force $both" -- "$word" ;;
        top:-*)
            _slurmk8s_complete -W '-d --delay --once -f --conf -h --help' -- "$word" ;;
        explain:*)
            _slurmk8s_choose "$word" < <(_slurmk8s_jobs; _slurmk8s_pods "$namespace") ;;
        logs:-*) _slurmk8s_complete -W '-f --follow' -- "$word" ;;
        logs:* | attach:*)
            _slurmk8s_choose "$word" < <(_slurmk8s_jobs --states=RUNNING,COMPLETING) ;;
        salloc:-*)
            compopt -o nospace 2> /dev/null
            _slurmk8s_complete -W "$batch" -- "$word" ;;
    esac
}

complete -F _slurmk8s slurmk8s kubectl-slurm
