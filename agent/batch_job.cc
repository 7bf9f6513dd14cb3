// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch_job.h"

#include "common/batch_names.h"
#include "common/batch_script.h"

#include <charconv>

namespace bridge {

namespace {

constexpr std::size_t name_letters = 8; // of the script's name: ids are reused

} // namespace

std::string encode(const BatchMark &mark)
{
    return std::to_string(mark.job.id) + " " + mark.job.sluid.str() + " " +
           mark.script;
}

std::optional<BatchMark> batch_mark(const Pod &pod)
{
    std::string text = pod.annotation(names::batch_annotation);
    std::size_t first = text.find(' ');
    std::size_t second = text.find(' ', first == text.npos ? 0 : first + 1);
    if (first == text.npos || second == text.npos)
        return std::nullopt;
    BatchMark mark;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + first, mark.job.id);
    auto sluid = Sluid::parse(
        std::string_view(text).substr(first + 1, second - first - 1));
    mark.script = text.substr(second + 1);
    if (error != std::errc() || end != text.data() + first || !sluid ||
        !is_script_name(mark.script))
        return std::nullopt;
    mark.job.sluid = *sluid;
    return mark;
}

std::string batch_pod_name(const BatchMark &mark)
{
    return "job-" + std::to_string(mark.job.id) + "-" +
           mark.script.substr(0, name_letters);
}

} // namespace bridge
