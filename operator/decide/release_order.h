// SPDX-License-Identifier: GPL-2.0-or-later
// In which order the daemons of a cluster get a new release of Slurm: slurmdbd,
// then slurmctld, then slurmd. Slurm serves older clients, and no newer ones
// (https://slurm.schedmd.com/upgrades.html). An image is of the release that
// its tag tells, such as 26.05 of "slurmctld:26.05.1-debian"; one whose tag
// tells none waits for nobody, and nobody waits for it. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <compare>
#include <optional>
#include <string>

namespace bridge::slinky {

struct Release {
    int year = 0; // without the century
    int month = 0;

    auto operator<=>(const Release &) const = default;
    std::string text() const; // "26.05"
};

std::optional<Release> release_of(const std::string &image);

// An image that may run now. reason: why it is not the one that is wished, as a
// sentence; "": it is.
struct ImageNow {
    std::string image;
    std::string reason;
};

// slurmdbd never gets an older release: its database has been converted.
ImageNow slurmdbd_image(const Known &known, const Unserved &accounting);
// slurmctld waits for the slurmdbd that the operator runs for it.
ImageNow slurmctld_image(const Known &known, const Controller &controller);

// The same object, with that image.
Unserved with_image(const Unserved &accounting, const ImageNow &now);
Controller with_image(const Controller &controller, const ImageNow &now);

// Why no worker gets the template of the NodeSet yet: a sentence, or "". Of an
// external Controller nothing is known.
std::string slurmd_waits(const Known &known, const Controller &controller,
                         const NodeSet &set);

} // namespace bridge::slinky
