// SPDX-License-Identifier: GPL-2.0-or-later
// The form of k8s.conf: lines of Key=Value and comments. Which keys there are
// say those who read it: common/contract/conf.h and
// common/contract/session_conf.h. Pure.
#pragma once

#include "common/base/result.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>

namespace bridge {

// Without blanks and tabs around it.
std::string_view trim(std::string_view text);

// Whether the text is the key's name: case does not count.
bool is_key(std::string_view text, std::string_view name);

// Null when no key of the list has the name.
template <class Keys>
const typename Keys::value_type *find_key(const Keys &keys,
                                          std::string_view name)
{
    auto found = std::ranges::find_if(
        keys, [&](const auto &key) { return is_key(name, key.name); });
    return found == keys.end() ? nullptr : &*found;
}

// Values of many keys. Code::rejected says what it must be.
Result<bool> yes_or_no(std::string_view value);
Result<std::string_view> absolute_path(std::string_view value);

using OnSetting =
    std::function<Result<>(std::string_view key, std::string_view value)>;

// Hands over each line that says something, in order; a value may be empty.
// Code::rejected, with the number of the line, for one that is no Key=Value,
// and for what on_setting refuses.
Result<> for_each_setting(std::string_view text, const OnSetting &on_setting);

// The whole file. Code::not_found when it cannot be read.
Result<std::string> read_conf_file(const std::string &path);

} // namespace bridge
