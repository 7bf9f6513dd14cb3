// SPDX-License-Identifier: GPL-2.0-or-later
// Blocking HTTPS to the API server over libcurl. TLS is always verified, the
// token file is read again at most once a minute and after a 401. One Http
// belongs to one thread; its connection is kept alive between calls.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

// Where the API server is, and who we are to it.
struct HttpEndpoint {
    std::string server;               // https://HOST:PORT, no '/' at the end
    std::string ca_file;              // PEM
    std::string token_file;           // a ServiceAccount's token
    std::chrono::seconds timeout{30}; // of a whole request, not of a stream
    std::string user_agent = {};      // "" sends none
    // Cuts every request short that has no stop_token of its own.
    std::stop_token give_up = {};
};

struct HttpReply {
    long status = 0;
    std::string body;
    // How long the server wants to be left alone, but at most a minute: it may
    // have been told a wrong time. 0: it named none.
    std::chrono::seconds retry_after{0};
};

class Http {
  public:
    explicit Http(HttpEndpoint endpoint);
    Http(Http &&) noexcept;
    ~Http();

    // Any reply of the server is a success here, whatever its status.
    // Code::busy when the request was certainly not carried out,
    // Code::uncertain when it may have been, Code::denied when there is no
    // token or the server's certificate is not trusted. path starts with '/'
    // and is already encoded.
    Result<HttpReply> get(const std::string &path, std::stop_token stop = {});
    // Only the metadata of an object: a PartialObjectMetadata.
    Result<HttpReply> get_metadata(const std::string &path);
    Result<HttpReply> post(const std::string &path, const std::string &body);
    Result<HttpReply> put(const std::string &path, const std::string &body);
    Result<HttpReply> patch(const std::string &path,
                            const std::string &content_type,
                            const std::string &body);
    Result<HttpReply> remove(const std::string &path, const std::string &body);

    // GETs path and hands over each line as it comes, until the server ends the
    // stream (success), on_line says no (its error), stop is requested, or
    // nothing at all came for silence (Code::gone). A status other than 200 is
    // an error with the reply's text. on_open is called once it is accepted,
    // before any line.
    using OnLine = std::function<Result<>(std::string_view line)>;
    using OnOpen = std::function<void()>;
    Result<> stream(const std::string &path, const OnLine &on_line,
                    std::chrono::milliseconds silence, std::stop_token stop,
                    const OnOpen &on_open = {});

    struct Impl; // http_impl.h

  private:
    std::unique_ptr<Impl> impl_;
};

// The Code for a reply's status, see status.h, with its Retry-After. 2xx has
// none.
Result<> check_status(const HttpReply &reply);

// Encodes a name for use in a path or a query.
std::string url_encode(std::string_view text);

} // namespace bridge
