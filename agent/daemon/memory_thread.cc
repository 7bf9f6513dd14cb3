// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/memory_thread.h"

#include "common/base/backoff.h"

#include <algorithm>
#include <fstream>
#include <malloc.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr std::chrono::seconds interval{5}; // of looks at the size
constexpr std::chrono::minutes longest{1};
constexpr std::size_t most_growth = 8UL << 20;

// Returns what this process has in memory, in bytes, or 0 if the system does
// not say: proc_pid_statm(5).
std::size_t resident_size()
{
    std::size_t all = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

} // namespace

bool MemoryPace::is_due(std::size_t size, Time now) const
{
    return now - since_ >= longest || size > least_ + most_growth;
}

void MemoryPace::given_back(std::size_t size, Time now)
{
    bool begins = now - since_ >= longest;
    least_ = begins ? size : std::min(least_, size);
    if (begins)
        since_ = now;
}

MemoryThread::MemoryThread()
    : thread_([this](const std::stop_token &stop) { run(stop); })
{
}

void MemoryThread::run(const std::stop_token &stop)
{
    while (wait_for(interval, stop)) {
        if (!pace_.is_due(resident_size(), std::chrono::steady_clock::now()))
            continue;
        malloc_trim(0);
        pace_.given_back(resident_size(), std::chrono::steady_clock::now());
    }
}

} // namespace bridge
