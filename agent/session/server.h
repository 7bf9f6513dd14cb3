// SPDX-License-Identifier: GPL-2.0-or-later
// The server at which users ask for the logs and containers of their jobs: a
// UNIX socket, where the kernel identifies the caller, and TLS, where slurmctld
// does (common/contract/login_dir.h). One thread listens, each session has a
// thread of its own, and their number is limited, including connections that
// never send a request. Nothing that a caller sends is trusted.
#pragma once

#include "agent/session/peer_stream.h"
#include "agent/session/places.h"
#include "agent/session/socket.h"
#include "common/contract/session_conf.h"
#include "common/contract/session_request.h"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace bridge {

class SessionServer {
  public:
    // Limits on simultaneous sessions: in total, and for each user except root.
    static constexpr std::size_t most_sessions = 64;
    static constexpr std::size_t most_of_user = 16;
    // Limit on connections of one user at the UNIX socket. It is a little
    // higher than the limit on sessions, so that a few more callers are told
    // why they get no session.
    static constexpr std::size_t most_calls_of_user = most_of_user + 4;
    // Limits on TLS connections whose user is not known yet: in total, and for
    // each IP address. A further caller takes the place of the oldest of them.
    static constexpr std::size_t most_strangers = 32;
    static constexpr std::size_t most_of_address = 16;
    // Limit on threads. Those of strangers that made room are included: while a
    // file system hangs, they cannot end.
    static constexpr std::size_t most_threads =
        2 * (most_sessions + most_strangers);

    // Serves one request until it is over, on the session's thread, and returns
    // the outcome. It must not send a frame of the type ended.
    using Serve = std::function<SessionEnd(
        PeerStream &peer, const SessionRequest &request, uid_t caller,
        const std::stop_token &stop)>;
    // Returns the user to whom the login belongs; Code::denied when there is
    // none. May wait for it as long as goes_on() returns true.
    using WhoseLogin = std::function<Result<uid_t>(
        const std::string &login, const std::function<bool()> &goes_on)>;

    // Starts the server. Returns null when k8s.conf names no address to listen
    // at; Code::denied when listening fails.
    static Result<std::unique_ptr<SessionServer>>
    start(const SessionConf &conf, WhoseLogin whose_login, Serve serve);
    // Ends all sessions and waits for them.
    ~SessionServer();

  private:
    struct Listener {
        OwnedFd fd;
        bool by_tls = false;
    };
    // A connection. With TLS the user is not known before the request.
    struct Caller {
        OwnedFd fd;
        std::optional<uid_t> user{};
        Places::Place call{};    // at the UNIX socket, until it ends
        Places::Place session{}; // while it is served
    };
    // A caller by TLS, until its session begins.
    struct Stranger {
        std::string address;
        OwnedFd fd; // a duplicate, with which the connection can be ended
    };
    struct Session {
        // Both are protected by mutex_.
        bool over = false;
        std::optional<Stranger> stranger{}; // reset also when it is ended
        std::jthread thread{};              // last: it uses both
    };

    SessionServer(std::vector<Listener> listeners, TlsContext tls, OwnedFd wake,
                  WhoseLogin whose_login, Serve serve);
    void run(const std::stop_token &stop);
    void take(const Listener &from);
    bool admit(Caller &caller);
    std::optional<Stranger> admit_stranger(const OwnedFd &caller);
    void make_room(const std::string &address);
    void serve_on_thread(Caller caller, std::optional<Stranger> stranger);
    bool has_place(const Session &session);
    void forget_stranger(Session &session);
    void log_refusal(const std::string &who);
    void join_ended();
    void serve_caller(Session &session, Caller caller,
                      const std::stop_token &stop);
    void talk(PeerStream &peer, Session &session, Caller &caller,
              const std::stop_token &stop);
    SessionEnd answer(PeerStream &peer, Session &session, Caller &caller,
                      PeerStream::Clock::time_point until,
                      const std::stop_token &stop);
    Result<uid_t> identify(Session &session, const Caller &caller,
                           const std::string &login,
                           const std::stop_token &stop);

    std::vector<Listener> listeners_;
    TlsContext tls_;
    OwnedFd wake_;
    WhoseLogin whose_login_;
    Serve serve_;
    Places calls_{most_sessions, most_calls_of_user}; // at the UNIX socket
    Places served_{most_sessions, most_of_user};
    std::mutex mutex_;
    std::list<Session> sessions_; // oldest first; thread_ only
    std::uint64_t refused_ = 0;   // since the last log line; thread_ only
    PeerStream::Clock::time_point next_log_{}; // thread_ only
    std::jthread thread_;                      // last: it uses all of the above
};

} // namespace bridge
