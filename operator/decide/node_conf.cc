// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/node_conf.h"

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "operator/decide/names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace bridge::slinky {

namespace {

// A quantity, which a manifest may also have as a number.
std::string amount(const Json &resources, const char *name)
{
    for (const char *part : {"requests", "limits"}) {
        Json value = resources.at(part).member(name);
        if (!value.present())
            continue;
        std::string text = value.text();
        return text.empty() ? value.dump() : text;
    }
    return {};
}

// That of the container wins over that of the whole Pod.
std::string requested(const NodeSet &set, const char *name)
{
    std::string own = amount(set.spec.at("slurmd/resources"), name);
    if (!own.empty())
        return own;
    return amount(set.spec.at("template/spec/resources"), name);
}

// Words between any white space.
std::vector<std::string_view> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    constexpr std::string_view white = " \t\r\n\f\v";
    while (true) {
        std::size_t begin = text.find_first_not_of(white);
        if (begin == text.npos)
            return words;
        text.remove_prefix(begin);
        std::size_t end = std::min(text.find_first_of(white), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
}

struct Words {
    std::vector<std::string> names; // in lower case
    std::string features;
    std::string rest;
    std::string problem;
};

bool is_printable_ascii(std::string_view text)
{
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

void read_word(std::string_view word, Words &words)
{
    std::string_view value = word;
    std::string name = lower_case(next_part(value, '='));
    if (!word.contains('=') || name.empty() || value.empty() ||
        !is_printable_ascii(word))
        words.problem = "extraConf has words NAME=VALUE with blanks between "
                        "them, and nothing else.";
    else if (name == "nodename" || name == "nodehostname" || name == "nodeaddr")
        words.problem = "extraConf cannot have " +
                        std::string(word.substr(0, name.size())) +
                        ": each Pod has a name of its own.";
    else if (name == "port")
        words.problem = "extraConf cannot have " +
                        std::string(word.substr(0, name.size())) +
                        ": the probes ask slurmd at port " +
                        std::to_string(slurmd_port) + ".";
    else if (name == "feature" || name == "features")
        words.features += "," + std::string(value);
    else
        words.rest += " " + std::string(word);
    words.names.push_back(name);
}

} // namespace

NodeConf node_conf(const NodeSet &set)
{
    Words extra;
    for (std::string_view word : words_of(set.extra_conf))
        read_word(word, extra);
    auto has = [&](const char *name) {
        return std::ranges::contains(extra.names, name);
    };
    auto cpu = parse_cpu(requested(set, "cpu"));
    auto memory = parse_bytes(requested(set, "memory"));
    bool cpus_known = cpu && cpu->value > 0;
    bool memory_known = memory && memory->value > 0;
    NodeConf made;
    made.problem = extra.problem;
    if (cpus_known && !has("cpus"))
        made.words +=
            "CPUs=" + std::to_string(std::max(1u, whole_cpus_down(*cpu))) + " ";
    if (memory_known && !has("realmemory"))
        made.words += "RealMemory=" +
                      std::to_string(std::max<std::uint64_t>(
                          1, mebibytes_down(*memory).value)) +
                      " ";
    made.words += "Port=" + std::to_string(slurmd_port) +
                  " Feature=" + slurm_name(set) + extra.features + extra.rest;
    made.sized =
        (cpus_known || has("cpus")) && (memory_known || has("realmemory"));
    made.gres = has("gres");
    return made;
}

} // namespace bridge::slinky
