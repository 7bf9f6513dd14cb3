// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_link.h"

#include "cli/srun/step_address.h"
#include "cli/srun/step_files.h"
#include "cli/srun/step_keeper.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

// A worker that runs answers at once.
constexpr auto answer_time = 10s;

// How often a worker may deny before srun concludes that it has another key.
constexpr int most_denials = 5;

bool wait_until_ready(int fd, short events, StepClock::time_point limit)
{
    pollfd ready{fd, events, 0};
    return poll(&ready, 1, poll_time(limit)) > 0;
}

// Receives so many bytes, or fewer when the other side closes or is too slow.
std::string receive(int fd, std::size_t size, StepClock::time_point limit)
{
    std::string text;
    while (text.size() < size && wait_until_ready(fd, POLLIN, limit)) {
        char piece[hello_size];
        ssize_t got =
            recv(fd, piece, std::min(sizeof piece, size - text.size()),
                 MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            break;
        if (got > 0)
            text.append(piece, static_cast<std::size_t>(got));
    }
    return text;
}

// Code::busy when nobody answers.
Result<OwnedFd> connect_to(const std::string &address,
                           StepClock::time_point limit)
{
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(step_port());
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(step_port());
    bool is_four = inet_pton(AF_INET, address.c_str(), &four.sin_addr) == 1;
    inet_pton(AF_INET6, address.c_str(), &six.sin6_addr);
    OwnedFd fd(socket(is_four ? AF_INET : AF_INET6,
                      SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr *to = is_four ? reinterpret_cast<sockaddr *>(&four)
                                 : reinterpret_cast<sockaddr *>(&six);
    int fault = 0;
    if (!fd ||
        (connect(fd.get(), to, is_four ? sizeof four : sizeof six) != 0 &&
         errno != EINPROGRESS))
        fault = errno;
    else if (!wait_until_ready(fd.get(), POLLOUT, limit))
        fault = ETIMEDOUT;
    else if (socklen_t size = sizeof fault;
             getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &fault, &size) != 0)
        fault = errno;
    if (fault)
        return fail(Code::busy, errno_message(fault));
    return fd;
}

// One attempt. Code::denied may also mean that too many callers crowd the
// worker.
Result<OwnedFd> meet_worker(const StepHost &host, StepIdentity identity,
                            StepClock::time_point limit)
{
    auto fd = connect_to(host.address, limit);
    if (!fd)
        return fd;
    std::string hello = receive(fd->get(), hello_size, limit);
    if (hello.size() < hello_size)
        return fail(Code::busy, "no worker answers");
    switch (check_hello(identity, hello)) {
    case HelloFault::not_ours:
        return fail(Code::rejected,
                    "the program that listens there is not a worker");
    case HelloFault::other_program:
        return fail(Code::rejected, "the Pod has another srun than this one");
    case HelloFault::none:
        break;
    }
    identity.worker = other_address(fd->get());
    Digest nonce = make_nonce();
    ByteQueue answer;
    answer.add(make_answer(identity, hello, nonce));
    answer.send_to(fd->get()); // fits into any socket's buffer
    std::string proof = receive(fd->get(), proof_size, limit);
    if (proof.size() < proof_size)
        return fail(Code::denied, "the worker rejects this job's key");
    if (!check_proof(identity, hello, nonce, proof))
        return fail(Code::rejected, "the worker does not know this job's key");
    watch_connection(fd->get());
    limit_sending(fd->get());
    return fd;
}

} // namespace

void StepLink::queue_frame(StepFrameKind kind, std::string_view text)
{
    if (!over && !deaf)
        queue.add(encode_step_frame(kind, text));
}

void StepLink::send_some()
{
    if (over || deaf || queue.send_to(fd.get()))
        return;
    deaf = true;
    queue = ByteQueue();
}

Result<LocalServer> serve_here(const Environment &own)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail(Code::internal, "socketpair: " + errno_message(errno));
    OwnedFd ours(ends[0]), its(ends[1]);
    pid_t pid = fork();
    if (pid < 0)
        return fail(Code::internal, "fork: " + errno_message(errno));
    if (pid > 0)
        return LocalServer{std::move(ours), pid};
    keep_step(std::move(its), own);
}

Result<OwnedFd> connect_worker(const StepHost &host,
                               const StepIdentity &identity,
                               StepClock::time_point limit)
{
    auto next_words = StepClock::now() + 5s;
    for (int denials = 0;;) {
        auto now = StepClock::now();
        auto link =
            meet_worker(host, identity, std::min(limit, now + answer_time));
        bool denied = !link && link.error().code == Code::denied;
        denials += denied;
        bool again = !link && (link.error().code == Code::busy ||
                               (denied && denials < most_denials));
        if (!again || StepClock::now() >= limit)
            return link ? std::move(link)
                        : fail(link.error(),
                               host.name + " (" + host.address + ")");
        if (now >= next_words) {
            print_line("waiting for the Pod on " + host.name + " (" +
                       host.address + "): " + link.error().message);
            next_words = now + 30s;
        }
        std::this_thread::sleep_for(200ms);
    }
}

} // namespace bridge
