// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_live.h"

#include "cli/top/print_top.h"
#include "cli/top/top_asker.h"
#include "cli/top/top_terminal.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr int look_again = 1000; // ms; ages grow without news

OwnedFd take_signals()
{
    // An agent that ends while it is asked must not end us.
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    for (int signal :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH})
        sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    return OwnedFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

// As the shell wants it after Ctrl-Z; returns when it goes on. Without a shell
// that could make it go on, the kernel does nothing.
void stop_here()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTSTP);
    raise(SIGTSTP);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

class Live {
  public:
    Live(const Conf &conf, std::chrono::seconds pause)
        : signals_(take_signals()), asker_(conf, pause)
    {
    }

    // Returns the exit status.
    int run()
    {
        TopTerminal terminal;
        while (!ended_) {
            if (!terminal.is_behind())
                show(terminal);
            ended_ = !terminal.flush();
            if (!ended_)
                wait(terminal);
        }
        return view_ ? exit_status_of(*view_) : exit_failed;
    }

  private:
    void show(TopTerminal &terminal)
    {
        if (view_)
            terminal.show(top_screen(*view_, terminal_size(),
                                     screen_time(without_since_)));
        else
            terminal.show({{"asking slurmk8sd", false, false}});
    }

    void wait(TopTerminal &terminal)
    {
        std::array<pollfd, 4> all{{
            {STDIN_FILENO, POLLIN, 0},
            {signals_.get(), POLLIN, 0},
            {asker_.fd(), POLLIN, 0},
            {terminal.is_behind() ? terminal.fd() : -1, POLLOUT, 0},
        }};
        if (poll(all.data(), all.size(), look_again) < 0 && errno != EINTR)
            ended_ = true;
        if (all[0].revents != 0)
            read_keys();
        if (all[1].revents != 0)
            read_signals(terminal);
        if (all[2].revents != 0)
            read_news();
    }

    void read_keys()
    {
        std::array<char, 64> keys{};
        ssize_t count = read(STDIN_FILENO, keys.data(), keys.size());
        if (count <= 0) // the terminal is gone
            ended_ =
                ended_ || count == 0 || (errno != EINTR && errno != EAGAIN);
        for (ssize_t i = 0; i < count; i++)
            if (char key = keys[static_cast<std::size_t>(i)];
                key == 'q' || key == 'Q')
                ended_ = true;
    }

    void read_signals(TopTerminal &terminal)
    {
        signalfd_siginfo info;
        while (read(signals_.get(), &info, sizeof info) == sizeof info)
            switch (info.ssi_signo) {
            case SIGTSTP: // Ctrl-Z
                terminal.leave();
                stop_here();
                terminal.enter();
                break;
            case SIGCONT: // also after a SIGSTOP, of which nothing is told
                terminal.enter();
                break;
            case SIGWINCH: // shown anew in any case
                break;
            default:
                ended_ = true;
            }
    }

    void read_news()
    {
        auto view = asker_.take();
        if (!view)
            return;
        bool counted = view->state == TopState::counted;
        if (counted)
            without_since_.reset();
        else if (!without_since_)
            without_since_ = screen_time({}).now;
        view_ = std::move(*view);
    }

    OwnedFd signals_;
    TopAsker asker_;
    std::optional<TopView> view_;
    std::optional<std::chrono::sys_seconds> without_since_;
    bool ended_ = false;
};

} // namespace

void show_top_live(const Conf &conf, std::chrono::seconds pause)
{
    Live live(conf, pause);
    int status = live.run();
    // Nobody waits for a read that is under way: there is nothing to clean up.
    std::fflush(nullptr);
    std::_Exit(status);
}

} // namespace bridge
