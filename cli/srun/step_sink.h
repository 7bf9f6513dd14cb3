// SPDX-License-Identifier: GPL-2.0-or-later
// Where srun writes what tasks have written: its stdout, its stderr, or a file.
#pragma once

#include "cli/srun/launch.h"
#include "cli/srun/step_io.h"

#include <string>
#include <string_view>

namespace bridge {

// What a node sent, with the task's number before each line: srun's --label. A
// last line without an end gets one.
std::string label_lines(std::string_view text, TaskId task, std::size_t width);

// Whether both descriptors are of one file, pipe, terminal or socket: two sinks
// for it would write into each other's lines.
bool is_same_file(int a, int b);

class StepSink {
  public:
    // The descriptor stays open.
    explicit StepSink(int fd);

    void add(std::string_view text)
    {
        if (!broken_)
            queue_.add(text);
    }

    // Nothing more is to be read from nodes until it is not.
    bool full() const { return queue_.size() >= most_queued; }
    bool empty() const { return queue_.empty(); }
    std::size_t size() const { return queue_.size(); }
    bool broken() const { return broken_; } // it takes nothing any more
    int fault() const { return fault_; } // why, but that nobody reads it; or 0
    int fd() const { return fd_; }

    // When poll() says that it can be written. The descriptor is others', too,
    // and so stays blocking: no more goes into a pipe than it takes at once,
    // but where others have just filled it, or a terminal has less room, this
    // waits for a moment.
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
