// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_terminal.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

// The other screen, without a cursor, and without a line that goes on below: a
// terminal may think otherwise about the width of a character.
constexpr char to_other_screen[] = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr char back[] = "\x1b[m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr int last_words = 500; // ms

// Opens stdout's terminal anew, so that writes to it do not wait: a flag of
// stdout itself would also be one of the shell. The terminal may belong to
// another user, as after su; then writes wait.
OwnedFd open_terminal()
{
    OwnedFd anew(
        open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    return anew ? std::move(anew)
                : OwnedFd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
}

// From a process in the background, too, which a shell may have made of us.
void restore(const termios &before)
{
    sigset_t output{}, mask{};
    sigemptyset(&output);
    sigaddset(&output, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &output, &mask);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

} // namespace

bool has_screen()
{
    const char *term = std::getenv("TERM");
    std::string_view kind = term ? term : "";
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !kind.empty() &&
           kind != "dumb";
}

ScreenSize terminal_size()
{
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ||
        size.ws_row == 0)
        return {80, 24};
    return {size.ws_col, size.ws_row};
}

TopTerminal::TopTerminal() : out_(open_terminal())
{
    if (tcgetattr(STDIN_FILENO, &before_) == 0)
        enter();
}

void TopTerminal::enter()
{
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys.c_iflag &= ~static_cast<tcflag_t>(IXON);
    keys.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    keys.c_cc[VMIN] = 1;
    keys.c_cc[VTIME] = 0;
    entered_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &keys) == 0;
    unwritten_ = to_other_screen;
    flush();
}

void TopTerminal::leave()
{
    if (!entered_)
        return;
    entered_ = false;
    unwritten_ = back; // whatever was half written
    pollfd out{out_.get(), POLLOUT, 0};
    if (poll(&out, 1, last_words) == 1)
        flush();
    restore(before_);
}

void TopTerminal::show(const std::vector<ScreenLine> &lines)
{
    unwritten_ += "\x1b[H";
    const char *before = "";
    for (const ScreenLine &line : lines) {
        unwritten_ += before;
        unwritten_ += line.alarm ? "\x1b[7m" : line.heading ? "\x1b[1m" : "";
        unwritten_ += line.text;
        unwritten_ += "\x1b[m\x1b[K";
        before = "\r\n";
    }
    unwritten_ += "\x1b[J";
}

bool TopTerminal::flush()
{
    while (!unwritten_.empty()) {
        ssize_t count = write(out_.get(), unwritten_.data(), unwritten_.size());
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count == 0 || errno == EAGAIN;
        unwritten_.erase(0, static_cast<std::size_t>(count));
    }
    return true;
}

} // namespace bridge
