// SPDX-License-Identifier: GPL-2.0-or-later
// The results of slurmk8s check: one finding for each thing that is wrong or
// may become wrong. The checks are pure functions from facts to findings; other
// files collect the facts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bridge {

enum class Severity {
    note,    // good to know
    warning, // works, but will cause trouble
    error,   // does not work, or not safely
};

const char *severity_name(Severity severity);

// A line of several words, of which a finding wants some to be others: by name,
// with the value, if they have one ("bf_interval=5").
struct WordChange {
    using Words = std::map<std::string, std::string>;

    std::string begin; // "SchedulerParameters="
    Words now;         // as the line is set
    Words wanted;      // added, or in place of the words of those names
    char separator = ',';

    std::string line() const; // with what is wanted
    bool operator==(const WordChange &) const = default;
};

struct Finding {
    Severity severity;
    std::string about;  // "slurm.conf", "partition k8s", "Node n1"
    std::string says;   // the message, without a full stop
    std::string change; // the line to write, or the command; or ""
    // What `change` is made of, if others may want other words of that line.
    std::optional<WordChange> words = std::nullopt;

    bool operator==(const Finding &) const = default;
};

Finding make_finding(Severity severity, const std::string &about,
                     const std::string &says, WordChange words);

using Findings = std::vector<Finding>;
// What could not be checked, and why; one message each.
using Unchecked = std::vector<std::string>;

std::size_t count(const Findings &findings, Severity severity);
// Gives all findings that want words of one line the line that has them all, so
// that none is lost whichever of them is pasted.
void merge_changes(Findings &findings);
// Errors first; of the same weight, those with the same change side by side.
void sort_by_weight(Findings &findings);

// Returns the exit status: 1 if there is an error, 2 if there is none but
// something could not be checked, otherwise 0.
int verdict(const Findings &findings, const Unchecked &unchecked);

std::string findings_json(const Findings &findings, const Unchecked &unchecked);

} // namespace bridge
