// SPDX-License-Identifier: GPL-2.0-or-later
// JSON at the edges: Json reads what others sent, JsonValue builds what we
// send. Reading never fails after parse(): what is missing or of another type
// is an empty look-up. json.cc alone includes RapidJSON.
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

// A value inside a parsed document, which it keeps alive: cheap to copy, safe
// to use from one thread at a time. Paths are keys joined by '/', with an index
// for an array: "status/conditions/0/type".
class Json {
  public:
    Json() = default; // no value: every look-up is empty

    // Code::rejected, with the offset, when text is not one JSON document.
    // Deep nesting costs heap, not stack.
    static Result<Json> parse(std::string_view text);

    bool present() const { return value_ != nullptr; }
    bool is_object() const;
    bool is_array() const;

    Json at(std::string_view path) const;
    // One member by its exact name, which may hold a '/', as label keys do.
    Json member(std::string_view name) const;

    std::string text(std::string_view path = {}) const; // "" when none
    std::optional<std::int64_t> integer(std::string_view path = {}) const;
    bool flag(std::string_view path = {}) const; // false when none

    std::vector<Json> items(std::string_view path = {}) const;
    std::vector<std::pair<std::string, Json>>
    members(std::string_view path = {}) const;
    // The members that are strings: labels, annotations.
    std::map<std::string, std::string> texts(std::string_view path = {}) const;

    std::string dump() const; // compact, keys in document order, UTF-8

  private:
    Json(std::shared_ptr<const void> document, const void *value)
        : document_(std::move(document)), value_(value)
    {
    }

    std::shared_ptr<const void> document_;
    const void *value_ = nullptr;
};

// A value to be written. Objects keep the order in which they were given.
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

    // Adds a member; only for objects.
    JsonValue &add(std::string key, JsonValue value);

    // Compact JSON. Bytes that are not UTF-8 become '?', so that a string from
    // Slurm can never make the API server refuse a whole request.
    std::string dump() const;

  private:
    explicit JsonValue(Object o) : value_(std::move(o)) {}
    explicit JsonValue(Array a) : value_(std::move(a)) {}

    template <class Writer> void write(Writer &writer) const;

    std::variant<std::monostate, bool, std::int64_t, std::string, Object, Array>
        value_;
};

} // namespace bridge
