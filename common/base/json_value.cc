// SPDX-License-Identifier: GPL-2.0-or-later
// JsonValue: writing JSON.
#include "common/base/json.h"

#include "common/base/utf8.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace bridge {

namespace {

rapidjson::SizeType size_of(std::string_view text)
{
    return static_cast<rapidjson::SizeType>(text.size());
}

} // namespace

JsonValue &JsonValue::add(std::string key, JsonValue value)
{
    if (auto *object = std::get_if<Object>(&value_))
        object->emplace_back(std::move(key), std::move(value));
    return *this;
}

template <class Writer> void JsonValue::write(Writer &writer) const
{
    if (auto *object = std::get_if<Object>(&value_)) {
        writer.StartObject();
        for (const auto &[key, value] : *object) {
            std::string name = as_utf8(key);
            writer.Key(name.data(), size_of(name));
            value.write(writer);
        }
        writer.EndObject();
    } else if (auto *array = std::get_if<Array>(&value_)) {
        writer.StartArray();
        for (const JsonValue &item : *array)
            item.write(writer);
        writer.EndArray();
    } else if (auto *text = std::get_if<std::string>(&value_)) {
        std::string clean = as_utf8(*text);
        writer.String(clean.data(), size_of(clean));
    } else if (auto *number = std::get_if<std::int64_t>(&value_)) {
        writer.Int64(*number);
    } else if (auto *flag = std::get_if<bool>(&value_)) {
        writer.Bool(*flag);
    } else {
        writer.Null();
    }
}

std::string JsonValue::dump() const
{
    rapidjson::StringBuffer buffer;
    rapidjson::Writer writer(buffer);
    write(writer);
    return {buffer.GetString(), buffer.GetSize()};
}

} // namespace bridge
