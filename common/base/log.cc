// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/log.h"

#include <atomic>
#include <unistd.h>

namespace bridge {

namespace {

std::atomic<LogLevel> current_level{LogLevel::info};

const char *level_name(LogLevel level)
{
    switch (level) {
    case LogLevel::error:
        return "error";
    case LogLevel::warning:
        return "warning";
    case LogLevel::info:
        return "info";
    case LogLevel::debug:
        return "debug";
    }
    return "info";
}

bool needs_quotes(std::string_view value)
{
    for (char c : value)
        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7f)
            return true;
    return value.empty();
}

void append_quoted(std::string &line, std::string_view value)
{
    constexpr char hex[] = "0123456789abcdef";
    line += '"';
    for (char c : value) {
        if (c == '"' || c == '\\') {
            line += '\\';
            line += c;
        } else if ((c >= 0 && c < ' ') || c == 0x7f) {
            line += "\\x";
            line += hex[c >> 4];
            line += hex[c & 15];
        } else {
            line += c;
        }
    }
    line += '"';
}

} // namespace

void set_log_level(LogLevel level)
{
    current_level = level;
}

LogLevel log_level()
{
    return current_level;
}

std::string format_log_line(LogLevel level, std::string_view sentence,
                            LogPairs pairs)
{
    std::string line = "level=";
    line += level_name(level);
    line += " msg=";
    append_quoted(line, sentence);
    for (const LogPair &pair : pairs) {
        line += ' ';
        line += pair.key;
        line += '=';
        if (needs_quotes(pair.value))
            append_quoted(line, pair.value);
        else
            line += pair.value;
    }
    return line;
}

void log_line(LogLevel level, std::string_view sentence, LogPairs pairs)
{
    if (level > log_level())
        return;
    std::string line = format_log_line(level, sentence, pairs) + '\n';
    // One write, so that lines of several threads do not mix. A failure cannot
    // be reported anywhere.
    [[maybe_unused]] ssize_t n =
        ::write(STDERR_FILENO, line.data(), line.size());
}

} // namespace bridge
