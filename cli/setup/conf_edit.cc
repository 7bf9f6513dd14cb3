// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/conf_edit.h"

#include "common/base/conf_lines.h"

#include <algorithm>

namespace bridge {

namespace {

// Returns the value's place within the text, which may be empty, or nothing if
// no line has the key.
std::optional<std::string_view> find_value(std::string_view text,
                                           std::string_view key)
{
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        std::string_view setting = line.substr(0, line.find('#'));
        auto equals = setting.find('=');
        if (equals != setting.npos &&
            is_key(trim(setting.substr(0, equals)), key)) {
            std::string_view value = trim(setting.substr(equals + 1));
            return value.empty() ? setting.substr(equals + 1, 0) : value;
        }
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> conf_value(std::string_view text,
                                      std::string_view key)
{
    auto found = find_value(text, key);
    return found ? std::optional<std::string>(*found) : std::nullopt;
}

std::string with_conf_value(std::string_view text, std::string_view key,
                            std::string_view value)
{
    std::string edited(text);
    if (auto found = find_value(text, key)) {
        auto at = static_cast<std::size_t>(found->data() - text.data());
        return edited.replace(at, found->size(), value);
    }
    if (!edited.empty() && !edited.ends_with('\n'))
        edited += '\n';
    return edited.append(key).append("=").append(value).append("\n");
}

} // namespace bridge
