// SPDX-License-Identifier: GPL-2.0-or-later
// How often a value was at most each of some bounds. A value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bridge {

class Histogram {
  public:
    // bounds: ascending; they must outlive this. Values above the last one
    // count, too.
    explicit Histogram(std::span<const double> bounds)
        : bounds_(bounds), counts_(bounds.size() + 1)
    {
    }
    // What an earlier program had counted: as counts() and sum() returned it.
    // Nothing is taken over if there are other bounds.
    void restore(const std::vector<std::uint64_t> &counts, double sum);

    void add(double value);

    std::span<const double> bounds() const { return bounds_; }
    // In each bucket alone, the last of which has no bound.
    const std::vector<std::uint64_t> &counts() const { return counts_; }
    double sum() const { return sum_; }

  private:
    std::span<const double> bounds_;
    std::vector<std::uint64_t> counts_;
    double sum_ = 0;
};

} // namespace bridge
