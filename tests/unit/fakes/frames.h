// SPDX-License-Identifier: GPL-2.0-or-later
// Frames that arrive in pieces.
#pragma once

#include "common/base/frame_cutter.h"

#include <doctest/doctest.h>
#include <string_view>
#include <vector>

namespace bridge {

// All of bytes, that arrive as many at a time; no part of one is left.
template <class Frame>
std::vector<Frame> frames_in(std::string_view bytes, std::size_t piece)
{
    FrameCutter<Frame> reader;
    std::vector<Frame> all;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        reader.feed(bytes.substr(at, piece));
        for (;;) {
            auto frame = reader.next();
            REQUIRE(frame.has_value());
            if (!*frame)
                break;
            all.push_back(**frame);
        }
    }
    CHECK(reader.empty());
    return all;
}

template <class Frame> bool is_refused(std::string_view bytes)
{
    FrameCutter<Frame> reader;
    reader.feed(bytes);
    auto frame = reader.next();
    return !frame && frame.error().code == Code::rejected;
}

} // namespace bridge
