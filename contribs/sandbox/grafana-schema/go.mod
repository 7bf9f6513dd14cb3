module slurm-k8s-bridge/contribs/sandbox/grafana-schema

go 1.26.0

require github.com/grafana/grafana-foundation-sdk/go v0.0.22
