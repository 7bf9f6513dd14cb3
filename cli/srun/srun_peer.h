// SPDX-License-Identifier: GPL-2.0-or-later
// srun as seen by the process that serves a step: what is sent to it and
// received from it, when it is gone, and how the connection ends without losing
// data.
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

    bool lost() const { return lost_; } // nothing is sent or read any more
    void lose();

    // While this is true, no more output may be read from tasks.
    bool full() const { return queue_.size() >= most_queued; }
    bool empty() const { return queue_.empty(); }
    void send(StepFrameKind kind, std::string_view text);

    // Sends what the socket takes at once. Notices when srun is dead.
    void send_some();

    // Receives data; call it when poll() reports the socket. Notices when srun
    // has closed.
    void receive();

    // Returns the frames that have arrived, one by one. srun counts as lost
    // when it sends a malformed frame.
    std::optional<StepFrame> next();

    // Sends nothing more. srun counts as lost once it has closed too, or some
    // time after its kernel has received everything.
    void start_close();

    // srun counts as lost at that time, whatever it has read by then.
    void set_limit(StepClock::time_point limit);

  private:
    static constexpr std::size_t most_queued = 256 << 10;

    OwnedFd fd_;
    StepFrameReader reader_;
    ByteQueue queue_;
    std::optional<StepClock::time_point> limit_;
    bool deaf_ = false; // it reads no more, but may still send
    bool lost_ = false;
    bool left_ = false;
};

} // namespace bridge
