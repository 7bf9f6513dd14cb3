// SPDX-License-Identifier: GPL-2.0-or-later
// A ServiceAccount's token in a file, which the kubelet or another issuer
// replaces before the token expires. Used by one thread.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <string>

namespace bridge {

class TokenFile {
  public:
    using Clock = std::chrono::steady_clock;

    explicit TokenFile(std::string path) : path_(std::move(path)) {}

    // Returns the token, as read at most a minute ago. Code::denied, with the
    // path, if the file has no valid token; if it cannot be read, also with
    // whose it is, and as whom we run.
    Result<std::string> read(Clock::time_point now);

    // Call this when the server has refused the token: the next read() reads
    // the file.
    void forget() { token_.clear(); }

  private:
    std::string path_;
    std::string token_; // empty: not read
    Clock::time_point read_at_;
};

} // namespace bridge
