// SPDX-License-Identifier: GPL-2.0-or-later
// The steps of one object, on their way from the owner thread to a lane, and
// what became of them, on its way back. Values.
#pragma once

#include "operator/decide/decide.h"

#include <string>
#include <vector>

namespace bridge::slinky {

// An object, for Events and the log.
struct About {
    std::string kind;
    Meta meta;
};

struct Work {
    About about;
    std::vector<Step> steps;
    Failures before;    // those of the last time: they are not told again
    bool rests = false; // only its status is written
};

struct Acted {
    Meta about;
    bool rests = false;
    Failures failures; // by the what of a step
    // What the Pods were like before these steps: until the watch has told of
    // another version, deciding again would repeat them.
    std::vector<Seen> seen;
};

} // namespace bridge::slinky
