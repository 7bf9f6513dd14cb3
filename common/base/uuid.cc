// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/uuid.h"

#include <array>
#include <cstdint>
#include <format>
#include <random>

namespace bridge {

std::string new_uuid()
{
    static thread_local std::random_device source;
    std::array<std::uint32_t, 4> bits{};
    for (std::uint32_t &word : bits)
        word = source();
    bits[1] = (bits[1] & 0xffff0fffU) | 0x4000U;     // version 4
    bits[2] = (bits[2] & 0x3fffffffU) | 0x80000000U; // variant of RFC 4122
    return std::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", bits[0],
                       bits[1] >> 16, bits[1] & 0xffffU, bits[2] >> 16,
                       bits[2] & 0xffffU, bits[3]);
}

} // namespace bridge
