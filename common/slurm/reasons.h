// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's reasons for which a job is pending, in plain words. Pure; knows the
// words that squeue prints and nothing else of Slurm.
#pragma once

#include <string>
#include <string_view>

namespace bridge {

struct ReasonWords {
    std::string meaning; // what the reason says
    std::string remedy;  // what would have to change
};

// reason: as squeue prints it, also with details behind the word, such as
// "ReqNodeNotAvail, UnavailableNodes:kn1". A reason that is not known gets the
// general remedy and no meaning.
ReasonWords reason_words(std::string_view reason);

// Equal for reasons between which a waiting job goes to and fro while the queue
// moves: a change inside a class is not worth a word to its owner.
std::string reason_class(std::string_view reason);

} // namespace bridge
