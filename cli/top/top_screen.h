// SPDX-License-Identifier: GPL-2.0-or-later
// Puts what slurmk8s top shows on lines. Pure: knows no terminal.
#pragma once

#include "cli/top/screen_line.h"
#include "cli/top/top_view.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace bridge {

struct ScreenSize {
    std::size_t columns = 0; // 0: as many as it needs
    std::size_t rows = 0;
};

struct ScreenTime {
    std::chrono::sys_seconds now{};
    std::chrono::seconds utc_offset{}; // of the reader's clock
    // Since when there are no numbers; nothing if that is not known.
    std::optional<std::chrono::sys_seconds> without_since;
};

// Returns the lines, of which none is longer, and which are no more. What does
// not fit is left out from those lists that have more, and their last line says
// how many there are.
std::vector<ScreenLine> top_screen(const TopView &view, ScreenSize size,
                                   const ScreenTime &time);

} // namespace bridge
