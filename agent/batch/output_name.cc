// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/output_name.h"

#include "common/base/padded.h"
#include "common/contract/name_pattern.h"

#include <cstdint>

namespace bridge {

namespace {

// NO_VAL: the job is not in an array
constexpr std::uint32_t no_task = 0xfffffffe;

// Returns the value of a pattern's letter, or nothing if it has no meaning.
std::optional<std::string> meaning(char letter, std::size_t digits,
                                   const OutputFacts &facts)
{
    std::uint32_t task = facts.array ? facts.array->task : no_task;
    switch (letter) {
    case 'A':
        return padded(facts.array ? facts.array->job : facts.job.id, digits);
    case 'J':
    case 'j':
        return padded(facts.job.id, digits);
    case 'a':
        return padded(task, digits);
    case 'b':
        return padded(task % 10, digits);
    case 'n': // node number, task number, and restart count
    case 't':
    case 'r':
        return padded(0, digits);
    case 'N':
        return facts.node;
    case 'S':
        return facts.job.sluid.str();
    case 's':
        return "batch";
    case 'u':
        return facts.user;
    case 'x':
        return facts.job_name;
    default:
        return std::nullopt;
    }
}

} // namespace

std::string expand_output(std::string_view pattern, const OutputFacts &facts)
{
    std::string text;
    if (!pattern.empty() && pattern.front() != '/') {
        text = facts.work_dir;
        if (!text.ends_with('/'))
            text += '/';
    }
    return text + expand_pattern(pattern, [&](char letter, std::size_t digits) {
               return meaning(letter, digits, facts);
           });
}

} // namespace bridge
