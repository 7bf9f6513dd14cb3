// SPDX-License-Identifier: GPL-2.0-or-later
// Whether the slurmctld around the plugin is in control, and since when. A
// slurmctld with index 1 or higher goes on as the same process when it gives
// control back: it still has its old job records, and would launch and requeue
// jobs that another slurmctld runs now. Pure: no clock, no file.
//
// Two witnesses, of which each covers what the other does not see:
//
//   the heartbeat      the index and the time that the slurmctld in control
//                      writes. It says when others have taken over, also from
//                      a slurmctld that was stopped and does not know it. One
//                      that is older than SlurmctldTimeout says nothing: from
//                      then on others may take over.
//   control_time       a variable of slurmctld (controller.c): when it began to
//                      be in control, 0 on standby. It is 0 before another
//                      slurmctld can begin, and it tells one term from the
//                      next, even if nobody else was in control in between.
//                      It also stays 0 after `scontrol reconfigure` has
//                      failed; then the heartbeat goes on.
#pragma once

#include "common/contract/controllers.h"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace bridge {

class ControlWatch {
  public:
    using Seconds = std::int64_t; // since the epoch, by this machine's clock

    // us: our index among so many hosts of slurmctld. timeout:
    // SlurmctldTimeout; 0 if there is none.
    ControlWatch(std::size_t us, std::size_t hosts, Seconds timeout)
        : us_(us), hosts_(hosts), timeout_(timeout)
    {
    }

    struct Signs {
        std::optional<Heartbeat> heartbeat;  // nothing: it cannot be read
        std::optional<Seconds> control_time; // nothing: slurmctld has no such
                                             // variable
    };
    struct Finding {
        Control control = Control::ours;
        // ours: slurmctld has been on standby since it was last found in
        // control, so what it asked for before that is void.
        bool new_term = false;
    };
    Finding find(const Signs &signs, Seconds now);

  private:
    Control control(const Signs &signs, Seconds now);
    bool beats_on(const Heartbeat &heartbeat, Seconds now);

    const std::size_t us_;
    const std::size_t hosts_;
    const Seconds timeout_;
    std::optional<Seconds> term_;  // control_time when last found in control
    std::optional<Seconds> blank_; // when control_time was first seen to be 0
};

} // namespace bridge
