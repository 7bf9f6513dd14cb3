// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/host_port.h"

#include "common/base/text.h"

namespace bridge {

Result<HostPort> parse_host_port(std::string_view text)
{
    constexpr std::string_view allowed =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:";
    auto parts = split_port(text);
    std::string_view host = parts ? std::string_view(parts->host) : "";
    bool brackets = host.starts_with('[') && host.ends_with(']');
    if (brackets)
        host = host.substr(1, host.size() - 2);
    if (host.empty() || host.find_first_not_of(allowed) != host.npos ||
        host.contains(':') != brackets)
        return fail(Code::rejected, "must be HOST:PORT or [IPV6]:PORT");
    return HostPort{std::string(host), parts->port};
}

std::optional<HostPort> split_port(std::string_view text)
{
    std::size_t colon = text.rfind(':');
    if (colon == text.npos)
        return std::nullopt;
    auto port = whole_number<std::uint16_t>(text.substr(colon + 1));
    if (!port || *port == 0)
        return std::nullopt;
    return HostPort{std::string(text.substr(0, colon)), *port};
}

} // namespace bridge
