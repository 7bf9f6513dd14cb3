// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_asker.h"

#include "common/base/backoff.h"

#include <exception>
#include <sys/eventfd.h>
#include <utility>

namespace bridge {

namespace {

TopView read_safely(TopReader &reader)
try {
    return reader.read();
} catch (const std::exception &e) { // such as a lack of memory
    return top_view_without(e.what());
}

} // namespace

TopAsker::TopAsker(const Conf &conf, std::chrono::seconds pause)
    : reader_(conf), pause_(pause),
      news_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token &stop) { run(stop); })
{
}

std::optional<TopView> TopAsker::take()
{
    eventfd_t count = 0;
    eventfd_read(news_.get(), &count);
    std::lock_guard lock(mutex_);
    return std::exchange(view_, std::nullopt);
}

void TopAsker::run(const std::stop_token &stop)
{
    while (!stop.stop_requested()) {
        TopView view = read_safely(reader_);
        {
            std::lock_guard lock(mutex_);
            view_ = std::move(view);
        }
        eventfd_write(news_.get(), 1);
        wait_for(pause_, stop);
    }
}

} // namespace bridge
