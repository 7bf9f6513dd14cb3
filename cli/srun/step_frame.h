// SPDX-License-Identifier: GPL-2.0-or-later
// What passes between srun and the program that runs the tasks of one node:
// frames, as common/base/frame_cutter.h has them. Numbers in them have four
// bytes, too; a text has its length before it. All Pods of a job have the same
// program, by its hash (proof.h), so that there are no versions. Pure.
//
//  srun → node
//   l launch    the tasks: launch.h. First, and once
//   i input     for the tasks' stdin; an empty one is its end
//   s signal    a number: to each task's process group; 0: end them all
//  node → srun
//   o output    the task's number, and what it wrote to stdout
//   e error     likewise, stderr
//   t taken     a number: so many bytes of input have gone to all tasks
//   x exited    a wait status, and the numbers of tasks that ended with it
//   m message   words for the user
//   c cancelled empty: the process got SIGTERM, as when its Pod ends; no "done"
//               comes any more
//   d done      empty: no task lives, nothing comes after this
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

inline constexpr std::size_t max_step_data = 65536; // of one task's output
inline constexpr std::size_t max_step_frame = max_step_data + 4;
inline constexpr std::size_t max_launch = 8 << 20; // arguments and environment

// What srun sends before it has heard that tasks took it.
inline constexpr std::size_t input_window = 256 << 10;

// The text must not be longer than its kind may be.
std::string encode_step_frame(StepFrameKind kind, std::string_view text);

using StepFrameReader = FrameCutter<StepFrame>;

// Puts the parts of a frame one behind the other.
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

// Takes them apart again. What is not there reads as 0 or as empty, and then
// whole() is false.
class FieldReader {
  public:
    explicit FieldReader(std::string_view text) : rest_(text) {}

    std::uint32_t number();
    std::string text();
    std::vector<std::string> list();
    std::vector<std::uint32_t> numbers();
    std::string_view rest() const { return rest_; }

    // All was there so far.
    bool good() const { return good_; }
    // All was there, and nothing is left.
    bool whole() const { return good_ && rest_.empty(); }

  private:
    std::string_view rest_;
    bool good_ = true;
};

} // namespace bridge
