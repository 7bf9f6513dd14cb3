{{- /* SPDX-License-Identifier: GPL-2.0-or-later */}}

{{- define "slurm-cluster.nodeset" -}}
{{ include "slurm-cluster.fullname" .root }}-worker-{{ .key }}
{{- end }}

{{- /* The lines at the end of slurm.conf: those of the values, and the partitions. */}}
{{- define "slurm-cluster.slurmConf" -}}
{{- include "slurm-cluster.conf" (dict "text" .Values.controller.extraConf "map" .Values.controller.extraConfMap) }}
{{- range $name, $partition := .Values.partitions }}
{{- if and $partition $partition.enabled }}
{{- $nodes := list }}
{{- range $partition.nodesets }}
{{- if eq . "ALL" }}
{{- $nodes = append $nodes . }}
{{- else }}
{{- $set := mergeOverwrite (dict) (deepCopy $.Values.nodesetDefaults) (get $.Values.nodesets . | default dict | deepCopy) }}
{{- if not (and (hasKey $.Values.nodesets .) $set.enabled) }}
{{- fail (printf "partitions.%s: there is no nodeset %s that is enabled" $name .) }}
{{- end }}
{{- $nodes = append $nodes . }}
{{- end }}
{{- end }}
{{- if not $nodes }}{{ fail (printf "partitions.%s: nodesets is empty; ALL is all nodes" $name) }}{{ end }}
{{- $conf := include "slurm-cluster.conf" (dict "text" $partition.config "map" $partition.configMap) }}
{{ printf "PartitionName=%s Nodes=%s %s" $name (join "," $nodes) (regexReplaceAll "\\s+" $conf " ") | trim }}
{{- end }}
{{- end }}
{{- end }}
