// SPDX-License-Identifier: GPL-2.0-or-later
// JSON as text of which parts are replaced, and all else stays as it was
// written.
#pragma once

#include "common/base/json.h"
#include "common/base/json_text.h"

#include <string>
#include <string_view>

namespace bridge {

// A JSON object whose members are set one after the other.
struct Edited {
    std::string text;

    Edited &set(const char *name, const JsonValue &value)
    {
        return set_text(name, value.dump());
    }
    Edited &set_text(const char *name, std::string_view json)
    {
        text = json_with(text, name, json);
        return *this;
    }
    Edited part(const char *name) const
    {
        return {std::string(json_text(text, name).value_or("{}"))};
    }
    // The array of that name with one more item.
    Edited &append(const char *name, const JsonValue &item)
    {
        std::string array(json_text(text, name).value_or("[]"));
        std::size_t end = array.rfind(']');
        std::size_t last = array.find_last_not_of(" \t\r\n", end - 1);
        bool empty = array[last] == '[';
        array =
            array.substr(0, last + 1) + (empty ? "" : ",") + item.dump() + "]";
        return set_text(name, array);
    }
};

} // namespace bridge
