// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8s check: collects the facts that it can get and asks every check.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/host_facts.h"
#include "cli/check/kube_facts.h"
#include "cli/check/slurm_facts.h"
#include "common/contract/conf.h"

#include <optional>

namespace bridge {

// What is known; a side that did not answer is not there.
struct Facts {
    Conf conf;
    HostFacts host;
    std::optional<SlurmFacts> slurm;
    KubeFacts kube;
};

// Every check on these facts; pure, as the checks are. Errors first.
Findings check_all(const Facts &facts);

} // namespace bridge
