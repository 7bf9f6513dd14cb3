// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's notations for several nodes, n[1-3,7], and for a number for each of
// them, 2(x3),1. srun reads them in its options and writes them into the tasks'
// variables. Pure functions.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Returns the names of a host list in its order, each name once. Code::rejected
// for brackets that do not close, ranges that run backwards, more than one pair
// of brackets in a name, and more than 65536 names.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

// Returns the shortest list of these names that keeps their order.
std::string compress_hosts(const std::vector<std::string> &names);

// Expands "2(x3),1" to 2 2 2 1. Returns an empty list for any other text.
std::vector<std::uint32_t> expand_counts(std::string_view text);

std::string compress_counts(const std::vector<std::uint32_t> &counts);

// Writes task numbers, which must be in ascending order, as 0-2,5.
std::string compress_numbers(const std::vector<std::uint32_t> &numbers);

} // namespace bridge
