// SPDX-License-Identifier: GPL-2.0-or-later
// Decides when to sweep a table in which finished entries accumulate: when it
// is twice as large as after the last sweep. A sweep that removes little is
// therefore not repeated soon, and all sweeps together take no longer than
// filling the table.
#pragma once

#include <algorithm>
#include <cstddef>

namespace bridge {

class SweepMark {
  public:
    // A table with fewer entries than least is never swept.
    explicit SweepMark(std::size_t least) : least_(least), at_(least) {}

    bool is_due(std::size_t size) const { return size >= at_; }
    void swept(std::size_t left) { at_ = std::max(least_, 2 * left); }

  private:
    std::size_t least_;
    std::size_t at_;
};

} // namespace bridge
