// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/base64.h"

#include <openssl/evp.h>

namespace bridge {

std::string base64(std::span<const unsigned char> bytes)
{
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0'); // and a final null
    int size = EVP_EncodeBlock(reinterpret_cast<unsigned char *>(text.data()),
                               bytes.data(), static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

std::string base64(std::string_view bytes)
{
    return base64(std::span(
        reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size()));
}

} // namespace bridge
