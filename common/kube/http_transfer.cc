// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/http_impl.h"

#include <algorithm>

namespace bridge {

namespace {

using namespace std::chrono_literals;

constexpr long connect_timeout_ms = 5'000;
constexpr curl_off_t longest_retry_after = 60; // seconds

// A libcurl callback must not throw; noexcept ends the program instead.
std::size_t on_body(char *data, std::size_t, std::size_t size,
                    void *user) noexcept
{
    auto &impl = *static_cast<Http::Impl *>(user);
    impl.last_byte = Http::Impl::Clock::now();
    impl.sink_said = impl.sink->take(impl.status(), {data, size});
    return impl.sink_said ? size : CURL_WRITEFUNC_ERROR;
}

std::size_t on_header(char *data, std::size_t, std::size_t size,
                      void *user) noexcept
{
    auto &impl = *static_cast<Http::Impl *>(user);
    bool last = std::string_view(data, size) == "\r\n";
    if (last && impl.status() == 200)
        impl.sink->accepted();
    return size;
}

bool add_header(CurlHeaders &headers, const std::string &line)
{
    curl_slist *longer = curl_slist_append(headers.get(), line.c_str());
    if (!longer)
        return false;
    static_cast<void>(headers.release());
    headers.reset(longer);
    return true;
}

std::string what(const HttpRequest &request)
{
    return std::string(request.method) + " " +
           request.path.substr(0, request.path.find('?'));
}

bool is_trust_problem(CURLcode result)
{
    return result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CACERT_BADFILE;
}

} // namespace

Http::Impl::Impl(HttpEndpoint where)
    : endpoint_(std::move(where)), token_(endpoint_.token_file)
{
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (ready != CURLE_OK)
        return;
    multi_.reset(curl_multi_init());
    easy_.reset(curl_easy_init());
}

Result<long> Http::Impl::exchange(const HttpRequest &request, HttpSink &to,
                                  Milliseconds silence,
                                  const std::stop_token &stop)
{
    auto first = exchange_counted(request, to, silence, stop);
    if (!first || *first != 401)
        return first;
    token_.forget();
    return exchange_counted(request, to, silence, stop);
}

Result<long> Http::Impl::exchange_counted(const HttpRequest &request,
                                          HttpSink &to, Milliseconds silence,
                                          const std::stop_token &stop)
{
    if (!endpoint_.observer)
        return exchange_once(request, to, silence, stop);
    auto begin = Clock::now();
    replied = 0;
    auto done = exchange_once(request, to, silence, stop);
    endpoint_.observer->ended(request.method, request.path, replied,
                              Clock::now() - begin);
    return done;
}

Result<long> Http::Impl::exchange_once(const HttpRequest &request, HttpSink &to,
                                       Milliseconds silence,
                                       const std::stop_token &stop)
{
    if (!multi_ || !easy_)
        return fail(Code::internal, "libcurl cannot be initialised");
    auto headers = headers_for(request);
    if (!headers)
        return std::unexpected(headers.error());
    begin(request, to);
    set(CURLOPT_HTTPHEADER, headers->get());
    set_tls_options();
    set_time_options(silence);

    CURLcode result = move_on(silence, stop);
    replied = status();
    if (!sink_said)
        return fail(sink_said.error(), what(request));
    if (result == CURLE_OK)
        return status();
    if (stop.stop_requested())
        return 0;
    return std::unexpected(transfer_error(request, result));
}

Result<CurlHeaders> Http::Impl::headers_for(const HttpRequest &request)
{
    auto token = token_.read(Clock::now());
    if (!token)
        return std::unexpected(token.error());
    CurlHeaders headers;
    bool ok = add_header(headers, "Authorization: Bearer " + *token) &&
              add_header(headers, "Accept: " + request.accept) &&
              // Without this, curl waits a second for "100 Continue".
              add_header(headers, "Expect:");
    if (ok && !request.content_type.empty())
        ok = add_header(headers, "Content-Type: " + request.content_type);
    if (!ok)
        return fail(Code::busy, "out of memory");
    return headers;
}

void Http::Impl::begin(const HttpRequest &request, HttpSink &to)
{
    sink = &to;
    sink->begins();
    sink_said = {};
    error_text_[0] = '\0';

    curl_easy_reset(easy_.get()); // keeps the connection: the multi handle owns
                                  // it
    set(CURLOPT_URL, (endpoint_.server + request.path).c_str());
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_PROTOCOLS_STR, "https");
    set(CURLOPT_PROXY, ""); // ignore https_proxy
    set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    if (!endpoint_.user_agent.empty())
        set(CURLOPT_USERAGENT, endpoint_.user_agent.c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_ERRORBUFFER, error_text_);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, static_cast<void *>(this));
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, static_cast<void *>(this));
    set(CURLOPT_CUSTOMREQUEST, request.method);
    if (request.content_type.empty())
        return;
    set(CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.c_str());
}

void Http::Impl::set_tls_options()
{
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_CAINFO, endpoint_.ca_file.c_str());
    // Otherwise the system's certificate authorities would be trusted, too.
    set(CURLOPT_CAPATH, static_cast<const char *>(nullptr));
}

void Http::Impl::set_time_options(Milliseconds silence)
{
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_TCP_KEEPIDLE, 30L);
    set(CURLOPT_TCP_KEEPINTVL, 10L);
#if LIBCURL_VERSION_NUM >= 0x080900
    set(CURLOPT_TCP_KEEPCNT, 3L); // notices a vanished host within a minute
#endif
    set(CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
    if (silence == 0ms)
        set(CURLOPT_TIMEOUT, static_cast<long>(endpoint_.timeout.count()));
}

// Drives the transfer to its end. Returns CURLE_ABORTED_BY_CALLBACK if it was
// stopped; sets sink_said to Code::gone if the server was silent.
CURLcode Http::Impl::move_on(Milliseconds silence, const std::stop_token &stop)
{
    curl_multi_add_handle(multi_.get(), easy_.get());
    last_byte = Clock::now();
    if (!drive(silence, stop))
        sink_said =
            fail(Code::gone, "the server has sent nothing for too long");
    CURLcode result = CURLE_ABORTED_BY_CALLBACK;
    int left = 0;
    if (const CURLMsg *end = curl_multi_info_read(multi_.get(), &left))
        result = end->data.result;
    curl_multi_remove_handle(multi_.get(), easy_.get());
    return result;
}

// Uses a multi handle because curl_easy_perform() looks at a stop request only
// once a second; a stop request wakes curl_multi_poll() at once. Returns false
// if nothing arrived for the time silence.
bool Http::Impl::drive(Milliseconds silence, const std::stop_token &stop)
{
    std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_.get()); });
    int running = 1;
    while (!stop.stop_requested()) {
        if (curl_multi_perform(multi_.get(), &running) != CURLM_OK ||
            running == 0)
            break;
        auto wait = 1'000ms;
        if (silence > 0ms) {
            auto left = silence - (Clock::now() - last_byte);
            if (left <= 0ms)
                return false;
            wait = std::min(wait, std::chrono::ceil<Milliseconds>(left));
        }
        curl_multi_poll(multi_.get(), nullptr, 0,
                        static_cast<int>(wait.count()), nullptr);
    }
    return true;
}

long Http::Impl::status() const
{
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
}

std::chrono::seconds Http::Impl::retry_after() const
{
    curl_off_t seconds = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds);
    return std::chrono::seconds(
        std::clamp<curl_off_t>(seconds, 0, longest_retry_after));
}

// A request that is not a GET may have been carried out as soon as any part of
// it was sent.
Error Http::Impl::transfer_error(const HttpRequest &request,
                                 CURLcode result) const
{
    long sent = 0; // bytes
    curl_easy_getinfo(easy_.get(), CURLINFO_REQUEST_SIZE, &sent);
    Code code = Code::busy;
    if (is_trust_problem(result))
        code = Code::denied;
    else if (sent > 0 && std::string_view(request.method) != "GET")
        code = Code::uncertain;
    std::string text = *error_text_ ? error_text_ : curl_easy_strerror(result);
    return {code, what(request) + " at " + endpoint_.server + ": " + text};
}

} // namespace bridge
