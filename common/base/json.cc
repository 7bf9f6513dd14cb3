// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/json.h"

#include "common/base/utf8.h"

#include <rapidjson/document.h>
#include <rapidjson/encodedstream.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <charconv>

namespace bridge {

namespace {

using Value = rapidjson::Value;

// The iterative parser is used so that nested input cannot exhaust the stack of
// slurmctld's thread. Numbers are passed on as text: RapidJSON's own
// full-precision conversion reads beyond a table when many digits meet a large
// negative exponent.
constexpr unsigned parse_flags = rapidjson::kParseIterativeFlag |
                                 rapidjson::kParseValidateEncodingFlag |
                                 rapidjson::kParseNumbersAsStringsFlag;

rapidjson::SizeType size_of(std::string_view text)
{
    return static_cast<rapidjson::SizeType>(text.size());
}

template <class Number> std::optional<Number> number_of(std::string_view text)
{
    Number number{};
    const char *last = text.data() + text.size();
    auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc() || end != last)
        return std::nullopt;
    return number;
}

bool is_number_character(char c)
{
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.' ||
           c == 'e' || c == 'E';
}

// Returns the digits at the start of text and removes them from text.
std::string_view pop_digits(std::string_view &text)
{
    std::string_view digits =
        text.substr(0, text.find_first_not_of("0123456789"));
    text.remove_prefix(digits.size());
    return digits;
}

bool take(std::string_view &text, char c)
{
    if (!text.starts_with(c))
        return false;
    text.remove_prefix(1);
    return true;
}

// Tells whether RapidJSON might reject this number as too big for a double.
bool may_be_too_big(std::string_view number)
{
    constexpr std::size_t safe = 290; // powers of ten; a double has 308
    take(number, '-');
    bool zero_first = number.starts_with('0');
    std::size_t power = pop_digits(number).size();
    if (power == 0 || (zero_first && power > 1))
        return false;
    if (take(number, '.') && pop_digits(number).empty())
        return false;
    if (take(number, 'e') || take(number, 'E')) {
        bool negative = take(number, '-');
        if (!negative)
            take(number, '+');
        std::string_view digits = pop_digits(number);
        if (digits.empty())
            return false;
        auto exponent = number_of<unsigned>(digits);
        if (!negative)
            power += exponent ? std::min(*exponent, 1000u) : 1000u;
    }
    return number.empty() && power > safe;
}

// Returns the text with each number that is too big replaced by null.
std::string without_big_numbers(std::string_view text)
{
    std::string made(text);
    for (std::size_t i = 0; i < made.size(); i++) {
        if (made[i] == '"') { // skip to the closing quote
            for (i++; i < made.size() && made[i] != '"'; i++)
                i += made[i] == '\\';
            continue;
        }
        // An 'e' cannot start a number: it is the end of "true".
        if (made[i] != '-' && (made[i] < '0' || made[i] > '9'))
            continue;
        std::size_t end = i;
        while (end < made.size() && is_number_character(made[end]))
            end++;
        if (may_be_too_big(std::string_view(made).substr(i, end - i)))
            made.replace(i, end - i, "null" + std::string(end - i - 4, ' '));
        i = end - 1;
    }
    return made;
}

// Forwards RapidJSON's parse events to a document, and converts numbers.
class Builder
    : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
  public:
    explicit Builder(rapidjson::Document &document) : document_(document) {}

    bool Null() { return document_.Null(); }
    bool Bool(bool flag) { return document_.Bool(flag); }
    bool RawNumber(const char *text, rapidjson::SizeType length, bool)
    {
        std::string_view number(text, length);
        if (auto integer = number_of<std::int64_t>(number))
            return document_.Int64(*integer);
        if (auto natural = number_of<std::uint64_t>(number))
            return document_.Uint64(*natural);
        // RapidJSON has refused numbers that are too large: this one is too
        // small for a double.
        return document_.Double(number_of<double>(number).value_or(0));
    }
    bool String(const char *text, rapidjson::SizeType length, bool copy)
    {
        return document_.String(text, length, copy);
    }
    bool StartObject() { return document_.StartObject(); }
    bool Key(const char *text, rapidjson::SizeType length, bool copy)
    {
        return document_.Key(text, length, copy);
    }
    bool EndObject(rapidjson::SizeType n) { return document_.EndObject(n); }
    bool StartArray() { return document_.StartArray(); }
    bool EndArray(rapidjson::SizeType n) { return document_.EndArray(n); }

  private:
    rapidjson::Document &document_;
};

const Value *as_value(const void *value)
{
    return static_cast<const Value *>(value);
}

const Value *member_of(const Value *value, std::string_view name)
{
    if (!value || !value->IsObject())
        return nullptr;
    Value key(rapidjson::StringRef(name.data(), size_of(name)));
    auto found = value->FindMember(key);
    return found == value->MemberEnd() ? nullptr : &found->value;
}

const Value *item_of(const Value *value, std::string_view index)
{
    auto i = number_of<unsigned>(index);
    return i && *i < value->Size() ? &(*value)[*i] : nullptr;
}

const Value *find(const Value *value, std::string_view path)
{
    while (value && !path.empty()) {
        std::size_t slash = path.find('/');
        std::string_view step = path.substr(0, slash);
        path = slash == path.npos ? std::string_view{} : path.substr(slash + 1);
        value =
            value->IsArray() ? item_of(value, step) : member_of(value, step);
    }
    return value;
}

std::string string_of(const Value &value)
{
    return {value.GetString(), value.GetStringLength()};
}

rapidjson::ParseResult parse_into(rapidjson::Document &document,
                                  std::string_view text)
{
    rapidjson::MemoryStream bytes(text.data(), text.size());
    rapidjson::EncodedInputStream<rapidjson::UTF8<>, rapidjson::MemoryStream>
        input(bytes);
    rapidjson::ParseResult parsed;
    auto build = [&](rapidjson::Document &into) {
        Builder builder(into);
        parsed = rapidjson::Reader().Parse<parse_flags>(input, builder);
        return !parsed.IsError();
    };
    document.Populate(build);
    return parsed;
}

} // namespace

Result<Json> Json::parse(std::string_view text)
{
    auto document = std::make_shared<rapidjson::Document>();
    auto parsed = parse_into(*document, text);
    // Opaque parameters may hold any number. One such object must not make a
    // whole list unreadable.
    if (parsed.Code() == rapidjson::kParseErrorNumberTooBig) {
        document = std::make_shared<rapidjson::Document>();
        parsed = parse_into(*document, without_big_numbers(text));
    }
    if (parsed.IsError())
        return fail(Code::rejected,
                    std::string("bad JSON at byte ") +
                        std::to_string(parsed.Offset()) + ": " +
                        rapidjson::GetParseError_En(parsed.Code()));
    const void *root = static_cast<const Value *>(document.get());
    return Json(std::move(document), root);
}

bool Json::is_object() const
{
    return value_ && as_value(value_)->IsObject();
}

bool Json::is_array() const
{
    return value_ && as_value(value_)->IsArray();
}

Json Json::at(std::string_view path) const
{
    const Value *value = find(as_value(value_), path);
    return value ? Json(document_, value) : Json();
}

Json Json::member(std::string_view name) const
{
    const Value *value = member_of(as_value(value_), name);
    return value ? Json(document_, value) : Json();
}

std::string Json::text(std::string_view path) const
{
    const Value *value = find(as_value(value_), path);
    return value && value->IsString() ? string_of(*value) : std::string();
}

std::optional<std::int64_t> Json::integer(std::string_view path) const
{
    const Value *value = find(as_value(value_), path);
    if (!value || !value->IsInt64())
        return std::nullopt;
    return value->GetInt64();
}

bool Json::flag(std::string_view path) const
{
    const Value *value = find(as_value(value_), path);
    return value && value->IsTrue();
}

std::vector<Json> Json::items(std::string_view path) const
{
    std::vector<Json> found;
    const Value *value = find(as_value(value_), path);
    if (value && value->IsArray())
        for (const Value &item : value->GetArray())
            found.push_back(Json(document_, &item));
    return found;
}

std::vector<std::pair<std::string, Json>>
Json::members(std::string_view path) const
{
    std::vector<std::pair<std::string, Json>> found;
    const Value *value = find(as_value(value_), path);
    if (value && value->IsObject())
        for (const auto &entry : value->GetObject())
            found.emplace_back(string_of(entry.name),
                               Json(document_, &entry.value));
    return found;
}

std::map<std::string, std::string> Json::texts(std::string_view path) const
{
    std::map<std::string, std::string> found;
    const Value *value = find(as_value(value_), path);
    if (value && value->IsObject())
        for (const auto &entry : value->GetObject())
            if (entry.value.IsString())
                found[string_of(entry.name)] = string_of(entry.value);
    return found;
}

std::string Json::dump() const
{
    if (!value_)
        return "null";
    rapidjson::StringBuffer buffer;
    rapidjson::Writer writer(buffer);
    as_value(value_)->Accept(writer);
    // RapidJSON accepts an escaped low surrogate without a high one, which is
    // not valid UTF-8.
    return as_utf8({buffer.GetString(), buffer.GetSize()});
}

} // namespace bridge
