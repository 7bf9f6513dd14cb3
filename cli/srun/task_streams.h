// SPDX-License-Identifier: GPL-2.0-or-later
// The node's ends of its tasks' stdin, stdout and stderr.
#pragma once

#include "cli/srun/step_frame.h"
#include "cli/srun/step_io.h"
#include "common/base/owned_fd.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// One output of one task: complete lines are passed on, the rest waits for its
// newline.
class TaskOutput {
  public:
    TaskOutput(StepFrameKind kind, OwnedFd fd) : kind_(kind), fd_(std::move(fd))
    {
    }

    StepFrameKind kind() const { return kind_; }
    int fd() const { return fd_.get(); } // -1: none, or ended
    bool open() const { return static_cast<bool>(fd_); }

    // Reads output; call it when poll() reports the descriptor. Returns what is
    // to be passed on now, at most max_step_data bytes, and all of the rest
    // when the output ends. With unbuffered, incomplete lines are passed on,
    // too.
    std::string read_some(bool unbuffered);

    // Ends the output. Returns the rest, which is an incomplete line.
    std::string finish();

  private:
    StepFrameKind kind_;
    OwnedFd fd_;
    std::string line_;
};

// One task's position in the input that all tasks of a node share.
struct InputPipe {
    OwnedFd fd;         // none: it reads no more, or something else
    std::size_t at = 0; // position from the beginning of the input
};

// The stdin of a node's tasks: one stream, read by all tasks that have a pipe.
class TaskInput {
  public:
    // Adds input. Returns false for input that srun would not send.
    bool take(std::string_view text);

    // Returns whether there is input for this pipe, or the end of the input.
    bool has_more_for(const InputPipe &pipe) const;

    // Writes input; call it when poll() reports the pipe.
    void write_to(InputPipe &pipe) const;

    // Forgets the input before this position, at which the slowest reader is.
    // Returns how many bytes that frees.
    std::size_t drop_before(std::size_t least);
    std::size_t end() const { return begin_ + bytes_.size(); }

  private:
    ByteQueue bytes_;
    std::size_t begin_ = 0; // position of the first byte kept
    bool ended_ = false;
};

} // namespace bridge
