// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/batch_script.h"

#include "common/base/hexadecimal.h"
#include "common/base/json.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace bridge {

namespace {

constexpr std::string_view format_record = "slurmk8s=";
constexpr std::string_view first_record = "slurmk8s=1"; // the format
constexpr std::string_view last_record = "end=";

void add(std::string &text, std::string_view key, std::string_view value)
{
    text.append(key).append("=").append(value).push_back('\0');
}

template <class Number> bool read_number(std::string_view text, Number &number)
{
    const char *end = text.data() + text.size();
    auto [after, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && after == end;
}

// Text fields, each of which occurs once. The first one is written only if it
// is not empty: files of an earlier version do not have it.
struct Field {
    std::string_view key;
    std::string BatchScript::*text;
};
constexpr Field fields[] = {{"in", &BatchScript::input},
                            {"image", &BatchScript::image},
                            {"dir", &BatchScript::work_dir},
                            {"script", &BatchScript::script},
                            {"out", &BatchScript::output},
                            {"err", &BatchScript::error},
                            {"account", &BatchScript::service_account},
                            {"namespace", &BatchScript::name_space}};

// Fields that may occur several times.
struct ListField {
    std::string_view key;
    std::vector<std::string> BatchScript::*texts;
};
constexpr ListField lists[] = {{"arg", &BatchScript::arguments},
                               {"env", &BatchScript::environment},
                               {"var", &BatchScript::variables},
                               {"volume", &BatchScript::volumes}};

constexpr std::string_view array_record = "array"; // only for job arrays
constexpr std::string_view key_record = "key";     // only for several nodes
constexpr std::size_t key_digits = 64;

constexpr unsigned user_bit = 1u << std::size(fields);
constexpr unsigned group_bit = user_bit << 1;
constexpr unsigned append_bit = user_bit << 2;
constexpr unsigned signal_bit = user_bit << 3;
constexpr unsigned seconds_bit = user_bit << 4;
constexpr unsigned input_bit = 1; // the first text field
constexpr unsigned may_lack = input_bit | signal_bit | seconds_bit;
constexpr unsigned all_seen = (user_bit << 5) - 1;

enum class Taken { yes, unknown, bad };

// Stores one record of a key that occurs once. Returns false if it is invalid
// or repeated, and nothing if the key is unknown.
std::optional<bool> take_single(BatchScript &batch, std::string_view key,
                                std::string_view value, unsigned &seen)
{
    auto first = [&](unsigned bit) {
        return !(std::exchange(seen, seen | bit) & bit);
    };
    if (key == "uid")
        return first(user_bit) && read_number(value, batch.user_id);
    if (key == "gid")
        return first(group_bit) && read_number(value, batch.group_id);
    if (key == "append") {
        batch.append = value == "yes";
        return first(append_bit) && (value == "yes" || value == "no");
    }
    if (key == array_record) {
        bool unknown = batch.array.empty() && !value.empty();
        batch.array = value;
        return unknown;
    }
    if (key == key_record) {
        bool unknown =
            batch.step_key.empty() && is_hexadecimal(value, key_digits);
        batch.step_key = value;
        return unknown;
    }
    if (key == "signal")
        return first(signal_bit) && read_number(value, batch.signal);
    if (key == "seconds")
        return first(seconds_bit) && read_number(value, batch.signal_seconds);
    for (unsigned i = 0; i < std::size(fields); i++)
        if (key == fields[i].key) {
            batch.*fields[i].text = value;
            return first(1u << i);
        }
    return std::nullopt;
}

bool is_record_key(std::string_view text)
{
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || c == '_';
    });
}

// Stores one record KEY=VALUE.
Taken take(BatchScript &batch, std::string_view record, unsigned &seen)
{
    std::size_t equals = record.find('=');
    if (equals == record.npos)
        return Taken::bad;
    std::string_view key = record.substr(0, equals);
    std::string_view value = record.substr(equals + 1);
    for (const ListField &list : lists)
        if (key == list.key) {
            (batch.*list.texts).emplace_back(value);
            return Taken::yes;
        }
    if (auto taken = take_single(batch, key, value, seen))
        return *taken ? Taken::yes : Taken::bad;
    return is_record_key(key) ? Taken::unknown : Taken::bad;
}

// Whether the first record says a later format than ours.
bool is_later_format(std::string_view record)
{
    unsigned format = 0;
    return record.starts_with(format_record) &&
           read_number(record.substr(format_record.size()), format) &&
           format > 1;
}

} // namespace

std::string encode(const BatchScript &batch)
{
    std::string text(first_record);
    text.push_back('\0');
    add(text, "uid", std::to_string(batch.user_id));
    add(text, "gid", std::to_string(batch.group_id));
    add(text, "append", batch.append ? "yes" : "no");
    if (batch.signal != 0) {
        add(text, "signal", std::to_string(batch.signal));
        add(text, "seconds", std::to_string(batch.signal_seconds));
    }
    for (const Field &field : fields)
        if (&field != fields || !(batch.*field.text).empty())
            add(text, field.key, batch.*field.text);
    if (!batch.array.empty())
        add(text, array_record, batch.array);
    if (!batch.step_key.empty())
        add(text, key_record, batch.step_key);
    for (const ListField &list : lists)
        for (const std::string &one : batch.*list.texts)
            add(text, list.key, one);
    text += last_record;
    text.push_back('\0');
    return text;
}

Result<BatchScript> decode_batch_script(std::string_view text)
{
    auto bad = [](const char *reason) {
        return fail(Code::rejected, std::string("the script's file ") + reason);
    };
    auto newer = [](std::string_view what) {
        return fail(Code::newer,
                    "job_submit_k8s.so is of a later release than slurmk8sd: "
                    "the script's file has " +
                        std::string(what));
    };
    BatchScript batch;
    std::string unknown;
    unsigned seen = 0;
    bool first = true, last = false;
    while (!text.empty()) {
        std::size_t end = text.find('\0');
        if (end == text.npos || last)
            return bad("is damaged");
        std::string_view record = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (std::exchange(first, false)) {
            if (is_later_format(record))
                return newer("another format");
            if (record != first_record)
                return bad("is no script's file");
            continue;
        }
        last = record == last_record;
        Taken taken = last ? Taken::yes : take(batch, record, seen);
        if (taken == Taken::bad)
            return bad("has a bad record");
        if (taken == Taken::unknown)
            unknown = record.substr(0, record.find('='));
    }
    if (!last || (seen | may_lack) != all_seen)
        return bad("is incomplete");
    if (!unknown.empty())
        return newer("the record " + unknown);
    return batch;
}

bool is_script_name(std::string_view name)
{
    return is_hexadecimal(name, 32);
}

std::string batch_tag(const std::string &script_name)
{
    return JsonValue::object({{"slurmk8s", 1}, {"sbatch", script_name}}).dump();
}

} // namespace bridge
