// SPDX-License-Identifier: GPL-2.0-or-later
// Predicates made of others, remembered by what they were made of: to make one
// of many terms takes a millisecond, and each decision about a gang asks for
// the same ones. Belongs to one thread.
//
// What is remembered is bounded by the length of the texts. What nobody has
// asked for lately is forgotten, and made again when it is asked for.
#pragma once

#include "agent/objects/predicate.h"

#include <compare>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace bridge {

class PredicateMemo {
  public:
    // Bytes of text. Twice as many may be kept.
    static constexpr std::size_t most_text = std::size_t{2} << 20;

    // Returns the predicate that requires what this one does of Nodes, all of
    // these selectors, and these devices instead of its own. Fails as
    // Predicate::make() does.
    Result<PredicatePtr> make(const PredicatePtr &of,
                              const std::vector<NodeSelector> &more,
                              const DeviceCondition &devices);
    // The same, but null if it is not remembered.
    PredicatePtr find(const PredicatePtr &of,
                      const std::vector<NodeSelector> &more,
                      const DeviceCondition &devices) const;

    std::size_t made() const { return made_; } // how many, for tests

  private:
    struct Key {
        PredicatePtr of; // equal ones of Pods are one object
        std::string devices;
        std::vector<NodeSelector> more;

        auto operator<=>(const Key &) const = default;
    };
    using Known = std::map<Key, Result<PredicatePtr>>;

    const Result<PredicatePtr> &remember(Key key, Result<PredicatePtr> made);

    Known known_;
    Known before_; // those not asked for since known_ was begun
    std::size_t text_ = 0;
    std::size_t made_ = 0;
};

} // namespace bridge
