// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/slurm_lines.h"

#include "common/base/ascii.h"
#include "common/base/conf_lines.h"
#include "common/base/text.h"

#include <algorithm>
#include <map>

namespace bridge {

namespace {

constexpr std::string_view parameters_key = "SchedulerParameters";

std::string key_of(std::string_view line)
{
    return lower_case(trim(line.substr(0, line.find('='))));
}

// slurm.conf may have several lines of these.
bool may_repeat(const std::string &key)
{
    return key == "nodeset" || key == "partitionname" || key == "nodename";
}

// Every finding names all words with one change: the words that are not as
// slurmctld has them are those that somebody wants.
std::string parameters_line(const std::vector<std::string> &lines,
                            const SlurmFacts &slurm)
{
    const auto &now = slurm.scheduler_parameters;
    std::map<std::string, std::string> wanted;
    for (std::string_view line : lines) {
        line.remove_prefix(line.find('=') + 1);
        for (std::string_view word : all_parts(line, ',')) {
            std::string name(next_part(word, '='));
            auto old = now.find(name);
            if (old == now.end() || old->second != word)
                wanted.insert_or_assign(name, std::string(word));
        }
    }
    wanted.insert(now.begin(), now.end()); // keeps what is wanted
    std::string text;
    for (const auto &[name, value] : wanted)
        text += (text.empty() ? "" : ",") + name +
                (value.empty() ? "" : "=" + value);
    return std::string(parameters_key) + "=" + text;
}

bool has_partition(const SlurmFacts &slurm, const std::string &name)
{
    return std::ranges::contains(slurm.partitions, name, &PartitionFacts::name);
}

} // namespace

std::vector<std::string> lacking_lines(const Findings &findings,
                                       const SlurmFacts &slurm,
                                       const std::string &partition)
{
    std::vector<std::string> lines, parameters;
    for (const Finding &finding : findings) {
        if (finding.about != "slurm.conf" || finding.change.empty() ||
            finding.severity == Severity::note)
            continue;
        if (is_key(key_of(finding.change), parameters_key))
            parameters.push_back(finding.change);
        else if (!std::ranges::contains(lines, finding.change))
            lines.push_back(finding.change);
    }
    if (!parameters.empty())
        lines.push_back(parameters_line(parameters, slurm));
    if (!partition.empty() && !has_partition(slurm, partition)) {
        lines.emplace_back("NodeSet=k8s Feature=k8s");
        lines.push_back("PartitionName=" + partition + " Nodes=k8s");
    }
    return lines;
}

SlurmConfText read_slurm_conf(std::string_view text)
{
    SlurmConfText conf;
    std::string joined;
    while (!text.empty()) {
        std::string_view line = next_part(text, '\n');
        joined += trim(line.substr(0, line.find('#')));
        if (joined.ends_with('\\')) {
            joined.pop_back();
            continue;
        }
        std::string whole(trim(joined));
        joined.clear();
        auto blank = whole.find_first_of(" \t");
        if (is_key(std::string_view(whole).substr(0, blank), "include") &&
            blank != whole.npos)
            conf.includes.emplace_back(
                trim(std::string_view(whole).substr(blank)));
        else if (whole.contains('=')) {
            conf.keys.insert(key_of(whole));
            conf.lines.push_back(std::move(whole));
        }
    }
    return conf;
}

std::string include_text(std::string_view present,
                         const std::vector<std::string> &lines)
{
    std::string text = "# Written by slurmk8s setup. slurm.conf includes this "
                       "file; a key that stands\n# here must not stand there "
                       "too.\n";
    std::set<std::string> keys;
    for (const std::string &line : lines)
        if (!may_repeat(key_of(line)))
            keys.insert(key_of(line));
    for (const std::string &line : read_slurm_conf(present).lines)
        if (!keys.contains(key_of(line)) && !std::ranges::contains(lines, line))
            text += line + "\n";
    for (const std::string &line : lines)
        text += line + "\n";
    return text;
}

SplitLines split_lines(const std::vector<std::string> &lacking,
                       const SlurmConfText &conf)
{
    SplitLines split;
    for (const std::string &line : lacking) {
        std::string key = key_of(line);
        if (std::ranges::contains(conf.lines, line))
            split.there.push_back(line);
        else if (conf.keys.contains(key) && !may_repeat(key))
            split.to_change.push_back(line);
        else
            split.to_include.push_back(line);
    }
    return split;
}

} // namespace bridge
