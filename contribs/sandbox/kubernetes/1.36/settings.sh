# shellcheck shell=bash
# Kubernetes 1.36: with the alpha gates for Workload and PodGroup. Its kubelet and kube-scheduler are built too.
KUBERNETES_VERSION=v1.36.3
MANIFESTS=all                                                 # in contribs/kubernetes
APISERVER_FLAGS=(
    --runtime-config=scheduling.k8s.io/v1alpha2=true
    --feature-gates=GenericWorkload=true,GangScheduling=true,WorkloadWithJob=true
)
CONTROLLER_MANAGER_FLAGS=(--feature-gates=GenericWorkload=true,WorkloadWithJob=true)
