// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/workers.h"

#include "common/base/log.h"

#include <exception>

namespace bridge {

Workers::Workers(unsigned count, const KubeFactory &make_kube)
{
    for (unsigned i = 0; i < count; i++)
        kubes_.push_back(make_kube());
    for (auto &kube : kubes_)
        threads_.emplace_back(
            [this, &kube](std::stop_token stop) { run(stop, *kube); });
}

void Workers::stop()
{
    for (std::jthread &thread : threads_)
        thread.request_stop();
    tasks_.close();
    threads_.clear(); // joins
}

void Workers::run(std::stop_token stop, Kube &kube)
{
    while (auto task = tasks_.pop()) {
        if (stop.stop_requested())
            return;
        try {
            (*task)(kube);
        } catch (const std::exception &e) { // such as std::bad_alloc
            log_error(
                "a task failed with an exception; the next resync repeats it",
                {{"err", e.what()}});
        }
    }
}

} // namespace bridge
