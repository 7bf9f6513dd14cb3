// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <string>

namespace bridge {

// One line of a screen.
struct ScreenLine {
    std::string text; // without control characters
    bool heading = false;
    bool alarm = false;
};

} // namespace bridge
