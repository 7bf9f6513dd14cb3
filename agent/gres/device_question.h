// SPDX-License-Identifier: GPL-2.0-or-later
// What the owner thread asks a worker about selectors and devices, and what it
// is told. Values.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/fit_counts.h"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// What the selectors that decide whether devices fit a request came to: those
// of its class, and then its own, up to the first that is not true.
struct SelectorResults {
    struct OfDevice {
        std::weak_ptr<const Device> device; // as it was then
        std::vector<Result<bool>> results;
    };
    std::map<DeviceId, OfDevice> devices;
};

struct DeviceQuestion {
    enum class Kind {
        wish,    // what gres_for() returns
        counts,  // what fit_counts() returns
        results, // SelectorResults for some devices
    };
    // The order in which those of a namespace are answered.
    enum class Rank {
        // Of gangs whose jobs have nodes, if there is no answer, or one that
        // says no; takes no heed of shares.
        urgent,
        missing,  // there is no answer
        outdated, // there is one, of devices as they were before
    };

    Kind kind = Kind::wish;
    std::string id; // equal for equal questions
    std::string ns; // whose share it takes
    Rank rank = Rank::missing;
    bool known = false;    // the answer of devices as they were before
    DeviceRequest request; // called any_request
    // Of Kind::results: its class's, the devices, and what is known of some.
    std::vector<CelSelector> class_selectors = {};
    std::set<DevicePtr> devices = {};
    std::shared_ptr<const SelectorResults> before = {};
};

struct DeviceAnswer {
    Result<GresWish> wish = GresWish{};
    std::shared_ptr<const FitCounts> counts = {};        // of Kind::counts
    std::shared_ptr<const SelectorResults> results = {}; // of Kind::results
    std::size_t cost = 0;                                // in steps
};

} // namespace bridge
