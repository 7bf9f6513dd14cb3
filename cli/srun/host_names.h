// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's ways to write several nodes, n[1-3,7], and a number for each of them,
// 2(x3),1: what srun reads in its options and puts into the tasks' variables.
// Pure.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The names of a host list, in its order, each once. Code::rejected for
// brackets that do not close, ranges that run backwards, more than one pair of
// brackets in a name, and more than 65536 names.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

// The shortest list of these names that keeps their order.
std::string compress_hosts(const std::vector<std::string> &names);

// "2(x3),1" → 2 2 2 1. Empty for any other text.
std::vector<std::uint32_t> expand_counts(std::string_view text);

std::string compress_counts(const std::vector<std::uint32_t> &counts);

// Task numbers, in ascending order: 0-2,5.
std::string compress_numbers(const std::vector<std::uint32_t> &numbers);

} // namespace bridge
