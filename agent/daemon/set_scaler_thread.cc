// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/set_scaler_thread.h"

#include "agent/workers/worker_api.h"

#include <chrono>
#include <exception>
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
    while (auto scale = scales_.pop()) {
        if (stop_.stop_requested())
            return;
        Result<> made;
        try {
            made = kube.scale(scale->key, scale->replicas);
        } catch (const std::exception &e) { // such as out of memory
            made = fail(Code::uncertain, e.what());
        }
        done_(*scale, std::move(made));
    }
}

} // namespace bridge
