// SPDX-License-Identifier: GPL-2.0-or-later
// Forwards srun's stdin to the nodes, no faster than their tasks read it.
#pragma once

#include "cli/srun/step_link.h"

#include <optional>
#include <vector>

namespace bridge {

class ClientInput {
  public:
    // fd is -1 for no input. reader is the only task that gets it, if there is
    // one. links must outlive this object.
    ClientInput(int fd, std::optional<TaskId> reader,
                std::vector<StepLink> &links)
        : fd_(fd), reader_(reader), links_(links)
    {
    }

    // Returns the descriptor to poll, or -1 while no task needs more input.
    int fd() const;

    // Reads and forwards input; call it when poll() reports the descriptor.
    void read_some();

  private:
    bool is_for(const StepLink &link) const;

    int fd_;
    std::optional<TaskId> reader_;
    std::vector<StepLink> &links_;
};

} // namespace bridge
