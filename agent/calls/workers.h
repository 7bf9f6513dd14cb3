// SPDX-License-Identifier: GPL-2.0-or-later
// Threads for blocking calls. Each has its own Kube connection; tasks begin in
// the order in which they were added, namespaces take turns, and of four
// threads none has more than three. With fewer than four threads, a namespace
// may have all.
#pragma once

#include "agent/calls/kube_api.h"
#include "agent/calls/task_queue.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace bridge {

class Workers {
  public:
    using KubeFactory = std::function<std::unique_ptr<Kube>()>;
    using Busy = std::function<bool()>;

    // others: whether somebody has work that is more urgent. As long as it is,
    // tasks wait: for a second at most those that come to an empty queue, for a
    // fiftieth of one those behind them. It is called on the workers' threads.
    Workers(unsigned count, const KubeFactory &make_kube, Busy others = {});
    ~Workers() { stop(); }

    // Drops tasks that have not begun and waits for those that have.
    void stop();

    // The queue to push tasks to.
    TaskQueue &tasks() { return tasks_; }

    // Whether a task waits or runs. Thread-safe.
    bool busy() { return running_ != 0 || tasks_.size() != 0; }

  private:
    void run(const std::stop_token &stop, Kube &kube);
    void give_way(std::chrono::milliseconds patience,
                  const std::stop_token &stop) const;

    const Busy others_;
    TaskQueue tasks_;
    std::atomic<unsigned> running_ = 0; // tasks
    std::vector<std::unique_ptr<Kube>> kubes_;
    std::vector<std::jthread> threads_;
};

} // namespace bridge
