// SPDX-License-Identifier: GPL-2.0-or-later
// Limits the work that evaluations of selectors may do: it counts steps and
// copied bytes. It is not a clock: the same question always costs the same. A
// budget belongs to its caller.
#pragma once

#include <cstddef>

namespace bridge {

// Once the budget has run out, no result computed with it is valid.
class CelBudget {
  public:
    explicit CelBudget(std::size_t limit) : left_(limit) {}

    bool spend(std::size_t cost)
    {
        left_ = cost > left_ ? 0 : left_ - cost;
        return left_ > 0;
    }
    bool spent() const { return left_ == 0; }
    std::size_t left() const { return left_; }

  private:
    std::size_t left_;
};

} // namespace bridge
