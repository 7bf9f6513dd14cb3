{{- /* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{- /* Its Pods. They never change. */}}
{{- define "slurmk8s-operator.selector" -}}
app.kubernetes.io/name: slurmk8s-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "slurmk8s-operator.labels" -}}
{{ include "slurmk8s-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "slurmk8s-operator.image" -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag }}
{{- end }}
{{- end }}

{{- define "slurmk8s-operator.port" -}}
{{ regexFind "[0-9]+$" .Values.operator.webAddress }}
{{- end }}

{{- /* Of the spec of its Pods: identity, rights and place. */}}
{{- define "slurmk8s-operator.pod" -}}
serviceAccountName: slurmk8s-operator
automountServiceAccountToken: true
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ quote . }}
{{- end }}
{{- with .Values.operator.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.operator.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Of its container. */}}
{{- define "slurmk8s-operator.container" -}}
image: {{ include "slurmk8s-operator.image" .Values.operator.image | quote }}
imagePullPolicy: {{ .Values.operator.imagePullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}
