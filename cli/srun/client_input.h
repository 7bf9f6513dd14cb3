// SPDX-License-Identifier: GPL-2.0-or-later
// srun's stdin on its way to the nodes: no more than their tasks read.
#pragma once

#include "cli/srun/step_link.h"

#include <optional>
#include <vector>

namespace bridge {

class ClientInput {
  public:
    // fd: -1 for none. reader: the only task that gets it. The links must
    // outlive this.
    ClientInput(int fd, std::optional<TaskId> reader,
                std::vector<StepLink> &links)
        : fd_(fd), reader_(reader), links_(links)
    {
    }

    // What to poll: -1 while nobody wants more.
    int fd() const;

    // When poll() says so.
    void read_some();

  private:
    bool is_for(const StepLink &link) const;

    int fd_;
    std::optional<TaskId> reader_;
    std::vector<StepLink> &links_;
};

} // namespace bridge
