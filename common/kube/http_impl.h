// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by http.cc, http_stream.cc and http_transfer.cc: the curl handles, the
// token, and the loop that drives a transfer. http_bytes.cc and socket.cc
// include this file, too; no other file does.
#pragma once

#include "common/kube/http.h"
#include "common/kube/token_file.h"

#include <chrono>
#include <curl/curl.h>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

template <auto free_it> struct CurlFree {
    template <class T> void operator()(T *handle) const { free_it(handle); }
};
using CurlEasy = std::unique_ptr<CURL, CurlFree<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, CurlFree<curl_multi_cleanup>>;
using CurlHeaders = std::unique_ptr<curl_slist, CurlFree<curl_slist_free_all>>;

struct HttpRequest {
    const char *method = "GET";
    std::string path;
    std::string content_type = {}; // empty: no body
    std::string body = {};
    std::string accept = "application/json";
};

// Receives a reply's body as it arrives.
class HttpSink {
  public:
    virtual ~HttpSink() = default;
    virtual void begins() = 0; // before each reply; after a 401 there is a
                               // second one
    virtual void accepted() {} // called after the headers of a 200
    // An error ends the transfer and becomes its result.
    virtual Result<> take(long status, std::string_view bytes) = 0;
};

struct Http::Impl {
    using Clock = std::chrono::steady_clock;
    using Milliseconds = std::chrono::milliseconds;

    explicit Impl(HttpEndpoint where);

    // Returns the reply's status, or 0 if the request was stopped. After a 401
    // the request is repeated once with a fresh token. silence is the longest
    // time without a byte; if it is 0, the endpoint's timeout limits the whole
    // request.
    Result<long> exchange(const HttpRequest &request, HttpSink &to,
                          Milliseconds silence, const std::stop_token &stop);
    Result<HttpReply> call(const HttpRequest &request,
                           std::stop_token stop = {});
    long status() const;
    std::chrono::seconds retry_after() const; // of the last reply
    long replied = 0; // status of the reply to the last request; 0: none

    HttpSink *sink = nullptr; // of the current transfer
    Result<> sink_said;
    Clock::time_point last_byte;

  private:
    Result<long> exchange_once(const HttpRequest &request, HttpSink &to,
                               Milliseconds silence,
                               const std::stop_token &stop);
    Result<long> exchange_counted(const HttpRequest &request, HttpSink &to,
                                  Milliseconds silence,
                                  const std::stop_token &stop);
    Result<CurlHeaders> headers_for(const HttpRequest &request);
    void begin(const HttpRequest &request, HttpSink &to);
    void set_tls_options();
    void set_time_options(Milliseconds silence);
    CURLcode move_on(Milliseconds silence, const std::stop_token &stop);
    bool drive(Milliseconds silence, const std::stop_token &stop);
    Error transfer_error(const HttpRequest &request, CURLcode result) const;

    template <class T> void set(CURLoption option, T value)
    {
        curl_easy_setopt(easy_.get(), option, value);
    }

    HttpEndpoint endpoint_;
    TokenFile token_;
    CurlMulti multi_; // owns the connections, so it must outlive the easy
                      // handle
    CurlEasy easy_;
    char error_text_[CURL_ERROR_SIZE] = "";
};

} // namespace bridge
