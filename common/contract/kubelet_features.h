// SPDX-License-Identifier: GPL-2.0-or-later
// Features that slurmd reports about the kubelet on the same machine, through
// node_features/k8s. That plugin and slurmk8s share this file.
#pragma once

namespace bridge {

// The machine has a kubelet.
inline constexpr char kubelet_feature[] = "k8s.kubelet";
// The kubelet has cpuManagerPolicy: static. It gives containers exclusive CPUs,
// and slurmd does not know about them.
inline constexpr char static_cpus_feature[] = "k8s.static-cpus";
// Reserved in FeatureLabels: a label of this name with an empty value would
// give the same feature.
inline constexpr char static_cpus_name[] = "static-cpus";

} // namespace bridge
