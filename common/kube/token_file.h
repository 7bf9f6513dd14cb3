// SPDX-License-Identifier: GPL-2.0-or-later
// A ServiceAccount's token in a file that the kubelet, or whoever issues it,
// replaces before it expires. Used by one thread.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <string>

namespace bridge {

class TokenFile {
  public:
    using Clock = std::chrono::steady_clock;

    explicit TokenFile(std::string path) : path_(std::move(path)) {}

    // The token, at most a minute old. Code::denied, with the path, when there
    // is none or it is not one.
    Result<std::string> read(Clock::time_point now);

    // The server refused it: read the file next time.
    void forget() { token_.clear(); }

  private:
    std::string path_;
    std::string token_; // empty: not read
    Clock::time_point read_at_;
};

} // namespace bridge
