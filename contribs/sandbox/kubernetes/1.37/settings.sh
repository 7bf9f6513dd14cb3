# shellcheck shell=bash
# Kubernetes 1.37: with the beta gate for Workload and PodGroup, whose version v1beta1 is off by default, and the alpha gate that makes
# them for Jobs. Its kubelet and kube-scheduler are built too.
KUBERNETES_VERSION=v1.37.2
MANIFESTS=all                                                 # in contribs/kubernetes
APISERVER_FLAGS=(
    --runtime-config=scheduling.k8s.io/v1beta1=true
    --feature-gates=GenericWorkload=true,WorkloadWithJob=true
)
CONTROLLER_MANAGER_FLAGS=(--feature-gates=GenericWorkload=true,WorkloadWithJob=true)
