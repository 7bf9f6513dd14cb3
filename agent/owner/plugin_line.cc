// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/plugin_line.h"

#include "common/base/log.h"

#include <utility>

namespace bridge {

void PluginLine::hello(const HookMessage &hello, PluginConnection from)
{
    log_info("slurmctld's plugin connected",
             {{"ClusterName", hello.cluster}, {"host", hello.host}});
    if (cluster_.empty())
        cluster_ = hello.cluster;
    if (hello.cluster != cluster_)
        context_.health.problem(plugin_problem,
                                "the slurmctld of another cluster, " +
                                    hello.cluster + ", uses our socket");
    else if (hello.version != hook_protocol_version)
        context_.health.problem(
            plugin_problem,
            "prep_k8s.so speaks version " + std::to_string(hello.version) +
                " of the protocol: install it and slurmk8sd from one build");
    else
        context_.health.solved(plugin_problem);
    talk_ = {};
    talk_.connection = from;
    if (unprotected_)
        send_list(HookMessage::Type::unprotected, *unprotected_);
}

void PluginLine::lost()
{
    if (context_.conf->schedule_pods)
        context_.health.problem(plugin_problem, "not connected");
    else // which slurmctld need not have
        context_.health.solved(plugin_problem);
    ++*absences_;
    talk_ = {};
}

void PluginLine::send(HookMessage message) const
{
    context_.ports.send_hook(std::move(message), talk_.connection);
}

std::function<void()> PluginLine::kicker() const
{
    return [send = context_.ports.send_hook] {
        send({.type = HookMessage::Type::kick}, any_plugin);
    };
}

std::function<bool()> PluginLine::left_since(unsigned absences) const
{
    return [now = absences_, absences] { return *now != absences; };
}

void PluginLine::tell_nodes(const NodeMap &nodes,
                            const std::set<std::string> &dirty)
{
    if (talk_.connection && !talk_.bridge_said) {
        std::set<std::string> names;
        for (const auto &[name, node] : nodes)
            names.insert(name);
        send_list(HookMessage::Type::bridge, names);
        talk_.bridge_said = true;
    }
    if (talk_.connection && talk_.listed && talk_.dirty_said != dirty) {
        send_list(HookMessage::Type::synced, dirty);
        talk_.dirty_said = dirty;
    }
}

void PluginLine::tell_unprotected(std::set<std::string> nodes)
{
    unprotected_ = std::move(nodes);
    if (talk_.connection)
        send_list(HookMessage::Type::unprotected, *unprotected_);
}

bool PluginLine::told_dirty(const std::string &node) const
{
    return talk_.dirty_said && talk_.dirty_said->contains(node);
}

void PluginLine::send_list(HookMessage::Type type,
                           const std::set<std::string> &nodes) const
{
    HookMessage part{.type = type};
    std::string &list =
        type == HookMessage::Type::synced ? part.dirty : part.nodes;
    for (const std::string &node : nodes) {
        if (list.size() + node.size() > max_packet_list) {
            part.more = true;
            send(part);
            part.more = false;
            list.clear();
        }
        list += (list.empty() ? "" : ",") + node;
    }
    send(part);
}

} // namespace bridge
