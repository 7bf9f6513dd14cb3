// SPDX-License-Identifier: GPL-2.0-or-later
// Parses the line format of k8s.conf: Key=Value lines and comments. This file
// does not know which keys exist: common/contract/conf.h and
// common/contract/session_conf.h define them. Pure functions, except
// read_conf_file().
#pragma once

#include "common/base/result.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

// Returns the text without leading and trailing spaces, tabs and carriage
// returns.
std::string_view trim(std::string_view text);

// Tells whether text is the key called name. Case is ignored.
bool is_key(std::string_view text, std::string_view name);

// Returns the key with this name, or null if the list has none.
template <class Keys>
const typename Keys::value_type *find_key(const Keys &keys,
                                          std::string_view name)
{
    auto found = std::ranges::find_if(
        keys, [&](const auto &key) { return is_key(name, key.name); });
    return found == keys.end() ? nullptr : &*found;
}

// Parse values that several keys have in common. Code::rejected: the message
// says what the value must be.
Result<bool> yes_or_no(std::string_view value);
Result<std::string_view> absolute_path(std::string_view value);

using OnSetting =
    std::function<Result<>(std::string_view key, std::string_view value)>;

// Calls on_setting for each Key=Value line, in order. Blank lines and comments
// are skipped; the value may be empty. Fails with Code::rejected and the line
// number if a line is not Key=Value, has a control character, or is refused by
// on_setting.
Result<> for_each_setting(std::string_view text, const OnSetting &on_setting);

// Returns the whole file. Code::not_found if it cannot be read.
Result<std::string> read_conf_file(const std::string &path);

} // namespace bridge
