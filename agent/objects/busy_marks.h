// SPDX-License-Identifier: GPL-2.0-or-later
// The annotations by which autoscalers leave a busy Node or Pod alone. What
// others have written stays as it is: names::busy_mark lists those that are the
// agent's. Pure.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

using BusyMark = std::pair<const char *, const char *>; // annotation, value

struct BusyMarks {
    // The annotations to write, or (without a value) to remove.
    std::vector<std::pair<std::string, std::optional<std::string>>> changes;
    std::string own; // for names::busy_mark, separated by commas
};

// marks: those of a busy object. has: whether the object has this annotation.
// own: its names::busy_mark.
BusyMarks plan_busy_marks(std::span<const BusyMark> marks,
                          const std::function<bool(const char *)> &has,
                          const std::string &own, bool busy);

} // namespace bridge
