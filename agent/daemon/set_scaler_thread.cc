// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/set_scaler_thread.h"

#include "agent/daemon/write_loop.h"
#include "agent/workers/worker_api.h"

#include <chrono>
#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds timeout{10};

} // namespace

SetScalerThread::SetScalerThread(HttpEndpoint endpoint, const WriteGate &gate,
                                 Done done)
    : endpoint_(std::move(endpoint)), gate_(gate), done_(std::move(done))
{
    endpoint_.timeout = timeout;
    endpoint_.give_up = stop_.get_token();
    thread_ = std::jthread([this] { run(); });
}

SetScalerThread::~SetScalerThread()
{
    stop_.request_stop();
    scales_.close();
}

void SetScalerThread::begin(SetScale scale)
{
    scales_.push(std::move(scale));
}

void SetScalerThread::run()
{
    WorkerApi kube(endpoint_, gate_);
    carry_writes(
        scales_, stop_,
        [&](const SetScale &scale) {
            return kube.scale(scale.key, scale.replicas);
        },
        done_);
}

} // namespace bridge
