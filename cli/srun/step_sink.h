// SPDX-License-Identifier: GPL-2.0-or-later
// Where srun writes the output of tasks: its stdout, its stderr, or a file.
#pragma once

#include "cli/srun/launch.h"
#include "cli/srun/step_io.h"

#include <string>
#include <string_view>

namespace bridge {

// Returns the text with the task's number in front of each line, as srun
// --label does. A newline is added to an incomplete last line.
std::string label_lines(std::string_view text, TaskId task, std::size_t width);

// Returns whether both descriptors refer to one file, pipe, terminal or socket.
// Two sinks for it would write into each other's lines.
bool is_same_file(int a, int b);

class StepSink {
  public:
    // The sink does not close the descriptor.
    explicit StepSink(int fd);

    void add(std::string_view text)
    {
        if (!broken_)
            queue_.add(text);
    }

    // While this is true, no more may be read from the nodes.
    bool full() const { return queue_.size() >= most_queued; }
    bool empty() const { return queue_.empty(); }
    std::size_t size() const { return queue_.size(); }
    bool broken() const { return broken_; } // it takes nothing any more
    int fault() const { return fault_; } // errno of that, or 0 if nobody reads
    int fd() const { return fd_; }

    // Writes some data; call it when poll() reports the descriptor. Other
    // processes share the descriptor, so it stays blocking: a pipe gets no more
    // than it takes at once. If others have just filled it, or a terminal has
    // less room, this waits for a moment.
    void write_some();

  private:
    static constexpr std::size_t most_queued = 1 << 20;

    int fd_;
    bool is_file_ = false;
    int fault_ = 0;
    ByteQueue queue_;
    bool broken_ = false;
};

} // namespace bridge
