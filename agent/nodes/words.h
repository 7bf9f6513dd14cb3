// SPDX-License-Identifier: GPL-2.0-or-later
// Reads what a Node requests of Slurm in its labels, annotations and health,
// and reads Slurm's comma-separated lists. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/slurm/api.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Whether its label requests a Slurm node.
bool is_opted_in(const Node &node);

// Returns the Slurm name that it requests; the name may be invalid.
std::string slurm_name(const Node &node);

// Whether the text is safe in a line that slurmctld parses: no character ends a
// word.
bool is_plain_word(std::string_view word);

// Returns the words of a comma-separated list.
std::vector<std::string> words_of(const std::string &list);
std::vector<std::string> sorted_words(const std::string &list);
bool has_word(const std::string &list, const std::string &word);

// Returns its place in Slurm's topology. Empty if the Node does not state one,
// or if it is malformed; a message is then appended to `warnings`.
std::string topology_of(const Node &node, std::vector<std::string> &warnings);

// Returns why Slurm must not start jobs there, or "" if it may.
std::string drain_reason(const Node &node);

// Returns the feature that only this Slurm node has while a job must run there.
std::string pin_of(const std::string &slurm_node);

} // namespace bridge
