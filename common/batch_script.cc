// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/batch_script.h"

#include "common/image_name.h"
#include "common/json.h"

#include <charconv>
#include <utility>

namespace bridge {

namespace {

constexpr std::string_view first_record = "slurmk8s=1"; // the format
constexpr std::string_view last_record = "end=";
constexpr std::size_t max_image = 512; // bytes

void add(std::string &text, std::string_view key, std::string_view value)
{
    text.append(key).append("=").append(value).push_back('\0');
}

bool read_number(std::string_view text, std::uint32_t &number)
{
    const char *end = text.data() + text.size();
    auto [after, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && after == end;
}

// False for a record that is not known, or comes twice.
bool take(BatchScript &batch, std::string_view key, std::string_view value,
          unsigned &seen)
{
    struct Field {
        std::string_view key;
        std::string BatchScript::*text;
    };
    constexpr Field fields[] = {{"image", &BatchScript::image},
                                {"dir", &BatchScript::work_dir},
                                {"script", &BatchScript::script}};
    constexpr unsigned user_bit = 1u << 8, group_bit = 1u << 9;
    auto first = [&](unsigned bit) {
        return !(std::exchange(seen, seen | bit) & bit);
    };
    if (key == "uid")
        return first(user_bit) && read_number(value, batch.user_id);
    if (key == "gid")
        return first(group_bit) && read_number(value, batch.group_id);
    if (key == "arg") {
        batch.arguments.emplace_back(value);
        return true;
    }
    if (key == "env") {
        batch.environment.emplace_back(value);
        return true;
    }
    for (unsigned i = 0; i < std::size(fields); i++)
        if (key == fields[i].key) {
            batch.*fields[i].text = value;
            return first(1u << i);
        }
    return false;
}

constexpr unsigned all_seen = 0b111 | 1u << 8 | 1u << 9;

} // namespace

std::string encode(const BatchScript &batch)
{
    std::string text(first_record);
    text.push_back('\0');
    add(text, "uid", std::to_string(batch.user_id));
    add(text, "gid", std::to_string(batch.group_id));
    add(text, "image", batch.image);
    add(text, "dir", batch.work_dir);
    add(text, "script", batch.script);
    for (const std::string &argument : batch.arguments)
        add(text, "arg", argument);
    for (const std::string &entry : batch.environment)
        add(text, "env", entry);
    text += last_record;
    text.push_back('\0');
    return text;
}

Result<BatchScript> decode_batch_script(std::string_view text)
{
    auto bad = [](const char *why) {
        return fail(Code::rejected, std::string("the script's file ") + why);
    };
    BatchScript batch;
    unsigned seen = 0;
    bool first = true, last = false;
    while (!text.empty()) {
        std::size_t end = text.find('\0');
        if (end == text.npos || last)
            return bad("is damaged");
        std::string_view record = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (std::exchange(first, false)) {
            if (record != first_record)
                return bad("is of another version");
            continue;
        }
        last = record == last_record;
        std::size_t equals = record.find('=');
        if (!last && (equals == record.npos ||
                      !take(batch, record.substr(0, equals),
                            record.substr(equals + 1), seen)))
            return bad("has an unknown record");
    }
    if (!last || seen != all_seen)
        return bad("is not whole");
    return batch;
}

std::string objection_to_image(std::string_view image)
{
    if (image.empty())
        return "not be empty";
    if (image.size() > max_image)
        return "have at most " + std::to_string(max_image) + " characters";
    if (!is_image_name(image))
        return "be the name of an image, such as registry.example.com/app:1.2, "
               "in lower-case letters but for the tag";
    return {};
}

bool is_script_name(std::string_view name)
{
    constexpr std::string_view digits = "0123456789abcdef";
    return name.size() == 32 &&
           name.find_first_not_of(digits) == std::string_view::npos;
}

std::string batch_tag(const std::string &script_name)
{
    return JsonValue::object({{"slurmk8s", 1}, {"sbatch", script_name}}).dump();
}

} // namespace bridge
