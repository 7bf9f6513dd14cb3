// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/output_name.h"

#include <algorithm>
#include <cstdint>

namespace bridge {

namespace {

constexpr std::size_t max_width = 10;
constexpr std::uint32_t no_task = 0xfffffffe; // NO_VAL: the job is no array's

std::string padded(std::uint32_t number, std::size_t width)
{
    std::string text = std::to_string(number);
    return std::string(width - std::min(width, text.size()), '0') + text;
}

// What the letter stands for; false: nothing.
bool expand(char letter, std::size_t width, const OutputFacts &facts,
            std::string &text)
{
    switch (letter) {
    case 'A':
    case 'J':
    case 'j':
        text += padded(facts.job.id, width);
        return true;
    case 'a':
        text += padded(no_task, width);
        return true;
    case 'b':
        text += padded(no_task % 10, width);
        return true;
    case 'n': // the node's number, the task's, and how often it was restarted
    case 't':
    case 'r':
        text += padded(0, width);
        return true;
    case 'N':
        text += facts.node;
        return true;
    case 'S':
        text += facts.job.sluid.str();
        return true;
    case 's':
        text += "batch";
        return true;
    case 'u':
        text += facts.user;
        return true;
    case 'x':
        text += facts.job_name;
        return true;
    default:
        return false;
    }
}

// A backslash anywhere: nothing stands for anything else.
std::string without_backslashes(std::string_view pattern)
{
    std::string text(pattern);
    std::erase(text, '\\');
    return text;
}

} // namespace

std::string expand_output(std::string_view pattern, const OutputFacts &facts)
{
    std::string text;
    if (!pattern.empty() && pattern.front() != '/') {
        text = facts.work_dir;
        if (!text.ends_with('/'))
            text += '/';
    }
    if (pattern.contains('\\'))
        return text + without_backslashes(pattern);
    while (!pattern.empty()) {
        std::size_t percent = pattern.find('%');
        text += pattern.substr(0, percent);
        if (percent == pattern.npos)
            break;
        pattern.remove_prefix(percent + 1);
        std::size_t digits =
            std::min(pattern.find_first_not_of("0123456789"), pattern.size());
        std::string_view width = pattern.substr(0, digits);
        pattern.remove_prefix(digits);
        std::size_t places = 0;
        for (char c : width)
            places = std::min(places * 10 + std::size_t(c - '0'), max_width);
        if (pattern.empty()) {
            text += width.empty() ? "" : "%" + std::string(width);
            break;
        }
        char letter = pattern.front();
        pattern.remove_prefix(1);
        if (letter == '%' && width.empty())
            text += '%';
        else if (!expand(letter, places, facts, text))
            text += "%" + std::string(width) + letter;
    }
    return text;
}

} // namespace bridge
