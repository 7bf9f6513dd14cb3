// SPDX-License-Identifier: GPL-2.0-or-later
// What passes between slurmk8s and slurmk8sd while a user reads the log of a
// job or is in its container: frames, as common/base/frame_cutter.h has them.
// Pure.
//
//  slurmk8s → slurmk8sd
//   h hello     the request, first and once: session_request.h
//   i input     for stdin; an empty one is its end
//   w window    {"rows":50,"columns":132}
//  slurmk8sd → slurmk8s
//   a accepted  empty: what was asked for begins
//   o output    of stdout
//   e error     of stderr
//   x ended     the outcome, last: session_request.h
#pragma once

#include "common/base/frame_cutter.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

enum class FrameType : char {
    hello = 'h',
    input = 'i',
    window = 'w',
    accepted = 'a',
    output = 'o',
    error = 'e',
    ended = 'x',
};

struct Frame {
    using Kind = FrameType;
    // Of any known letter max_frame.
    static std::optional<std::size_t> longest(FrameType type);

    FrameType type = FrameType::hello;
    std::string text;

    bool operator==(const Frame &) const = default;
};

inline constexpr std::size_t max_frame = 65536; // bytes of text

// As many frames as the text needs: none but output, error and input may be
// longer than max_frame.
std::string encode_frames(FrameType type, std::string_view text);

using FrameReader = FrameCutter<Frame>;

} // namespace bridge
