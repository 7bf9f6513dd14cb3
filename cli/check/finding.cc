// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/finding.h"

#include "common/base/json.h"

#include <algorithm>
#include <iterator>
#include <utility>

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

std::string WordChange::line() const
{
    Words all = wanted;
    all.insert(now.begin(), now.end()); // keeps what is wanted
    std::string text;
    for (const auto &[name, value] : all) {
        if (!text.empty())
            text += separator;
        text += name + (value.empty() ? "" : "=" + value);
    }
    return begin + text;
}

Finding make_finding(Severity severity, const std::string &about,
                     const std::string &says, WordChange words)
{
    std::string line = words.line();
    return {severity, about, says, std::move(line), std::move(words)};
}

void merge_changes(Findings &findings)
{
    std::map<std::pair<std::string, std::string>, WordChange> lines;
    for (const Finding &finding : findings)
        if (finding.words)
            lines
                .try_emplace({finding.about, finding.words->begin},
                             *finding.words)
                .first->second.wanted.insert(finding.words->wanted.begin(),
                                             finding.words->wanted.end());
    for (Finding &finding : findings)
        if (finding.words)
            finding.change =
                lines.at({finding.about, finding.words->begin}).line();
}

void sort_by_weight(Findings &findings)
{
    std::ranges::stable_sort(findings, std::ranges::greater(),
                             &Finding::severity);
    for (auto at = findings.begin(); at != findings.end(); ++at) {
        auto same = [&](const Finding &other) {
            return other.severity == at->severity && !other.change.empty() &&
                   other.about == at->about && other.change == at->change;
        };
        std::stable_partition(std::next(at), findings.end(), same);
    }
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
