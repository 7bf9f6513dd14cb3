// SPDX-License-Identifier: GPL-2.0-or-later
// Threads for what blocks. Each has a Kube connection of its own; the tasks
// take turns in the order in which they were given.
#pragma once

#include "agent/kube_api.h"
#include "agent/mailbox.h"

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace bridge {

class Workers {
  public:
    using Task = std::function<void(Kube &)>;
    using KubeFactory = std::function<std::unique_ptr<Kube>()>;

    Workers(unsigned count, const KubeFactory &make_kube);
    ~Workers() { stop(); }

    // Drops what has not begun and waits for what has.
    void stop();

    // From any thread.
    void push(Task task) { tasks_.push(std::move(task)); }
    std::size_t waiting() { return tasks_.size(); }

  private:
    void run(std::stop_token stop, Kube &kube);

    Mailbox<Task> tasks_;
    std::vector<std::unique_ptr<Kube>> kubes_;
    std::vector<std::jthread> threads_;
};

} // namespace bridge
