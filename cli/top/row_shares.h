// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <vector>

namespace bridge {

// Divides so many rows among lists that want so many each: none gets more than
// it wants, and what some do not want the others share evenly.
std::vector<std::size_t> row_shares(std::size_t rows,
                                    const std::vector<std::size_t> &wanted);

} // namespace bridge
