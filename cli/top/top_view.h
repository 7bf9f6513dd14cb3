// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s top shows, as values made from the agent's two pages of
// metrics. Pure. Every text in here is safe for a terminal, whoever wrote it.
#pragma once

#include "cli/top/top_counts.h"
#include "common/metrics/sample_text.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

// What one read of the pages gave. Any bytes may be in the labels.
struct TopPages {
    Samples metrics; // /metrics
    Samples detail;  // /metrics/detail
    // Why the agent has no numbers of Slurm, as far as the caller knows; empty
    // if it has them.
    std::string no_numbers;
};

// Numbers are counts; what is not a count of 0 to 10^18 in a page becomes one.
struct TopBar {
    std::string name; // "CPUs", "gpu:a100"
    double used = 0;
    double total = 0;
    bool bytes = false;
};

struct TopPartition {
    std::string name;
    double nodes = 0;
    double cpus = 0;
    double cpus_used = 0;
    double running = 0;
    double pending = 0;
};

struct TopReason {
    std::string reason;
    std::string meaning; // "" for one that is not known
    double jobs = 0;
};

struct TopKind {
    std::string name; // in plain words
    double running = 0;
    double pending = 0;
};

struct TopNode {
    std::string name;
    std::string reason; // "" if PrivateData hides it
    std::string user;
    std::optional<std::chrono::sys_seconds> since;
};

enum class TopState {
    counted,    // there are numbers of Slurm
    slurm_away, // slurmctld does not answer the agent
    no_numbers, // the agent has none: see said
    no_agent,   // the agent does not answer: see said
};

struct TopView {
    TopState state = TopState::no_agent;
    std::string said; // why there are no numbers
    std::optional<std::chrono::sys_seconds> taken;
    // Of the agent; nothing if it does not say.
    std::optional<double> problems;
    std::vector<std::string> troubles; // sentences without a full stop

    // The rest only with numbers of Slurm.
    std::vector<std::pair<std::string, double>>
        nodes; // by state, in plain words
    std::vector<TopBar> bars;
    double running = 0;
    double pending = 0;
    double held = 0;
    double in_line = 0;             // have no job yet
    std::vector<TopKind> kinds;     // those that there are
    std::vector<TopReason> reasons; // most jobs first
    std::optional<TopFlow> flow;
    std::optional<TopWait> wait;
    std::vector<TopPartition> partitions; // most pending jobs first
    std::vector<TopNode> out; // with a reason: the most recent first
};

// counts: those of earlier reads and of this one.
TopView top_view(const TopPages &pages, const TopHistory &counts,
                 std::chrono::sys_seconds now);

// The view while the agent does not answer, or with what cannot be read.
TopView top_view_without(const std::string &error);

} // namespace bridge
