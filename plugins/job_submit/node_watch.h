// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps a NodeView up to date. A thread of its own asks slurmctld by RPC, like
// any client, because job_submit must not: it is called with slurmctld's locks
// held. The view may be twenty seconds old or missing; slurmctld itself places
// no ordinary job on an external node, but its messages do not explain why.
//
// The thread never ends and the object is never freed: slurmctld ends with
// exit(0) while the thread is running.
#pragma once

#include "plugins/job_submit/node_view.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace bridge {

class NodeWatch {
  public:
    // Starts the thread. Throws if that is impossible. seen: called by the
    // thread with each view, also if nothing has changed.
    void start(std::function<void(const NodeView &)> seen);

    // Returns the last view, or null if it is too old to refuse a job. No
    // function here waits for the thread's RPCs.
    std::shared_ptr<const NodeView> view();

    // Asks for a new view, so that somebody who has just changed a node or
    // partition and tries again gets an up-to-date answer.
    void request_update();

    // Tells whether the view is newer than the first call with this argument;
    // if not, a new view is requested.
    bool seen_since_asked(const std::string &what);

  private:
    using Clock = std::chrono::steady_clock;
    struct Answers;

    [[noreturn]] void run(const std::function<void(const NodeView &)> &seen);
    void update_view(Answers &last);
    void wait();

    std::condition_variable asked_;
    std::mutex mutex_; // guards all members below
    bool update_requested_ = false;
    std::string asked_for_; // the last argument of seen_since_asked()
    Clock::time_point asked_at_;
    std::shared_ptr<const NodeView> view_;
    Clock::time_point looked_;
};

// Returns the names in a hostlist, by libslurm. Empty if the list has more
// hosts than Slurm allows nodes: a short text can describe very many. slurmctld
// refuses such a list later.
std::vector<std::string> expand_hostlist(const char *hostlist);

} // namespace bridge
