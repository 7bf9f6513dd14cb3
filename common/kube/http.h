// SPDX-License-Identifier: GPL-2.0-or-later
// Blocking HTTPS to the API server with libcurl. TLS certificates are always
// verified. The token file is read at most once a minute, and again after a
// 401. One Http belongs to one thread; its connection is kept alive between
// calls.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

// Is told of each request once it has ended, a watch when its stream ends. Used
// by several threads at once.
class HttpObserver {
  public:
    virtual ~HttpObserver() = default;
    // status: that of the reply; 0: there was none.
    virtual void ended(std::string_view method, std::string_view path,
                       long status, std::chrono::nanoseconds took) = 0;
};

// The address of the API server, and our credentials.
struct HttpEndpoint {
    std::string server;     // https://HOST:PORT without a '/' at the end
    std::string ca_file;    // PEM
    std::string token_file; // a ServiceAccount's token
    std::chrono::seconds timeout{30}; // for a whole request; streams have none
    std::string user_agent = {};      // "": no User-Agent
    // Aborts every request that has no stop_token of its own.
    std::stop_token give_up = {};
    std::shared_ptr<HttpObserver> observer = {}; // nullptr: nobody counts
};

struct HttpReply {
    long status = 0;
    std::string body;
    // How long the server asks us to wait, at most a minute: a wrong clock may
    // have made it too long. 0: not specified.
    std::chrono::seconds retry_after{0};
};

class Http {
  public:
    explicit Http(HttpEndpoint endpoint);
    Http(Http &&) noexcept;
    ~Http();

    // Every reply of the server is a success here, whatever its status.
    // Code::busy if the request was certainly not carried out; Code::uncertain
    // if it may have been; Code::denied if there is no token or the server's
    // certificate is not trusted. path starts with '/' and is URL-encoded.
    Result<HttpReply> get(const std::string &path, std::stop_token stop = {});
    // Gets only the metadata of an object, as a PartialObjectMetadata.
    Result<HttpReply> get_metadata(const std::string &path);
    Result<HttpReply> post(const std::string &path, const std::string &body);
    Result<HttpReply> put(const std::string &path, const std::string &body);
    Result<HttpReply> patch(const std::string &path,
                            const std::string &content_type,
                            const std::string &body);
    Result<HttpReply> remove(const std::string &path, const std::string &body);

    // GETs path and calls on_line for each line as it arrives. Returns success
    // when the server ends the stream or when a stop is requested. Fails with
    // the error of on_line, with Code::gone if nothing arrives for the time
    // silence, and for a status other than 200 with an error that has the
    // reply's message (status.h). on_open is called when the request is
    // accepted, before any line.
    using OnLine = std::function<Result<>(std::string_view line)>;
    using OnOpen = std::function<void()>;
    Result<> stream(const std::string &path, const OnLine &on_line,
                    std::chrono::milliseconds silence, std::stop_token stop,
                    const OnOpen &on_open = {});

    struct Impl; // http_impl.h

  private:
    std::unique_ptr<Impl> impl_;
};

// Converts the reply's status to an Error with its Code (status.h) and
// Retry-After. Success for 2xx.
Result<> check_status(const HttpReply &reply);

// URL-encodes a name for use in a path or a query.
std::string url_encode(std::string_view text);

} // namespace bridge
