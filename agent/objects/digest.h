// SPDX-License-Identifier: GPL-2.0-or-later
// Short keys for long texts that users write. Pure.
#pragma once

#include <string>
#include <string_view>

namespace bridge {

// Adds a part to the text of a key, with its length: it may contain anything.
void add_key_part(std::string &key, std::string_view part);

// Returns the 32 bytes of the text's SHA-256: nobody can find two texts that
// have the same.
std::string digest_of(std::string_view text);

} // namespace bridge
