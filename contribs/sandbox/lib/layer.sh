# shellcheck shell=bash
# A command in the Debian root with a layer of the cache over it, apart from every sandbox: for `with-clang` and the like.

# layer_run BUILDER CMD…: becomes CMD in the Debian root with the layer that BUILDER, a function of cache.sh, makes. The checkout,
# $SANDBOX and the cache are inside at their own paths, the checkout also as $SOURCE. Nothing else that CMD writes is kept.
layer_run() {
    local scratch root path status=0
    if [[ -z ${IN_NAMESPACE:-} ]]; then
        DEBIAN=$(cache_debian) LAYER=$("$1")
        export DEBIAN LAYER IN_NAMESPACE=1
        exec unshare --mount --pid --fork --kill-child --mount-proc --propagation private "$0" "${@:2}"
    fi
    unset IN_NAMESPACE
    mkdir -p "$SANDBOX"
    scratch=$(mktemp -d "$SANDBOX/.layer-XXXXXX") root=$scratch/merged
    mount -t tmpfs tmpfs "$scratch"                            # goes with the namespace
    mkdir -p "$scratch"/{upper,work,merged}
    mount -t overlay overlay -o "lowerdir=$LAYER/layer:$DEBIAN,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    for path in "$CHECKOUT" "$SANDBOX" "$SANDBOX_CACHE"; do
        mkdir -p "$root$path"
        mount --bind "$path" "$root$path"
    done
    mkdir -p "$root$SOURCE"
    mount --bind "$CHECKOUT" "$root$SOURCE"
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8
    export CCACHE_DIR=$SANDBOX_CACHE/ccache CCACHE_NOHASHDIR=yes CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=yes
    chroot "$root" "${@:2}" || status=$?
    umount --recursive --lazy "$scratch"
    rmdir "$scratch"
    exit $status
}
