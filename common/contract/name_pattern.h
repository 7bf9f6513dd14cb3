// SPDX-License-Identifier: GPL-2.0-or-later
// Names of files with patterns in them, as sbatch and srun take them: "%", the
// digits that a number has at least, and a letter (expand_stdio_fields() in
// Slurm's print_fields.c). What the letters stand for is the caller's. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Nothing: the letter stands for itself, and so does what is before it.
using LetterMeaning =
    std::function<std::optional<std::string>(char letter, std::size_t digits)>;

// "%%" is a "%", and one that nothing follows is none. With a backslash
// anywhere nothing stands for anything else, and all backslashes go.
std::string expand_pattern(std::string_view pattern,
                           const LetterMeaning &meaning);

} // namespace bridge
