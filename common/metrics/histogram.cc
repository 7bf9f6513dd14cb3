// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/metrics/histogram.h"

#include <algorithm>

namespace bridge {

void Histogram::restore(const std::vector<std::uint64_t> &counts, double sum)
{
    if (counts.size() != counts_.size())
        return;
    counts_ = counts;
    sum_ = sum;
}

void Histogram::add(double value)
{
    auto bound = std::ranges::lower_bound(bounds_, value);
    counts_[static_cast<std::size_t>(bound - bounds_.begin())]++;
    sum_ += value;
}

} // namespace bridge
