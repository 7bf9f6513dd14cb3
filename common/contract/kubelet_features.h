// SPDX-License-Identifier: GPL-2.0-or-later
// Features that slurmd reports of the kubelet beside it, by node_features/k8s:
// that plugin and slurmk8s agree by this file.
#pragma once

namespace bridge {

// The kubelet has cpuManagerPolicy: static. It gives containers CPUs of their
// own, of which slurmd knows nothing.
inline constexpr char static_cpus_feature[] = "k8s.static-cpus";
// No label may have that name: with an empty value it would say the same.
inline constexpr char static_cpus_name[] = "static-cpus";

} // namespace bridge
