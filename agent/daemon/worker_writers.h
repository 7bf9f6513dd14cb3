// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that write on the workers' Pods. Those whose last write has failed
// have threads of their own, so that requests that hang again and again hold
// nobody else.
#pragma once

#include "agent/calls/write_gate.h"
#include "agent/workers/worker_writes.h"
#include "common/base/mailbox.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace bridge {

class WorkerWriters : public WorkerWriter {
  public:
    // Called by each of the threads when a write is over.
    using Done = std::function<void(const WorkerWrite &, Result<>)>;

    // The gate must outlive this.
    WorkerWriters(HttpEndpoint endpoint, const WriteGate &gate, Done done);
    // Aborts what is under way; what has not begun is not written.
    ~WorkerWriters() override;

    void begin(WorkerWrite write) override;

  private:
    void start(Mailbox<WorkerWrite> &writes, std::size_t threads);
    void run(Mailbox<WorkerWrite> &writes);

    HttpEndpoint endpoint_;
    const WriteGate &gate_;
    const Done done_;
    std::stop_source stop_;
    Mailbox<WorkerWrite> first_;
    Mailbox<WorkerWrite> again_;
    std::vector<std::jthread> threads_; // last: they use the above
};

} // namespace bridge
