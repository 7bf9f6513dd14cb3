// SPDX-License-Identifier: GPL-2.0-or-later
// Edits JSON as text: selected members are replaced, everything else keeps its
// original bytes.
#pragma once

#include "common/base/json.h"
#include "common/base/json_text.h"

#include <string>
#include <string_view>

namespace bridge {

// A JSON object whose members can be set one after the other.
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
    // Appends an item to the array with this name; creates the array if it does
    // not exist.
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
