// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/opt_in.h"

#include "agent/nodes/devices.h"
#include "common/contract/names.h"
#include "common/kube/text.h"

#include <algorithm>
#include <span>

namespace bridge {

namespace {

constexpr const char *node_annotations[] = {names::external_node_partitions,
                                            names::topology_annotation,
                                            devices_annotation,
                                            names::cordon_mark,
                                            names::uncordon_mark,
                                            names::taint_mark,
                                            names::maintenance_annotation};
constexpr const char *node_labels[] = {names::external_node_label,
                                       names::slurm_nodename_label};
constexpr const char *namespace_annotations[] = {
    names::namespace_user, names::namespace_group, names::namespace_account,
    names::namespace_qos};
constexpr const char *namespace_labels[] = {adopt_label,
                                            names::strict_nodes_label};

bool has_taint(const Node &node)
{
    return std::ranges::contains(node.taints, names::managed_node_taint,
                                 &Taint::key);
}

// Appends "kubectl VERB KIND NAME KEY-…" for those keys that are there.
void take_away(Commands &commands, const std::string &verb,
               const std::string &kind, const std::string &name,
               const TextMap &there, std::span<const char *const> keys)
{
    std::vector<std::string> words = {verb, kind, name};
    for (const char *key : keys)
        if (there.contains(key))
            words.push_back(std::string(key) + "-");
    if (words.size() > 3)
        commands.push_back(std::move(words));
}

} // namespace

Result<NamespaceWish> parse_namespace_wish(const std::string &text)
{
    auto equals = text.find('=');
    if (equals == text.npos)
        return fail(Code::rejected, "must be NAME=USER[:ACCOUNT]");
    NamespaceWish wish;
    wish.name = text.substr(0, equals);
    std::string rest = text.substr(equals + 1);
    auto colon = rest.find(':');
    wish.user = rest.substr(0, colon);
    if (colon != rest.npos)
        wish.account = rest.substr(colon + 1);
    if (!is_object_name(wish.name) || wish.user.empty() ||
        (colon != rest.npos && wish.account.empty()))
        return fail(Code::rejected, "must be NAME=USER[:ACCOUNT]");
    return wish;
}

Commands opt_in(const Node &node)
{
    Commands commands;
    if (!has_taint(node))
        commands.push_back(
            {"taint", "node", node.name,
             std::string(names::managed_node_taint) + "=:NoSchedule"});
    if (node.label(names::external_node_label) != "true")
        commands.push_back({"label", "node", node.name, "--overwrite",
                            std::string(names::external_node_label) + "=true"});
    return commands;
}

Commands opt_in(const Namespace &ns, const NamespaceWish &wish)
{
    std::vector<std::string> words = {"annotate", "namespace", ns.name,
                                      "--overwrite"};
    auto set = [&](const char *key, const std::string &value) {
        auto now = ns.annotations.find(key);
        if (!value.empty() &&
            (now == ns.annotations.end() || now->second != value))
            words.push_back(std::string(key) + "=" + value);
    };
    set(names::namespace_user, wish.user);
    set(names::namespace_account, wish.account);
    return words.size() > 4 ? Commands{words} : Commands{};
}

Commands opt_out(const Node &node)
{
    Commands commands;
    const char *const label[] = {names::external_node_label};
    take_away(commands, "label", "node", node.name, node.labels, label);
    return commands;
}

Commands end_adoption(const Namespace &ns)
{
    Commands commands;
    const char *const label[] = {adopt_label};
    take_away(commands, "label", "namespace", ns.name, ns.labels, label);
    return commands;
}

Commands clean(const Node &node)
{
    Commands commands;
    take_away(commands, "label", "node", node.name, node.labels, node_labels);
    take_away(commands, "annotate", "node", node.name, node.annotations,
              node_annotations);
    if (has_taint(node))
        commands.push_back({"taint", "node", node.name,
                            std::string(names::managed_node_taint) + "-"});
    return commands;
}

Commands clean(const Namespace &ns)
{
    Commands commands;
    take_away(commands, "label", "namespace", ns.name, ns.labels,
              namespace_labels);
    take_away(commands, "annotate", "namespace", ns.name, ns.annotations,
              namespace_annotations);
    return commands;
}

} // namespace bridge
