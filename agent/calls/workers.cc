// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/workers.h"

#include "common/base/backoff.h"
#include "common/base/log.h"

#include <chrono>
#include <exception>
#include <utility>

namespace bridge {

namespace {

// With what is more urgent: of a task that comes to an empty queue, and of
// those behind it, which would never be done if each waited as long.
constexpr std::chrono::milliseconds first_patience{1000};
constexpr std::chrono::milliseconds next_patience{20};
constexpr std::chrono::milliseconds look_interval{10};

} // namespace

Workers::Workers(unsigned count, const KubeFactory &make_kube, Busy others)
    : others_(std::move(others)), tasks_(count - count / 4)
{
    for (unsigned i = 0; i < count; i++)
        kubes_.push_back(make_kube());
    for (auto &kube : kubes_)
        threads_.emplace_back(
            [this, &kube](const std::stop_token &stop) { run(stop, *kube); });
}

void Workers::stop()
{
    for (std::jthread &thread : threads_)
        thread.request_stop();
    tasks_.close();
    threads_.clear(); // joins
}

// The API server and slurmctld do one thing less at a time meanwhile.
void Workers::give_way(std::chrono::milliseconds patience,
                       const std::stop_token &stop) const
{
    const auto until = std::chrono::steady_clock::now() + patience;
    while (others_ && others_() && std::chrono::steady_clock::now() < until &&
           wait_for(look_interval, stop)) {
    }
}

void Workers::run(const std::stop_token &stop, Kube &kube)
{
    auto patience = first_patience;
    while (auto task = tasks_.pop()) {
        give_way(patience, stop);
        if (stop.stop_requested())
            return;
        running_++;
        try {
            (*task)(kube);
        } catch (const std::exception &e) { // such as std::bad_alloc
            log_error(
                "a task failed with an exception; the next resync repeats it",
                {{"err", e.what()}});
        }
        running_--;
        patience = tasks_.size() == 0 ? first_patience : next_patience;
    }
}

} // namespace bridge
