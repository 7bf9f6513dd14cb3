// SPDX-License-Identifier: GPL-2.0-or-later
// What a Node asks of Slurm by its labels, annotations and health, word for
// word, and how Slurm's own lists of words are read. Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/slurm/api.h"

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

// Its label asks that it be a node of Slurm.
bool is_opted_in(const Node &node);

// The name that it asks for; it may be none.
std::string slurm_name(const Node &node);

// The names go into a line that slurmctld parses: nothing may end a word.
bool is_plain_word(std::string_view word);

// The words of a comma-separated list.
std::vector<std::string> words_of(const std::string &list);
std::vector<std::string> sorted_words(const std::string &list);
bool has_word(const std::string &list, const std::string &word);

// Where it is in Slurm's topology; empty where it says nothing, or nothing that
// Slurm could read.
std::string topology_of(const Node &node, std::vector<std::string> &complaints);

// Why Slurm shall start nothing there; empty: nothing is against it.
std::string why_drained(const Node &node);

// The feature that only this node of Slurm has while a job must run there.
std::string pin_of(const std::string &slurm_node);

} // namespace bridge
