// SPDX-License-Identifier: GPL-2.0-or-later
// In which order the daemons of a cluster get a new release of Slurm: slurmdbd,
// then slurmctld and slurmk8sd beside it, then slurmd. Slurm serves older
// clients, and no newer ones (https://slurm.schedmd.com/upgrades.html). What
// runs now is read of the objects that the operator has made. An image is of
// the release that its tag tells, at its beginning ("26.05.1-debian") or behind
// "slurm" ("0.1.0-1-slurm26.05.5"); one whose tag tells none waits for nobody,
// and nobody waits for it. Pure.
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

// The images that may run now. reason: why these are not those that are wished,
// as a sentence; "": they are.
struct ImageNow {
    std::string image;
    std::string reason;
};
struct ControllerImages {
    std::string slurmctld;
    std::string slurmk8sd; // "": it does not run
    std::string reason;
};

// slurmdbd and slurmctld never get an older release: what they have saved has
// been converted.
ImageNow slurmdbd_image(const Known &known, const Unserved &accounting);
// slurmctld waits for the slurmdbd that the operator runs for it, and slurmk8sd
// for slurmctld.
ControllerImages controller_images(const Known &known,
                                   const Controller &controller);

// The same object, with these images.
Unserved with_image(const Unserved &accounting, const ImageNow &now);
Controller with_images(const Controller &controller,
                       const ControllerImages &now);

// Why no worker gets the template of the NodeSet yet: a sentence, or "". Of an
// external Controller nothing is known.
std::string slurmd_waits(const Known &known, const Controller &controller,
                         const NodeSet &set);

} // namespace bridge::slinky
