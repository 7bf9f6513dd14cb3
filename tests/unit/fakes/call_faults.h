// SPDX-License-Identifier: GPL-2.0-or-later
// The part of FakeSlurm that counts its calls, by the names of the methods, and
// has those go wrong that a test wants to.
#pragma once

#include "common/base/result.h"

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <utility>

namespace bridge {

class CallFaults {
  public:
    bool answers = true; // false: slurmctld is away

    // The next call of this method (any more: one after the other) fails so,
    // and does nothing.
    void fail_next(const std::string &what, Code code);
    void fail_always(const std::string &what, Code code);
    void heal(const std::string &what) { always_.erase(what); }
    // The next call does its work and loses the answer.
    void lose_reply(const std::string &what);

    std::size_t count(const std::string &what) const;
    std::size_t calls() const;
    void forget_calls() { counts_.clear(); }

  protected:
    // Counts the call and lets it go wrong, if it is to.
    Result<> enter(const std::string &what);
    // The call that was entered last; asked once it has done its work.
    bool loses_answer() { return std::exchange(lost_, false); }

  private:
    std::map<std::string, std::size_t> counts_;
    std::map<std::string, std::deque<std::pair<Code, bool>>> mishaps_;
    std::map<std::string, Code> always_;
    bool lost_ = false;
};

} // namespace bridge
