// SPDX-License-Identifier: GPL-2.0-or-later
// The client side of WebSocket (RFC 6455), as far as the API server uses it:
// encoding and decoding of frames as values. Pure.
#pragma once

#include "common/base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bridge {

enum class WsOpcode : std::uint8_t {
    continuation = 0,
    text = 1,
    binary = 2,
    close = 8,
    ping = 9,
    pong = 10,
};

struct WsMessage {
    WsOpcode opcode = WsOpcode::binary;
    std::string data;
};

using WsMask = std::array<std::uint8_t, 4>; // random for each frame

// Encodes a whole message as one frame.
std::string encode_ws(WsOpcode opcode, std::string_view data,
                      const WsMask &mask);

// Cuts the received bytes into messages, and joins the frames of messages that
// consist of several.
class WsReader {
  public:
    static constexpr std::size_t longest = std::size_t{1} << 20; // bytes

    void feed(std::string_view piece) { rest_ += piece; }

    // Returns the next message, or nothing if it is not complete yet.
    // Code::internal if the server violates the protocol or a message is longer
    // than longest.
    Result<std::optional<WsMessage>> next();

  private:
    struct Piece {
        bool last = false;
        WsOpcode opcode = WsOpcode::binary;
        std::string data;
    };

    Result<std::optional<Piece>> next_piece();

    std::string rest_;
    std::optional<WsMessage> begun_;
};

// Returns the Sec-WebSocket-Accept that a server must send for this
// Sec-WebSocket-Key.
std::string ws_accept(std::string_view key);

} // namespace bridge
