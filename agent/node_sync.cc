// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/node_sync.h"

#include <arpa/inet.h>
#include <charconv>

namespace bridge {

namespace {

constexpr char default_address[] = "127.0.0.1"; // beside slurmctld, as we are

struct Address {
    std::string ip;
    std::uint16_t port; // 0: slurmctld's
};

Result<Address> parse_address(const std::string &text)
{
    Address address{text.empty() ? default_address : text, 0};
    if (std::size_t colon = address.ip.rfind(':');
        colon != address.ip.npos && address.ip.find(':') == colon) {
        const char *end = address.ip.data() + address.ip.size();
        auto [rest, error] = std::from_chars(
            address.ip.data() + colon + 1, end, address.port);
        if (error != std::errc() || rest != end || address.port == 0)
            return fail(Code::rejected, "NodeAddress=" + text +
                                            " has no port behind its ':'");
        address.ip.resize(colon);
    }
    in6_addr any{};
    if (inet_pton(AF_INET, address.ip.c_str(), &any) != 1 &&
        inet_pton(AF_INET6, address.ip.c_str(), &any) != 1)
        return fail(Code::rejected,
                    "NodeAddress=" + text + " is not an IP address");
    return address;
}

const auto node_of_step = [](const auto &step) -> const std::string & {
    if constexpr (requires { step.node.name; })
        return step.node.name; // CreateNode
    else
        return step.node;
};

struct Carry {
    Slurm &slurm;

    Result<> operator()(const CreateNode &s) { return slurm.create_node(s.node); }
    Result<> operator()(const SetFeatures &s)
    {
        return slurm.set_features(s.node, s.features, s.active);
    }
    Result<> operator()(const DrainNode &s)
    {
        return slurm.drain(s.node, s.reason);
    }
    Result<> operator()(const ResumeNode &s) { return slurm.resume(s.node); }
};

} // namespace

Result<NodeSyncResult> sync_nodes(const std::vector<Node> &nodes,
                                  const FeatureWishes &wishes, Slurm &slurm,
                                  const Conf &conf, const DirtyNodes &dirty)
{
    auto address = parse_address(conf.node_address);
    if (!address)
        return std::unexpected(address.error());
    if (address->port == 0) {
        auto cluster = slurm.load_cluster();
        if (!cluster)
            return std::unexpected(cluster.error());
        address->port = cluster->controller_port;
    }
    auto known = slurm.load_nodes();
    if (!known)
        return std::unexpected(known.error());
    NodePlan plan = plan_nodes(nodes, *known, wishes, address->ip,
                               address->port, dirty);
    NodeSyncResult result{std::move(plan.nodes),
                          std::move(plan.hybrid),
                          std::move(plan.pinned),
                          {},
                          wishes.predicates,
                          std::move(plan.complaints),
                          plan.look_again};
    for (const NodeStep &step : plan.steps) {
        if (auto done = std::visit(Carry{slurm}, step); !done) {
            result.complaints.push_back(done.error().message);
            result.retry = true;
            result.pinned.erase(std::visit(node_of_step, step));
            plan.placed.erase(std::visit(node_of_step, step));
        }
    }
    for (const auto &[node, features] : plan.placed)
        for (const std::string &feature : features)
            result.placed[feature]++;
    return result;
}

} // namespace bridge
