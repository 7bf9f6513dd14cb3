// SPDX-License-Identifier: GPL-2.0-or-later
// The lines that slurm.conf lacks, made from the findings of slurmk8s check, so
// that both always ask for the same. Pure.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/slurm_facts.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// The file beside slurm.conf that --write-slurm-conf writes.
inline constexpr char slurm_conf_include[] = "slurm-k8s-bridge.conf";

// Returns each line once, with all words that the findings want of it beside
// those that slurmctld has now. partition: that of k8s.conf, whose lines are
// added if it does not exist.
std::vector<std::string> lacking_lines(const Findings &findings,
                                       const SlurmFacts &slurm,
                                       const std::string &partition);

// What a slurm.conf sets: its keys in lower case, and the lines "Key=Value" as
// they are, without comments, with continued lines joined.
struct SlurmConfText {
    std::set<std::string> keys;
    std::vector<std::string> lines;
    std::vector<std::string> includes; // the files that it names
};
SlurmConfText read_slurm_conf(std::string_view text);

// Which of the lacking lines can go into a file that slurm.conf includes.
struct SplitLines {
    std::vector<std::string> to_include; // keys that slurm.conf does not set
    // Keys that it sets to something else: a key must not be set twice.
    std::vector<std::string> to_change;
    std::vector<std::string> there; // it has them: slurmctld was not restarted
};
SplitLines split_lines(const std::vector<std::string> &lacking,
                       const SlurmConfText &conf);

// Returns the text of the file that slurm.conf includes: the lines that it has
// already, except those that set a key of the new ones, and the new ones.
std::string include_text(std::string_view present,
                         const std::vector<std::string> &lines);

} // namespace bridge
