// SPDX-License-Identifier: GPL-2.0-or-later
// Cuts a stream that arrives in arbitrary pieces into lines. Pure.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

class LineFramer {
  public:
    using OnLine = std::function<Result<>(std::string_view line)>;

    explicit LineFramer(std::size_t max_line) : max_line_(max_line) {}

    // Calls on_line for every line that piece completes, without its line end;
    // empty lines are skipped. Fails with the error of on_line, or with
    // Code::internal for a line longer than max_line.
    Result<> feed(std::string_view piece, const OnLine &on_line);

    // Returns what arrived after the last line end.
    const std::string &rest() const { return rest_; }
    void clear() { rest_.clear(); }

  private:
    std::size_t max_line_;
    std::string rest_;
};

} // namespace bridge
