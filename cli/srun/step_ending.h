// SPDX-License-Identifier: GPL-2.0-or-later
// When and how srun ends a step: its signals, --wait, a task or a node that
// fails, and when it waits no longer.
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
    // The tasks get SIGKILL so many seconds after SIGTERM: the nodes see to it.
    // All must outlive this.
    StepEnding(const SrunOptions &options, std::string step_name,
               const TaskStates &states, std::vector<StepLink> &links,
               StepSink &messages, unsigned kill_wait)
        : options_(options), step_name_(std::move(step_name)), states_(states),
          links_(links), messages_(messages), kill_wait_(kill_wait)
    {
    }

    void look_at_limits();
    std::optional<StepClock::time_point> next_limit() const;

    // One that srun got.
    void take_signal(int number);

    // A task or a node has failed, and the others are to end with it.
    void end_step();

    // A node's Pod ends, and its tasks: scancel, a time limit, an eviction.
    void cancelled(const std::string &node);

    // SIGTERM, and SIGKILL after KillWait.
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
    bool forced_ = false; // and killed
    bool gave_up_ = false;
    bool told_cancelled_ = false;
};

} // namespace bridge
