// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/host_port.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a host and its port")
{
    CHECK(parse_host_port("[::1]:22").value().host == "::1");
    CHECK(parse_host_port("a.b:022").value().port == 22);
    for (const char *text : {"", ":", "a", "a:", ":1", "a:0", "a:65536", "a:1x",
                             "::1:22", "[a]:1", "[::1]", "a b:1"}) {
        CAPTURE(text);
        auto parts = parse_host_port(text);
        REQUIRE_FALSE(parts);
        CHECK(parts.error().code == Code::rejected);
        CHECK(parts.error().message == "must be HOST:PORT or [IPV6]:PORT");
    }
}

TEST_CASE("a port is split off at the last colon, whatever the host is")
{
    CHECK(split_port("::1:65535").value().host == "::1");
    CHECK(split_port("::1:65535").value().port == 65535);
    CHECK(split_port("[::1]:1").value().host == "[::1]");
    CHECK(split_port(":1").value().host == "");
    for (const char *text : {"", "1", "a:", "a:0", "a:-1", "a:65536", "a:1 "}) {
        CAPTURE(text);
        CHECK_FALSE(split_port(text));
    }
}
