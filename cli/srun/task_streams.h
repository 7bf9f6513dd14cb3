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

// One output of one task: whole lines go on, the rest waits for its end.
class TaskOutput {
  public:
    TaskOutput(StepFrameKind kind, OwnedFd fd) : kind_(kind), fd_(std::move(fd))
    {
    }

    StepFrameKind kind() const { return kind_; }
    int fd() const { return fd_.get(); } // -1: none, or ended
    bool open() const { return static_cast<bool>(fd_); }

    // When poll() says so. What is to go on now, at most max_step_data; all of
    // the rest at the output's end. unbuffered: also what is no whole line.
    std::string read_some(bool unbuffered);

    // It ends. The rest, which is no whole line.
    std::string finish();

  private:
    StepFrameKind kind_;
    OwnedFd fd_;
    std::string line_;
};

// One task's place in the input that all tasks of a node share.
struct InputPipe {
    OwnedFd fd;         // none: it reads no more, or something else
    std::size_t at = 0; // of the input, counted from its beginning
};

// stdin of a node's tasks: one stream that all with a pipe read.
class TaskInput {
  public:
    // False: srun would not send that.
    bool take(std::string_view text);

    // There is something for it, or the end.
    bool has_more_for(const InputPipe &pipe) const;

    // When poll() says so.
    void write_to(InputPipe &pipe) const;

    // Forgets what is before that place, where the slowest reader is. Returns
    // how much that is, in bytes.
    std::size_t drop_before(std::size_t least);
    std::size_t end() const { return begin_ + bytes_.size(); }

  private:
    ByteQueue bytes_;
    std::size_t begin_ = 0; // what is gone
    bool ended_ = false;
};

} // namespace bridge
