// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s check says: one finding for each thing that is, or may become,
// wrong. The checks are pure: facts in, findings out. Others collect the facts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bridge {

enum class Severity {
    note,    // good to know
    warning, // works, but will bite
    error,   // does not work, or not safely
};

const char *severity_name(Severity severity);

struct Finding {
    Severity severity;
    std::string about;  // "slurm.conf", "partition k8s", "Node n1"
    std::string says;   // a sentence
    std::string change; // the line to write, or the command; "": none

    bool operator==(const Finding &) const = default;
};

using Findings = std::vector<Finding>;
// What could not be looked at, and why; sentences.
using Unchecked = std::vector<std::string>;

std::size_t count(const Findings &findings, Severity severity);
void sort_by_weight(Findings &findings); // errors first

// The exit status: 1 when there is an error, 2 when there is none but something
// could not be checked, else 0.
int verdict(const Findings &findings, const Unchecked &unchecked);

std::string findings_json(const Findings &findings, const Unchecked &unchecked);

} // namespace bridge
