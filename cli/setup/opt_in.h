// SPDX-License-Identifier: GPL-2.0-or-later
// What setup changes on Nodes and Namespaces, and uninstall takes back. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/base/result.h"

#include <string>
#include <vector>

namespace bridge {

// On a Namespace, set by administrators: "true" makes its Pods Slurm's
// (contribs/kubernetes/components/adopt).
inline constexpr char adopt_label[] = "slurmk8s/adopt";

// "NAME=USER[:ACCOUNT]" of --namespace.
struct NamespaceWish {
    std::string name;
    std::string user;
    std::string account; // "": none is set
};
Result<NamespaceWish> parse_namespace_wish(const std::string &text);

// Each of these returns the words of kubectl commands that are still to be run,
// in this order; none: it is so already. The taint comes before the label, so
// that no other scheduler comes in between.
using Commands = std::vector<std::vector<std::string>>;
Commands opt_in(const Node &node);
Commands opt_in(const Namespace &ns, const NamespaceWish &wish);

// Takes the label away, at which the agent takes back what it has written
// itself: for as long as it runs.
Commands opt_out(const Node &node);
// Ends adoption: Pods of a labelled namespace become Slurm's.
Commands end_adoption(const Namespace &ns);
// Takes away what is left: our taint, labels and annotations.
Commands clean(const Node &node);
Commands clean(const Namespace &ns);

} // namespace bridge
