// SPDX-License-Identifier: GPL-2.0-or-later
// The configuration that a slurmctld of ours is to have, and what became of it:
// it is tried by another slurmctld before the ConfigMap of the first gets it
// (operator/decide/trial.h). That ConfigMap carries the hash of the last one
// that was accepted. Pure.
#pragma once

#include "operator/decide/made.h"
#include "operator/decide/objects.h"
#include "operator/decide/slurm_conf.h"

#include <string>

namespace bridge::slinky {

struct Configuration {
    ConfMemory memory;
    TextMap texts;       // by file name
    TextMap binaries;    // in base64
    std::string hash;    // of all files, and of the image of slurmctld
    std::string problem; // why there is none to try: a sentence
    bool known = true;   // false: not all was read that it is made of
};

Configuration configuration_of(const Known &known,
                               const Controller &controller);

// The ConfigMap that slurmctld has its files from; null if there is none.
const Made *live_conf(const Known &known, const Controller &controller);
// The hash of the files in it, or "".
std::string live_hash(const Known &known, const Controller &controller);

// That ConfigMap, as it is to be.
Wanted controller_conf(const Controller &controller,
                       const Configuration &configuration);

// All of them as one text, with lengths, so that no two sets have one text: for
// a hash.
std::string text_of(const TextMap &files);

// data and binaryData of a ConfigMap.
JsonMembers file_members(const TextMap &texts, const TextMap &binaries);

} // namespace bridge::slinky
