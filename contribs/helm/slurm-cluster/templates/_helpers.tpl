{{- /* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{- /* The name of the Controller, with which all other names begin. */}}
{{- define "slurm-cluster.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else -}}
{{- $name := .Values.nameOverride | default "slurm" -}}
{{ contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- /* Of objects, not of Pods: a new version of the chart starts none again. */}}
{{- define "slurm-cluster.labels" -}}
app.kubernetes.io/part-of: slurm
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* The metadata of an object. root; name; given: metadata of values;
annotations: ours, which win. */}}
{{- define "slurm-cluster.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- merge (include "slurm-cluster.labels" .root | fromYaml) (.given.labels | default dict) | toYaml | nindent 2 }}
{{- with merge (dict) (.annotations | default dict) (.given.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* An image, or nothing. root; image: a text, a map or nothing; name: of the
image in contribs/images. */}}
{{- define "slurm-cluster.image" -}}
{{- $images := .root.Values.images -}}
{{- $image := .image | default dict -}}
{{- if kindIs "string" $image -}}
{{ $image }}
{{- else if or $image.repository $images.repository -}}
{{ $image.repository | default (printf "%s/%s" $images.repository .name) }}
{{- if $image.digest }}@{{ $image.digest }}
{{- else }}:{{ required (printf "%s: its image has no tag; set images.tag" .name) ($image.tag | default $images.tag) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A container in YAML. root; given: its values; name: of its image; value: where
its image is to be given. */}}
{{- define "slurm-cluster.container" -}}
{{- $image := include "slurm-cluster.image" (dict "root" .root "image" .given.image "name" .name) -}}
{{- $image = required (printf "%s: no image is known; set it, or images.repository and images.tag for all" .value) $image -}}
{{- merge (dict "image" $image) (omit .given "image") (dict "imagePullPolicy" .root.Values.imagePullPolicy) | toYaml }}
{{- end }}

{{- /* A container that the operator does not run yet, in YAML. */}}
{{- define "slurm-cluster.other" -}}
{{- $given := . -}}
{{- if kindIs "map" .image }}{{ $given = merge (dict "image" (printf "%s:%s" .image.repository .image.tag)) (omit . "image") }}{{ end -}}
{{- toYaml $given }}
{{- end }}

{{- /* Where an external daemon is, in YAML. given: host, port; port: the usual one. */}}
{{- define "slurm-cluster.place" -}}
host: {{ .given.host | quote }}
port: {{ .given.port | default .port }}
{{- end }}

{{- /* The template of Pods in YAML. root; given: values with metadata and podSpec;
annotations, spec: ours, which win. */}}
{{- define "slurm-cluster.template" -}}
{{- $pod := dict -}}
{{- with .root.Values.imagePullSecrets }}{{ $_ := set $pod "imagePullSecrets" . }}{{ end -}}
{{- if .root.Values.priorityClass.enabled }}{{ $_ := set $pod "priorityClassName" .root.Values.priorityClass.name }}{{ end -}}
{{- $metadata := dict -}}
{{- $given := .given.metadata | default dict -}}
{{- with $given.labels }}{{ $_ := set $metadata "labels" . }}{{ end -}}
{{- with merge (dict) (.annotations | default dict) ($given.annotations | default dict) }}{{ $_ := set $metadata "annotations" . }}{{ end -}}
{{- dict "metadata" $metadata "spec" (merge (dict) (.spec | default dict) (.given.podSpec | default dict) $pod) | toYaml }}
{{- end }}

{{- /* A value of slurm.conf: a number as it was written, not as 1e+06, and YES for
what YAML takes for true. */}}
{{- define "slurm-cluster.word" -}}
{{- if kindIs "bool" . }}{{ ternary "YES" "NO" . }}
{{- else if kindIs "float64" . }}{{ toJson . }}
{{- else }}{{ . }}
{{- end }}
{{- end }}

{{- /* "KEY=VALUE" of each key of a map, by lines. A list is joined by commas. */}}
{{- define "slurm-cluster.words" -}}
{{- range $key, $value := . }}
{{- if kindIs "slice" $value }}
{{- $words := list }}
{{- range $value }}{{ $words = append $words (include "slurm-cluster.word" .) }}{{ end }}
{{ $key }}={{ join "," $words }}
{{- else if not (kindIs "invalid" $value) }}
{{ $key }}={{ include "slurm-cluster.word" $value }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Of each value with scripts how their ConfigMap and files are called, in YAML. */}}
{{- define "slurm-cluster.scripts" -}}
prologScripts: prolog
epilogScripts: epilog
prologSlurmctldScripts: prolog-slurmctld
epilogSlurmctldScripts: epilog-slurmctld
{{- end }}

{{- /* The text of two ways to give it: one that wins, and a map. */}}
{{- define "slurm-cluster.conf" -}}
{{- .text | default (include "slurm-cluster.words" .map) | trim }}
{{- end }}

{{- /* A reference to a key: {name, key} in YAML. root; given: slurmKey or jwtKey;
older: the value that had the reference before; suffix; file. */}}
{{- define "slurm-cluster.keyRef" -}}
{{- $ref := merge (dict) (.given.secretRef | default dict) (.older | default dict) -}}
name: {{ $ref.name | default (printf "%s-%s" (include "slurm-cluster.fullname" .root) .suffix) }}
key: {{ $ref.key | default .file }}
{{- end }}

{{- define "slurm-cluster.slurmKeyRef" -}}
{{ include "slurm-cluster.keyRef" (dict "root" . "given" .Values.slurmKey "older" .Values.slurmKeyRef "suffix" "auth-slurm" "file" "slurm.key") }}
{{- end }}

{{- define "slurm-cluster.jwtKeyRef" -}}
{{ include "slurm-cluster.keyRef" (dict "root" . "given" .Values.jwtKey "older" .Values.jwtHs256KeyRef "suffix" "auth-jwt" "file" "jwt.key") }}
{{- end }}

{{- define "slurm-cluster.sssdRef" -}}
name: {{ .Values.sssd.secretRef.name | default (printf "%s-sssd-conf" (include "slurm-cluster.fullname" .)) }}
key: {{ .Values.sssd.secretRef.key | default "sssd.conf" }}
{{- end }}

{{- /* A key that is made once. root; ref; given: slurmKey or jwtKey; bytes: how
long. What the Secret has counts; there is nothing in it only if it is new. */}}
{{- define "slurm-cluster.secret" -}}
{{- $there := lookup "v1" "Secret" .root.Release.Namespace .ref.name | default dict -}}
{{- $data := $there.data | default dict -}}
{{- if and $there (not (hasKey $data .ref.key)) }}
{{- fail (printf "Secret %s is there without the key %s: name another one, or delete it" .ref.name .ref.key) }}
{{- end -}}
---
apiVersion: v1
kind: Secret
metadata:
  {{- $keep := dict "helm.sh/resource-policy" "keep" }}
  {{- include "slurm-cluster.metadata" (dict "root" .root "name" .ref.name "given" (dict "annotations" .given.annotations) "annotations" $keep) | nindent 2 }}
type: Opaque
immutable: true
data:
  {{ .ref.key }}: {{ index $data .ref.key | default (randBytes (int .bytes)) }}
{{- end }}
