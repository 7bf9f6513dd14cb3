// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/lexer.h"

#include "common/base/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <format>

namespace bridge {

namespace {

using Kind = CelToken::Kind;

constexpr std::array<std::string_view, 26> symbols = {
    "&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "?", ":", ".", ",",
    "+",  "-",  "*",  "/",  "%",  "(",  ")", "[", "]", "{", "}", ";", "="};

bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_name(char c)
{
    return starts_name(c) || is_digit(c);
}

// Returns false if c is not a valid character.
bool add_character(std::string &text, std::uint32_t c)
{
    auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return false;
    if (c < 0x80) {
        add(c);
    } else if (c < 0x800) {
        add(0xc0 | c >> 6);
        add(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        add(0xe0 | c >> 12);
        add(0x80 | (c >> 6 & 0x3f));
        add(0x80 | (c & 0x3f));
    } else {
        add(0xf0 | c >> 18);
        add(0x80 | (c >> 12 & 0x3f));
        add(0x80 | (c >> 6 & 0x3f));
        add(0x80 | (c & 0x3f));
    }
    return true;
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Result<std::vector<CelToken>> all()
    {
        std::vector<CelToken> tokens;
        do {
            skip_space();
            auto token = next();
            if (!token)
                return std::unexpected(token.error());
            tokens.push_back(std::move(*token));
        } while (tokens.back().kind != Kind::end);
        return tokens;
    }

  private:
    std::string_view rest() const { return text_.substr(at_); }
    bool more() const { return at_ < text_.size(); }
    char now() const { return text_[at_]; }

    void skip_space()
    {
        while (more()) {
            if (std::string_view(" \t\n\f\r").contains(now()))
                at_++;
            else if (rest().starts_with("//"))
                at_ = std::min(text_.find('\n', at_), text_.size());
            else
                return;
        }
    }

    Result<CelToken> next()
    {
        if (!more())
            return CelToken{Kind::end, at_, ""};
        if (std::size_t prefix = string_prefix(); prefix != no_string)
            return string(prefix);
        if (starts_name(now()))
            return name();
        if (is_digit(now()) || (now() == '.' && at_ + 1 < text_.size() &&
                                is_digit(text_[at_ + 1])))
            return number();
        for (std::string_view symbol : symbols)
            if (rest().starts_with(symbol)) {
                at_ += symbol.size();
                return CelToken{Kind::symbol, at_ - symbol.size(),
                                std::string(symbol)};
            }
        return fail_cel("a character that is not expected", at_);
    }

    Result<CelToken> name()
    {
        std::size_t start = at_;
        while (more() && continues_name(now()))
            at_++;
        return CelToken{Kind::name, start,
                        std::string(text_.substr(start, at_ - start))};
    }

    void digits()
    {
        while (more() && is_digit(now()))
            at_++;
    }

    Result<CelToken> number()
    {
        std::size_t start = at_;
        bool real = false;
        if (rest().starts_with("0x")) {
            at_ += 2;
            while (more() && is_hex(now()))
                at_++;
        } else {
            digits();
            real = fraction();
            real = exponent() || real;
        }
        if (more() && continues_name(now()))
            return fail_cel("an unsigned or bad number", start);
        return CelToken{real ? Kind::real : Kind::integer, start,
                        std::string(text_.substr(start, at_ - start))};
    }

    bool fraction()
    {
        if (!more() || now() != '.' || at_ + 1 >= text_.size() ||
            !is_digit(text_[at_ + 1]))
            return false;
        at_++;
        digits();
        return true;
    }

    bool exponent()
    {
        std::size_t start = at_;
        if (!more() || (now() != 'e' && now() != 'E'))
            return false;
        at_++;
        if (more() && (now() == '+' || now() == '-'))
            at_++;
        std::size_t first = at_;
        digits();
        if (at_ == first)
            at_ = start;
        return at_ != start;
    }

    static constexpr std::size_t no_string = 9;

    // Returns the number of prefix letters before the quote.
    std::size_t string_prefix() const
    {
        std::size_t length = 0;
        while (length < 2 && at_ + length < text_.size() &&
               std::string_view("rRbB").contains(text_[at_ + length]))
            length++;
        bool quoted = at_ + length < text_.size() &&
                      std::string_view("'\"").contains(text_[at_ + length]);
        return quoted ? length : no_string;
    }

    Result<CelToken> string(std::size_t prefix)
    {
        std::size_t start = at_;
        std::string_view letters = text_.substr(at_, prefix);
        if (letters.find_first_of("bB") != letters.npos || prefix > 1)
            return fail_cel("bytes", start);
        at_ += prefix;
        std::string quote(1, now());
        if (std::string three(3, now()); rest().starts_with(three))
            quote = three;
        at_ += quote.size();
        CelToken token{Kind::string, start, ""};
        while (!rest().starts_with(quote)) {
            bool ends = !more() ||
                        (quote.size() == 1 && (now() == '\n' || now() == '\r'));
            if (ends)
                return fail_cel("a string without its end", start);
            if (now() != '\\' || prefix > 0)
                token.text += text_[at_++];
            else if (!escape(token.text))
                return fail_cel("a bad escape in a string", at_);
        }
        at_ += quote.size();
        return token;
    }

    // Reads an escape that begins at the current backslash. Returns false if it
    // is not valid.
    bool escape(std::string &into)
    {
        constexpr std::string_view letters = "abfnrtv\\'\"`?";
        constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"`?";
        if (at_ + 1 >= text_.size())
            return false;
        char c = text_[at_ + 1];
        if (std::size_t i = letters.find(c); i != letters.npos) {
            into += meanings[i];
            at_ += 2;
            return true;
        }
        switch (c) {
        case 'x':
        case 'X':
            return numeric(into, 2, 2, 16);
        case 'u':
            return numeric(into, 2, 4, 16);
        case 'U':
            return numeric(into, 2, 8, 16);
        default:
            return c >= '0' && c <= '3' && numeric(into, 1, 3, 8);
        }
    }

    bool numeric(std::string &into, std::size_t skip, std::size_t length,
                 int base)
    {
        std::string_view digits = rest().substr(std::min(skip, rest().size()));
        digits = digits.substr(0, length);
        if (digits.size() < length ||
            !std::ranges::all_of(digits, base == 8 ? is_octal : is_hex))
            return false;
        std::uint32_t c = 0;
        std::from_chars(digits.data(), digits.data() + length, c, base);
        if (!add_character(into, c))
            return false;
        at_ += skip + length;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace

std::unexpected<Error> fail_cel(std::string_view what, std::size_t at)
{
    return fail(Code::rejected,
                std::format("CEL: {} at byte {}", what, at + 1));
}

Result<std::vector<CelToken>> cel_tokens(std::string_view text)
{
    return Lexer(text).all();
}

} // namespace bridge
