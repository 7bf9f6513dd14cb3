// SPDX-License-Identifier: GPL-2.0-or-later
// The texts of the frames hello, window and ended, as JSON: a user's request to
// slurmk8sd, and its outcome. The requests come from users and are not trusted.
// Pure.
//
//    hello   {"do":"logs","job":4711,"follow":true}
//            {"do":"attach","job":4711,"command":["ls","-l"],"input":true,
//             "terminal":true,"rows":50,"columns":132}
//            over TLS also "login":SECRET, see login_dir.h
//    ended   {"exit":3}, or {"refused":MESSAGE}, with "unknown":true if there
//            is no such job or Pod, "later":true if it has not started yet
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The size of a terminal in characters; 0: not known.
struct WindowSize {
    std::uint16_t rows = 0;
    std::uint16_t columns = 0;

    bool operator==(const WindowSize &) const = default;
};

struct SessionRequest {
    enum class What { logs, attach };

    What what = What::logs;
    std::uint32_t job = 0; // JobId
    std::string login{};   // empty: the kernel identifies the user
    bool follow = false;   // logs: continue until the container ends
    // attach: the command, whether it gets an input, and a terminal.
    std::vector<std::string> command{};
    bool input = false;
    bool terminal = false;
    WindowSize window{};

    bool operator==(const SessionRequest &) const = default;
};

struct SessionEnd {
    int exit = 0;          // exit code of the command; 0 for logs
    std::string refused{}; // the reason as text; empty: it was carried out
    bool unknown = false;
    bool later = false;

    bool operator==(const SessionEnd &) const = default;
};

// Code::rejected if the request does not fit into a frame, or if the command is
// empty or not UTF-8.
Result<std::string> encode(const SessionRequest &request);
std::string encode(const SessionEnd &end);
std::string encode(const WindowSize &window);

// Code::rejected for anything that does not have the form above.
Result<SessionRequest> decode_session_request(std::string_view text);
Result<SessionEnd> decode_session_end(std::string_view text);
Result<WindowSize> decode_window_size(std::string_view text);

} // namespace bridge
