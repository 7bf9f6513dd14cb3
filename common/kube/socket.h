// SPDX-License-Identifier: GPL-2.0-or-later
// A WebSocket to the API server, for what a plain HTTP request cannot do: an
// exec. libcurl makes the connection, with TLS always verified as in http.h;
// the rest is ours, as libcurl's own WebSocket is not in each distribution's.
// Used by one thread. Waits in open() alone.
#pragma once

#include "common/kube/http.h"
#include "common/kube/websocket.h"

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

class KubeSocket {
  public:
    using Clock = std::chrono::steady_clock;

    // GETs the path with that subprotocol. What the API server refuses is an
    // error with its words, see status.h; Code::busy when it did not
    // answer by then, or when stop is requested.
    static Result<KubeSocket> open(const HttpEndpoint &endpoint,
                                   const std::string &path,
                                   const std::string &protocol,
                                   Clock::time_point until,
                                   const std::stop_token &stop);
    KubeSocket(KubeSocket &&) noexcept;
    ~KubeSocket();

    // Sends a message later: flush() sends as much as goes without waiting.
    Result<> push(std::string_view data);
    Result<> flush();
    bool has_unsent() const;

    // The next message, without waiting: nothing when none has come. Answers
    // pings. Code::gone when the server ended the connection.
    Result<std::optional<std::string>> receive();

    int fd() const;

  private:
    struct Impl;
    explicit KubeSocket(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// What the server's answer to the request for a WebSocket says: head and what
// of the body has come. Pure.
Result<> check_upgrade(std::string_view head, std::string_view body,
                       std::string_view key, std::string_view protocol);

} // namespace bridge
