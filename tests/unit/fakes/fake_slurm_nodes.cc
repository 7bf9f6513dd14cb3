// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/fake_slurm.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

namespace {

// As slurmctld shows it. Jobs end at once here.
std::uint32_t state_of(const SlurmNode &node)
{
    std::uint32_t state = NODE_STATE_IDLE;
    if (node.down)
        state = NODE_STATE_DOWN;
    else if (node.allocated_cpus != 0)
        state = node.allocated_cpus < node.cpus ? NODE_STATE_MIXED
                                                : NODE_STATE_ALLOCATED;
    return state | (node.drained ? NODE_STATE_DRAIN : 0) |
           (node.external ? NODE_STATE_EXTERNAL : 0);
}

std::unexpected<Error> invalid_node(const std::string &doing)
{
    return fail(Code::rejected, doing + ": Invalid node name specified");
}

bool has_feature(const SlurmNode &node, const std::string &feature)
{
    return ("," + node.features + ",").find("," + feature + ",") !=
           std::string::npos;
}

} // namespace

std::optional<NodeDescription> FakeSlurm::created(const std::string &name) const
{
    auto found = created_.find(name);
    return found == created_.end() ? std::nullopt
                                   : std::optional(found->second);
}

Result<std::vector<SlurmNode>> FakeSlurm::load_nodes()
{
    if (auto said = enter("load_nodes"); !said)
        return std::unexpected(said.error());
    std::vector<SlurmNode> all;
    std::string hidden = std::exchange(hidden_, {});
    for (auto [name, node] : nodes_) {
        if (name == hidden)
            continue;
        auto [cpus, mib] = used_of(name);
        node.usable_cpus = node.cpus;
        node.usable_memory = node.memory;
        node.allocated_cpus = cpus;
        node.allocated_memory.value = mib;
        node.state = state_of(node);
        all.push_back(node);
    }
    return all;
}

Result<std::optional<NodeTable>> FakeSlurm::load_nodes_since(std::int64_t as_of)
{
    auto all = load_nodes();
    if (!all)
        return std::unexpected(all.error());
    if (as_of != 0 && last_nodes_ == *all)
        return std::nullopt;
    last_nodes_ = *all;
    return NodeTable{as_of + 1, *all};
}

Result<> FakeSlurm::create_node(const NodeDescription &node)
{
    if (auto said = enter("create_node"); !said)
        return said;
    for (const std::string &name : split(node.name)) {
        if (nodes_.contains(name))
            return fail(Code::rejected, "create: Node name already in use");
        SlurmNode made;
        made.name = name;
        made.address = node.address;
        made.port = node.port;
        made.external = true;
        made.cpus = node.cpus;
        made.memory = node.memory;
        made.features = node.features;
        made.topology = node.topology;
        made.gres = drop_gres ? "" : node.gres;
        nodes_[name] = made;
        created_[name] = node;
    }
    return {};
}

Result<> FakeSlurm::delete_node(const std::string &name)
{
    if (auto said = enter("delete_node"); !said)
        return said;
    Result<> said;
    for (const std::string &one : split(name)) {
        if (used_of(one).first != 0)
            said = fail(Code::rejected, "delete: Requested nodes are busy");
        else if (nodes_.erase(one) == 0)
            said = invalid_node("delete");
    }
    return said;
}

Result<> FakeSlurm::set_features(const std::string &node,
                                 const std::string &features,
                                 const std::string &active)
{
    return update("set_features", node, [&](SlurmNode &n) {
        if (stubborn_.contains(n.name))
            return;
        n.features = features;
        n.active_features = active;
    });
}

Result<> FakeSlurm::set_topology(const std::string &node,
                                 const std::string &topology)
{
    return update("set_topology", node,
                  [&](SlurmNode &n) { n.topology = topology; });
}

Result<> FakeSlurm::set_extra(const std::string &node, const std::string &extra)
{
    return update("set_extra", node, [&](SlurmNode &n) { n.extra = extra; });
}

Result<> FakeSlurm::drain(const std::string &node, const std::string &reason)
{
    return update("drain", node, [&](SlurmNode &n) {
        n.drained = true;
        n.reason = reason;
    });
}

Result<> FakeSlurm::resume(const std::string &node)
{
    return update("resume", node, [](SlurmNode &n) {
        n.drained = false;
        n.down = false;
        n.reason.clear();
    });
}

Result<> FakeSlurm::set_down(const std::string &node, const std::string &reason)
{
    return update("set_down", node, [&](SlurmNode &n) {
        n.down = true;
        n.reason = reason;
    });
}

Result<> FakeSlurm::update(const std::string &what, const std::string &names,
                           const std::function<void(SlurmNode &)> &edit)
{
    if (auto said = enter(what); !said)
        return said;
    Result<> said;
    for (const std::string &name : split(names)) {
        auto found = nodes_.find(name);
        if (found == nodes_.end())
            said = invalid_node(what);
        else
            edit(found->second);
    }
    return said;
}

bool FakeSlurm::features_exist(const std::string &all) const
{
    return std::ranges::all_of(std::views::split(all, '&'), [&](auto one) {
        return std::ranges::any_of(nodes_, [&](const auto &known) {
            return has_feature(known.second,
                               std::string(std::string_view(one)));
        });
    });
}

bool FakeSlurm::has_features(const SlurmNode &node, const std::string &all)
{
    return std::ranges::all_of(std::views::split(all, '&'), [&](auto one) {
        return has_feature(node, std::string(std::string_view(one)));
    });
}

std::uint64_t FakeSlurm::memory_of(const JobDescription &job)
{
    return job.memory_per_node.value != 0
               ? job.memory_per_node.value
               : job.memory_per_cpu.value * job.cpus_per_task * job.tasks;
}

bool FakeSlurm::memory_fits(const JobDescription &job) const
{
    return std::ranges::any_of(nodes_, [&](const auto &known) {
        return known.second.memory.value >= memory_of(job);
    });
}

std::vector<std::string> FakeSlurm::split(const std::string &list,
                                          char separator)
{
    std::vector<std::string> words;
    for (auto word : std::views::split(list, separator))
        words.emplace_back(std::string_view(word));
    return words;
}

} // namespace bridge
