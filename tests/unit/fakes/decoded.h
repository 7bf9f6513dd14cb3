// SPDX-License-Identifier: GPL-2.0-or-later
// What base64 stands for, by OpenSSL.
#pragma once

#include <algorithm>
#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <string>

namespace bridge {

inline std::string decoded(const std::string &text)
{
    std::string bytes(text.size(), '\0');
    int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char *>(bytes.data()),
                        reinterpret_cast<const unsigned char *>(text.data()),
                        static_cast<int>(text.size()));
    REQUIRE(size >= 0);
    bytes.resize(static_cast<std::size_t>(size));
    bytes.resize(bytes.size() -
                 static_cast<std::size_t>(std::ranges::count(text, '=')));
    return bytes;
}

} // namespace bridge
