// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of a byte stream. A frame is a letter, the length of its text in four
// bytes (most significant byte first), and the text. The users of this file
// define the letters: common/contract/session_frame.h, and step_frame.h of
// srun. Pure.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

// Appends the number as four bytes, most significant byte first.
inline void append_number(std::string &to, std::uint32_t number)
{
    for (int shift : {24, 16, 8, 0})
        to += static_cast<char>(number >> shift & 0xff);
}

// Decodes the first four bytes. text must have at least four.
inline std::uint32_t number_at(std::string_view text)
{
    std::uint32_t number = 0;
    for (char c : text.substr(0, 4))
        number = number << 8 | static_cast<unsigned char>(c);
    return number;
}

inline void append_frame(std::string &to, char letter, std::string_view text)
{
    to += letter;
    append_number(to, static_cast<std::uint32_t>(text.size()));
    to += text;
}

// Cuts a stream that arrives in arbitrary pieces into frames. A Frame{kind,
// text} needs a type Kind, an enum of letters, and a function longest(kind)
// that returns the maximum length of the text in bytes, or nothing for an
// unknown letter.
template <class Frame> class FrameCutter {
  public:
    void feed(std::string_view piece)
    {
        if (at_ > rest_.size() / 2) {
            rest_.erase(0, at_);
            at_ = 0;
        }
        rest_ += piece;
    }

    // Returns the next frame, or nothing if it is not complete yet. Fails with
    // Code::rejected for an unknown letter or a length above the maximum; the
    // rest of the stream cannot be read after that.
    Result<std::optional<Frame>> next()
    {
        constexpr std::size_t head = 5; // letter and length
        std::string_view rest = std::string_view(rest_).substr(at_);
        if (rest.empty())
            return std::nullopt;
        auto kind = static_cast<typename Frame::Kind>(rest[0]);
        auto longest = Frame::longest(kind);
        if (!longest)
            return no_frame();
        if (rest.size() < head)
            return std::nullopt;
        std::size_t length = number_at(rest.substr(1));
        if (length > *longest)
            return no_frame();
        if (rest.size() < head + length)
            return std::nullopt;
        at_ += head + length;
        return Frame{kind, std::string(rest.substr(head, length))};
    }

    // Tells whether no part of a frame is waiting.
    bool empty() const { return at_ == rest_.size(); }

  private:
    static std::unexpected<Error> no_frame()
    {
        return fail(Code::rejected,
                    "the other side does not speak our protocol");
    }

    std::string rest_;
    std::size_t at_ = 0; // bytes before this offset have been consumed
};

} // namespace bridge
