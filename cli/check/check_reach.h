// SPDX-License-Identifier: GPL-2.0-or-later
// The findings of slurmk8s check when the API server gives no useful answer:
// its address, its certificate or our token is wrong. Pure.
#pragma once

#include "cli/check/finding.h"
#include "cli/check/host_facts.h"
#include "cli/check/kube_facts.h"
#include "common/contract/conf.h"

#include <string_view>

namespace bridge {

// Whether the host of this URL is kept for documentation, so that nobody can
// have it: by RFC 5737, RFC 3849 and RFC 9637 (addresses), or by RFC 2606 and
// RFC 6761 (names).
bool is_example_server(std::string_view url);

Findings check_reach(const KubeFacts &kube, const HostFacts &host,
                     const Conf &conf);

} // namespace bridge
