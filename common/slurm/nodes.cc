// SPDX-License-Identifier: GPL-2.0-or-later
// The node part of SlurmApi, and the start and end of the library.
#include "common/base/text.h"
#include "common/contract/names.h"
#include "common/slurm/api.h"
#include "common/slurm/ctl_conf.h"
#include "common/slurm/error.h"
#include "common/slurm/node_record.h"
#include "common/slurm/strings.h"

#include <algorithm>
#include <cerrno>
#include <format>
#include <string_view>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace bridge {

namespace {

using ReservationInfo =
    SlurmPtr<reserve_info_msg_t, slurm_free_reservation_info_msg>;

Result<> update(update_node_msg_t &message, const char *doing)
{
    if (slurm_update_node(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, std::string(doing) +
                                     " NodeName=" + message.node_names);
    return {};
}

update_node_msg_t message_for(const std::string &node)
{
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.node_names = borrow(node);
    return message;
}

std::vector<std::string> words_in(const std::string &list)
{
    if (list.empty())
        return {};
    auto words = all_parts(list, ',');
    return {words.begin(), words.end()};
}

// slurmctld leaves it to its clients to see that some CPUs are free.
std::uint32_t state_of(const node_info_t &n)
{
    bool mixed = (n.node_state & NODE_STATE_BASE) == NODE_STATE_ALLOCATED &&
                 n.alloc_cpus != 0 && n.alloc_cpus < n.cpus_efctv;
    return mixed ? (n.node_state & NODE_STATE_FLAGS) | NODE_STATE_MIXED
                 : n.node_state;
}

SlurmNode node_of(const node_info_t &n)
{
    SlurmNode node;
    node.name = n.name;
    node.state = state_of(n);
    node.address = text(n.node_addr);
    node.port = n.port;
    node.external = n.node_state & NODE_STATE_EXTERNAL;
    node.drained = n.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL);
    node.down = (n.node_state & NODE_STATE_BASE) == NODE_STATE_DOWN;
    node.reserved = n.node_state & NODE_STATE_RES;
    node.completing = n.node_state & NODE_STATE_COMPLETING;
    node.not_responding = n.node_state & NODE_STATE_NO_RESPOND;
    node.cpus = n.cpus;
    node.memory.value = n.real_memory;
    node.usable_cpus = n.cpus_efctv != 0 ? n.cpus_efctv : n.cpus;
    node.usable_memory.value =
        n.real_memory - std::min(n.mem_spec_limit, n.real_memory);
    node.allocated_cpus = n.alloc_cpus;
    node.allocated_memory.value = n.alloc_memory;
    node.features = text(n.features);
    if (n.features_act)
        node.active_features = n.features_act;
    node.reason = text(n.reason);
    node.topology = text(n.topology_str);
    node.extra = text(n.extra);
    node.gres = text(n.gres);
    node.gres_used = text(n.gres_used);
    return node;
}

} // namespace

SlurmApi::SlurmApi()
{
    slurm_init(nullptr);
}

SlurmApi::~SlurmApi()
{
    slurm_fini();
}

Result<ClusterFacts> SlurmApi::load_cluster()
{
    auto conf = load_ctl_conf();
    if (!conf)
        return std::unexpected(conf.error());
    return ClusterFacts{text((*conf)->cluster_name),
                        static_cast<std::uint16_t>((*conf)->slurmctld_port),
                        words_in(text((*conf)->gres_plugins)),
                        static_cast<std::uint64_t>((*conf)->boot_time)};
}

Result<std::vector<SlurmNode>> SlurmApi::load_nodes()
{
    auto table = load_nodes_since(0);
    if (!table)
        return std::unexpected(table.error());
    return std::move((*table)->nodes); // the table is complete: as_of was 0
}

Result<std::optional<NodeInfo>>
load_node_records(std::int64_t as_of, std::uint16_t show, const char *what)
{
    node_info_msg_t *raw = nullptr;
    if (slurm_load_node(as_of, &raw, SHOW_ALL | SHOW_LOCAL | show) ==
        SLURM_SUCCESS)
        return NodeInfo(raw);
    if (errno == SLURM_NO_CHANGE_IN_DATA && as_of != 0)
        return std::nullopt;
    return fail_slurm(errno, what);
}

Result<std::optional<NodeTable>> SlurmApi::load_nodes_since(std::int64_t as_of)
{
    // gres_used needs SHOW_DETAIL.
    auto records = load_node_records(as_of, SHOW_DETAIL, "load nodes");
    if (!records)
        return std::unexpected(records.error());
    if (!*records)
        return std::nullopt;
    const NodeInfo &info = **records;
    NodeTable table{info->last_update, {}};
    table.nodes.reserve(info->record_count);
    for_each_node(info, [&](const node_info_t &node) {
        table.nodes.push_back(node_of(node));
    });
    return table;
}

Result<std::vector<Reservation>> SlurmApi::load_reservations()
{
    reserve_info_msg_t *raw = nullptr;
    if (slurm_load_reservations(0, &raw) != SLURM_SUCCESS)
        return fail_slurm(errno, "load reservations");
    ReservationInfo info(raw);
    std::vector<Reservation> reservations;
    for (std::uint32_t i = 0; i < info->record_count; i++) {
        const reserve_info_t &r = info->reservation_array[i];
        reservations.push_back({text(r.name), expand(r.node_list),
                                (r.flags & RESERVE_FLAG_MAINT) != 0,
                                time_of(r.start_time), time_of(r.end_time)});
    }
    return reservations;
}

Result<> SlurmApi::create_node(const NodeDescription &node)
{
    // One socket with single-threaded cores, so that Slurm allocates single
    // CPUs: with two threads it would allocate whole cores.
    std::string line = std::format(
        "NodeName={} NodeAddr={} Port={} CPUs={} Boards=1 SocketsPerBoard=1 "
        "CoresPerSocket={} ThreadsPerCore=1 RealMemory={} State=External "
        "Feature={}",
        node.name, node.address, node.port, node.cpus, node.cpus,
        node.memory.value, node.features);
    if (!node.topology.empty())
        line += " Topology=" + node.topology;
    if (!node.gres.empty())
        line += " Gres=" + node.gres + " GresConf=" + node.gres_conf;
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.extra = borrow(line); // the whole request, as scontrol sends it
    if (slurm_create_node(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, "create NodeName=" + node.name);
    return {};
}

Result<> SlurmApi::delete_node(const std::string &name)
{
    update_node_msg_t message = message_for(name);
    if (slurm_delete_node(&message) != SLURM_SUCCESS)
        return fail_slurm(errno, "delete NodeName=" + name);
    return {};
}

Result<> SlurmApi::set_features(const std::string &node,
                                const std::string &features,
                                const std::string &active)
{
    update_node_msg_t message = message_for(node);
    message.features = borrow(features);
    message.features_act = borrow(active);
    return update(message, "set features of");
}

Result<> SlurmApi::set_topology(const std::string &node,
                                const std::string &topology)
{
    update_node_msg_t message = message_for(node);
    message.topology_str = borrow(topology);
    return update(message, "set topology of");
}

Result<> SlurmApi::set_extra(const std::string &node, const std::string &extra)
{
    update_node_msg_t message = message_for(node);
    message.extra = borrow(extra); // an empty value clears it
    return update(message, "set extra of");
}

// Creates and deletes a node that nobody can use. If a crash has left one, the
// deletion removes it.
Result<> SlurmApi::rebuild_partitions()
{
    std::string line =
        std::string("NodeName=") + names::rebuild_node + " State=FUTURE";
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.extra = borrow(line);
    int made = slurm_create_node(&message);
    int error = errno;
    auto gone = delete_node(names::rebuild_node);
    if (!gone && made != SLURM_SUCCESS)
        return fail_slurm(error, "put nodes into partitions");
    return gone;
}

Result<> SlurmApi::reconfigure()
{
    if (slurm_reconfigure() != SLURM_SUCCESS)
        return fail_slurm(errno, "reconfigure slurmctld");
    return {};
}

Result<> SlurmApi::drain(const std::string &node, const std::string &reason)
{
    update_node_msg_t message = message_for(node);
    message.node_state = NODE_STATE_DRAIN;
    message.reason = borrow(reason);
    return update(message, "drain");
}

Result<> SlurmApi::set_down(const std::string &node, const std::string &reason)
{
    update_node_msg_t message = message_for(node);
    message.node_state = NODE_STATE_DOWN;
    message.reason = borrow(reason);
    return update(message, "set down");
}

Result<> SlurmApi::resume(const std::string &node)
{
    update_node_msg_t message = message_for(node);
    message.node_state = NODE_RESUME;
    return update(message, "resume");
}

} // namespace bridge
