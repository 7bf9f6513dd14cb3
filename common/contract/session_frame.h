// SPDX-License-Identifier: GPL-2.0-or-later
// The frames between slurmk8s and slurmk8sd while a user reads the log of a job
// or works in its container; common/base/frame_cutter.h has their form. Pure.
//
//    slurmk8s → slurmk8sd
//     h hello     the request, first and once: session_request.h
//     i input     bytes for stdin; an empty frame is its end
//     w window    {"rows":50,"columns":132}
//    slurmk8sd → slurmk8s
//     a accepted  empty: the request is being carried out
//     o output    bytes of stdout
//     e error     bytes of stderr
//     x ended     the outcome, last: session_request.h
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
    // Returns max_frame for every known letter, otherwise nothing.
    static std::optional<std::size_t> longest(FrameType type);

    FrameType type = FrameType::hello;
    std::string text;

    bool operator==(const Frame &) const = default;
};

inline constexpr std::size_t max_frame = 65536; // bytes of text

// Splits the text into as many frames as necessary. Only output, error and
// input may be longer than max_frame.
std::string encode_frames(FrameType type, std::string_view text);

using FrameReader = FrameCutter<Frame>;

} // namespace bridge
