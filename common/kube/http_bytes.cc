// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/http_bytes.h"

#include "common/kube/http_impl.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::size_t max_error_body = std::size_t{64} << 10; // bytes

class Bytes : public HttpSink {
  public:
    explicit Bytes(const OnBytes &on_bytes) : on_bytes_(on_bytes) {}

    void begins() override { error_body.clear(); }

    Result<> take(long status, std::string_view bytes) override
    {
        if (status == 200)
            return on_bytes_(bytes);
        error_body += bytes.substr(
            0, std::min(bytes.size(), max_error_body - error_body.size()));
        return {};
    }

    std::string error_body;

  private:
    const OnBytes &on_bytes_;
};

} // namespace

Result<> get_bytes(const HttpEndpoint &endpoint, const std::string &path,
                   const OnBytes &on_bytes, std::chrono::milliseconds silence,
                   const std::stop_token &stop)
{
    Http::Impl http(endpoint);
    Bytes body(on_bytes);
    auto status =
        http.exchange({.path = path, .accept = "*/*"}, body, silence, stop);
    if (!status)
        return std::unexpected(status.error());
    if (*status == 0 || *status == 200)
        return {};
    if (auto said =
            check_status({*status, body.error_body, http.retry_after()});
        !said)
        return said;
    return fail(Code::internal,
                "unexpected HTTP status " + std::to_string(*status));
}

} // namespace bridge
