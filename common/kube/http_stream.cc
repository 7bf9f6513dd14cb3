// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/http.h"
#include "common/kube/http_impl.h"
#include "common/kube/line_framer.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::size_t max_line = std::size_t{16} << 20; // etcd takes 1.5 MiB
constexpr std::size_t max_error_body = std::size_t{64} << 10;

// The lines of a stream, or the body of a refusal.
class StreamBody : public HttpSink {
  public:
    StreamBody(const LineFramer::OnLine &on_line, const Http::OnOpen &on_open)
        : on_line_(on_line), on_open_(on_open)
    {
    }

    void begins() override
    {
        framer_.clear();
        error_body.clear();
    }

    void accepted() override
    {
        if (on_open_)
            on_open_();
    }

    Result<> take(long status, std::string_view bytes) override
    {
        if (status == 200)
            return framer_.feed(bytes, on_line_);
        error_body += bytes.substr(
            0, std::min(bytes.size(), max_error_body - error_body.size()));
        return {};
    }

    // Called when the stream has ended well. Its last line may have no line
    // end.
    Result<> ends() const
    {
        const std::string &rest = framer_.rest();
        return rest.empty() ? Result<>() : on_line_(rest);
    }

    std::string error_body;

  private:
    const LineFramer::OnLine &on_line_;
    const Http::OnOpen &on_open_;
    LineFramer framer_{max_line};
};

} // namespace

Result<> Http::stream(const std::string &path, const OnLine &on_line,
                      std::chrono::milliseconds silence, std::stop_token stop,
                      const OnOpen &on_open)
{
    StreamBody body(on_line, on_open);
    auto status = impl_->exchange({"GET", path}, body, silence, stop);
    if (!status)
        return std::unexpected(status.error());
    if (*status == 0)
        return {};
    if (*status == 200)
        return body.ends();
    if (auto said =
            check_status({*status, body.error_body, impl_->retry_after()});
        !said)
        return said;
    return fail(Code::internal,
                "unexpected HTTP status " + std::to_string(*status));
}

} // namespace bridge
