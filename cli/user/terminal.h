// SPDX-License-Identifier: GPL-2.0-or-later
// The user's own terminal, while its input belongs to a container.
#pragma once

#include "common/contract/session_request.h"

#include <termios.h>

namespace bridge {

// Returns whether both stdin and stdout are terminals.
bool has_terminal();

WindowSize window_size();

// Puts the terminal into raw mode, in which each key is passed on unchanged,
// until it goes out of scope. Does nothing if stdin is not a terminal.
class RawTerminal {
  public:
    explicit RawTerminal(bool wanted);
    RawTerminal(const RawTerminal &) = delete;
    RawTerminal &operator=(const RawTerminal &) = delete;
    ~RawTerminal();

  private:
    bool changed_ = false;
    termios before_{};
};

} // namespace bridge
