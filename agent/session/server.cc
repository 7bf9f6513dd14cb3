// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/server.h"

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/base/peer_user.h"
#include "common/base/system_error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <iterator>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

using namespace std::chrono_literals;
using Clock = PeerStream::Clock;

constexpr auto hello_patience = 10s;   // for the request
constexpr auto stranger_patience = 5s; // for handshake and request
constexpr auto goodbye_patience = 10s; // until the outcome is sent
constexpr auto linger = 5s;            // until the caller has closed
constexpr auto refusal_log_interval = 1min;
constexpr int reap_look = 5000; // ms between looks for ended sessions

SessionEnd refuse(const Error &error)
{
    return {0, error.message, error.code == Code::not_found};
}

} // namespace

Result<std::unique_ptr<SessionServer>>
SessionServer::start(const SessionConf &conf, WhoseLogin whose_login,
                     Serve serve)
{
    std::vector<Listener> listeners;
    TlsContext tls;
    if (!conf.socket.empty()) {
        auto fd = listen_unix(conf.socket);
        if (!fd)
            return fail(fd.error(), "UserSocket");
        listeners.push_back({std::move(*fd), false});
    }
    if (!conf.address.empty()) {
        auto context = server_tls(conf.certificate, conf.key);
        auto address = parse_host_port(conf.address);
        if (!context)
            return fail(context.error(), "UserAddress");
        auto fd = address ? listen_tcp(*address)
                          : Result<OwnedFd>(std::unexpected(address.error()));
        if (!fd)
            return fail(fd.error(), "UserAddress");
        listeners.push_back({std::move(*fd), true});
        tls = std::move(*context);
    }
    if (listeners.empty())
        return nullptr;
    OwnedFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake)
        return fail_errno(Code::internal, "eventfd");
    return std::unique_ptr<SessionServer>(
        new SessionServer(std::move(listeners), std::move(tls), std::move(wake),
                          std::move(whose_login), std::move(serve)));
}

SessionServer::SessionServer(std::vector<Listener> listeners, TlsContext tls,
                             OwnedFd wake, WhoseLogin whose_login, Serve serve)
    : listeners_(std::move(listeners)), tls_(std::move(tls)),
      wake_(std::move(wake)), whose_login_(std::move(whose_login)),
      serve_(std::move(serve)),
      thread_([this](std::stop_token stop) { run(stop); })
{
}

SessionServer::~SessionServer()
{
    thread_.request_stop();
    std::uint64_t one = 1;
    [[maybe_unused]] ssize_t n = write(wake_.get(), &one, sizeof(one));
    thread_.join();
    for (Session &session : sessions_)
        session.thread.request_stop();
    sessions_.clear(); // joins
}

void SessionServer::run(const std::stop_token &stop)
{
    while (!stop.stop_requested()) {
        std::vector<pollfd> fds = {{wake_.get(), POLLIN, 0}};
        for (const Listener &listener : listeners_)
            fds.push_back({listener.fd.get(), POLLIN, 0});
        if (poll(fds.data(), fds.size(), reap_look) < 0 && errno != EINTR) {
            log_error("users' sessions cannot be served any more",
                      {{"err", std::strerror(errno)}});
            return;
        }
        join_ended();
        for (std::size_t i = 0; i < listeners_.size(); i++)
            if (fds[i + 1].revents)
                take(listeners_[i]);
    }
}

void SessionServer::join_ended()
{
    std::list<Session> ended;
    {
        std::lock_guard lock(mutex_);
        for (auto one = sessions_.begin(); one != sessions_.end();) {
            auto next = std::next(one);
            if (one->over)
                ended.splice(ended.end(), sessions_, one);
            one = next;
        }
    }
    ended.clear(); // joins, without the lock
}

// Admits the user that the kernel identified at the UNIX socket. Returns false
// when there are too many.
bool SessionServer::admit(Caller &caller)
{
    std::string who = "uid " + std::to_string(*caller.user);
    auto place = calls_.take(who, caller.user == 0 ? Places::Limit::of_all_alone
                                                   : Places::Limit::of_both);
    if (place)
        caller.call = std::move(*place);
    else
        log_refusal(who);
    return place.has_value();
}

// Admits a caller by TLS. Returns nothing when it has gone already, or when
// there are too many threads.
std::optional<SessionServer::Stranger>
SessionServer::admit_stranger(const OwnedFd &caller)
{
    std::string address = address_of_caller(caller);
    if (address.empty())
        return std::nullopt;
    if (sessions_.size() >= most_threads) {
        log_refusal(address);
        return std::nullopt;
    }
    make_room(address);
    OwnedFd fd(fcntl(caller.get(), F_DUPFD_CLOEXEC, 0));
    if (!fd)
        return std::nullopt;
    return Stranger{std::move(address), std::move(fd)};
}

// Ends the oldest stranger when all places are taken, or when those of this
// address are: then one of that address.
void SessionServer::make_room(const std::string &address)
{
    std::lock_guard lock(mutex_);
    std::size_t all = 0, of_address = 0;
    for (const Session &session : sessions_) {
        all += session.stranger ? 1 : 0;
        of_address +=
            session.stranger && session.stranger->address == address ? 1 : 0;
    }
    bool is_full = of_address >= most_of_address;
    if (!is_full && all < most_strangers)
        return;
    log_refusal(address);
    auto oldest = std::ranges::find_if(sessions_, [&](const Session &session) {
        const auto &stranger = session.stranger;
        return stranger && (!is_full || stranger->address == address);
    });
    if (oldest == sessions_.end())
        return;
    shutdown(oldest->stranger->fd.get(), SHUT_RDWR); // wakes its thread
    oldest->stranger.reset();
}

// Returns false once a stranger has been ended.
bool SessionServer::has_place(const Session &session)
{
    std::lock_guard lock(mutex_);
    return session.stranger.has_value();
}

void SessionServer::forget_stranger(Session &session)
{
    std::lock_guard lock(mutex_);
    session.stranger.reset();
}

// Logs at most once a minute, so that callers cannot fill the log.
void SessionServer::log_refusal(const std::string &who)
{
    refused_++;
    auto now = Clock::now();
    if (now < next_log_)
        return;
    log_warning("too many sessions of users, some were turned away",
                {{"Count", refused_}, {"Caller", who}});
    refused_ = 0;
    next_log_ = now + refusal_log_interval;
}

// Callers beyond the limit are disconnected without a message, which would need
// a thread; so are strangers that make room for others.
void SessionServer::take(const Listener &from)
try {
    Caller caller{accept_caller(from.fd)};
    if (!caller.fd)
        return;
    if (from.by_tls) {
        if (auto stranger = admit_stranger(caller.fd))
            serve_on_thread(std::move(caller), std::move(stranger));
        return;
    }
    auto user = peer_user(caller.fd.get());
    if (!user)
        return log_refusal("the UNIX socket: " + user.error().message);
    caller.user = *user;
    if (admit(caller))
        serve_on_thread(std::move(caller), std::nullopt);
} catch (const std::exception &e) { // no thread, or out of memory
    std::lock_guard lock(mutex_);
    if (!sessions_.empty() && !sessions_.back().thread.joinable())
        sessions_.pop_back();
    log_refusal(std::string("a new session: ") + e.what());
}

void SessionServer::serve_on_thread(Caller caller,
                                    std::optional<Stranger> stranger)
{
    Session &session = sessions_.emplace_back();
    session.stranger = std::move(stranger);
    session.thread = std::jthread([this, &session, caller = std::move(caller)](
                                      std::stop_token stop) mutable {
        serve_caller(session, std::move(caller), stop);
        std::lock_guard lock(mutex_);
        session.stranger.reset();
        session.over = true;
    });
}

void SessionServer::serve_caller(Session &session, Caller caller,
                                 const std::stop_token &stop)
try {
    TlsConnection tls;
    if (!caller.user) {
        auto made = accept_tls(*tls_, caller.fd.get());
        if (!made)
            return;
        tls = std::move(*made);
    }
    PeerStream peer(caller.fd.release(), std::move(tls));
    talk(peer, session, caller, stop);
} catch (const std::exception &e) { // out of memory
    log_warning("a session of a user failed", {{"err", e.what()}});
}

void SessionServer::talk(PeerStream &peer, Session &session, Caller &caller,
                         const std::stop_token &stop)
{
    auto until =
        Clock::now() + (caller.user ? hello_patience : stranger_patience);
    if (auto done = peer.shake_hands(until, stop); !done) {
        log_debug("a session did not begin", {{"err", done.error().message}});
        return;
    }
    SessionEnd end = answer(peer, session, caller, until, stop);
    if (peer.send(FrameType::ended, encode(end),
                  Clock::now() + goodbye_patience, stop))
        peer.finish(Clock::now() + linger, stop);
}

// Returns the user whom the kernel or the login has identified.
Result<uid_t> SessionServer::identify(Session &session, const Caller &caller,
                                      const std::string &login,
                                      const std::stop_token &stop)
{
    if (caller.user)
        return *caller.user;
    return whose_login_(
        login, [&] { return !stop.stop_requested() && has_place(session); });
}

SessionEnd SessionServer::answer(PeerStream &peer, Session &session,
                                 Caller &caller, Clock::time_point until,
                                 const std::stop_token &stop)
{
    auto hello = peer.wait_frame(until, stop);
    if (!hello)
        return refuse(hello.error());
    if (hello->type != FrameType::hello)
        return {0, "a session begins with a request", false};
    auto request = decode_session_request(hello->text);
    if (!request)
        return refuse(request.error());
    auto user = identify(session, caller, request->login, stop);
    if (!user)
        return refuse(user.error());
    auto place = served_.take("uid " + std::to_string(*user),
                              *user == 0 ? Places::Limit::of_all_alone
                                         : Places::Limit::of_both);
    if (!place)
        return {0,
                place.error() == Places::Full::of_one
                    ? "you have too many sessions: end another first"
                    : "slurmk8sd has too many sessions: try again later",
                false};
    caller.session = std::move(*place);
    forget_stranger(session);
    try {
        return serve_(peer, *request, *user, stop);
    } catch (const std::exception &e) { // out of memory
        return {0, std::string("slurmk8sd failed: ") + e.what(), false};
    }
}

} // namespace bridge
