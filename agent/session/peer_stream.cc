// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/peer_stream.h"

#include "common/base/fd_wait.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr char peer_gone[] = "the other side has closed the connection";

bool would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

std::unexpected<Error> fail_system(int error)
{
    return fail(Code::gone, std::strerror(error));
}

// Translates SSL_ERROR_… of a call that failed. Code::busy means that the call
// must be repeated later.
std::unexpected<Error> tls_failure(SSL *tls, int result)
{
    switch (SSL_get_error(tls, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return fail(Code::busy, "it must wait");
    case SSL_ERROR_ZERO_RETURN:
        return fail(Code::gone, peer_gone);
    case SSL_ERROR_SYSCALL:
        if (ERR_peek_error() == 0)
            return fail(Code::gone, errno ? std::strerror(errno) : peer_gone);
        break;
    }
    if (long verdict = SSL_get_verify_result(tls); verdict != X509_V_OK)
        return fail(Code::denied,
                    std::string("its certificate is not trusted: ") +
                        X509_verify_cert_error_string(verdict));
    return fail(Code::gone, tls_error());
}

} // namespace

PeerStream::~PeerStream()
{
    if (fd_ >= 0)
        close(fd_);
}

Result<> PeerStream::wait(short events, Clock::time_point until,
                          const std::stop_token &stop) const
{
    switch (wait_for_fd(fd_, events, until, stop)) {
    case FdWait::ready:
        return {};
    case FdWait::late:
        return fail(Code::busy, "the other side does not answer");
    case FdWait::stopped:
        return fail(Code::busy, "slurmk8sd is stopping");
    case FdWait::failed:
        break;
    }
    return fail_system(errno);
}

Result<> PeerStream::shake_hands(Clock::time_point until,
                                 const std::stop_token &stop)
{
    while (tls_) {
        ERR_clear_error();
        errno = 0;
        int done = SSL_do_handshake(tls_.get());
        if (done == 1)
            return {};
        bool writes = SSL_get_error(tls_.get(), done) == SSL_ERROR_WANT_WRITE;
        auto failure = tls_failure(tls_.get(), done);
        if (failure.error().code != Code::busy)
            return failure;
        if (auto ready = wait(writes ? POLLOUT : POLLIN, until, stop); !ready)
            return ready;
    }
    return {};
}

Result<std::string> PeerStream::read_some()
{
    std::array<char, 16384> bytes;
    errno = 0;
    if (tls_) {
        ERR_clear_error();
        int count =
            SSL_read(tls_.get(), bytes.data(), static_cast<int>(bytes.size()));
        if (count <= 0)
            return tls_failure(tls_.get(), count);
        return std::string(bytes.data(), static_cast<std::size_t>(count));
    }
    ssize_t count = recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0)
        return std::string(bytes.data(), static_cast<std::size_t>(count));
    if (count == 0)
        return fail(Code::gone, peer_gone);
    if (would_block(errno))
        return fail(Code::busy, "nothing has come");
    return fail_system(errno);
}

Result<std::size_t> PeerStream::write_some(std::string_view bytes)
{
    errno = 0;
    if (tls_) {
        ERR_clear_error();
        auto size = std::min<std::size_t>(bytes.size(), INT_MAX);
        int count = SSL_write(tls_.get(), bytes.data(), static_cast<int>(size));
        if (count > 0)
            return static_cast<std::size_t>(count);
        return tls_failure(tls_.get(), count);
    }
    ssize_t count =
        ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0)
        return static_cast<std::size_t>(count);
    if (would_block(errno))
        return fail(Code::busy, "the other side takes nothing");
    return fail_system(errno);
}

Result<std::optional<Frame>> PeerStream::receive()
{
    for (;;) {
        auto frame = reader_.next();
        if (!frame || *frame)
            return frame;
        auto bytes = read_some();
        if (!bytes && bytes.error().code == Code::busy)
            return std::nullopt;
        if (!bytes)
            return std::unexpected(bytes.error());
        reader_.feed(*bytes);
    }
}

Result<Frame> PeerStream::wait_frame(Clock::time_point until,
                                     const std::stop_token &stop)
{
    for (;;) {
        auto frame = receive();
        if (!frame)
            return std::unexpected(frame.error());
        if (*frame)
            return std::move(**frame);
        if (auto ready = wait(POLLIN, until, stop); !ready)
            return std::unexpected(ready.error());
    }
}

Result<> PeerStream::flush()
{
    while (!unsent_.empty()) {
        auto count = write_some(unsent_);
        if (!count && count.error().code == Code::busy)
            return {};
        if (!count)
            return std::unexpected(count.error());
        unsent_.erase(0, *count);
    }
    return {};
}

void PeerStream::push(FrameType type, std::string_view text)
{
    unsent_ += encode_frames(type, text);
}

Result<> PeerStream::send(FrameType type, std::string_view text,
                          Clock::time_point until, const std::stop_token &stop)
{
    push(type, text);
    for (;;) {
        if (auto sent = flush(); !sent || unsent_.empty())
            return sent;
        if (auto ready = wait(POLLOUT, until, stop); !ready)
            return ready;
    }
}

void PeerStream::finish(Clock::time_point until, const std::stop_token &stop)
{
    if (tls_ && SSL_is_init_finished(tls_.get()))
        SSL_shutdown(tls_.get()); // does not wait for an answer
    shutdown(fd_, SHUT_WR);
    std::array<char, 16384> unread;
    while (wait(POLLIN, until, stop))
        if (recv(fd_, unread.data(), unread.size(), MSG_DONTWAIT) <= 0)
            return;
}

bool PeerStream::has_pending() const
{
    return tls_ && SSL_pending(tls_.get()) > 0;
}

} // namespace bridge
