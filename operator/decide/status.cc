// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/status.h"

#include "common/contract/worker_names.h"
#include "common/kube/text.h"
#include "operator/decide/json_merge.h"

#include <algorithm>
#include <utility>

namespace bridge::slinky {

namespace {

constexpr std::size_t longest_message = 4096; // bytes

const char *word(const Said &one)
{
    return one.unknown ? "Unknown" : one.holds ? "True" : "False";
}

bool is_said(const Said &one, const Meta &meta, const Condition *before)
{
    return before && before->status == word(one) &&
           before->reason == one.reason &&
           before->message == clean_text(one.message, longest_message) &&
           before->generation == meta.generation;
}

} // namespace

std::string conditions_json(const std::vector<Said> &said, const Meta &meta,
                            const std::vector<Condition> &before, Now now)
{
    JsonValue::Array items;
    for (const Said &one : said) {
        const Condition *old = find_condition(before, one.type);
        bool same = old && old->status == word(one);
        items.push_back(JsonValue::object(
            {{"type", one.type},
             {"status", word(one)},
             {"reason", one.reason},
             {"message", clean_text(one.message, longest_message)},
             {"observedGeneration", meta.generation},
             {"lastTransitionTime", same ? old->since : second_time(now)}}));
    }
    return JsonValue::array(std::move(items)).dump();
}

bool are_said(const std::vector<Said> &said, const Meta &meta,
              const std::vector<Condition> &before)
{
    return std::ranges::all_of(said, [&](const Said &one) {
        return is_said(one, meta, find_condition(before, one.type));
    });
}

Step status_step(const std::string &kind, const std::string &plural,
                 const Meta &meta, JsonMembers members, std::string conditions)
{
    auto metadata = JsonValue::object({{"name", meta.key.name},
                                       {"namespace", meta.key.ns},
                                       {"uid", meta.uid}});
    members.emplace_back("conditions", std::move(conditions));
    Step step{
        Step::Verb::apply, "write the status of " + kind + " " + meta.key.name,
        applied(slinky_path(plural, meta.key) + "/status"),
        json_object({{"apiVersion", JsonValue(names::slinky_version).dump()},
                     {"kind", JsonValue(kind).dump()},
                     {"metadata", metadata.dump()},
                     {"status", json_object(members)}})};
    step.is_report = true;
    return step;
}

} // namespace bridge::slinky
