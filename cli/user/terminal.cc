// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace bridge {

bool has_terminal()
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

WindowSize window_size()
{
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return {};
    return {size.ws_row, size.ws_col};
}

RawTerminal::RawTerminal(bool wanted)
{
    if (!wanted || tcgetattr(STDIN_FILENO, &before_) != 0)
        return;
    termios raw = before_;
    cfmakeraw(&raw);
    changed_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
}

RawTerminal::~RawTerminal()
{
    if (changed_)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

} // namespace bridge
