// SPDX-License-Identifier: GPL-2.0-or-later
// Remembers whether something that is made of several answers has to be made
// again. Pure, and for one thread.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>

namespace bridge {

class Refresh {
  public:
    // Returns nothing if there was no answer, otherwise whether it differs from
    // the answer before.
    using Ask = std::function<std::optional<bool>()>;

    // Asks for all in order. If all have answered and one has changed since
    // make() was called, calls it. Returns false if one has not answered. What
    // make() throws is passed on, and it is called again next time.
    bool operator()(std::initializer_list<Ask> asks,
                    const std::function<void()> &make)
    {
        for (const Ask &ask : asks) {
            auto changed = ask();
            if (!changed)
                return false;
            stale_ |= *changed;
        }
        if (stale_)
            make();
        stale_ = false;
        return true;
    }

  private:
    bool stale_ = false;
};

} // namespace bridge
