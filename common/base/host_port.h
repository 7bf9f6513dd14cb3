// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses with a port, as k8s.conf has them.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

struct HostPort {
    std::string host;
    std::uint16_t port = 0;
};

// Parses HOST:PORT or [IPV6]:PORT; the host comes back without the brackets.
// Code::rejected for any other form.
Result<HostPort> parse_host_port(std::string_view text);

// Splits a text at its last ':' and does not check the host, which may be
// empty. Nothing if no port from 1 to 65535 follows.
std::optional<HostPort> split_port(std::string_view text);

} // namespace bridge
