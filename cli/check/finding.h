// SPDX-License-Identifier: GPL-2.0-or-later
// The results of slurmk8s check: one finding for each thing that is wrong or
// may become wrong. The checks are pure functions from facts to findings; other
// files collect the facts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bridge {

enum class Severity {
    note,    // good to know
    warning, // works, but will cause trouble
    error,   // does not work, or not safely
};

const char *severity_name(Severity severity);

struct Finding {
    Severity severity;
    std::string about;  // "slurm.conf", "partition k8s", "Node n1"
    std::string says;   // the message, without a full stop
    std::string change; // the line to write, or the command; or ""

    bool operator==(const Finding &) const = default;
};

using Findings = std::vector<Finding>;
// What could not be checked, and why; one message each.
using Unchecked = std::vector<std::string>;

std::size_t count(const Findings &findings, Severity severity);
void sort_by_weight(Findings &findings); // errors first

// Returns the exit status: 1 if there is an error, 2 if there is none but
// something could not be checked, otherwise 0.
int verdict(const Findings &findings, const Unchecked &unchecked);

std::string findings_json(const Findings &findings, const Unchecked &unchecked);

} // namespace bridge
