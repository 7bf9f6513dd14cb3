// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/websocket.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;
using namespace std::string_literals;

namespace {

constexpr WsMask mask{0x37, 0xfa, 0x21, 0x3d};

// As a server sends it.
std::string frame(unsigned first, std::string_view data)
{
    std::string text(1, static_cast<char>(first));
    text += static_cast<char>(data.size());
    return text.append(data);
}

std::vector<std::string> messages_in(std::string_view bytes, std::size_t piece)
{
    WsReader reader;
    std::vector<std::string> all;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.feed(bytes.substr(at, piece));
        for (;;) {
            auto message = reader.next();
            REQUIRE(message.has_value());
            if (!*message)
                break;
            all.push_back((*message)->data);
        }
    }
    return all;
}

bool is_broken(const std::string &bytes)
{
    WsReader reader;
    reader.feed(bytes);
    auto message = reader.next();
    return !message && message.error().code == Code::internal;
}

} // namespace

TEST_CASE("a message of ours is one masked frame: RFC 6455, 5.7")
{
    CHECK(encode_ws(WsOpcode::text, "Hello", mask) ==
          "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58");
    CHECK(encode_ws(WsOpcode::binary, std::string(126, 'x'), mask)
              .starts_with("\x82\xfe\x00\x7e\x37"s));
    CHECK(encode_ws(WsOpcode::binary, std::string(65536, 'x'), mask)
              .starts_with("\x82\xff\x00\x00\x00\x00\x00\x01\x00\x00\x37"s));
}

TEST_CASE("a server's messages, whole and in fragments, with a ping between")
{
    std::string bytes = frame(0x82, "one") + frame(0x02, "t") +
                        frame(0x89, "ping") + frame(0x80, "wo") +
                        frame(0x82, "");
    std::vector<std::string> all = {"one", "ping", "two", ""};

    CHECK(messages_in(bytes, 1) == all);
    CHECK(messages_in(bytes, 5) == all);
    CHECK(messages_in("\x82\x7e\x00\x80"s + std::string(128, 'x'), 100) ==
          std::vector{std::string(128, 'x')});
}

TEST_CASE("what no server may send ends it")
{
    CHECK(is_broken("\x82\x85masked"));
    CHECK(is_broken(frame(0xc2, "extension")));
    CHECK(is_broken(frame(0x83, "opcode")));
    CHECK(is_broken(frame(0x80, "goes on from nothing")));
    CHECK(is_broken(frame(0x02, "a") + frame(0x82, "b")));
    CHECK(is_broken(frame(0x09, "a ping in pieces")));
    CHECK(is_broken("\x82\x7f\x00\x00\x00\x00\x00\x10\x00\x01"s));
    CHECK(is_broken("\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"));
}

TEST_CASE("the answer to a key: RFC 6455, 1.3")
{
    CHECK(ws_accept("dGhlIHNhbXBsZSBub25jZQ==") ==
          "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}
