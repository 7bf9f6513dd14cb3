// SPDX-License-Identifier: GPL-2.0-or-later
// The names of the Pods and of the Slurm nodes of a NodeSet, as slurm-operator
// gives them: NODESET-ORDINAL, and HOSTNAME followed by the ordinal, where the
// template has a hostname. In the mode DaemonSet the Slurm node has the short
// name of the Kubernetes Node, and the Pod is NODESET-NAME. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge::slinky {

// A Pod that a NodeSet may have.
struct Slot {
    std::string pod;   // its name
    std::string host;  // its host name, and that of the Slurm node
    std::string index; // the rest of its name
    std::string node;  // the Node on which it must run; "": the scheduler's

    bool operator==(const Slot &) const = default;
};

Slot slot_of(const NodeSet &set, std::uint32_t ordinal);
// The host name may be none: is_host_label().
Slot slot_of(const NodeSet &set, const KubeNode &node);

// "StatefulSet" or "DaemonSet".
const char *scaling_mode(const NodeSet &set);

std::string worker_name(const NodeSet &set, std::uint32_t ordinal);
// The host name of the Pod, which is the name of the Slurm node.
std::string node_name(const NodeSet &set, std::uint32_t ordinal);
// The part before the ordinal.
std::string node_prefix(const NodeSet &set);
// Its name in slurm.conf, which is a feature of its nodes and the name of its
// partition, as slurm-operator has it: the prefix without "-", or the name of
// the NodeSet if template.spec.hostname says nothing.
std::string slurm_name(const NodeSet &set);
// Nothing if the Pod's name is none of this NodeSet.
std::optional<std::uint32_t> ordinal_of(const NodeSet &set,
                                        const std::string &pod);

// Whether it can be the name of a host: RFC 1123.
bool is_host_label(std::string_view text);

std::string workers_service(const std::string &controller);

// Why no Pod can have such names: a sentence, or "".
std::string wrong_names(const NodeSet &set);

// The name of a NodeSet of the same cluster that was accepted before, or is
// older, and whose Slurm nodes could have the same names; or "". One in another
// namespace, as NAMESPACE/NAME, is of the same cluster if its Controller says
// the same address of slurmctld.
std::string same_names(const Known &known, const NodeSet &set);

} // namespace bridge::slinky
