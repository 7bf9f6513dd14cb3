// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8s check: collects the available facts and runs every check.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/host_facts.h"
#include "cli/check/kube_facts.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

#include <optional>

namespace bridge {

// What is known. A side that did not answer is missing.
struct Facts {
    Conf conf;
    HostFacts host;
    std::optional<SlurmFacts> slurm;
    KubeFacts kube;
};

// Runs every check on these facts. Pure function. Errors come first.
Findings check_all(const Facts &facts);

} // namespace bridge
