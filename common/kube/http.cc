// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/http.h"

#include "common/kube/http_impl.h"

namespace bridge {

namespace {

constexpr std::size_t max_reply = std::size_t{64} << 20;

class WholeBody : public HttpSink {
  public:
    void begins() override { body.clear(); }
    Result<> take(long, std::string_view bytes) override
    {
        if (body.size() + bytes.size() > max_reply)
            return fail(Code::internal, "the reply is longer than 64 MiB");
        body += bytes;
        return {};
    }

    std::string body;
};

} // namespace

Result<HttpReply> Http::Impl::call(const HttpRequest &request,
                                   std::stop_token stop)
{
    if (!stop.stop_possible())
        stop = endpoint_.give_up;
    WholeBody body;
    auto status = exchange(request, body, Milliseconds(0), stop);
    if (!status)
        return std::unexpected(status.error());
    if (*status == 0)
        return fail(Code::busy, "stopped");
    return HttpReply{*status, std::move(body.body), retry_after()};
}

Http::Http(HttpEndpoint endpoint)
    : impl_(std::make_unique<Impl>(std::move(endpoint)))
{
}

Http::Http(Http &&) noexcept = default;
Http::~Http() = default;

Result<HttpReply> Http::get(const std::string &path, std::stop_token stop)
{
    return impl_->call({"GET", path}, stop);
}

Result<HttpReply> Http::get_metadata(const std::string &path)
{
    return impl_->call({.path = path,
                        .accept = "application/json;as=PartialObjectMetadata;"
                                  "g=meta.k8s.io;v=v1"});
}

Result<HttpReply> Http::post(const std::string &path, const std::string &body)
{
    return impl_->call({"POST", path, "application/json", body});
}

Result<HttpReply> Http::put(const std::string &path, const std::string &body)
{
    return impl_->call({"PUT", path, "application/json", body});
}

Result<HttpReply> Http::patch(const std::string &path,
                              const std::string &content_type,
                              const std::string &body)
{
    return impl_->call({"PATCH", path, content_type, body});
}

Result<HttpReply> Http::remove(const std::string &path, const std::string &body)
{
    return impl_->call({"DELETE", path, "application/json", body});
}

std::string url_encode(std::string_view text)
{
    constexpr std::string_view unreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    constexpr char hex[] = "0123456789ABCDEF";
    std::string encoded;
    for (char c : text) {
        auto byte = static_cast<unsigned char>(c);
        if (unreserved.contains(c))
            encoded += c;
        else
            encoded.append({'%', hex[byte >> 4], hex[byte & 15]});
    }
    return encoded;
}

} // namespace bridge
