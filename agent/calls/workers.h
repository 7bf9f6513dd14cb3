// SPDX-License-Identifier: GPL-2.0-or-later
// Threads for blocking calls. Each has its own Kube connection; tasks begin in
// the order in which they were added, and namespaces take turns.
#pragma once

#include "agent/calls/kube_api.h"
#include "agent/calls/task_queue.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace bridge {

class Workers {
  public:
    using KubeFactory = std::function<std::unique_ptr<Kube>()>;

    Workers(unsigned count, const KubeFactory &make_kube);
    ~Workers() { stop(); }

    // Drops tasks that have not begun and waits for those that have.
    void stop();

    // The queue to push tasks to.
    TaskQueue &tasks() { return tasks_; }

  private:
    void run(std::stop_token stop, Kube &kube);

    TaskQueue tasks_;
    std::vector<std::unique_ptr<Kube>> kubes_;
    std::vector<std::jthread> threads_;
};

} // namespace bridge
