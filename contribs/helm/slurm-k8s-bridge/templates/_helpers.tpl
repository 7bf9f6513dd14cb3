{{- /* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{- /* The rest of a list in CEL, whose first entries the manifest has. */}}
{{- define "slurm-k8s-bridge.more" -}}
{{- range . }}, '{{ . }}'{{ end }}
{{- end }}

{{- /* A list in CEL, without its brackets. */}}
{{- define "slurm-k8s-bridge.schedulers" -}}
'{{ join "', '" .Values.schedulerNames }}'
{{- end }}

{{- /* "true" where the agent's account is in the chart's own namespace: then it makes
both. Elsewhere others do. */}}
{{- define "slurm-k8s-bridge.own" -}}
{{- if eq .Values.agent.namespace "slurm-k8s-bridge" }}true{{ end }}
{{- end }}

{{- /* MutatingAdmissionPolicy is v1 from Kubernetes 1.36 on. */}}
{{- define "slurm-k8s-bridge.mutating" -}}
{{- if semverCompare "<1.36.0-0" .Capabilities.KubeVersion.Version -}}
admissionregistration.k8s.io/v1beta1
{{- else -}}
admissionregistration.k8s.io/v1
{{- end }}
{{- end }}
