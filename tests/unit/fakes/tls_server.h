// SPDX-License-Identifier: GPL-2.0-or-later
// A tiny HTTPS server on loopback with a certificate of its own, for tests of
// our client: it says exactly the bytes that a test wants, when it wants them,
// and cuts connections. A thread a connection.
#pragma once

#include "common/kube/http.h"

#include <format>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

class TlsServer {
  public:
    struct Request {
        std::string method;
        std::string target; // path and query
        std::string head;   // all header lines
        std::string body;

        // Of "Authorization: Bearer".
        std::string token() const
        {
            constexpr std::string_view name = "\r\nAuthorization: Bearer ";
            std::size_t at = head.find(name);
            if (at == head.npos)
                return {};
            at += name.size();
            return head.substr(at, head.find("\r\n", at) - at);
        }
        bool has(std::string_view header_line) const
        {
            return head.contains("\r\n" + std::string(header_line) + "\r\n");
        }
    };

    // The client, as a handler sees it.
    class Peer {
      public:
        virtual ~Peer() = default;
        virtual bool send(std::string_view bytes) = 0; // false: it went away
        // Whether the client has sent more, which may be TLS' own.
        virtual bool has_input() = 0;
        // Ends the connection when the handler returns.
        virtual void cut() = 0;
        // Waits until the client, or the server, ends the connection.
        virtual void wait_for_end() = 0;
    };

    using Handler = std::function<void(const Request &request, Peer &peer)>;

    explicit TlsServer(Handler handler);
    ~TlsServer();

    // Trusts this server, and has a token that says "secret".
    HttpEndpoint endpoint() const;
    void write_token(std::string_view text);
    std::string folder() const; // for other files; goes with the server

    std::vector<Request> requests() const; // so far
    int connections() const;               // so far

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A whole reply; headers are whole lines.
inline std::string reply_text(int status, std::string_view body,
                              std::string_view headers = {})
{
    return std::format("HTTP/1.1 {} X\r\n{}Content-Length: {}\r\n\r\n{}",
                       status, headers, body.size(), body);
}

// A reply that comes in pieces.
inline std::string stream_head()
{
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
}

inline std::string chunk(std::string_view text)
{
    return std::format("{:x}\r\n{}\r\n", text.size(), text);
}

inline std::string last_chunk()
{
    return "0\r\n\r\n";
}

} // namespace bridge
