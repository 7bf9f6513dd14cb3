// SPDX-License-Identifier: GPL-2.0-or-later
// Where users ask for the logs and containers of their jobs: a UNIX socket, at
// which the kernel says who calls, and TLS, where slurmctld does
// (common/contract/login_dir.h). A thread listens, each session has one of its
// own, and there are only so many: also of those who connect and say nothing.
// Whatever a caller sends is hostile until read.
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
    // At most so many at a time, of all and of each user but root.
    static constexpr std::size_t most_sessions = 64;
    static constexpr std::size_t most_of_user = 16;
    // Of the UNIX socket's callers, of each user: there a few more than may
    // have a session hear why they have none.
    static constexpr std::size_t most_calls_of_user = most_of_user + 4;
    // By TLS, as long as nobody knows who they are; of each address.
    static constexpr std::size_t most_strangers = 32;
    static constexpr std::size_t most_of_address = 16;

    // Serves one request until it is over, on a thread of its own, and says
    // what came of it. It sends no frame of the type ended.
    using Serve = std::function<SessionEnd(
        PeerStream &peer, const SessionRequest &request, uid_t caller,
        const std::stop_token &stop)>;
    // Whose login this is; Code::denied when nobody's.
    using WhoseLogin = std::function<Result<uid_t>(const std::string &login)>;

    // Nothing when k8s.conf names no place to listen at. Code::denied when it
    // cannot be.
    static Result<std::unique_ptr<SessionServer>>
    start(const SessionConf &conf, WhoseLogin whose_login, Serve serve);
    // Ends all sessions, and waits for them.
    ~SessionServer();

  private:
    struct Listener {
        OwnedFd fd;
        bool by_tls = false;
    };
    // Whoever has connected. By TLS there is no user until he has said it.
    struct Caller {
        OwnedFd fd;
        std::optional<uid_t> user{};
        Places::Place call{};    // until it ends; a stranger's while he is one
        Places::Place session{}; // once it is served
    };
    struct Session {
        std::jthread thread;
        bool over = false; // under mutex_
    };

    SessionServer(std::vector<Listener> listeners, TlsContext tls, OwnedFd wake,
                  WhoseLogin whose_login, Serve serve);
    void run(const std::stop_token &stop);
    void take(const Listener &from);
    bool admit(Caller &caller);
    void note_refusal(const std::string &who);
    void join_ended();
    void hold(Caller caller, const std::stop_token &stop);
    void talk(PeerStream &peer, Caller &caller, const std::stop_token &stop);
    SessionEnd answer(PeerStream &peer, Caller &caller,
                      PeerStream::Clock::time_point until,
                      const std::stop_token &stop);

    std::vector<Listener> listeners_;
    TlsContext tls_;
    OwnedFd wake_;
    WhoseLogin whose_login_;
    Serve serve_;
    Places calls_{most_sessions, most_calls_of_user}; // at the UNIX socket
    Places strangers_{most_strangers, most_of_address};
    Places served_{most_sessions, most_of_user};
    std::mutex mutex_;
    std::list<Session> sessions_; // of thread_ alone, but over
    std::uint64_t refused_ = 0;   // since that was logged; of thread_
    PeerStream::Clock::time_point next_log_{}; // of thread_
    std::jthread thread_;                      // last: it uses all of the above
};

} // namespace bridge
