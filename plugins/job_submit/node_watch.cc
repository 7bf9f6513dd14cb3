// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/node_watch.h"

#include "common/base/ascii.h"
#include "plugins/job_submit/refresh.h"
#include "plugins/shared/signals_blocked.h"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <optional>
#include <pthread.h>
#include <set>
#include <string>
#include <thread>
#include <utility>

extern "C" {
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <slurm/spank.h> // slurm_debug()
}

namespace bridge {

namespace {

using namespace std::chrono_literals;
constexpr auto first_look = 2s; // slurmctld answers by then
constexpr auto interval = 20s;
constexpr auto shortest = 1s; // between two RPCs, whatever is asked
constexpr auto trusted = 60s;

template <class Msg, auto free_msg> struct Answer {
    struct Free {
        void operator()(Msg *msg) const { free_msg(msg); }
    };
    std::unique_ptr<Msg, Free> msg;

    time_t last_update() const { return msg ? msg->last_update : 0; }

    // Returns whether it has changed; nothing if there was no answer.
    std::optional<bool> ask(int (*load)(time_t, Msg **, std::uint16_t))
    {
        Msg *raw = nullptr;
        if (load(last_update(), &raw, SHOW_ALL) == SLURM_SUCCESS) {
            msg.reset(raw);
            return true;
        }
        if (errno == SLURM_NO_CHANGE_IN_DATA)
            return false;
        return std::nullopt;
    }
};

bool refuses(const slurmdb_qos_rec_t &qos)
{
    auto limited = [](std::uint32_t limit) {
        return limit != INFINITE && limit != NO_VAL;
    };
    return qos.flags & QOS_FLAG_DENY_LIMIT || limited(qos.grp_submit_jobs) ||
           limited(qos.max_submit_jobs_pa) || limited(qos.max_submit_jobs_pu);
}

// Returns the names of each QOS of a partition, in lower case.
std::set<std::string> qos_of(const partition_info_msg_t &partitions)
{
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < partitions.record_count; i++)
        if (const char *qos = partitions.partition_array[i].qos_char)
            names.insert(lower_case(qos));
    return names;
}

// Returns the names, in lower case, of each QOS by which slurmctld refuses jobs
// at once. Nothing if slurmctld does not answer.
std::optional<std::set<std::string>> load_refusing_qos()
{
    assoc_mgr_info_request_msg_t request{};
    request.flags = ASSOC_MGR_INFO_FLAG_QOS;
    assoc_mgr_info_msg_t *raw = nullptr;
    if (slurm_load_assoc_mgr_info(&request, &raw) != SLURM_SUCCESS)
        return std::nullopt;
    std::unique_ptr<assoc_mgr_info_msg_t,
                    decltype(&slurm_free_assoc_mgr_info_msg)>
        all(raw, slurm_free_assoc_mgr_info_msg);
    std::set<std::string> names;
    if (!all->qos_list)
        return names;
    std::unique_ptr<list_itr_t, decltype(&slurm_list_iterator_destroy)> each(
        slurm_list_iterator_create(all->qos_list), slurm_list_iterator_destroy);
    while (auto *qos =
               static_cast<slurmdb_qos_rec_t *>(slurm_list_next(each.get())))
        if (qos->name && refuses(*qos))
            names.insert(lower_case(qos->name));
    return names;
}

} // namespace

struct NodeWatch::Answers {
    Answer<partition_info_msg_t, slurm_free_partition_info_msg> partitions;
    Answer<node_info_msg_t, slurm_free_node_info_msg> nodes;
    std::set<std::string> refusing_qos;
    Refresh refresh;

    // Returns whether refusing_qos has changed. Without an answer it has all.
    bool ask_qos()
    {
        std::set<std::string> now = qos_of(*partitions.msg);
        if (!now.empty())
            now = load_refusing_qos().value_or(now);
        refusing_qos.swap(now);
        return refusing_qos != now;
    }
};

void NodeWatch::start(std::function<void(const NodeView &)> seen)
{
    SignalsBlocked blocked;
    std::thread([this, seen = std::move(seen)] {
        pthread_setname_np(pthread_self(), "k8s_nodes");
        run(seen);
    }).detach();
}

std::shared_ptr<const NodeView> NodeWatch::view()
{
    std::lock_guard lock(mutex_);
    return Clock::now() - looked_ < trusted ? view_ : nullptr;
}

bool NodeWatch::seen_since_asked(const std::string &what)
{
    std::lock_guard lock(mutex_);
    if (asked_for_ == what && looked_ > asked_at_)
        return true;
    if (asked_for_ != what) {
        asked_for_ = what;
        asked_at_ = Clock::now();
    }
    update_requested_ = true;
    asked_.notify_one();
    return false;
}

void NodeWatch::run(const std::function<void(const NodeView &)> &seen)
{
    Answers last;
    std::this_thread::sleep_for(first_look);
    for (;;) {
        try {
            update_view(last);
            if (auto now = view())
                seen(*now);
        } catch (const std::exception &e) { // such as no memory
            slurm_debug("job_submit/k8s: cannot load nodes and partitions: %s",
                        e.what());
        }
        wait();
    }
}

void NodeWatch::request_update()
{
    std::lock_guard lock(mutex_);
    update_requested_ = true;
    asked_.notify_one();
}

void NodeWatch::wait()
{
    std::this_thread::sleep_for(shortest);
    std::unique_lock lock(mutex_);
    asked_.wait_for(lock, interval, [this] { return update_requested_; });
    update_requested_ = false;
}

void NodeWatch::update_view(Answers &last)
{
    Clock::time_point now = Clock::now();
    std::shared_ptr<const NodeView> next;
    bool answered = last.refresh(
        {[&] { return last.partitions.ask(slurm_load_partitions); },
         [&] { return last.nodes.ask(slurm_load_node); },
         [&] { return std::optional(last.ask_qos()); }},
        [&] {
            next = std::make_shared<const NodeView>(
                view_of(*last.partitions.msg, *last.nodes.msg, expand_hostlist,
                        last.refusing_qos));
        });
    if (!answered)
        return;
    std::lock_guard lock(mutex_);
    looked_ = now;
    if (next)
        view_.swap(next); // frees the old view without the mutex
}

std::vector<std::string> expand_hostlist(const char *hostlist)
{
    std::vector<std::string> names;
    std::unique_ptr<hostlist_t, decltype(&slurm_hostlist_destroy)> hosts(
        slurm_hostlist_create(hostlist ? hostlist : ""),
        slurm_hostlist_destroy);
    if (!hosts || slurm_hostlist_count(hosts.get()) > MAX_SLURM_NODES)
        return names;
    while (char *host = slurm_hostlist_shift(hosts.get())) {
        std::unique_ptr<char, decltype(&std::free)> owned(host, std::free);
        names.emplace_back(host);
    }
    return names;
}

} // namespace bridge
