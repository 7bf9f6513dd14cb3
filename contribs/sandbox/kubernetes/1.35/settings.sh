# shellcheck shell=bash
# Kubernetes 1.35: kube-apiserver and kube-controller-manager, with what contribs/kubernetes/components/adopt-1.35 asks of them, and with
# the gate for that release's own Workload, which is another API than 1.36's.
KUBERNETES_VERSION=v1.35.4
MANIFESTS=all-1.35                                            # in contribs/kubernetes
APISERVER_FLAGS=(
    --runtime-config=admissionregistration.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha1=true
    --feature-gates=MutatingAdmissionPolicy=true,GenericWorkload=true
)
CONTROLLER_MANAGER_FLAGS=()
