// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/socket.h"

#include "common/base/conf_lines.h"
#include "common/base/fd_wait.h"
#include "common/base/text.h"
#include "common/kube/base64.h"
#include "common/kube/http_impl.h"
#include "common/kube/status.h"
#include "common/kube/token_file.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/random.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

constexpr long connect_timeout_ms = 5'000;
constexpr int poll_patience = 1000;         // ms
constexpr std::size_t longest_head = 16384; // bytes
constexpr std::size_t longest_body = 65536;
constexpr auto body_patience = 2s; // for the body of a refusal

std::unexpected<Error> ended()
{
    return fail(Code::gone, "the API server has ended the connection");
}

std::unexpected<Error> stopped()
{
    return fail(Code::busy, "slurmk8sd is stopping");
}

template <class Array> bool fill_by_chance(Array &bytes)
{
    return getrandom(bytes.data(), bytes.size(), 0) ==
           static_cast<ssize_t>(bytes.size());
}

// Returns the value of a header line; "" if there is none.
std::string header(std::string_view head, std::string_view name)
{
    next_part(head, '\n'); // the status line
    while (!head.empty()) {
        std::string_view line = next_part(head, '\n');
        std::size_t colon = line.find(':');
        if (colon != line.npos && is_key(line.substr(0, colon), name))
            return std::string(trim(line.substr(colon + 1)));
    }
    return {};
}

long status_in(std::string_view head)
{
    next_part(head, ' ');
    return whole_number<long>(next_part(head, ' ')).value_or(0);
}

} // namespace

Result<> check_upgrade(std::string_view head, std::string_view body,
                       std::string_view key, std::string_view protocol)
{
    long status = status_in(head);
    if (status != 101)
        return std::unexpected(status_error(status, body));
    if (header(head, "Sec-WebSocket-Accept") != ws_accept(key) ||
        !is_key(header(head, "Upgrade"), "websocket"))
        return fail(Code::internal, "the answer does not open a WebSocket");
    if (header(head, "Sec-WebSocket-Protocol") != protocol)
        return fail(Code::internal,
                    "the API server does not speak " + std::string(protocol));
    return {};
}

struct KubeSocket::Impl {
    CurlMulti multi; // owns the connection, so it must outlive the easy handle
    CurlEasy easy;
    int fd = -1;
    WsReader reader;
    std::string unsent;
    char error_text[CURL_ERROR_SIZE] = "";

    template <class T> void set(CURLoption option, T value)
    {
        curl_easy_setopt(easy.get(), option, value);
    }

    void set_options(const HttpEndpoint &endpoint)
    {
        set(CURLOPT_URL, endpoint.server.c_str());
        set(CURLOPT_CONNECT_ONLY, 1L);
        set(CURLOPT_PROTOCOLS_STR, "https");
        set(CURLOPT_PROXY, ""); // ignore https_proxy
        set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_ERRORBUFFER, error_text);
        set(CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
        set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
        set(CURLOPT_CAINFO, endpoint.ca_file.c_str());
        // Otherwise the system's certificate authorities would be trusted, too.
        set(CURLOPT_CAPATH, static_cast<const char *>(nullptr));
        set(CURLOPT_TCP_KEEPALIVE, 1L);
    }

    // Does what curl_easy_perform() does, but a stop request wakes it.
    CURLcode perform(const std::stop_token &stop)
    {
        std::stop_callback wake(stop,
                                [this] { curl_multi_wakeup(multi.get()); });
        curl_multi_add_handle(multi.get(), easy.get());
        int running = 1;
        while (!stop.stop_requested() &&
               curl_multi_perform(multi.get(), &running) == CURLM_OK &&
               running != 0)
            curl_multi_poll(multi.get(), nullptr, 0, poll_patience, nullptr);
        int left = 0;
        const CURLMsg *end = curl_multi_info_read(multi.get(), &left);
        return end ? end->data.result : CURLE_ABORTED_BY_CALLBACK;
    }

    Result<> connect(const HttpEndpoint &endpoint, const std::stop_token &stop)
    {
        set_options(endpoint);
        CURLcode result = perform(stop);
        if (stop.stop_requested())
            return stopped();
        curl_socket_t where = CURL_SOCKET_BAD;
        if (result == CURLE_OK)
            result =
                curl_easy_getinfo(easy.get(), CURLINFO_ACTIVESOCKET, &where);
        if (result != CURLE_OK)
            return fail(
                Code::busy,
                "connect to " + endpoint.server + ": " +
                    (*error_text ? error_text : curl_easy_strerror(result)));
        fd = where;
        return {};
    }

    // Returns "" if nothing has arrived.
    Result<std::string> read_some()
    {
        std::array<char, 16384> bytes;
        std::size_t count = 0;
        CURLcode result =
            curl_easy_recv(easy.get(), bytes.data(), bytes.size(), &count);
        if (result == CURLE_AGAIN)
            return std::string();
        if (result != CURLE_OK || count == 0)
            return ended();
        return std::string(bytes.data(), count);
    }

    Result<> flush()
    {
        while (!unsent.empty()) {
            std::size_t count = 0;
            CURLcode result = curl_easy_send(easy.get(), unsent.data(),
                                             unsent.size(), &count);
            if (result == CURLE_AGAIN)
                return {};
            if (result != CURLE_OK)
                return ended();
            unsent.erase(0, count);
        }
        return {};
    }

    // Waits until there is something to read or, if writes is set, to write.
    Result<> wait(bool writes, Clock::time_point until,
                  const std::stop_token &stop) const
    {
        auto events = static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN);
        FdWait waited = wait_for_fd(fd, events, until, stop);
        if (waited == FdWait::ready)
            return {};
        if (waited == FdWait::stopped)
            return stopped();
        return fail(Code::busy, "the API server does not answer");
    }

    Result<> send_all(Clock::time_point until, const std::stop_token &stop)
    {
        for (;;) {
            if (auto sent = flush(); !sent || unsent.empty())
                return sent;
            if (auto ready = wait(true, until, stop); !ready)
                return ready;
        }
    }

    // Reads up to the empty line, which is removed; rest gets what came after
    // it.
    Result<std::string> read_head(std::string &rest, Clock::time_point until,
                                  const std::stop_token &stop)
    {
        constexpr std::string_view end = "\r\n\r\n";
        std::string text;
        for (;;) {
            auto more = read_some();
            if (!more)
                return more;
            text += *more;
            if (std::size_t at = text.find(end); at != text.npos) {
                rest = text.substr(at + end.size());
                text.resize(at);
                return text;
            }
            if (text.size() > longest_head)
                return fail(Code::internal,
                            "the header of the answer is too long");
            if (!more->empty())
                continue;
            if (auto ready = wait(false, until, stop); !ready)
                return std::unexpected(ready.error());
        }
    }

    // Reads the body of a refusal as far as it arrives: it has the API server's
    // message.
    void read_body(std::string_view head, std::string &body,
                   const std::stop_token &stop)
    {
        std::size_t size =
            whole_number<std::size_t>(header(head, "Content-Length"))
                .value_or(0);
        auto until = Clock::now() + body_patience;
        while (body.size() < std::min(size, longest_body)) {
            auto more = read_some();
            if (!more || (more->empty() && !wait(false, until, stop)))
                return;
            body += *more;
        }
    }

    Result<> push(WsOpcode opcode, std::string_view data)
    {
        WsMask mask;
        if (!fill_by_chance(mask))
            return fail(Code::internal, "cannot read random numbers");
        unsent += encode_ws(opcode, data, mask);
        return {};
    }
};

KubeSocket::KubeSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KubeSocket::KubeSocket(KubeSocket &&) noexcept = default;
KubeSocket::~KubeSocket() = default;

Result<KubeSocket> KubeSocket::open(const HttpEndpoint &endpoint,
                                    const std::string &path,
                                    const std::string &protocol,
                                    Clock::time_point until,
                                    const std::stop_token &stop)
{
    auto impl = std::make_unique<Impl>();
    impl->multi.reset(curl_multi_init());
    impl->easy.reset(curl_easy_init());
    std::array<unsigned char, 16> nonce;
    if (!impl->multi || !impl->easy || !fill_by_chance(nonce))
        return fail(Code::internal, "libcurl cannot be initialised");
    auto token = TokenFile(endpoint.token_file).read(Clock::now());
    if (!token)
        return std::unexpected(token.error());
    if (auto connected = impl->connect(endpoint, stop); !connected)
        return std::unexpected(connected.error());

    std::string key = base64(nonce);
    std::string host = endpoint.server.substr(endpoint.server.find("//") + 2);
    std::string user_agent = endpoint.user_agent.empty()
                                 ? ""
                                 : "\r\nUser-Agent: " + endpoint.user_agent;
    impl->unsent = "GET " + path + " HTTP/1.1\r\nHost: " + host + user_agent +
                   "\r\nAuthorization: Bearer " + *token +
                   "\r\nUpgrade: websocket\r\nConnection: Upgrade"
                   "\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
                   key + "\r\nSec-WebSocket-Protocol: " + protocol + "\r\n\r\n";
    if (auto sent = impl->send_all(until, stop); !sent)
        return std::unexpected(sent.error());
    std::string rest;
    auto head = impl->read_head(rest, until, stop);
    if (!head)
        return std::unexpected(head.error());
    if (status_in(*head) != 101)
        impl->read_body(*head, rest, stop);
    if (auto good = check_upgrade(*head, rest, key, protocol); !good)
        return std::unexpected(good.error());
    impl->reader.feed(rest);
    return KubeSocket(std::move(impl));
}

Result<> KubeSocket::push(std::string_view data)
{
    return impl_->push(WsOpcode::binary, data);
}

Result<> KubeSocket::flush()
{
    return impl_->flush();
}

bool KubeSocket::has_unsent() const
{
    return !impl_->unsent.empty();
}

Result<std::optional<std::string>> KubeSocket::receive()
{
    for (;;) {
        auto message = impl_->reader.next();
        if (!message)
            return std::unexpected(message.error());
        if (!*message) {
            auto more = impl_->read_some();
            if (!more)
                return std::unexpected(more.error());
            if (more->empty())
                return std::nullopt;
            impl_->reader.feed(*more);
            continue;
        }
        if ((*message)->opcode == WsOpcode::close)
            return ended();
        if ((*message)->opcode == WsOpcode::ping) {
            if (auto said = impl_->push(WsOpcode::pong, (*message)->data);
                !said)
                return std::unexpected(said.error());
        } else if ((*message)->opcode != WsOpcode::pong) {
            return std::move((*message)->data);
        }
    }
}

int KubeSocket::fd() const
{
    return impl_->fd;
}

} // namespace bridge
