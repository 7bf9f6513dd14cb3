// SPDX-License-Identifier: GPL-2.0-or-later
// The contents of the agent's HTTP endpoints, which come from the owner thread.
#pragma once

#include "agent/calls/call_counts.h"
#include "agent/daemon/web.h"
#include "agent/metrics/slurm_metrics.h"
#include "agent/owner/message.h"
#include "common/base/mailbox.h"
#include "common/slurm/api.h"

#include <string>

namespace bridge {

class Owner;

// What the pages of metrics have besides what the owner thread says.
struct MetricSources {
    const SlurmMetrics &slurm;
    const CallCounts &calls;
    std::string token_file;         // of the API server
    std::string readers_token_file; // MetricsTokenFile
};

// Each page but detail waits a few seconds at most for the owner thread, which
// runs owner. If it does not answer, problems says so, metrics has none of the
// agent, status is "{}", and explain has the status 503. All arguments must
// outlive the pages.
WebPages pages_of(Owner &owner, Mailbox<Message> &mailbox, Slurm &slurm,
                  const MetricSources &metrics);

} // namespace bridge
