// SPDX-License-Identifier: GPL-2.0-or-later
// Tries a configuration before the slurmctld that runs gets it, which would die
// of a bad one when it is reconfigured, and never start again. A Pod of the
// same image gets the same files, an empty StateSaveLocation, a key that nobody
// else has and no database, and starts slurmctld. When that answers, the
// configuration is accepted; when it ends, its last words say why not. The Pod
// is named by the hash of the configuration, and is all that is remembered.
// Pure.
//
// What is not tried: the database, QOS included, and what follows from the
// state: partitions and nodes that jobs have.
#pragma once

#include "operator/decide/configuration.h"
#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <chrono>
#include <string>
#include <vector>

namespace bridge::slinky {

struct Trial {
    enum class Verdict { none, waits, accepted, refused };

    Verdict verdict = Verdict::none;
    std::string words; // of slurmctld, or why its Pod waits
};

Trial trial_of(const Known &known, const Controller &controller,
               const std::string &hash);

// Begins the trial, if it has not begun. One that was refused is repeated after
// some minutes, and one whose Pod has ended without a word at once.
std::vector<Step> try_out(const Known &known, const Controller &controller,
                          const Configuration &configuration,
                          std::chrono::sys_seconds now);

// Removes what trials have left, but for that of this hash.
std::vector<Step> end_trials(const Known &known, const Controller &controller,
                             const std::string &but);

std::string trial_name(const Controller &controller, const std::string &hash);

} // namespace bridge::slinky
