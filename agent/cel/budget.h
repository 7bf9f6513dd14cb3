// SPDX-License-Identifier: GPL-2.0-or-later
// Counts what evaluations of selectors do: steps, and what they copy. It is no
// clock: the same question always costs the same. Belongs to who asks.
#pragma once

#include <cstddef>

namespace bridge {

// Once it has run out, nothing counts that was computed.
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
