// SPDX-License-Identifier: GPL-2.0-or-later
// The user's own terminal, while what is typed belongs to a container.
#pragma once

#include "common/contract/session_request.h"

#include <termios.h>

namespace bridge {

// Whether stdin and stdout are one.
bool has_terminal();

WindowSize window_size();

// Passes each key on as it is, until it goes out of scope. Does nothing to what
// is no terminal.
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
