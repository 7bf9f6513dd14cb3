// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/token_file.h"

#include "common/base/read_file.h"
#include "common/base/user_name.h"

#include <algorithm>
#include <cerrno>
#include <format>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr auto max_age = std::chrono::minutes(1); // client-go token_source.go
constexpr std::size_t max_size = std::size_t{1} << 20;

// Whoever reads the message has to know what to change.
std::string cannot_read(const std::string &path, const std::string &why)
{
    struct stat file{};
    std::string us = user_name(geteuid());
    if (stat(path.c_str(), &file) != 0 && errno == ENOENT)
        return std::format("there is no token in {}: {}", path, why);
    if (file.st_nlink == 0) // not even stat() may look at it
        return std::format("the token in {} cannot be read: {}: {} may not "
                           "enter one of the directories above it",
                           path, why, us);
    std::string cure = file.st_uid == geteuid() ? "chmod 400" : "chown " + us;
    return std::format("the token in {} cannot be read: {}: its owner is {}, "
                       "its mode {:04o}, and this process runs as {} ({} {})",
                       path, why, user_name(file.st_uid), file.st_mode & 07777U,
                       us, cure, path);
}

Result<std::string> read_trimmed(const std::string &path)
{
    auto text = read_file(path, max_size);
    if (!text)
        return fail(Code::denied, cannot_read(path, text.error().message));
    std::string token = without_end_blanks(std::move(*text));
    if (token.empty())
        return fail(Code::denied,
                    "there is no token in " + path + ": the file is empty");
    return token;
}

} // namespace

Result<std::string> TokenFile::read(Clock::time_point now)
{
    if (!token_.empty() && now - read_at_ < max_age)
        return token_;
    token_.clear();
    auto text = read_trimmed(path_);
    if (!text)
        return text;
    // A line break would let the file add HTTP headers of its own.
    if (!std::ranges::all_of(*text, [](char c) { return c > ' ' && c < 127; }))
        return fail(Code::denied, "this is not a token: " + path_);
    token_ = *text;
    read_at_ = now;
    return text;
}

} // namespace bridge
