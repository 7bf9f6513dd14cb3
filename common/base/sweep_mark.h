// SPDX-License-Identifier: GPL-2.0-or-later
// When a table is swept in which what is over stays: at twice the size that the
// last sweep has left. So a sweep that finds little to drop is not soon
// repeated, and all of them together take no longer than it took to fill the
// table.
#pragma once

#include <algorithm>
#include <cstddef>

namespace bridge {

class SweepMark {
  public:
    // No table smaller than that is worth it.
    explicit SweepMark(std::size_t least) : least_(least), at_(least) {}

    bool is_due(std::size_t size) const { return size >= at_; }
    void swept(std::size_t left) { at_ = std::max(least_, 2 * left); }

  private:
    std::size_t least_;
    std::size_t at_;
};

} // namespace bridge
