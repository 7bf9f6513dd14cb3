// SPDX-License-Identifier: GPL-2.0-or-later
// The messages between srun and the program that runs the tasks of one node:
// frames of common/base/frame_cutter.h. Numbers in them have four bytes, too; a
// text is preceded by its length. There are no protocol versions, because all
// Pods of a job have the same program, which its hash ensures (proof.h). Pure
// functions.
//
//   srun → node
//    l launch    the tasks: launch.h; the first frame, sent once
//    i input     for the tasks' stdin; an empty one is its end
//    s signal    a number: for each task's process group; 0: end all tasks
//   node → srun
//    o output    the task's number, and what it wrote to stdout
//    e error     the same for stderr
//    t taken     a number: so many bytes of input have gone to all tasks
//    x exited    a wait status, and the numbers of tasks that ended with it
//    m message   a message for the user
//    c cancelled empty: the process got SIGTERM, for example because its Pod
//                ends; "done" is not sent any more
//    d done      empty: no task is alive; this is the last frame
#pragma once

#include "common/base/frame_cutter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

enum class StepFrameKind : char {
    launch = 'l',
    input = 'i',
    signal = 's',
    output = 'o',
    error = 'e',
    taken = 't',
    exited = 'x',
    message = 'm',
    cancelled = 'c',
    done = 'd',
};

struct StepFrame {
    using Kind = StepFrameKind;
    static std::optional<std::size_t> longest(StepFrameKind kind);

    StepFrameKind kind = StepFrameKind::done;
    std::string text;

    bool operator==(const StepFrame &) const = default;
};

// of one task's output, bytes
inline constexpr std::size_t max_step_data = 65536;
inline constexpr std::size_t max_step_frame = max_step_data + 4;
// arguments and environment, bytes
inline constexpr std::size_t max_launch = 8 << 20;

// How many bytes srun sends before it hears that the tasks have read some.
inline constexpr std::size_t input_window = 256 << 10;

// The text must not be longer than its kind allows.
std::string encode_step_frame(StepFrameKind kind, std::string_view text);

using StepFrameReader = FrameCutter<StepFrame>;

// Writes the fields of a frame one after the other.
class FieldWriter {
  public:
    FieldWriter &number(std::uint32_t value);
    FieldWriter &text(std::string_view value);
    FieldWriter &list(const std::vector<std::string> &values);
    FieldWriter &numbers(const std::vector<std::uint32_t> &values);
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

// Reads the fields of a frame. A missing field reads as 0 or empty, and then
// whole() is false.
class FieldReader {
  public:
    explicit FieldReader(std::string_view text) : rest_(text) {}

    std::uint32_t number();
    std::string text();
    std::vector<std::string> list();
    std::vector<std::uint32_t> numbers();
    std::string_view rest() const { return rest_; }

    // Returns whether every field so far was there.
    bool good() const { return good_; }
    // Returns whether every field was there and nothing is left.
    bool whole() const { return good_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool good_ = true;
};

} // namespace bridge
