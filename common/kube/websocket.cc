// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/websocket.h"

#include "common/kube/base64.h"

#include <openssl/evp.h>

namespace bridge {

namespace {

constexpr char no_websocket[] = "the API server does not speak WebSocket";
constexpr std::size_t short_length = 126; // from here on the length has more
                                          // bytes
constexpr std::size_t two_bytes = 126, eight_bytes = 127;
constexpr std::size_t longest_short = 65535;

std::unexpected<Error> broken()
{
    return fail(Code::internal, no_websocket);
}

bool is_control(WsOpcode opcode)
{
    return static_cast<std::uint8_t>(opcode) >= 8;
}

bool is_known(unsigned opcode)
{
    return opcode <= 2 || (opcode >= 8 && opcode <= 10);
}

std::uint64_t number_in(std::string_view bytes)
{
    std::uint64_t number = 0;
    for (char c : bytes)
        number = number << 8 | static_cast<unsigned char>(c);
    return number;
}

} // namespace

std::string encode_ws(WsOpcode opcode, std::string_view data,
                      const WsMask &mask)
{
    std::string frame;
    frame += static_cast<char>(0x80 | static_cast<unsigned>(opcode));
    std::size_t size = data.size(), bytes = 0;
    if (size < short_length) {
        frame += static_cast<char>(0x80 | size);
    } else {
        bytes = size <= longest_short ? 2 : 8;
        frame +=
            static_cast<char>(0x80 | (bytes == 2 ? two_bytes : eight_bytes));
    }
    for (std::size_t i = bytes; i-- > 0;)
        frame += static_cast<char>(size >> (8 * i) & 0xff);
    for (std::uint8_t byte : mask)
        frame += static_cast<char>(byte);
    for (std::size_t i = 0; i < size; i++)
        frame += static_cast<char>(static_cast<unsigned char>(data[i]) ^
                                   mask[i % mask.size()]);
    return frame;
}

Result<std::optional<WsReader::Piece>> WsReader::next_piece()
{
    if (rest_.size() < 2)
        return std::nullopt;
    auto first = static_cast<unsigned char>(rest_[0]);
    auto second = static_cast<unsigned char>(rest_[1]);
    unsigned opcode = first & 0x0f;
    if ((first & 0x70) != 0 || (second & 0x80) != 0 || !is_known(opcode))
        return broken(); // extensions and masks are not allowed from servers
    std::size_t more = second == eight_bytes ? 8 : second == two_bytes ? 2 : 0;
    if (rest_.size() < 2 + more)
        return std::nullopt;
    std::uint64_t size =
        more == 0 ? second : number_in(std::string_view(rest_).substr(2, more));
    Piece piece{(first & 0x80) != 0, static_cast<WsOpcode>(opcode), {}};
    if (size > longest ||
        (is_control(piece.opcode) && (more != 0 || !piece.last)))
        return broken();
    if (rest_.size() < 2 + more + size)
        return std::nullopt;
    piece.data = rest_.substr(2 + more, size);
    rest_.erase(0, 2 + more + size);
    return piece;
}

Result<std::optional<WsMessage>> WsReader::next()
{
    for (;;) {
        auto piece = next_piece();
        if (!piece)
            return std::unexpected(piece.error());
        if (!*piece)
            return std::nullopt;
        Piece &now = **piece;
        if (is_control(now.opcode))
            return WsMessage{now.opcode, std::move(now.data)};
        bool goes_on = now.opcode == WsOpcode::continuation;
        if (goes_on != begun_.has_value())
            return broken();
        if (!goes_on)
            begun_ = WsMessage{now.opcode, {}};
        if (begun_->data.size() + now.data.size() > longest)
            return broken();
        begun_->data += now.data;
        if (!now.last)
            continue;
        std::optional<WsMessage> whole = std::move(begun_);
        begun_.reset();
        return whole;
    }
}

std::string ws_accept(std::string_view key)
{
    std::string text =
        std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
    std::size_t size = 0;
    if (EVP_Q_digest(nullptr, "SHA1", nullptr, text.data(), text.size(),
                     hash.data(), &size) != 1)
        return {};
    return base64(std::span(hash.data(), size));
}

} // namespace bridge
