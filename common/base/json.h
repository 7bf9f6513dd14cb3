// SPDX-License-Identifier: GPL-2.0-or-later
// Reading and writing JSON. Json reads documents from elsewhere, JsonValue
// builds documents to send. After parse(), reading never fails: a look-up of a
// missing value, or of one with another type, is empty. Only json.cc and
// json_value.cc include RapidJSON.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bridge {

// A value inside a parsed document. It keeps the document alive, is cheap to
// copy, and may be used by one thread at a time. A path is a list of keys
// joined by '/'; an array takes an index: "status/conditions/0/type".
class Json {
  public:
    Json() = default; // no value: every look-up is empty

    // Code::rejected, with the byte offset, if text is not one JSON document.
    // Nested values use heap memory, not the stack.
    static Result<Json> parse(std::string_view text);

    bool present() const { return value_ != nullptr; }
    bool is_object() const;
    bool is_array() const;

    Json at(std::string_view path) const;
    // Returns the member with exactly this name. Unlike a path, the name may
    // contain '/', as label keys do.
    Json member(std::string_view name) const;

    std::string text(std::string_view path = {}) const; // "" if there is none
    std::optional<std::int64_t> integer(std::string_view path = {}) const;
    bool flag(std::string_view path = {}) const; // false if there is none

    std::vector<Json> items(std::string_view path = {}) const;
    std::vector<std::pair<std::string, Json>>
    members(std::string_view path = {}) const;
    // Returns the members that are strings, for example labels or annotations.
    std::map<std::string, std::string> texts(std::string_view path = {}) const;

    std::string dump() const; // compact UTF-8, keys in document order

  private:
    Json(std::shared_ptr<const void> document, const void *value)
        : document_(std::move(document)), value_(value)
    {
    }

    std::shared_ptr<const void> document_;
    const void *value_ = nullptr;
};

// A value to be written. Objects keep the order in which members are added.
class JsonValue {
  public:
    using Object = std::vector<std::pair<std::string, JsonValue>>;
    using Array = std::vector<JsonValue>;

    JsonValue() = default; // null
    JsonValue(bool b) : value_(b) {}
    JsonValue(int n) : value_(std::int64_t{n}) {}
    JsonValue(std::int64_t n) : value_(n) {}
    JsonValue(std::uint32_t n) : value_(std::int64_t{n}) {}
    JsonValue(const char *s) : value_(std::string(s)) {}
    JsonValue(std::string_view s) : value_(std::string(s)) {}
    JsonValue(std::string s) : value_(std::move(s)) {}

    static JsonValue object(std::initializer_list<Object::value_type> members)
    {
        return JsonValue(Object(members));
    }
    static JsonValue object(Object members)
    {
        return JsonValue(std::move(members));
    }
    static JsonValue array(Array items) { return JsonValue(std::move(items)); }

    // Adds a member. Does nothing if this is not an object.
    JsonValue &add(std::string key, JsonValue value);

    // Returns compact JSON. Bytes that are not UTF-8 become '?': otherwise one
    // string from Slurm could make the API server refuse a whole request.
    std::string dump() const;

  private:
    explicit JsonValue(Object o) : value_(std::move(o)) {}
    explicit JsonValue(Array a) : value_(std::move(a)) {}

    template <class Writer> void write(Writer &writer) const;

    std::variant<std::monostate, bool, std::int64_t, std::string, Object, Array>
        value_;
};

} // namespace bridge
