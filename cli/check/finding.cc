// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/finding.h"

#include "common/base/json.h"

#include <algorithm>

namespace bridge {

const char *severity_name(Severity severity)
{
    switch (severity) {
    case Severity::note:
        return "note";
    case Severity::warning:
        return "warning";
    case Severity::error:
        return "error";
    }
    return "unknown";
}

std::size_t count(const Findings &findings, Severity severity)
{
    return static_cast<std::size_t>(
        std::ranges::count(findings, severity, &Finding::severity));
}

void sort_by_weight(Findings &findings)
{
    std::ranges::stable_sort(findings, std::ranges::greater(),
                             &Finding::severity);
}

int verdict(const Findings &findings, const Unchecked &unchecked)
{
    if (count(findings, Severity::error) != 0)
        return 1;
    return unchecked.empty() ? 0 : 2;
}

std::string findings_json(const Findings &findings, const Unchecked &unchecked)
{
    JsonValue::Array list;
    for (const Finding &finding : findings)
        list.push_back(
            JsonValue::object({{"severity", severity_name(finding.severity)},
                               {"about", finding.about},
                               {"says", finding.says},
                               {"change", finding.change}}));
    JsonValue::Array sentences(unchecked.begin(), unchecked.end());
    return JsonValue::object(
               {{"findings", JsonValue::array(std::move(list))},
                {"notChecked", JsonValue::array(std::move(sentences))}})
        .dump();
}

} // namespace bridge
