// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/call_faults.h"

namespace bridge {

void CallFaults::fail_next(const std::string &what, Code code)
{
    mishaps_[what].push_back({code, false});
}

void CallFaults::fail_always(const std::string &what, Code code)
{
    always_[what] = code;
}

void CallFaults::lose_reply(const std::string &what)
{
    mishaps_[what].push_back({Code::uncertain, true});
}

std::size_t CallFaults::count(const std::string &what) const
{
    auto found = counts_.find(what);
    return found == counts_.end() ? 0 : found->second;
}

std::size_t CallFaults::calls() const
{
    std::size_t sum = 0;
    for (const auto &[what, count] : counts_)
        sum += count;
    return sum;
}

Result<> CallFaults::enter(const std::string &what)
{
    counts_[what]++;
    if (!answers)
        return fail(Code::busy, what + ": Unable to contact slurmctld");
    if (auto always = always_.find(what); always != always_.end())
        return fail(always->second, what + ": as the test wants");
    auto &waiting = mishaps_[what];
    if (waiting.empty())
        return {};
    auto [code, works] = waiting.front();
    waiting.pop_front();
    lost_ = works;
    if (works)
        return {};
    return fail(code, what + ": as the test wants");
}

} // namespace bridge
