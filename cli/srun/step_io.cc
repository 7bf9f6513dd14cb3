// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_io.h"

#include "common/base/text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr unsigned longest_silence = 60'000; // ms

void set_option(int socket, int level, int option, int value)
{
    setsockopt(socket, level, option, &value, sizeof value);
}

// While this object lives, a blocking system call ends after about that time,
// and again after each further period, because the first signal may come before
// the call. alarm(2) may be in use already, since it survives exec. glibc's
// timer functions would link its threads.
class CallLimit {
  public:
    explicit CallLimit(std::chrono::milliseconds time)
    {
        struct sigaction action{};
        action.sa_handler = [](int) {};
        sigaction(SIGRTMIN, &action, nullptr);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGRTMIN;
        there_ =
            syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer_) == 0;
        timespec each{time.count() / 1000, time.count() % 1000 * 1'000'000};
        itimerspec limit{each, each};
        if (there_)
            syscall(SYS_timer_settime, timer_, 0, &limit, nullptr);
    }
    CallLimit(const CallLimit &) = delete;
    ~CallLimit()
    {
        if (there_)
            syscall(SYS_timer_delete, timer_);
    }

  private:
    int timer_ = 0;
    bool there_ = false;
};

} // namespace

int poll_time(std::optional<StepClock::time_point> limit)
{
    if (!limit)
        return -1;
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*limit - StepClock::now());
    return static_cast<int>(std::clamp<long long>(left.count(), 0, 3600'000));
}

std::string message_line(std::string_view words)
{
    return "srun: " + std::string(words) + "\n";
}

void print_line(std::string_view words)
{
    write_for(2, message_line(words), std::chrono::seconds(1));
}

void print_error_line(std::string_view words)
{
    print_line("error: " + std::string(words));
}

std::string errno_message(int number)
{
    const char *words = strerrordesc_np(number);
    return words ? words : "error " + std::to_string(number);
}

void fill_standard_fds()
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2)
        close(fd);
}

OwnedFd keep_only(OwnedFd fd)
{
    constexpr int number = 3;
    if (fd.get() != number)
        fd = OwnedFd(dup3(fd.get(), number, O_CLOEXEC));
    closefrom(number + 1);
    return fd;
}

ssize_t write_for(int fd, std::string_view bytes,
                  std::chrono::milliseconds time)
{
    CallLimit limit(time);
    return write(fd, bytes.data(), bytes.size());
}

OwnedFd open_output_file(const std::string &path, int flags)
{
    OwnedFd fd(open(path.c_str(), flags | O_CLOEXEC, 0666));
    if (fd || errno != ENOENT)
        return fd;
    for (std::size_t end = path.find('/', 1); end != path.npos;
         end = path.find('/', end + 1))
        mkdir(path.substr(0, end).c_str(), 0755);
    return OwnedFd(open(path.c_str(), flags | O_CLOEXEC, 0666));
}

OwnedFd make_signal_fd(std::initializer_list<int> signals)
{
    sigset_t set;
    sigemptyset(&set);
    for (int number : signals)
        sigaddset(&set, number);
    sigprocmask(SIG_SETMASK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); // if ignored, there would be no wait status
    return OwnedFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

int next_signal(const OwnedFd &signals)
{
    signalfd_siginfo info;
    ssize_t got = read(signals.get(), &info, sizeof info);
    return got == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void ByteQueue::add(std::string_view bytes)
{
    if (at_ > bytes_.size() / 2) {
        bytes_.erase(0, at_);
        at_ = 0;
    }
    bytes_ += bytes;
}

void ByteQueue::drop(std::size_t count)
{
    at_ += count;
    if (at_ == bytes_.size()) {
        bytes_.clear();
        at_ = 0;
    }
}

bool ByteQueue::send_to(int socket)
{
    while (!empty()) {
        ssize_t sent =
            send(socket, front().data(), size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        drop(static_cast<std::size_t>(sent));
    }
    return true;
}

std::optional<std::string> read_file(const std::string &path, std::size_t limit)
{
    OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return std::nullopt;
    std::string text;
    char piece[16384];
    ssize_t got;
    while ((got = read(fd.get(), piece, sizeof piece)) > 0) {
        text.append(piece, static_cast<std::size_t>(got));
        if (text.size() > limit) {
            errno = EFBIG;
            return std::nullopt;
        }
    }
    if (got < 0)
        return std::nullopt;
    return text;
}

unsigned number_from_environment(const char *name, unsigned otherwise)
{
    const char *value = std::getenv(name);
    return value ? whole_number<unsigned>(value).value_or(otherwise)
                 : otherwise;
}

void watch_connection(int socket)
{
    set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
    set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 6);
    set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
}

void limit_sending(int socket)
{
    set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT,
               static_cast<int>(longest_silence));
}

std::size_t unacknowledged(int socket)
{
    int count = 0;
    if (ioctl(socket, SIOCOUTQ, &count) != 0)
        return 0;
    return static_cast<std::size_t>(count);
}

bool answers_no_more(int socket)
{
    constexpr unsigned attempts = 3;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return false;
    // The kernel probes a closed window less and less often, down to every two
    // minutes, so that the time alone proves nothing.
    return info.tcpi_last_ack_recv > longest_silence &&
           (info.tcpi_retransmits >= attempts || info.tcpi_probes >= attempts);
}

} // namespace bridge
