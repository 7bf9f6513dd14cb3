// SPDX-License-Identifier: GPL-2.0-or-later
// A memo of what selectors came to, and who answers its questions.
#pragma once

#include "agent/gres/evaluator.h"
#include "agent/gres/memo.h"

#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <format>
#include <memory>
#include <set>
#include <string>

namespace bridge {

inline constexpr char model_a[] =
    "device.attributes['gpu.example.com'].model == 'A'";

using Gangs = std::set<std::string>;

// A memo and who answers its questions.
struct MemoBed {
    std::shared_ptr<const DeviceCatalog> catalog =
        std::make_shared<const DeviceCatalog>(make_catalog({{"kn1", 4}}));
    GresMemo memo;
    GresEvaluator evaluator;
    Clock::time_point now{};
    int evaluated = 0;

    MemoBed() { memo.turn_to(catalog); }

    void turn_to(int devices)
    {
        catalog = std::make_shared<const DeviceCatalog>(
            make_catalog({{"kn1", devices}}));
        memo.turn_to(catalog);
    }
    // "gpu", "not known", or the message.
    std::string wish(const DeviceRequest &request, const std::string &ns = "a",
                     const std::string &gang = "g", bool urgent = false)
    {
        auto known = memo.wish_for(request, {ns, gang, urgent});
        if (!known)
            return "not known";
        outdated = known->outdated;
        const Result<GresWish> &wish = known->answer;
        return wish ? wish->gres : wish.error().message;
    }
    // -1: not known.
    std::int64_t count(const DeviceRequest &request)
    {
        auto known = memo.counts_for(request, {"a", "g"});
        if (!known)
            return -1;
        outdated = known->outdated;
        const FitCounts &counts = *known->answer;
        return counts.nodes.empty() ? 0 : counts.nodes[0].count;
    }
    // Answers the next question; cost: 0: what it costs. Returns whose it was,
    // or "nobody".
    std::string answer_one(std::size_t cost = 0)
    {
        auto question = memo.next(now);
        if (!question)
            return "nobody";
        CHECK(!memo.next(now).has_value()); // one at a time
        DeviceAnswer answer = evaluator.answer(catalog, *question);
        evaluated++;
        if (cost != 0)
            answer.cost = cost;
        woken = memo.take(std::move(answer), now);
        return question->ns;
    }
    Gangs answer_all()
    {
        Gangs all;
        while (answer_one() != "nobody")
            all.merge(Gangs(woken));
        return all;
    }

    Gangs woken;           // by the last answer
    bool outdated = false; // the last answer that was known
};

inline DeviceRequest number(int i)
{
    return gpu_request("a", std::format("device.driver != 'x{}'", i));
}

} // namespace bridge
