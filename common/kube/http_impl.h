// SPDX-License-Identifier: GPL-2.0-or-later
// What http.cc, http_stream.cc and http_transfer.cc share: the curl handles,
// the token and the one loop that moves a transfer on. http_bytes.cc and
// socket.cc include it too, nobody else.
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
    std::string content_type = {}; // empty: there is no body
    std::string body = {};
    std::string accept = "application/json";
};

// Takes a reply's body as it arrives.
class HttpSink {
  public:
    virtual ~HttpSink() = default;
    virtual void begins() = 0; // once a reply: a 401 is followed by another
    virtual void accepted() {} // the headers of a 200 have come
    // An error ends the transfer and is its outcome.
    virtual Result<> take(long status, std::string_view bytes) = 0;
};

struct Http::Impl {
    using Clock = std::chrono::steady_clock;
    using Milliseconds = std::chrono::milliseconds;

    explicit Impl(HttpEndpoint where);

    // The reply's status, after a second try with a fresh token where it was
    // 401; 0: stopped. silence is the longest time without a byte; where it is
    // 0 the endpoint's timeout holds for the whole.
    Result<long> exchange(const HttpRequest &request, HttpSink &to,
                          Milliseconds silence, const std::stop_token &stop);
    Result<HttpReply> call(const HttpRequest &request,
                           std::stop_token stop = {});
    long status() const;
    std::chrono::seconds retry_after() const; // of the last reply

    HttpSink *sink = nullptr; // of the transfer under way
    Result<> sink_said;
    Clock::time_point last_byte;

  private:
    Result<long> exchange_once(const HttpRequest &request, HttpSink &to,
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
    CurlMulti multi_; // owns the connections, so it outlives the easy handle
    CurlEasy easy_;
    char error_text_[CURL_ERROR_SIZE] = "";
};

} // namespace bridge
