// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/token_file.h"

#include "common/base/read_file.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr auto max_age = std::chrono::minutes(1); // client-go token_source.go
constexpr std::size_t max_size = std::size_t{1} << 20;

std::string read_trimmed(const std::string &path)
{
    std::string text = read_file(path, max_size).value_or("");
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
}

} // namespace

Result<std::string> TokenFile::read(Clock::time_point now)
{
    if (!token_.empty() && now - read_at_ < max_age)
        return token_;
    token_.clear();
    std::string text = read_trimmed(path_);
    if (text.empty())
        return fail(Code::denied, "there is no token in " + path_);
    // A line break would let the file add HTTP headers of its own.
    if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; }))
        return fail(Code::denied, "this is not a token: " + path_);
    token_ = text;
    read_at_ = now;
    return text;
}

} // namespace bridge
