// SPDX-License-Identifier: GPL-2.0-or-later
// srun as a step's process sees it: what is sent to it and comes from it, when
// it is gone, and how the connection ends without a loss.
#pragma once

#include "cli/srun/step_frame.h"
#include "cli/srun/step_io.h"

#include <optional>
#include <poll.h>
#include <string_view>

namespace bridge {

class SrunPeer {
  public:
    explicit SrunPeer(OwnedFd fd) : fd_(std::move(fd)) {}

    pollfd poll_entry() const;
    std::optional<StepClock::time_point> next_limit() const;

    bool lost() const { return lost_; } // and nothing is sent or read any more
    void lose();

    // Nothing more is to be read from tasks until it is not.
    bool full() const { return queue_.size() >= most_queued; }
    bool empty() const { return queue_.empty(); }
    void send(StepFrameKind kind, std::string_view text);

    // What the socket takes at once. A dead srun is lost then.
    void send_some();

    // When poll() says so. An srun that has closed is lost then.
    void receive();

    // What has come, one by one. An srun that sends nonsense is lost.
    std::optional<StepFrame> next();

    // Nothing more is sent. srun is lost when it has closed, too, or some time
    // after its kernel has all.
    void take_leave();

    // srun is lost then, whatever it has read.
    void set_limit(StepClock::time_point limit);

  private:
    static constexpr std::size_t most_queued = 256 << 10;

    OwnedFd fd_;
    StepFrameReader reader_;
    ByteQueue queue_;
    std::optional<StepClock::time_point> limit_;
    bool deaf_ = false; // reads no more; what it has sent may still come
    bool lost_ = false;
    bool left_ = false;
};

} // namespace bridge
