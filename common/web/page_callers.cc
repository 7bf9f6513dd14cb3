// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/web/page_callers.h"

#include <algorithm>
#include <sys/socket.h>

namespace bridge {

bool PageCallers::enqueue()
{
    std::lock_guard lock(mutex_);
    if (queued_ >= most_queued)
        return false;
    queued_++;
    make_room();
    return true;
}

void PageCallers::drop_queued()
{
    std::lock_guard lock(mutex_);
    queued_--;
}

// Ends a connection when more wait for a thread than there are threads that are
// free, or soon will be. mutex_ must be held.
void PageCallers::make_room()
{
    auto busy = static_cast<std::size_t>(std::ranges::count_if(
        served_, [](const Served *one) { return !one->ended_; }));
    if (queued_ == 0 || busy + queued_ <= threads_)
        return;
    auto oldest = std::ranges::find_if(
        served_, [](const Served *one) { return one->waits_ && !one->ended_; });
    if (oldest == served_.end())
        return;
    (*oldest)->ended_ = true;
    shutdown((*oldest)->fd_, SHUT_RDWR); // wakes its thread
}

PageCallers::Served::Served(PageCallers &all, int fd) : all_(all), fd_(fd)
{
    std::lock_guard lock(all_.mutex_);
    all_.queued_--;
    place_ = all_.served_.insert(all_.served_.end(), this);
}

PageCallers::Served::~Served()
{
    std::lock_guard lock(all_.mutex_);
    all_.served_.erase(place_);
}

bool PageCallers::Served::wait(short events, Clock::time_point until)
{
    {
        std::lock_guard lock(all_.mutex_);
        waits_ = true;
        all_.make_room();
    }
    FdWait result = wait_for_fd(fd_, events, until, all_.stop_.get_token());
    std::lock_guard lock(all_.mutex_);
    waits_ = false;
    return result == FdWait::ready;
}

} // namespace bridge
