// SPDX-License-Identifier: GPL-2.0-or-later
// Objects for tests: files of tests/data, which a real API server wrote, and
// texts.
#pragma once

#include "common/base/json.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <iterator>
#include <string>

namespace bridge {

inline Json json_of(std::string_view text)
{
    auto json = Json::parse(text);
    REQUIRE_MESSAGE(json.has_value(), text);
    return *json;
}

// make check says where the sources are.
inline std::string text_file(const std::string &name)
{
    const char *sources = std::getenv("srcdir");
    std::string path =
        std::string(sources ? sources : ".") + "/tests/data/" + name;
    std::ifstream file(path);
    REQUIRE_MESSAGE(file.good(), path);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline Json json_file(const std::string &name)
{
    return json_of(text_file(name));
}

} // namespace bridge
