// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/batch_mark.h"

#include "common/base/text.h"
#include "common/contract/batch_names.h"
#include "common/contract/batch_script.h"

#include <string_view>

namespace bridge {

namespace {

// Letters of the script's name in a Pod's name, because JobIds are reused.
constexpr std::size_t name_letters = 8;

} // namespace

std::string encode(const BatchMark &mark)
{
    std::string text = std::to_string(mark.job.id) + " " +
                       mark.job.sluid.str() + " " + mark.script;
    if (mark.array)
        text += " " + std::to_string(mark.array->job) + "_" +
                std::to_string(mark.array->task);
    return text;
}

std::optional<BatchMark> batch_mark(const Pod &pod)
{
    std::string annotation = pod.annotation(names::batch_annotation);
    std::string_view text = annotation;
    auto id = whole_number<JobId>(next_part(text, ' '));
    auto sluid = Sluid::parse(next_part(text, ' '));
    bool array = text.contains(' ');
    std::string_view script = next_part(text, ' ');
    if (!id || !sluid || !is_script_name(script))
        return std::nullopt;
    BatchMark mark{{*id, *sluid}, std::string(script)};
    if (!array)
        return mark;
    auto job = whole_number<JobId>(next_part(text, '_'));
    auto task = whole_number<std::uint32_t>(text);
    if (!job || !task)
        return std::nullopt;
    mark.array = ArrayTask{*job, *task};
    return mark;
}

bool is_same_task(const BatchMark &one, const BatchMark &other)
{
    return one.array && one.array == other.array && one.script == other.script;
}

std::string batch_pod_name(const BatchMark &mark)
{
    std::string name = "job-";
    if (mark.array)
        name += std::to_string(mark.array->job) + "-" +
                std::to_string(mark.array->task);
    else
        name += std::to_string(mark.job.id);
    return name + "-" + mark.script.substr(0, name_letters);
}

} // namespace bridge
