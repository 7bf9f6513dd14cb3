// SPDX-License-Identifier: GPL-2.0-or-later
// The tag of heterogeneous sbatch jobs that run as Pods. job_submit/k8s sees
// one component after the other and writes the tag on each of them for the
// agent.
#pragma once

#include <cstdint>
#include <string>

namespace bridge {

// The number of components in such a tag: it stands for two or more.
inline constexpr std::uint32_t some_components = 1;

// Returns the admin_comment of each component. script_name is the name of the
// leader's script file.
std::string batch_het_tag(const std::string &script_name);

namespace names {

// The value of our mark (names.h) on every component except the leader begins
// with this; the name of the script file follows. No Pod is made for such a
// component alone.
inline constexpr char batch_component_mark[] = "sbatch-component:";

} // namespace names

} // namespace bridge
