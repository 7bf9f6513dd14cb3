// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/regex_scan.h"

#include <charconv>
#include <format>

namespace bridge {

namespace {

constexpr char32_t replacement = 0xfffd;

bool is_letter_or_digit(char32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

} // namespace

char32_t next_character(std::string_view &text)
{
    auto byte = [&](std::size_t i) {
        return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
    };
    char32_t first = byte(0);
    std::size_t length = first < 0x80   ? 1
                         : first < 0xc2 ? 0
                         : first < 0xe0 ? 2
                         : first < 0xf0 ? 3
                         : first < 0xf5 ? 4
                                        : 0;
    char32_t c = length == 1 ? first : first & (0x7fu >> length);
    bool whole = length > 0 && length <= text.size();
    for (std::size_t i = 1; whole && i < length; i++) {
        whole = (byte(i) & 0xc0) == 0x80;
        c = (c << 6) | (byte(i) & 0x3f);
    }
    bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
    if (!whole || overlong || c > last_character ||
        (c >= 0xd800 && c < 0xe000)) {
        text.remove_prefix(1);
        return replacement;
    }
    text.remove_prefix(length);
    return c;
}

bool RegexScanner::take(std::string_view token)
{
    if (!rest_.starts_with(token))
        return false;
    rest_.remove_prefix(token.size());
    return true;
}

std::unexpected<Error> RegexScanner::refuse(std::string_view what) const
{
    return fail(Code::rejected,
                std::format("regular expression: {} at byte {}", what,
                            pattern_.size() - rest_.size() + 1));
}

Result<CharSet> RegexScanner::bracket(bool fold)
{
    bool negative = take("^");
    CharSet set;
    for (bool first = true; first || !rest_.starts_with("]"); first = false) {
        if (rest_.empty())
            return refuse("a '[' without its ']'");
        auto item = bracket_item(fold);
        if (!item)
            return item;
        set.insert(set.end(), item->begin(), item->end());
    }
    take("]");
    set = normalized(std::move(set));
    return negative ? negated(set) : set;
}

Result<CharSet> RegexScanner::bracket_item(bool fold)
{
    if (rest_.starts_with("[:") && rest_.find(":]") != rest_.npos)
        return named_class(fold);
    std::string_view before = rest_;
    if (take("\\"))
        if (auto set = class_escape(fold))
            return *set;
    rest_ = before;
    auto first = bracket_character();
    if (!first)
        return std::unexpected(first.error());
    char32_t last = *first;
    if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
        take("-");
        auto read = bracket_character();
        if (!read)
            return std::unexpected(read.error());
        last = *read;
    }
    return range(*first, last, fold);
}

Result<CharSet> RegexScanner::range(char32_t first, char32_t last,
                                    bool fold) const
{
    if (last < first)
        return refuse("a range that ends before it starts");
    if (fold && last > 0x7f)
        return refuse("(?i) with a character outside of ASCII");
    CharSet set = {{first, last}};
    return fold ? folded(std::move(set)) : set;
}

Result<char32_t> RegexScanner::bracket_character()
{
    if (rest_.empty())
        return refuse("a '[' without its ']'");
    if (take("\\"))
        return escaped_character();
    return next();
}

Result<CharSet> RegexScanner::named_class(bool fold)
{
    std::string_view name = rest_.substr(2, rest_.find(":]") - 2);
    bool negative = name.starts_with('^');
    auto set = posix_class(name.substr(negative));
    if (!set)
        return refuse("an unknown class");
    skip(name.size() + 4);
    if (fold)
        set = folded(std::move(*set));
    return negative ? negated(*set) : *set;
}

std::optional<CharSet> RegexScanner::class_escape(bool fold)
{
    if (rest_.empty())
        return std::nullopt;
    char c = rest_.front();
    bool negative = c >= 'A' && c <= 'Z';
    auto set = perl_class(static_cast<char32_t>(negative ? c - 'A' + 'a' : c));
    if (!set)
        return std::nullopt;
    skip(1);
    if (fold)
        set = folded(std::move(*set));
    return negative ? negated(*set) : *set;
}

Result<char32_t> RegexScanner::escaped_character()
{
    if (rest_.empty())
        return refuse("a backslash");
    std::string_view before = rest_;
    char32_t c = next();
    constexpr std::string_view letters = "afnrtv";
    constexpr std::string_view meanings = "\a\f\n\r\t\v";
    if (c == 'x')
        return hexadecimal();
    if (std::size_t i =
            c < 0x80 ? letters.find(static_cast<char>(c)) : letters.npos;
        i != letters.npos)
        return static_cast<char32_t>(meanings[i]);
    if (c < 0x80 && !is_letter_or_digit(c))
        return c;
    rest_ = before;
    return refuse("an escape that is not supported");
}

Result<char32_t> RegexScanner::hexadecimal()
{
    bool braces = take("{");
    std::size_t length = braces ? rest_.find('}') : 2;
    if (length == 0 || length > 8 || length > rest_.size())
        return refuse("a bad \\x");
    std::uint32_t value = 0;
    const char *last = rest_.data() + length;
    auto [end, error] = std::from_chars(rest_.data(), last, value, 16);
    if (error != std::errc() || end != last || value > last_character)
        return refuse("a bad \\x");
    skip(length + braces);
    return static_cast<char32_t>(value);
}

} // namespace bridge
