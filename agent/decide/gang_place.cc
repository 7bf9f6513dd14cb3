// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/gang_place.h"

#include "agent/decide/batch_gang.h"
#include "agent/decide/translate.h"
#include "agent/gang/facts.h"
#include "agent/objects/gang_key.h"
#include "common/base/text.h"
#include "common/contract/names.h"
#include "common/slurm/gres_counts.h"
#include "common/slurm/het_job.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

// A controller, by its uid, and an index in it. Pods may have it one after the
// other. It lives as long as the Pod.
using Place = std::pair<std::string_view, decltype(GangKey::index)>;

// Nothing: the Pod has no index.
std::optional<Place> place_of(const Pod &pod)
{
    if (!pod.gang || !pod.gang->indexed)
        return std::nullopt;
    return Place(pod.owner.uid, pod.gang->index);
}

std::optional<std::uint32_t> rank_of(const Pod &pod)
{
    return whole_number<std::uint32_t>(pod.annotation(names::rank_annotation));
}

const Seat *known_seat(const std::map<std::string, Seat> &seats, const Pod &pod)
{
    auto found = seats.find(pod.uid);
    return found == seats.end() ? nullptr : &found->second;
}

std::uint64_t memory_of_task(const Job &job) // in MiB
{
    return job.memory_per_node.value != 0
               ? job.memory_per_node.value
               : job.memory_per_cpu.value * job.cpus_per_task;
}

// Why a task of the job is too small for the Pod; empty: it is not.
std::string too_large_pod_reason(const Job &job, const Gang &gang,
                                 const Pod &pod)
{
    std::uint64_t cpus = cpus_of(gang, pod);
    std::uint64_t memory = mebibytes_up(pod.requests.memory).value;
    std::uint64_t given = memory_of_task(job);
    if (cpus <= job.cpus_per_task && memory <= given)
        return {};
    return "a task of it has " + std::to_string(job.cpus_per_task) +
           " CPUs and " + std::to_string(given) + " MiB, Pod " + pod.key.name +
           " asks for " + std::to_string(cpus) + " CPUs and " +
           std::to_string(memory) + " MiB";
}

// The same for a heterogeneous job: why no component has a large enough task.
std::string too_large_for_all_reason(const Job &job, const Gang &gang,
                                     const Pod &pod)
{
    std::string reason = too_large_pod_reason(job, gang, pod);
    if (job.components.empty())
        return reason;
    for (const Job &component : job.components)
        if (reason = too_large_pod_reason(component, gang, pod); reason.empty())
            break;
    return reason;
}

bool has_smaller_tasks(const Job &a, const Job &b)
{
    auto size = [](const Job &job) {
        return std::pair(job.cpus_per_task, memory_of_task(job));
    };
    return size(a) < size(b);
}

// Assigns the free tasks of the job to Pods.
class Seating {
  public:
    Seating(const Gang &gang, const NodeMap &nodes, const DevicesAt &devices_at)
        : gang_(gang), job_(*gang.job), nodes_(nodes), devices_at_(devices_at),
          free_(tasks_on_nodes(*gang.job)), promised_(free_.size())
    {
        for (std::size_t i = 0; i < job_.nodes.size(); i++)
            indexes_.emplace(job_.nodes[i], i);
        for (const PodPtr &pod : gang.pods) {
            if (lives_by_job(gang, *pod) && !waits(gang, *pod))
                keep(*pod);
            else if (ended_by_job(gang, *pod))
                note_ended(*pod);
            else
                continue;
            if (!of_job_)
                of_job_ = pod.get();
        }
        if (!of_job_)
            of_job_ = &lead_of(gang);
        asked_ = wishes_in(of_job_->annotations);
        for (const PodPtr &pod : gang.pods)
            if (std::size_t at = place_of_devices(*pod); at < free_.size())
                promised_[at]++;
    }

    bool full() const
    {
        return std::ranges::all_of(
            free_, [](std::uint32_t tasks) { return tasks == 0; });
    }

    Result<Seat> seat(const Pod &pod)
    {
        if (std::string reason = no_seat_reason(pod); !reason.empty())
            return fail(Code::conflict, reason);
        std::size_t at = place_for(pod);
        if (at == free_.size())
            return fail(Code::conflict, "its " + std::to_string(job_.tasks) +
                                            " tasks are taken");
        auto node = nodes_.find(job_.nodes[at]);
        if (node == nodes_.end())
            return fail(Code::conflict, "Slurm node " + job_.nodes[at] +
                                            " has no Kubernetes Node");
        free_[at]--;
        if (place_of_devices(pod) == at)
            promised_[at]--;
        std::uint32_t rank = rank_for(pod);
        ranks_.insert(rank);
        return Seat{pod.uid, node->second, node->first, rank};
    }

  private:
    // Why the Pod cannot join: the job was requested for Pods like of_job_,
    // perhaps long ago.
    std::string no_seat_reason(const Pod &pod) const
    {
        if (pod.gated)
            return "Pod " + pod.key.name + " has scheduling gates";
        std::string reason = unfit_to_join_reason(gang_, *of_job_, asked_, pod);
        return reason.empty() ? too_large_for_all_reason(job_, gang_, pod)
                              : "Pod " + pod.key.name + ": " + reason;
    }

    std::size_t index_of(const std::string &slurm_node) const
    {
        auto found = indexes_.find(slurm_node);
        return found == indexes_.end() ? free_.size() : found->second;
    }

    void keep(const Pod &pod)
    {
        const Seat *assumed = known_seat(gang_.assumed_bound, pod);
        std::size_t at = index_of(pod.bound() || !assumed
                                      ? pod.annotation(names::node_annotation)
                                      : assumed->slurm_node);
        if (at < free_.size() && free_[at] > 0)
            free_[at]--;
        auto rank = rank_of(pod);
        if (!rank && assumed)
            rank = assumed->rank;
        if (rank)
            ranks_.insert(*rank);
    }

    void note_ended(const Pod &pod)
    {
        auto place = place_of(pod);
        auto rank = rank_of(pod);
        if (place && rank)
            ranks_at_[*place].push_back(*rank);
    }

    // A binding of unknown outcome is never tried on another node.
    std::size_t place_for(const Pod &pod) const
    {
        if (const Seat *maybe = known_seat(gang_.maybe_bound, pod))
            if (std::size_t at = index_of(maybe->slurm_node);
                at < free_.size() && free_[at] > 0)
                return at;
        if (std::size_t at = place_of_devices(pod);
            at < free_.size() && free_[at] > 0)
            return at;
        if (!job_.components.empty())
            return smallest_for(pod);
        std::size_t at = 0;
        while (at < free_.size() && free_[at] <= promised_[at])
            at++;
        return at;
    }

    // Returns the node where a waiting Pod already has devices; free_.size() if
    // none.
    std::size_t place_of_devices(const Pod &pod) const
    {
        auto found = devices_at_.find(pod.uid);
        return found == devices_at_.end() || !waits(gang_, pod)
                   ? free_.size()
                   : index_of(found->second);
    }

    std::size_t smallest_for(const Pod &pod) const
    {
        const Job *smallest = nullptr;
        std::size_t at = free_.size();
        for (std::size_t i = 0; i < free_.size(); i++) {
            const Job &component = component_on(job_, job_.nodes[i]);
            if (free_[i] == 0 ||
                !too_large_pod_reason(component, gang_, pod).empty() ||
                (smallest && !has_smaller_tasks(component, *smallest)))
                continue;
            smallest = &component;
            at = i;
        }
        return at;
    }

    // Returns the rank of the Pod that it replaces, or the first free rank.
    std::uint32_t rank_for(const Pod &pod)
    {
        auto place = place_of(pod);
        auto before = place ? ranks_at_.find(*place) : ranks_at_.end();
        if (before != ranks_at_.end())
            for (std::uint32_t rank : before->second)
                if (!ranks_.contains(rank))
                    return rank;
        while (ranks_.contains(first_free_rank_))
            first_free_rank_++; // none is ever given back
        return first_free_rank_;
    }

    const Gang &gang_;
    const Job &job_;
    const NodeMap &nodes_;
    const DevicesAt &devices_at_;
    std::vector<std::uint32_t> free_; // free tasks, in the order of job_.nodes
    // The part of free_ that is kept for Pods with devices there.
    std::vector<std::uint32_t> promised_;
    std::map<std::string_view, std::size_t> indexes_; // in job_.nodes
    std::set<std::uint32_t> ranks_;                   // ranks in use
    std::uint32_t first_free_rank_ = 0;
    // The ranks, in order, of the gang's Pods that the job has put on its nodes
    // and that are over.
    std::map<Place, std::vector<std::uint32_t>> ranks_at_;
    const Pod *of_job_ = nullptr; // the Pod that the others must resemble
    Wishes asked_;                // its requests
};

// Returns how many tasks fit on each node by its CPUs, and by its GRES where
// these are known.
std::vector<std::uint32_t> room_on_nodes(const Job &job)
{
    std::vector<std::uint32_t> cpus = job.cpus_on;
    if (job.nodes.size() == 1)
        cpus = {job.cpus};
    cpus.resize(job.nodes.size());
    GresCounts by_task;
    if (job.gres_on.size() == job.nodes.size())
        by_task = asked_gres(job.gres_per_task);
    std::vector<std::uint32_t> room;
    for (std::size_t i = 0; i < cpus.size(); i++) {
        std::uint64_t most =
            cpus[i] / std::max<std::uint32_t>(job.cpus_per_task, 1);
        if (!by_task.empty())
            most = std::min(most, tasks_covered(job.gres_on[i], by_task));
        room.push_back(static_cast<std::uint32_t>(most));
    }
    return room;
}

// Sorts so that, if not all get a seat, Pods that may be bound already keep
// theirs.
std::vector<PodPtr> in_order_of_seats(const Gang &gang)
{
    std::vector<PodPtr> pods;
    for (const PodPtr &pod : gang.pods)
        if (waits(gang, *pod))
            pods.push_back(pod);
    if (gang.elastic)
        std::ranges::stable_partition(pods, [&](const PodPtr &pod) {
            return gang.maybe_bound.contains(pod->uid);
        });
    return pods;
}

} // namespace

std::vector<std::uint32_t> tasks_on_nodes(const Job &job)
{
    std::vector<std::uint32_t> of_all; // of all components
    for (const Job &component : job.components)
        for (std::uint32_t tasks : tasks_on_nodes(component))
            of_all.push_back(tasks);
    if (!job.components.empty())
        return of_all;
    std::vector<std::uint32_t> room = room_on_nodes(job); // in tasks
    std::uint32_t left = job.tasks;
    std::vector<std::uint32_t> tasks(room.size());
    auto give = [&](std::size_t i, std::uint32_t most) {
        std::uint32_t more = std::min({most, left, room[i] - tasks[i]});
        tasks[i] += more;
        left -= more;
    };
    for (std::size_t i = 0; i < tasks.size(); i++)
        give(i, 1);
    for (std::size_t i = 0; i < tasks.size(); i++)
        give(i, left);
    return tasks;
}

Result<std::vector<Seat>> seat_pods(const Gang &gang, const NodeMap &nodes)
{
    static const DevicesAt nowhere;
    return seat_pods(gang, nodes, gang.devices ? gang.devices->at : nowhere);
}

Result<std::vector<Seat>> seat_pods(const Gang &gang, const NodeMap &nodes,
                                    const DevicesAt &devices_at)
{
    if (gang.batch)
        return seat_batch_pods(gang, nodes);
    Seating seating(gang, nodes, devices_at);
    bool all_or_none = count_of_job(gang) == 0;
    std::vector<Seat> seats;
    Result<> said;
    for (const PodPtr &pod : in_order_of_seats(gang)) {
        bool full = seating.full();
        // Additional Pods are not for this job, or came too late.
        if (full && (all_or_none ? gang.elastic : !seats.empty()))
            break;
        auto seat = seating.seat(*pod);
        if (seat)
            seats.push_back(std::move(*seat));
        else if (said)
            said = std::unexpected(seat.error());
        // None that follows changes the result.
        if (!said && (all_or_none || full))
            break;
    }
    if (!said && (all_or_none || seats.empty()))
        return std::unexpected(said.error());
    return seats;
}

std::vector<PodPtr> last_of_job(const Gang &gang)
{
    std::vector<PodPtr> last;
    std::map<Place, std::size_t> places; // in last
    for (const PodPtr &pod : gang.pods) {
        if (!ended_by_job(gang, *pod))
            continue;
        auto place = place_of(*pod);
        auto at = place ? places.find(*place) : places.end();
        if (at != places.end()) {
            if (last[at->second]->created <= pod->created)
                last[at->second] = pod;
            continue;
        }
        if (place)
            places.emplace(*place, last.size());
        last.push_back(pod);
    }
    return last;
}

} // namespace bridge
