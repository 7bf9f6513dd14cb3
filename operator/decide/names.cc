// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/names.h"

#include "common/base/ascii.h"
#include "common/base/padded.h"
#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "operator/decide/autoscale.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace bridge::slinky {

namespace {

constexpr std::size_t longest_label = 63; // RFC 1123, and values of labels

std::size_t digits(const NodeSet &set)
{
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(set.padding, 0, 9));
}

std::string number(const NodeSet &set, std::uint32_t ordinal)
{
    return padded(ordinal, digits(set));
}

// The largest ordinal that may come into being.
std::uint32_t largest(const NodeSet &set)
{
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(most_replicas(set) - 1, 0, 65532));
}

// Whether one name can begin with the other and go on with digits only.
bool can_meet(const std::string &one, const std::string &other)
{
    const std::string &longer = one.size() < other.size() ? other : one;
    const std::string &shorter = one.size() < other.size() ? one : other;
    return longer.starts_with(shorter) &&
           std::ranges::all_of(longer.substr(shorter.size()), is_digit);
}

bool is_one_cluster(const Known &known, const NodeSet &one,
                    const NodeSet &other)
{
    if (one.meta.key.ns == other.meta.key.ns)
        return one.controller == other.controller;
    auto mine = known.controllers.find({one.meta.key.ns, one.controller});
    auto theirs = known.controllers.find({other.meta.key.ns, other.controller});
    return mine != known.controllers.end() &&
           theirs != known.controllers.end() && mine->second.external &&
           theirs->second.external &&
           mine->second.host == theirs->second.host &&
           mine->second.port == theirs->second.port;
}

} // namespace

bool is_host_label(std::string_view text)
{
    auto good = [](char c) { return is_lower_or_digit(c) || c == '-'; };
    return !text.empty() && text.size() <= longest_label &&
           text.front() != '-' && text.back() != '-' &&
           std::ranges::all_of(text, good);
}

const char *scaling_mode(const NodeSet &set)
{
    return set.daemon_set ? "DaemonSet" : "StatefulSet";
}

std::string worker_name(const NodeSet &set, std::uint32_t ordinal)
{
    return set.meta.key.name + "-" + number(set, ordinal);
}

Slot slot_of(const NodeSet &set, std::uint32_t ordinal)
{
    return {worker_name(set, ordinal), node_name(set, ordinal),
            number(set, ordinal), ""};
}

Slot slot_of(const NodeSet &set, const KubeNode &node)
{
    const std::string &name = node.meta.key.name;
    auto given = node.meta.annotations.find(names::hostname_annotation);
    std::string host =
        given == node.meta.annotations.end() || given->second.empty()
            ? name.substr(0, name.find('.'))
            : given->second;
    return {set.meta.key.name + "-" + host, host, host, name};
}

std::string node_prefix(const NodeSet &set)
{
    std::string hostname = set.spec.text("template/spec/hostname");
    return hostname.empty() ? set.meta.key.name + "-" : hostname;
}

std::string slurm_name(const NodeSet &set)
{
    std::string hostname = set.spec.text("template/spec/hostname");
    std::string_view name = hostname;
    name = name.substr(std::min(name.find_first_not_of('-'), name.size()));
    name = name.substr(0, name.find_last_not_of('-') + 1);
    // What no node can have as a name is nothing for slurm.conf either.
    return is_host_label(name) ? std::string(name) : set.meta.key.name;
}

std::string node_name(const NodeSet &set, std::uint32_t ordinal)
{
    return node_prefix(set) + number(set, ordinal);
}

std::optional<std::uint32_t> ordinal_of(const NodeSet &set,
                                        const std::string &pod)
{
    std::string prefix = set.meta.key.name + "-";
    if (!pod.starts_with(prefix))
        return std::nullopt;
    auto ordinal = whole_number<std::uint32_t>(
        std::string_view(pod).substr(prefix.size()));
    return ordinal && worker_name(set, *ordinal) == pod ? ordinal
                                                        : std::nullopt;
}

std::string workers_service(const std::string &controller)
{
    return "slurm-workers-" + controller;
}

std::string wrong_names(const NodeSet &set)
{
    for (const std::string &name :
         {worker_name(set, largest(set)), node_name(set, largest(set))})
        if (!set.daemon_set && !is_host_label(name))
            return "\"" + name +
                   "\" would be the name of a host and of a Slurm node. It may "
                   "have at most 63 lower-case letters, digits and '-', with a "
                   "letter or digit at each end: change template.spec.hostname "
                   "or the NodeSet's name.";
    if (!is_host_label(workers_service(set.controller)))
        return "The Service \"" + workers_service(set.controller) +
               "\" cannot have this name: the Controller needs another one.";
    return {};
}

std::string same_names(const Known &known, const NodeSet &set)
{
    // Who has been accepted counts as older: times are whole seconds.
    auto age = [](const NodeSet &one) {
        bool accepted =
            std::ranges::contains(one.finalizers, names::node_set_finalizer);
        return std::tuple(!accepted, one.meta.created, one.meta.key);
    };
    for (const auto &[key, other] : known.node_sets)
        if (key != set.meta.key && is_one_cluster(known, set, other) &&
            !set.daemon_set && !other.daemon_set && age(other) < age(set) &&
            can_meet(node_prefix(other), node_prefix(set)))
            return (key.ns == set.meta.key.ns ? "" : key.ns + "/") + key.name;
    return {};
}

} // namespace bridge::slinky
