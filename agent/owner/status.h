// SPDX-License-Identifier: GPL-2.0-or-later
// What people see of the agent: metrics, status, and the story of one gang.
// Read only; owner thread only.
#pragma once

#include "agent/owner/explain_page.h"
#include "agent/owner/parts.h"
#include "common/metrics/metric_text.h"

#include <string>

namespace bridge {

void write_metrics(const OwnerParts &parts, MetricText &text);
// For slurmk8s status, as JSON.
std::string status_of(const OwnerParts &parts);
// For slurmk8s explain. Code::not_found when no gang matches, Code::conflict
// when several Pods have that name.
Result<Story> story_of(const OwnerParts &parts, const StoryKey &key);

} // namespace bridge
