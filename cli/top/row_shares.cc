// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/row_shares.h"

#include <algorithm>
#include <numeric>

namespace bridge {

std::vector<std::size_t> row_shares(std::size_t rows,
                                    const std::vector<std::size_t> &wanted)
{
    std::vector<std::size_t> order(wanted.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](auto i) { return wanted[i]; });
    std::vector<std::size_t> shares(wanted.size());
    std::size_t lists = wanted.size();
    for (std::size_t i : order) { // those that want least come first
        shares[i] = std::min(wanted[i], rows / lists--);
        rows -= shares[i];
    }
    return shares;
}

} // namespace bridge
