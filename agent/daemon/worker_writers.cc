// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/worker_writers.h"

#include "agent/daemon/write_loop.h"
#include "agent/workers/worker_api.h"

#include <utility>

namespace bridge {

namespace {

constexpr std::size_t first_threads = 6;
constexpr std::size_t again_threads = 2;
// An answer may be relied on for 30 s: no request may wait for as long.
constexpr std::chrono::seconds timeout{10};

} // namespace

WorkerWriters::WorkerWriters(HttpEndpoint endpoint, const WriteGate &gate,
                             Done done)
    : endpoint_(std::move(endpoint)), gate_(gate), done_(std::move(done))
{
    endpoint_.timeout = timeout;
    endpoint_.give_up = stop_.get_token();
    start(first_, first_threads);
    start(again_, again_threads);
}

WorkerWriters::~WorkerWriters()
{
    stop_.request_stop();
    first_.close();
    again_.close();
}

void WorkerWriters::begin(WorkerWrite write)
{
    auto &writes = write.again ? again_ : first_;
    writes.push(std::move(write));
}

void WorkerWriters::start(Mailbox<WorkerWrite> &writes, std::size_t threads)
{
    for (std::size_t i = 0; i < threads; i++)
        threads_.emplace_back([this, &writes] { run(writes); });
}

void WorkerWriters::run(Mailbox<WorkerWrite> &writes)
{
    WorkerApi kube(endpoint_, gate_);
    carry_writes(
        writes, stop_,
        [&](const WorkerWrite &write) {
            return kube.patch(write.pod, write.patch);
        },
        done_);
}

} // namespace bridge
