// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/address.h"

#include "common/base/host_port.h"

#include <arpa/inet.h>

namespace bridge {

namespace {

constexpr char default_address[] = "127.0.0.1";

} // namespace

Result<NodeAddress> parse_node_address(const std::string &text)
{
    NodeAddress address{text.empty() ? default_address : text, 0};
    if (std::size_t colon = address.ip.rfind(':');
        colon != address.ip.npos && address.ip.find(':') == colon) {
        auto parts = split_port(address.ip);
        if (!parts)
            return fail(Code::rejected, "NodeAddress=" + text +
                                            " has no valid port after its ':'");
        address = {std::move(parts->host), parts->port};
    }
    in6_addr any{};
    if (inet_pton(AF_INET, address.ip.c_str(), &any) != 1 &&
        inet_pton(AF_INET6, address.ip.c_str(), &any) != 1)
        return fail(Code::rejected,
                    "NodeAddress=" + text + " is not an IP address");
    return address;
}

} // namespace bridge
