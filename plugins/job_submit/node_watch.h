// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps a NodeView: one thread asks slurmctld by RPC, as anybody would, since
// job_submit must not: it is called with slurmctld's locks held. What it shows
// may be twenty seconds old, or nothing at all; slurmctld itself places no
// ordinary job on an external node, but in words that say nothing.
//
// Never ends and is never freed: slurmctld ends by exit(0) while it lives.
#pragma once

#include "plugins/job_submit/node_view.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace bridge {

class NodeWatch {
  public:
    // Throws when there can be no thread.
    void start();

    // The last view, unless that is too old to refuse anything for. Neither
    // this nor what follows waits for the thread's RPCs.
    std::shared_ptr<const NodeView> view();

    // So that whoever has just changed a node or a partition, and asks again,
    // is answered by what is there now.
    void look_again();

    // Whether the view was made after the first time that this was asked for;
    // if not it is soon.
    bool seen_since_asked(const std::string &what);

  private:
    using Clock = std::chrono::steady_clock;
    struct Answers;

    [[noreturn]] void run();
    void look(Answers &last);
    void wait();

    std::condition_variable asked_;
    std::mutex mutex_; // of what follows
    bool look_again_ = false;
    std::string asked_for_; // lately
    Clock::time_point asked_at_;
    std::shared_ptr<const NodeView> view_;
    Clock::time_point looked_;
};

// By libslurm. Nothing of a list of more hosts than Slurm has nodes: such a
// text may be short, and slurmctld refuses it afterwards.
std::vector<std::string> expand_hostlist(const char *hostlist);

} // namespace bridge
