// SPDX-License-Identifier: GPL-2.0-or-later
// In which order GRES and the nodes that have them reach slurmctld. A node
// whose GRES has a type that slurmctld does not know registers without it
// (GresTypes in slurm.conf(5)), and slurmd has read gres.conf at its start.
// Pure.
#pragma once

#include "operator/decide/objects.h"

#include <string>

namespace bridge::slinky {

// Why no Pod of a NodeSet with Gres in its extraConf comes yet: slurmctld has
// still to read a configuration. A sentence, or "". One that is refused is not
// waited for. Of an external Controller nothing is known.
std::string gres_waits(const Known &known, const Controller &controller,
                       const NodeSet &set);

} // namespace bridge::slinky
