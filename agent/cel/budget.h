// SPDX-License-Identifier: GPL-2.0-or-later
// Limits the work that evaluations of selectors may do: it counts steps and
// copied bytes. It is not a clock: the same question always costs the same. A
// budget belongs to its caller. One with verdicts is for those who must not
// evaluate selectors: it only has them looked up.
#pragma once

#include <cstddef>

namespace bridge {

class CelVerdicts;

// Once the budget has run out, no result computed with it is valid.
class CelBudget {
  public:
    // verdicts: must outlive the budget. Null: selectors are evaluated.
    explicit CelBudget(std::size_t limit, const CelVerdicts *verdicts = nullptr)
        : left_(limit), verdicts_(verdicts)
    {
    }

    bool spend(std::size_t cost)
    {
        left_ = cost > left_ ? 0 : left_ - cost;
        return left_ > 0;
    }
    bool spent() const { return left_ == 0; }
    std::size_t left() const { return left_; }
    const CelVerdicts *verdicts() const { return verdicts_; }

  private:
    std::size_t left_;
    const CelVerdicts *verdicts_;
};

} // namespace bridge
