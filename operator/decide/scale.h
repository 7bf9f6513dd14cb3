// SPDX-License-Identifier: GPL-2.0-or-later
// Which Pods of a NodeSet come, go and are asked. A Pod with a slurmd goes only
// when it was asked to drain and exactly this request was answered. Nothing is
// remembered: the same Pods lead to the same plan. Pure.
//
//   Pod                          more than wanted    not more than wanted
//   ---------------------------  ------------------  -----------------------
//   ended (Succeeded, Failed)    delete              delete, its name returns
//   is being deleted             wait                wait, its name returns
//   is not among the cheapest    keep                keep
//   is among the cheapest        ask                 -
//   is to get a new template     -                   ask (update.h)
//   was asked, no answer         wait                take the request back
//   was asked, has answered      delete; ask again   take the request back
//                                if that is long ago
//
// The request may say that the record of the Slurm node is to go, too: not for
// a Pod that is to come back.
#pragma once

#include "operator/decide/names.h"
#include "operator/decide/objects.h"
#include "operator/decide/places.h"
#include "operator/decide/status.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace bridge::slinky {

// Bounds what one round asks of the API server. The next one follows at once.
inline constexpr std::size_t most_steps = 50; // of each kind

struct ScalePlan {
    std::vector<Slot> create;
    std::vector<const Worker *> ask;     // to drain
    std::set<const Worker *> for_good;   // of these: also without its record
    std::vector<const Worker *> release; // of an earlier request
    std::vector<const Worker *> remove;  // ended, or has answered
    std::vector<std::string> waiting;    // names of those that are to go
    std::vector<std::string> updating;   // and of those that are to be replaced
};

// The NodeSets of this Controller, in the order of their names.
std::vector<const NodeSet *> sets_of(const Known &known,
                                     const Controller &controller);

// The Pods that this NodeSet controls, in the order of their names.
std::vector<const Worker *> workers_of(const Known &known, const NodeSet &set);

// A Pod that is there and has not ended.
bool is_alive(const Worker &worker);

// Whether the agent has answered the request that stands on the Pod now; and a
// moment ago.
bool has_answered(const Worker &worker);
bool is_drained(const Worker &worker, Now now);

// What is wished of the Pods.
struct Wish {
    std::size_t wanted = 0; // how many of them
    std::string revision;   // of which template; "": of any
    bool update = false;    // replace those of another one
    // The records of those that are too many go, too; in the mode DaemonSet
    // only where the Node is gone.
    bool forget = false;
    Pins pins = {};                       // the Nodes of ordinals
    const DaemonPlaces *places = nullptr; // in the mode DaemonSet
};

ScalePlan plan_scale(const NodeSet &set,
                     const std::vector<const Worker *> &workers,
                     const Wish &wish, Now now);

// The number of the next request.
std::uint64_t next_request(const Worker &worker);

} // namespace bridge::slinky
