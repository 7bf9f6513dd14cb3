// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/conf_lines.h"

#include "common/base/ascii.h"
#include "common/base/read_file.h"

#include <algorithm>

namespace bridge {

namespace {

Result<> bad(std::string reason)
{
    return fail(Code::rejected, std::move(reason));
}

// Tells whether the text has control characters other than tabs. They include
// the zero byte, at which a C string would end.
bool has_control_character(std::string_view text)
{
    return std::ranges::any_of(text, [](char c) {
        return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f;
    });
}

// Passes one line to on_setting. A blank line or a comment is skipped.
Result<> parse_line(std::string_view line, const OnSetting &on_setting)
{
    line = trim(line.substr(0, line.find('#')));
    if (line.empty())
        return {};
    if (has_control_character(line))
        return bad("has a control character: is this a text file?");
    std::size_t equals = line.find('=');
    if (equals == line.npos)
        return bad("\"" + std::string(line.substr(0, 64)) +
                   "\" is not Key=Value");
    std::string_view key = trim(line.substr(0, equals));
    std::string_view value = trim(line.substr(equals + 1));
    return on_setting(key, value);
}

} // namespace

std::string_view trim(std::string_view text)
{
    constexpr std::string_view blank = " \t\r";
    std::size_t first = text.find_first_not_of(blank);
    if (first == text.npos)
        return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

bool is_key(std::string_view text, std::string_view name)
{
    return lower_case(text) == lower_case(name);
}

Result<bool> yes_or_no(std::string_view value)
{
    std::string word = lower_case(value);
    if (word != "yes" && word != "no")
        return fail(Code::rejected, "must be yes or no");
    return word == "yes";
}

Result<std::string_view> absolute_path(std::string_view value)
{
    if (!value.starts_with('/'))
        return fail(Code::rejected, "must be an absolute path");
    return value;
}

Result<> for_each_setting(std::string_view text, const OnSetting &on_setting)
{
    std::size_t line_number = 0;
    while (!text.empty()) {
        line_number++;
        std::size_t end = text.find('\n');
        if (auto done = parse_line(text.substr(0, end), on_setting); !done)
            return fail(done.error(), "line " + std::to_string(line_number));
        text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    }
    return {};
}

Result<std::string> read_conf_file(const std::string &path)
{
    auto text = read_file(path, any_size);
    if (!text)
        return fail(Code::not_found, "cannot read " + path);
    return text;
}

} // namespace bridge
