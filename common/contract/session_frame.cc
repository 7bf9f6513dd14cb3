// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/session_frame.h"

#include <algorithm>

namespace bridge {

std::optional<std::size_t> Frame::longest(FrameType type)
{
    constexpr std::string_view letters = "hiwaoex";
    if (!letters.contains(static_cast<char>(type)))
        return std::nullopt;
    return max_frame;
}

std::string encode_frames(FrameType type, std::string_view text)
{
    std::string frames;
    do {
        std::size_t size = std::min(text.size(), max_frame);
        append_frame(frames, static_cast<char>(type), text.substr(0, size));
        text.remove_prefix(size);
    } while (!text.empty());
    return frames;
}

} // namespace bridge
