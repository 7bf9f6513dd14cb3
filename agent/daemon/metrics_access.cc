// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/metrics_access.h"

#include "common/base/log.h"
#include "common/base/owned_fd.h"
#include "common/base/read_file.h"
#include "common/base/system_error.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <string_view>
#include <sys/stat.h>
#include <utility>

namespace bridge {

namespace {

constexpr std::size_t shortest = 16; // of a token
constexpr std::size_t longest = 4096;
constexpr std::string_view scheme = "Bearer ";

// The token in the file. Others must not be able to read it.
Result<std::string> token_in(const std::string &path)
{
    OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat file{};
    if (!fd || fstat(fd.get(), &file) != 0)
        return fail_errno(Code::not_found, "open it");
    if (!S_ISREG(file.st_mode))
        return fail(Code::rejected, "it is no regular file");
    if ((file.st_mode & S_IRWXO) != 0)
        return fail(Code::denied, "every user can read it: chmod o= helps");
    auto text = read_rest(fd.get(), longest);
    if (!text)
        return std::unexpected(text.error());
    std::string token = without_end_blanks(std::move(*text));
    if (token.size() < shortest)
        return fail(Code::rejected, "its token has less than 16 characters");
    return token;
}

bool same(std::string_view a, std::string_view b)
{
    return a.size() == b.size() &&
           CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

} // namespace

Result<MetricsReader> MetricsAccess::reader(const std::string &authorization)
{
    if (authorization.empty())
        return MetricsReader::anyone;
    const auto refused =
        fail(Code::denied, "the token is not that of MetricsTokenFile");
    if (file_.empty() || !authorization.starts_with(scheme))
        return refused;
    auto token = token_in(file_);
    std::string problem = token ? std::string() : token.error().message;
    {
        std::lock_guard lock(mutex_);
        if (reported_.is_news(problem))
            log_warning("nobody can read the metrics with a token: that of "
                        "MetricsTokenFile cannot be used",
                        {{"path", file_}, {"err", problem}});
    }
    if (!token ||
        !same(std::string_view(authorization).substr(scheme.size()), *token))
        return refused;
    return MetricsReader::trusted;
}

} // namespace bridge
