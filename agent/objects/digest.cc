// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/digest.h"

#include <openssl/sha.h>

namespace bridge {

void add_key_part(std::string &key, std::string_view part)
{
    key += std::to_string(part.size());
    key += ':';
    key += part;
}

std::string digest_of(std::string_view text)
{
    unsigned char made[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char *>(text.data()), text.size(),
           made);
    return {reinterpret_cast<const char *>(made), sizeof(made)};
}

} // namespace bridge
