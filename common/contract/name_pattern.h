// SPDX-License-Identifier: GPL-2.0-or-later
// Expands patterns in file names, as sbatch and srun do: "%", the minimum
// number of digits, and a letter (expand_stdio_fields() in Slurm's
// print_fields.c). The caller defines what each letter means. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Returns what a letter stands for. Nothing: the letter has no meaning, and the
// pattern is kept as it is.
using LetterMeaning =
    std::function<std::optional<std::string>(char letter, std::size_t digits)>;

// "%%" becomes "%", and a "%" at the end is removed. If the pattern has a
// backslash anywhere, nothing is expanded and all backslashes are removed.
std::string expand_pattern(std::string_view pattern,
                           const LetterMeaning &meaning);

} // namespace bridge
