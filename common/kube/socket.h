// SPDX-License-Identifier: GPL-2.0-or-later
// A WebSocket to the API server, for an exec, which plain HTTP requests cannot
// do. libcurl makes the connection and always verifies TLS, as in http.h. The
// WebSocket protocol is our own code, because not every distribution's libcurl
// has it. Used by one thread. Only open() waits.
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

    // GETs the path with this subprotocol. If the API server refuses, the error
    // has its message (status.h). Code::busy if it has not answered by the time
    // until, or if a stop is requested; Code::denied if there is no token;
    // Code::internal if the answer is not a WebSocket's.
    static Result<KubeSocket> open(const HttpEndpoint &endpoint,
                                   const std::string &path,
                                   const std::string &protocol,
                                   Clock::time_point until,
                                   const std::stop_token &stop);
    KubeSocket(KubeSocket &&) noexcept;
    ~KubeSocket();

    // push() queues a message; flush() sends as much as possible without
    // waiting.
    Result<> push(std::string_view data);
    Result<> flush();
    bool has_unsent() const;

    // Returns the next message without waiting, or nothing if none has arrived.
    // Answers pings. Code::gone if the server has ended the connection;
    // Code::internal if it violates the protocol.
    Result<std::optional<std::string>> receive();

    int fd() const;

  private:
    struct Impl;
    explicit KubeSocket(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

// Checks the server's answer to the request for a WebSocket. head is its
// header, body the part of the body that has arrived. Pure.
Result<> check_upgrade(std::string_view head, std::string_view body,
                       std::string_view key, std::string_view protocol);

} // namespace bridge
