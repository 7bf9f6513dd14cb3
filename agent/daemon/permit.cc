// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/permit.h"

#include <ctime>
#include <utility>

namespace bridge {

BootClock::time_point BootClock::now()
{
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time_point(std::chrono::seconds(time.tv_sec) +
                      std::chrono::nanoseconds(time.tv_nsec));
}

Permit::Permit(std::string socket_path) : socket_path_(std::move(socket_path))
{
}

Result<> Permit::check(TimePoint now) const
{
    if (now.time_since_epoch() >= until_.load())
        return fail(
            Code::busy,
            "nothing may be written: this agent may no longer have the Lease");
    if (!socket_is_ours())
        return fail(Code::busy, "another agent has taken " + socket_path_);
    return {};
}

bool Permit::socket_is_ours() const
{
    return socket_.exists() && socket_file(socket_path_) == socket_;
}

} // namespace bridge
