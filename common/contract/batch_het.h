// SPDX-License-Identifier: GPL-2.0-or-later
// Heterogeneous jobs of sbatch that run as Pods: what job_submit/k8s, which
// sees one component after the other, writes on each for the agent.
#pragma once

#include <cstdint>
#include <string>

namespace bridge {

// In a tag, as the number of components: two or more.
inline constexpr std::uint32_t some_components = 1;

// The admin_comment of each component; script_name: that of the leader.
std::string batch_het_tag(const std::string &script_name);

namespace names {

// The value of our mark (names.h) on all components but the leader begins so,
// and goes on with the name of the script's file: no Pod is made for these
// alone.
inline constexpr char batch_component_mark[] = "sbatch-component:";

} // namespace names

} // namespace bridge
