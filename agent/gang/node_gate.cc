// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/node_gate.h"

#include "agent/gang/facts.h"
#include "agent/gres/plugin_resources.h"
#include "common/slurm/het_job.h"

#include <algorithm>

namespace bridge {

namespace {

bool does(const GangEntry &entry, const Action &kind)
{
    return entry.in_flight == kind.index();
}

// Whether a binding is under way that no watch shows yet.
bool is_binding(const GangEntry &entry, const Pod &pod)
{
    const Gang &gang = entry.gang;
    return (does(entry, Bind{}) || gang.assumed_bound.contains(pod.uid) ||
            gang.maybe_bound.contains(pod.uid)) &&
           !pod.bound() && !pod.terminal();
}

bool runs(JobState state)
{
    return state == JobState::configuring || state == JobState::running;
}

bool any_uses_devices(const Gang &gang)
{
    return std::ranges::any_of(
        gang.pods, [](const PodPtr &pod) { return uses_devices(*pod); });
}

// Whether device plugins offer fewer devices than the sum. Counts resources as
// kubelet does; devices of claims are not among them.
bool lacks_devices(const Node &node, const Amounts &asks, const Amounts &sum)
{
    return std::ranges::any_of(asks.devices, [&](const auto &one) {
        std::int64_t has = offered(node, one.first);
        return has > 0 && sum.devices.at(one.first) > has;
    });
}

} // namespace

void NodeGate::set_nodes(const NodeMap &nodes,
                         const std::set<std::string> &hybrid)
{
    nodes_ = nodes;
    slurm_names_.clear();
    hybrid_.clear();
    for (const auto &[slurm_name, node] : nodes) {
        slurm_names_[node] = slurm_name;
        if (hybrid.contains(slurm_name))
            hybrid_.insert(node);
    }
    dirty_.clear();
    touch_all();
}

void NodeGate::touch_all()
{
    for (const auto &[node, slurm_name] : slurm_names_)
        touched_.insert(node);
}

void NodeGate::record_binding(const Gang &gang, const std::string &pod,
                              const std::string &node)
{
    binding_[node][gang.uid].insert(pod);
    binding_nodes_[gang.uid].insert(node);
    touch(node);
}

void NodeGate::touch_binding(const std::string &gang_uid)
{
    auto known = binding_nodes_.find(gang_uid);
    if (known == binding_nodes_.end())
        return;
    std::erase_if(known->second, [&](const std::string &node) {
        touch(node);
        auto binding = binding_.find(node);
        return binding == binding_.end() || !binding->second.contains(gang_uid);
    });
    if (known->second.empty())
        binding_nodes_.erase(known);
}

const std::set<std::string> &NodeGate::dirty()
{
    // A binding may end without a Pod ever appearing there.
    for (const std::string &name : dirty_)
        if (auto node = nodes_.find(name);
            node != nodes_.end() && binding_.contains(node->second))
            touched_.insert(node->second);
    for (const std::string &node : std::exchange(touched_, {})) {
        auto name = slurm_names_.find(node);
        if (name == slurm_names_.end())
            continue; // Slurm does not know this Node
        if (is_dirty(node))
            dirty_.insert(name->second);
        else
            dirty_.erase(name->second);
    }
    return dirty_;
}

bool NodeGate::is_dirty(const std::string &node) const
{
    bool any = !vanished_.on(node).empty();
    each_on(node, [&](const GangEntry &entry, const Pod &pod) {
        any |= !covered(entry, pod);
    });
    return any;
}

// Visits the Pods that are on this Node or are about to be bound to it.
template <class Visit>
void NodeGate::each_on(const std::string &node, Visit visit) const
{
    for (const auto &[uid, pods] : gangs_.living_on(node)) {
        const GangEntry &entry = gangs_.all().at(uid);
        for (const PodPtr &pod : pods)
            visit(entry, *pod);
    }
    auto binding = binding_.find(node);
    if (binding == binding_.end())
        return;
    std::erase_if(binding->second, [&](const auto &one) {
        auto found = gangs_.all().find(one.first);
        if (found == gangs_.all().end()) {
            binding_nodes_.erase(one.first);
            return true;
        }
        bool over = true;
        for (const std::string &uid : one.second) {
            PodPtr pod = gangs_.find_in(one.first, uid);
            if (!pod || !is_binding(found->second, *pod))
                continue;
            over = false;
            visit(found->second, *pod);
        }
        return over;
    });
    if (binding->second.empty())
        binding_.erase(binding);
}

// A job that is being read again covers nothing: its state may have changed.
bool NodeGate::covered(const GangEntry &entry, const Pod &pod) const
{
    const Gang &gang = entry.gang;
    if (!gang.job || gang.stale || does(entry, Look{}))
        return false;
    bool by_this_job =
        (does(entry, Bind{}) && !pod.bound()) ||
        (lives_by_job(gang, pod) && !placed_elsewhere(gang, pod));
    return by_this_job && runs(gang.job->state);
}

std::set<JobId> NodeGate::allocated(const std::vector<JobStateHint> &states)
{
    std::set<JobId> ids;
    for (const JobStateHint &job : states)
        if (runs(job.state))
            ids.insert(job.id);
    return ids;
}

bool NodeGate::record_gone(const Pod &last, std::uint32_t cpus,
                           Clock::time_point now)
{
    touch(last.node_name);
    return vanished_.record_gone(last, cpus, now);
}

std::set<std::string> NodeGate::drop_vanished(Clock::time_point now)
{
    std::set<std::string> nodes = vanished_.drop_over(now);
    touched_.insert(nodes.begin(), nodes.end());
    return nodes;
}

NodeGate::Uncovered
NodeGate::uncovered_on(const std::string &node,
                       const std::set<JobId> &allocated) const
{
    Uncovered sum;
    auto add = [&](std::uint32_t cpus, const Requests &requests) {
        sum.amount.cpus += cpus;
        sum.amount.mib +=
            static_cast<std::int64_t>(mebibytes_up(requests.memory).value);
        sum.extended |= requests_extended(requests);
    };
    for (const VanishedPod &pod : vanished_.on(node)) {
        add(pod.cpus, pod.requests);
        sum.devices |= pod.devices;
    }
    each_on(node, [&](const GangEntry &entry, const Pod &pod) {
        auto is_allocated = [&](JobRef ref) {
            return allocated.contains(ref.id);
        };
        if (covered(entry, pod) &&
            std::ranges::all_of(refs_of(*entry.gang.job), is_allocated))
            return;
        add(cpus_of(entry.gang, pod), pod.requests);
        sum.devices |= uses_devices(pod);
    });
    return sum;
}

NodeGate::Room NodeGate::room_for(const Gang &gang, const Amounts &asks,
                                  const std::string &node, const Node *known,
                                  const Amounts &foreign) const
{
    Amounts sum = asks;
    sum += foreign;
    bool lies = false; // Slurm counts less than is in use
    each_on(node, [&](const GangEntry &entry, const Pod &pod) {
        bool own = entry.gang.uid == gang.uid;
        if (own && !pod.bound())
            return; // it may be among those that are to be bound
        sum += amounts_of(pod.requests);
        lies |= !own && !covered(entry, pod);
    });
    for (const VanishedPod &pod : vanished_.on(node)) {
        sum += amounts_of(pod.requests);
        lies = true;
        // Kubernetes has freed its devices already.
        if (pod.devices && any_uses_devices(gang))
            return Room::no;
    }
    if (!known)
        return lies ? Room::no : Room::yes;
    if (sum.cpu > known->allocatable.cpu ||
        sum.memory > known->allocatable.memory ||
        lacks_devices(*known, asks, sum))
        return Room::no; // its kubelet would reject the Pod for good
    if (!lies || !hybrid_.contains(node))
        return Room::yes;
    auto admitted = admitted_.find(gang.uid);
    bool yes = admitted != admitted_.end() && gang.job &&
               admitted->second == gang.job->ref;
    return yes ? Room::yes : Room::ask_slurm;
}

std::vector<JobRef> NodeGate::waiting() const
{
    std::vector<JobRef> jobs;
    for (const auto &[job, uid] : waiting_)
        jobs.push_back(job);
    return jobs;
}

void NodeGate::forget_ordinary()
{
    std::erase_if(waiting_, [](const auto &one) { return one.second.empty(); });
}

NodeGate::Admitted NodeGate::admit(const RoomAnswer &answer)
{
    for (const auto &[node, gangs] : binding_) // a job may be read again since
        touch(node);
    dirty(); // as of now
    std::map<JobRef, const Job *> now;
    for (const Job &job : answer.jobs)
        now[job.ref] = &job;
    std::vector<const Job *> line;
    for (JobRef job : answer.asked) {
        if (!waiting_.contains(job))
            continue;
        if (auto found = now.find(job);
            found != now.end() && still_waits(job, *found->second))
            line.push_back(found->second);
        else
            waiting_.erase(job);
    }
    std::ranges::sort(line, {}, [](const Job *job) { return job->ref.sluid; });

    Free free = free_on(answer.nodes);
    auto give_back = [&](const Job &job, int sign) {
        if (auto share = share_of(job)) {
            Amount &node = free[job.nodes.front()];
            node.cpus += sign * share->cpus;
            node.mib += sign * share->mib;
        }
    };
    for (const Job *job : line) // waiting jobs use nothing yet
        give_back(*job, 1);
    Admitted admitted;
    for (const Job *job : line) {
        if (!fits(*job, free, answer.allocated))
            continue;
        give_back(*job, -1);
        std::string uid = waiting_.extract(job->ref).mapped();
        if (uid.empty())
            admitted.ordinary.push_back(job->ref);
        else
            admitted.gangs.push_back(uid);
        if (!uid.empty())
            admitted_[uid] = job->ref;
    }
    std::erase_if(admitted_, [&](const auto &known) {
        auto gang = gangs_.all().find(known.first);
        return gang == gangs_.all().end() || !gang->second.gang.job ||
               gang->second.gang.job->ref != known.second;
    });
    return admitted;
}

bool NodeGate::still_waits(JobRef job, const Job &now) const
{
    const std::string &uid = waiting_.at(job);
    if (uid.empty())
        // In any other state its prolog was released.
        return now.state == JobState::configuring;
    auto gang = gangs_.all().find(uid);
    return gang != gangs_.all().end() && gang->second.gang.job &&
           gang->second.gang.job->ref == job && runs(now.state);
}

bool NodeGate::fits(const Job &job, const Free &free,
                    const std::set<JobId> &allocated) const
{
    Amount needs = share_of(job).value_or(Amount{});
    return std::ranges::all_of(job.nodes, [&](const std::string &name) {
        if (!dirty_.contains(name))
            return true;
        auto known = free.find(name);
        Uncovered living = uncovered_on(nodes_.at(name), allocated);
        // It is unknown which devices they are.
        bool devices = living.extended || (job.devices && living.devices);
        return known != free.end() && !devices &&
               living.amount.cpus + needs.cpus <= known->second.cpus &&
               living.amount.mib + needs.mib <= known->second.mib;
    });
}

// Returns what Slurm gave the job on its node, or nothing if Slurm does not
// say. A job of several nodes counts as started until it does start, which
// never underestimates.
std::optional<NodeGate::Amount> NodeGate::share_of(const Job &job)
{
    std::uint64_t mib = job.memory_per_node.value != 0
                            ? job.memory_per_node.value
                            : job.memory_per_cpu.value * job.cpus;
    if (job.nodes.size() != 1 || mib == 0 || job.cpus == 0)
        return std::nullopt;
    return Amount{job.cpus, static_cast<std::int64_t>(mib)};
}

NodeGate::Free NodeGate::free_on(const std::vector<SlurmNode> &nodes)
{
    Free free;
    for (const SlurmNode &node : nodes)
        free[node.name] = {
            std::int64_t{node.usable_cpus} - node.allocated_cpus,
            static_cast<std::int64_t>(node.usable_memory.value) -
                static_cast<std::int64_t>(node.allocated_memory.value)};
    return free;
}

} // namespace bridge
