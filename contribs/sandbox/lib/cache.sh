# shellcheck shell=bash
# The cache that all sandboxes and checkouts share: directories named by the hash of what they are made from,
# made under a temporary name and renamed when complete. Nothing in it changes after that.

# hash_of FILE…: twelve hex digits of the files' content.
hash_of() { cat -- "$@" | sha256sum | cut -c1-12; }

# cached NAME BUILDER ARG…: makes $SANDBOX_CACHE/NAME with `BUILDER ARG… DIR` unless it is there; prints its path. With SANDBOX_CACHE_ONLY
# it makes nothing, and fails.
cached() {
    local name=$1 dir=$SANDBOX_CACHE/$1 new=$SANDBOX_CACHE/.new-$1; shift
    if [[ ! -d $dir ]]; then
        [[ ! ${SANDBOX_CACHE_ONLY:-} ]] || fail "$name is not in $SANDBOX_CACHE"
        mkdir -p "$SANDBOX_CACHE"
        (
            flock -n 9 || { say "waiting for another builder of $name"; flock 9; }
            [[ -d $dir ]] && exit 0                            # the other one made it
            rm -rf "$new"                                      # what a killed builder left
            mkdir "$new"
            say "building $name in $SANDBOX_CACHE"
            "$@" "$new" > "$SANDBOX_CACHE/$name.log" 2>&1 9>&- || {
                tail -n 30 "$SANDBOX_CACHE/$name.log" >&2
                fail "could not build $name, see $SANDBOX_CACHE/$name.log"
            }
            mv "$new" "$dir"
            say "built $name"
        ) 9> "$SANDBOX_CACHE/.lock-$name" || exit 1
    fi
    printf '%s\n' "$dir"
}

cache_debian() { cached "debian-$(hash_of "$HERE"/cache/debian{,.packages})" "$HERE/cache/debian"; }
cache_kubernetes() ( # RELEASE
    . "$HERE/kubernetes/$1/settings.sh"
    cached "kubernetes-$KUBERNETES_VERSION-$(hash_of "$HERE"/cache/kubernetes "$HERE/kubernetes/$1"/go.{mod,sum})" \
        "$HERE/cache/kubernetes" "$1" "$KUBERNETES_VERSION"
)
cache_kwok() { cached "kwok-$(hash_of "$HERE"/cache/kwok "$HERE"/kwok/go.{mod,sum})" "$HERE/cache/kwok"; }
cache_coredns() { cached "coredns-$(hash_of "$HERE"/cache/coredns "$HERE"/coredns/{go.mod,go.sum,main.go})" "$HERE/cache/coredns"; }
cache_karpenter() { cached "karpenter-$(hash_of "$HERE"/cache/karpenter "$HERE"/karpenter/go.{mod,sum})" "$HERE/cache/karpenter"; }
cache_helm() { cached "helm-$(hash_of "$HERE"/cache/helm "$HERE"/helm/go.{mod,sum})" "$HERE/cache/helm"; }
cache_grafana_schema() {
    cached "grafana-schema-$(hash_of "$HERE"/cache/grafana-schema "$HERE"/grafana-schema/{go.mod,go.sum,main.go})" "$HERE/cache/grafana-schema"
}
cache_slurm_operator() {
    cached "slurm-operator-$(hash_of "$HERE"/cache/slurm-operator "$HERE"/slurm-operator/go.{mod,sum})" "$HERE/cache/slurm-operator"
}
cache_kube_proxy() { cached "kube-proxy-$(hash_of "$HERE"/cache/kube-proxy "$HERE"/kube-proxy/go.{mod,sum})" "$HERE/cache/kube-proxy"; }
cache_nftables() {
    cached "nftables-$(hash_of "$HERE"/cache/{debian,debian.packages,nftables})" "$HERE/cache/nftables" "$(cache_debian)"
}
cache_images() { cached "images-$(hash_of "$HERE"/cache/images "$HERE"/cache/pause.c)" "$HERE/cache/images" "$(cache_debian)"; }
cache_layer() { # NAME
    cached "$1-$(hash_of "$HERE"/cache/{debian,debian.packages,layer,"$1.packages"})" \
        "$HERE/cache/layer" "$HERE/cache/$1.packages" "$(cache_debian)"
}
cache_clang() { cache_layer clang; }
cache_packaging() { cache_layer packaging; }
cache_monitoring() { cache_layer monitoring; }
