// SPDX-License-Identifier: GPL-2.0-or-later
// Who may spend how much on selectors, in the steps of CelBudget; 25 million
// take a second or so. The limits of one evaluation and of one answer are in
// agent/cel/cel.h. Whoever decides last has the largest: what a sync of the
// nodes could not decide counts as yes, and the plan for a job then can.
//
//   who                      for what                             limit
//   -----------------------  -----------------------------------  ---------
//   DeviceFits, by a worker  a condition, in a sync of the nodes  of_condition
//                            all conditions in that sync          of_sync
//   GresEvaluator, by a      the devices that fit a request, or   max_sum
//   worker                   what it is of the devices of a job
//                            all of a namespace in a period       of_namespace
//   make_inventory(), by a   a class of DeviceGres, for all       max_sum
//   worker                   devices
//   the owner thread         none: it looks results up
#pragma once

#include "agent/claims/resource_claim.h"

#include <chrono>
#include <cstddef>

namespace bridge::cel_limits {

inline constexpr std::size_t of_condition = 5'000'000;
inline constexpr std::size_t of_sync = 50'000'000;
// Some two seconds of a thread. A simple selector for 40,000 devices costs a
// fiftieth. Answers that are known, but of devices as they were before, are
// found anew by half of it.
inline constexpr std::size_t of_namespace = 50'000'000;
inline constexpr std::chrono::seconds period{10};

static_assert(CelSelector::max_cost <= of_condition &&
              of_condition <= CelSelector::max_sum &&
              CelSelector::max_sum <= of_namespace / 2);

// What the owner thread does with claims, in the same steps, which are 30 ns
// each there: for the claims of a Pod without devices, and in a turn. A turn
// reads no more claims once it has done that much. The same of the plan for a
// job: once it has taken that much, the other nodes wait for the next turn. The
// plan for one node may look up as much as max_sum: whoever planned with less
// would give up jobs that Slurm had every reason to start.
inline constexpr std::size_t of_pod = 400'000;
inline constexpr std::size_t of_turn = 100'000;
inline constexpr std::size_t of_plan = 500'000;

} // namespace bridge::cel_limits
