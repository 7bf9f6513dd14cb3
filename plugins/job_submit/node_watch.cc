// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/node_watch.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <pthread.h>
#include <thread>

extern "C" {
#include <slurm/slurm_errno.h>
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
    bool changed = false;

    time_t last_update() const { return msg ? msg->last_update : 0; }

    // Returns false if there was no answer.
    bool ask(int (*load)(time_t, Msg **, std::uint16_t))
    {
        Msg *raw = nullptr;
        int rc = load(last_update(), &raw, SHOW_ALL);
        changed = rc == SLURM_SUCCESS;
        if (changed)
            msg.reset(raw);
        return changed || errno == SLURM_NO_CHANGE_IN_DATA;
    }
};

} // namespace

struct NodeWatch::Answers {
    Answer<partition_info_msg_t, slurm_free_partition_info_msg> partitions;
    Answer<node_info_msg_t, slurm_free_node_info_msg> nodes;
};

void NodeWatch::start()
{
    sigset_t all, before; // signals belong to slurmctld's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([this] {
            pthread_setname_np(pthread_self(), "k8s_nodes");
            run();
        }).detach();
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
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

void NodeWatch::run()
{
    Answers last;
    std::this_thread::sleep_for(first_look);
    for (;;) {
        try {
            update_view(last);
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
    if (!last.partitions.ask(slurm_load_partitions) ||
        !last.nodes.ask(slurm_load_node))
        return;
    std::shared_ptr<const NodeView> next;
    if (last.partitions.changed || last.nodes.changed)
        next = std::make_shared<const NodeView>(
            view_of(*last.partitions.msg, *last.nodes.msg, expand_hostlist));
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
