// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/json_text.h"

#include "common/base/json.h"

#include <charconv>
#include <cstddef>

namespace bridge {

namespace {

class Scanner {
  public:
    explicit Scanner(std::string_view text) : text_(text) {}

    void skip_space() { at_ = text_.find_first_not_of(" \t\n\r", at_); }

    bool take(char c)
    {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c)
            return false;
        at_++;
        return true;
    }

    // Returns the next complete value. Empty at the end of the text and where
    // there is no value.
    std::string_view value()
    {
        skip_space();
        std::size_t start = at_;
        std::size_t depth = 0;
        do {
            if (at_ >= text_.size())
                return {};
            char c = text_[at_];
            if (c == '{' || c == '[') {
                depth++;
                at_++;
            } else if (c == '}' || c == ']') {
                if (depth == 0)
                    return {};
                depth--;
                at_++;
            } else if (c == '"') {
                skip_string();
                if (at_ > text_.size())
                    return {};
            } else if (depth > 0) {
                at_++;
            } else {
                at_ = text_.find_first_of(",]} \t\n\r", at_);
            }
        } while (depth > 0);
        return text_.substr(start,
                            at_ < text_.size() ? at_ - start : text_.npos);
    }

  private:
    void skip_string()
    {
        for (at_++; at_ < text_.size() && text_[at_] != '"'; at_++)
            at_ += text_[at_] == '\\';
        at_++; // beyond the end of the text if the string is not closed
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

// Returns nothing if a name with escapes comes first: it may be the one.
std::optional<std::string_view> member(std::string_view object,
                                       std::string_view name)
{
    Scanner scanner(object);
    if (!scanner.take('{'))
        return std::nullopt;
    do {
        std::string_view key = scanner.value();
        if (key.size() < 2 || key.contains('\\') || !scanner.take(':'))
            return std::nullopt;
        std::string_view value = scanner.value();
        if (value.empty())
            return std::nullopt;
        if (key.substr(1, key.size() - 2) == name)
            return value;
    } while (scanner.take(','));
    return std::nullopt;
}

std::optional<std::string_view> item(std::string_view array,
                                     std::string_view index)
{
    unsigned left = 0;
    const char *last = index.data() + index.size();
    auto [end, error] = std::from_chars(index.data(), last, left);
    Scanner scanner(array);
    if (error != std::errc() || end != last || !scanner.take('['))
        return std::nullopt;
    do {
        std::string_view value = scanner.value();
        if (value.empty())
            return std::nullopt;
        if (left-- == 0)
            return value;
    } while (scanner.take(','));
    return std::nullopt;
}

} // namespace

std::optional<std::string_view> json_text(std::string_view document,
                                          std::string_view path)
{
    std::string_view value = Scanner(document).value();
    while (!path.empty()) {
        std::size_t slash = path.find('/');
        std::string_view step = path.substr(0, slash);
        path = slash == path.npos ? std::string_view{} : path.substr(slash + 1);
        auto next =
            value.starts_with('[') ? item(value, step) : member(value, step);
        if (!next)
            return std::nullopt;
        value = *next;
    }
    if (value.empty())
        return std::nullopt;
    return value;
}

std::string json_with(std::string_view object, std::string_view name,
                      std::string_view value)
{
    std::string_view whole = Scanner(object).value();
    Scanner scanner(whole);
    if (!scanner.take('{'))
        return {};
    std::string made(whole);
    bool empty = scanner.take('}');
    while (!empty) {
        std::string_view key = scanner.value();
        if (key.size() < 2 || key.contains('\\') || !scanner.take(':'))
            return {};
        std::string_view old = scanner.value();
        if (old.empty())
            return {};
        if (key.substr(1, key.size() - 2) == name) {
            auto at = static_cast<std::size_t>(old.data() - whole.data());
            return made.replace(at, old.size(), value);
        }
        if (!scanner.take(','))
            break;
    }
    made.pop_back();
    made += empty ? "\"" : ",\"";
    made += name;
    made += "\":";
    made += value;
    return made + "}";
}

std::string json_array(const std::vector<std::string> &items)
{
    std::string made = "[";
    for (const std::string &item : items)
        made += (made.size() > 1 ? "," : "") + item;
    return made + "]";
}

std::string json_object(const JsonMembers &members)
{
    std::string made = "{";
    for (const auto &[name, value] : members)
        if (!value.empty())
            made += (made.size() > 1 ? "," : "") + JsonValue(name).dump() +
                    ":" + value;
    return made + "}";
}

} // namespace bridge
