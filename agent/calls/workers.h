// SPDX-License-Identifier: GPL-2.0-or-later
// Threads for blocking calls. Each has its own Kube connection; tasks run in
// the order in which they were added.
#pragma once

#include "agent/calls/kube_api.h"
#include "common/base/mailbox.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace bridge {

using Task = std::function<void(Kube &)>;
using TaskQueue = Mailbox<Task>;

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
