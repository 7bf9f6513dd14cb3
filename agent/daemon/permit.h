// SPDX-License-Identifier: GPL-2.0-or-later
// Whether this process may write. It is asked right before each write, from any
// thread. Writing is permitted only while the Lease is surely ours and the
// socket to prep/k8s is the one that this process bound. The clock goes on
// while the process or the machine sleeps, so that an agent that was stopped
// notices at its first write that another one took over.
#pragma once

#include "common/base/result.h"
#include "common/contract/packet_socket.h"

#include <atomic>
#include <chrono>
#include <string>

namespace bridge {

// A clock that goes on while the machine is suspended (CLOCK_BOOTTIME).
struct BootClock {
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<BootClock>;
    static constexpr bool is_steady = true;

    static time_point now();
};

class Permit {
  public:
    using TimePoint = BootClock::time_point;

    explicit Permit(std::string socket_path);

    // Sets the file of the socket that was just bound. To be called before any
    // grant.
    void set_socket(SocketFile file) { socket_ = file; }

    void grant_until(TimePoint time) { until_ = time.time_since_epoch(); }
    void revoke() { until_ = BootClock::duration::zero(); }

    // Code::busy, with the reason, when nothing may be written now.
    Result<> check(TimePoint now = BootClock::now()) const;

    // Returns false once another agent has taken the path, or the file is gone.
    bool socket_is_ours() const;

  private:
    const std::string socket_path_;
    SocketFile socket_;
    std::atomic<BootClock::duration> until_{};
};

} // namespace bridge
