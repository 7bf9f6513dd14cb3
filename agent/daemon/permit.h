// SPDX-License-Identifier: GPL-2.0-or-later
// Whether this process may write, asked right before each write from any
// thread: only while the Lease is surely ours and the socket to prep/k8s is the
// one that we bound. Time counts on while the process or the machine sleeps, so
// an agent that was stopped knows at its first write that others took over.
#pragma once

#include "common/base/result.h"
#include "common/contract/packet_socket.h"

#include <atomic>
#include <chrono>
#include <string>

namespace bridge {

// Goes on while the machine is suspended (CLOCK_BOOTTIME).
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

    // The file of the socket that we have just bound; before any grant.
    void set_socket(SocketFile file) { socket_ = file; }

    void grant_until(TimePoint time) { until_ = time.time_since_epoch(); }
    void revoke() { until_ = BootClock::duration::zero(); }

    // Code::busy with the reason when nothing may be written now.
    Result<> check(TimePoint now = BootClock::now()) const;

    // False once another agent has taken the path, or the file is gone.
    bool socket_is_ours() const;

  private:
    const std::string socket_path_;
    SocketFile socket_;
    std::atomic<BootClock::duration> until_{};
};

} // namespace bridge
