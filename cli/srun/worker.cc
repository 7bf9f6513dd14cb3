// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/worker.h"

#include "cli/srun/proof.h"
#include "cli/srun/step_address.h"
#include "cli/srun/step_files.h"
#include "cli/srun/step_io.h"
#include "cli/srun/step_limits.h"
#include "cli/srun/step_server.h"
#include "cli/srun/task_process.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char **environ;

namespace bridge {

namespace {

using namespace std::chrono_literals;

// Limits on callers that have not proved yet that they know the key. When there
// are more, the oldest is dropped, so that silent callers keep nobody out for
// long.
constexpr std::size_t most_callers = 64;
constexpr auto caller_time = 10s;

struct Caller {
    OwnedFd fd;
    Digest nonce;
    StepClock::time_point limit;
    StepIdentity identity; // for this connection
    std::string answer{};
};

class Worker {
  public:
    Worker(OwnedFd listener, StepIdentity identity)
        : listener_(std::move(listener)), identity_(identity),
          signals_(make_signal_fd({SIGCHLD, SIGTERM, SIGINT}))
    {
        for (char **entry = environ; *entry; entry++)
            own_.emplace_back(*entry);
    }

    void run()
    {
        // Orphans of a step whose process was killed become children of this
        // one.
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        while (!ending_ || !steps_.empty() || leftovers_) {
            wait_and_handle();
            auto now = StepClock::now();
            std::erase_if(callers_, [&](const Caller &caller) {
                return now >= caller.limit;
            });
        }
    }

  private:
    void wait_and_handle()
    {
        std::vector<pollfd> polls{{signals_.get(), POLLIN, 0},
                                  {listener_.get(), POLLIN, 0}};
        std::optional<StepClock::time_point> limit;
        for (const Caller &caller : callers_) {
            polls.push_back({caller.fd.get(), POLLIN, 0});
            limit = limit ? std::min(*limit, caller.limit) : caller.limit;
        }
        if (poll(polls.data(), polls.size(), poll_time(limit)) <= 0)
            return;
        std::size_t i = 2;
        for (auto caller = callers_.begin(); caller != callers_.end(); i++) {
            bool stays = !polls[i].revents || read_answer(*caller);
            caller = stays ? std::next(caller) : callers_.erase(caller);
        }
        if (polls[1].revents)
            accept_caller();
        if (polls[0].revents)
            read_signals();
    }

    void read_signals()
    {
        while (int number = next_signal(signals_)) {
            if (number == SIGCHLD) {
                reap();
                continue;
            }
            ending_ = true;
            listener_ = OwnedFd();
            callers_.clear();
            for (pid_t step : steps_)
                kill(step, SIGTERM);
        }
    }

    void reap()
    {
        // These may be orphans of the container, if this is its process 1.
        int status = 0;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
            if (std::erase(steps_, pid) > 0 && status != 0)
                leftovers_ = true;
        // a child that ends may leave more, and then signals again
        if (leftovers_)
            leftovers_ = kill_other_children(steps_);
    }

    void accept_caller()
    {
        OwnedFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!fd)
            return;
        Caller caller{std::move(fd), make_nonce(),
                      StepClock::now() + caller_time, identity_};
        caller.identity.worker = own_address(caller.fd.get());
        std::string hello = make_hello(caller.identity, caller.nonce);
        if (send(caller.fd.get(), hello.data(), hello.size(),
                 MSG_DONTWAIT | MSG_NOSIGNAL) !=
            static_cast<ssize_t>(hello.size()))
            return;
        if (callers_.size() == most_callers)
            callers_.pop_front();
        callers_.push_back(std::move(caller));
    }

    // Returns false when the caller need not be watched any more.
    bool read_answer(Caller &caller)
    {
        char piece[answer_size];
        ssize_t got = recv(caller.fd.get(), piece,
                           answer_size - caller.answer.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return true;
        if (got <= 0)
            return false;
        caller.answer.append(piece, static_cast<std::size_t>(got));
        if (caller.answer.size() < answer_size)
            return true;
        if (check_answer(caller.identity, caller.nonce, caller.answer))
            begin_step(caller);
        else if (refused_++ < 10) // callers must not fill the Pod's log
            print_error_line("a caller does not know this job's key, or wants "
                             "another Pod");
        return false;
    }

    void begin_step(Caller &caller)
    {
        std::string proof =
            make_proof(caller.identity, caller.nonce, caller.answer);
        if (send(caller.fd.get(), proof.data(), proof.size(),
                 MSG_DONTWAIT | MSG_NOSIGNAL) !=
            static_cast<ssize_t>(proof.size()))
            return;
        watch_connection(caller.fd.get());
        pid_t worker = getpid();
        pid_t pid = fork();
        if (pid < 0)
            print_error_line("cannot start a step: " + errno_message(errno));
        if (pid > 0)
            steps_.push_back(pid);
        if (pid != 0)
            return;
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        OwnedFd peer = keep_only(std::move(caller.fd));
        if (getppid() == worker)
            serve_step(std::move(peer), own_);
        _exit(0);
    }

    OwnedFd listener_;
    StepIdentity identity_;
    OwnedFd signals_;
    Environment own_;
    std::list<Caller> callers_;
    std::vector<pid_t> steps_;
    unsigned refused_ = 0;
    bool ending_ = false;
    bool leftovers_ = false; // of a step that could not end its own processes
};

// Code::rejected with the reason. An IPv6 socket accepts IPv4 callers, too; a
// kernel without IPv6 gets an IPv4 socket.
Result<OwnedFd> listen_at(const std::string &address, std::uint16_t port)
{
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    bool is_four = inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1;
    bool is_six = inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1;
    if (!address.empty() && !is_four && !is_six)
        return fail(Code::rejected, address + " is not an IP address");
    for (bool use_six : {true, false}) {
        if (use_six ? is_four : is_six)
            continue;
        OwnedFd fd(socket(use_six ? AF_INET6 : AF_INET,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        int yes = 1;
        setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        const sockaddr *at = use_six ? reinterpret_cast<sockaddr *>(&six)
                                     : reinterpret_cast<sockaddr *>(&four);
        if (fd && bind(fd.get(), at, use_six ? sizeof six : sizeof four) == 0 &&
            listen(fd.get(), 128) == 0)
            return fd;
    }
    return fail(Code::rejected, "cannot listen on port " +
                                    std::to_string(port) + ": " +
                                    errno_message(errno));
}

} // namespace

int run_worker(const std::string &address)
{
    auto identity = load_identity();
    if (!identity) {
        print_error_line(identity.error().message);
        return 1;
    }
    raise_open_files(); // one for each caller
    auto listener = listen_at(address, step_port());
    if (!listener) {
        print_error_line(listener.error().message);
        return 1;
    }
    print_line("waiting for steps of this job on port " +
               std::to_string(step_port()));
    Worker(std::move(*listener), *identity).run();
    return 0;
}

} // namespace bridge
