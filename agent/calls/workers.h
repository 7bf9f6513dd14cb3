// SPDX-License-Identifier: GPL-2.0-or-later
// Threads for what blocks. Each has a Kube connection of its own; the tasks
// take turns in the order in which they were given.
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

    // Drops what has not begun and waits for what has.
    void stop();

    // Where to push them.
    TaskQueue &tasks() { return tasks_; }

  private:
    void run(std::stop_token stop, Kube &kube);

    TaskQueue tasks_;
    std::vector<std::unique_ptr<Kube>> kubes_;
    std::vector<std::jthread> threads_;
};

} // namespace bridge
