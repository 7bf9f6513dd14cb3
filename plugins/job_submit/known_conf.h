// SPDX-License-Identifier: GPL-2.0-or-later
// k8s.conf inside slurmctld.
#pragma once

#include "common/contract/conf.h"

#include <memory>

namespace bridge {

// Returns k8s.conf as it is now, or as it was when it last had no mistake; null
// if it never had none. Logs each new mistake once.
std::shared_ptr<const Conf> known_conf();

} // namespace bridge
