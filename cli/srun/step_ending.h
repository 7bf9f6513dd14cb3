// SPDX-License-Identifier: GPL-2.0-or-later
// When and how srun ends a step: because of its signals, --wait, or a task or
// node that fails; and when it stops waiting.
#pragma once

#include "cli/srun/srun_options.h"
#include "cli/srun/step_link.h"
#include "cli/srun/step_sink.h"
#include "cli/srun/task_states.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

class StepEnding {
  public:
    // The nodes send SIGKILL to the tasks kill_wait seconds after SIGTERM. The
    // references must outlive this object.
    StepEnding(const SrunOptions &options, std::string step_name,
               const TaskStates &states, std::vector<StepLink> &links,
               StepSink &messages, unsigned kill_wait)
        : options_(options), step_name_(std::move(step_name)), states_(states),
          links_(links), messages_(messages), kill_wait_(kill_wait)
    {
    }

    void check_limits();
    std::optional<StepClock::time_point> next_limit() const;

    // Handles a signal that srun received.
    void handle_signal(int number);

    // A task or a node has failed, and the others are to end with it.
    void end_step();

    // The Pod of that node ends, and so do its tasks: after scancel, a time
    // limit or an eviction.
    void cancelled(const std::string &node);

    // Makes the nodes send SIGTERM, and SIGKILL after KillWait.
    void begin();

    bool begun() const { return begun_; } // the tasks were told to end
    bool gave_up() const { return gave_up_; }

  private:
    void interrupt();
    void force();
    void send_signal(std::uint32_t number);
    void inform(std::string_view words);
    void print_status();

    const SrunOptions &options_;
    std::string step_name_;
    const TaskStates &states_;
    std::vector<StepLink> &links_;
    StepSink &messages_;
    unsigned kill_wait_; // seconds
    std::optional<StepClock::time_point> interrupted_, wait_ends_, give_up_at_;
    bool begun_ = false;
    bool forced_ = false; // the tasks were told to end by SIGKILL
    bool gave_up_ = false;
    bool told_cancelled_ = false;
};

} // namespace bridge
