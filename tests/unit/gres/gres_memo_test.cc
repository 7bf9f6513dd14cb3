// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include "tests/unit/flows/claims.h"

#include <chrono>
#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace bridge;

namespace {

constexpr char model_a[] = "device.attributes['gpu.example.com'].model == 'A'";

using Kind = GresMemo::Kind;
using Gangs = std::set<std::string>;

// A memo and who answers its questions.
struct Bed {
    std::shared_ptr<const DeviceCatalog> catalog =
        std::make_shared<const DeviceCatalog>(make_catalog({{"kn1", 4}}));
    GresMemo memo;
    GresEvaluator evaluator;
    Clock::time_point now{};
    int evaluated = 0;

    Bed() { memo.turn_to(catalog); }

    void turn_to(int devices)
    {
        catalog = std::make_shared<const DeviceCatalog>(
            make_catalog({{"kn1", devices}}));
        memo.turn_to(catalog);
    }
    // "gpu", "not known", or the message.
    std::string wish(const DeviceRequest &request, const std::string &ns = "a",
                     const std::string &gang = "g")
    {
        auto wish = memo.wish_for(request, {ns, gang});
        if (!wish)
            return "not known";
        return *wish ? (*wish)->gres : wish->error().message;
    }
    // -1: not known.
    std::int64_t count(const DeviceRequest &request)
    {
        auto counts = memo.counts_for(request, {"a", "g"});
        if (!counts)
            return -1;
        return counts->nodes.empty() ? 0 : counts->nodes[0].count;
    }
    // Answers the next question; cost: 0: what it costs. Returns whose it was,
    // or "nobody".
    std::string answer_one(std::size_t cost = 0)
    {
        auto question = memo.next(now);
        if (!question)
            return "nobody";
        CHECK(!memo.next(now).has_value()); // one at a time
        GresMemo::Answer answer = evaluator.answer(catalog, *question);
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

    Gangs woken; // by the last answer
};

DeviceRequest number(int i)
{
    return gpu_request("a", std::format("device.driver != 'x{}'", i));
}

} // namespace

TEST_CASE("what nobody knows is a question, and its answer is remembered")
{
    Bed bed;

    CHECK(bed.wish(gpu_request("a")) == "not known");
    CHECK(bed.count(gpu_request("a")) == -1);
    CHECK(bed.answer_all() == Gangs{"g"});

    CHECK(bed.wish(gpu_request("a")) == "gpu");
    CHECK(bed.wish(gpu_request("b")) == "gpu"); // whatever its name
    CHECK(bed.count(gpu_request("b")) == 4);
    CHECK(bed.count(gpu_request("a", model_a)) == -1);
    bed.answer_all();
    CHECK(bed.count(gpu_request("a", model_a)) == 2);
    CHECK(bed.evaluated == 3);
    CHECK(bed.answer_one() == "nobody");
}

TEST_CASE("a question that many ask is answered once")
{
    Bed bed;
    for (const char *gang : {"g", "h"})
        for (const char *ns : {"a", "b"})
            for (const char *name : {"r", "s"})
                bed.wish(gpu_request(name), ns, std::string(ns) + gang);

    CHECK(bed.answer_all() == Gangs{"ag", "ah", "bg", "bh"});
    CHECK(bed.evaluated == 1);
}

TEST_CASE("a gang is woken once, when all that it has asked for is known")
{
    Bed bed;
    bed.wish(number(0));
    bed.wish(number(1));
    bed.wish(number(1), "a", "other");
    bed.count(number(0));

    bed.answer_one();
    CHECK(bed.woken == Gangs{});
    bed.answer_one();
    CHECK(bed.woken == Gangs{"other"});
    bed.answer_one();
    CHECK(bed.woken == Gangs{"g"});
}

TEST_CASE("a request that has no GRES is told so by its own name")
{
    Bed bed;
    auto reason = [&](const std::string &name) {
        return bed.wish(gpu_request(name, "device.driver == 'none'"));
    };
    reason("a");
    bed.answer_all();

    CHECK(reason("a").contains(" request a "));
    CHECK(reason("other").contains(" request other "));
    CHECK(bed.evaluated == 1);
}

TEST_CASE("of other devices everything is asked anew")
{
    Bed bed;
    bed.count(gpu_request("a"));
    bed.answer_all();

    bed.turn_to(5);
    CHECK(bed.count(gpu_request("a")) == -1);
    bed.answer_all();
    CHECK(bed.count(gpu_request("a")) == 5);
}

TEST_CASE("an answer that is of the devices of before is not used")
{
    Bed bed;
    bed.wish(gpu_request("a"));
    auto question = bed.memo.next(bed.now);
    REQUIRE(question.has_value());
    GresMemo::Answer answer = bed.evaluator.answer(bed.catalog, *question);

    bed.turn_to(5);
    CHECK(bed.memo.take(std::move(answer), bed.now) == Gangs{"g"});

    CHECK(bed.wish(gpu_request("a")) == "not known");
    bed.answer_all();
    CHECK(bed.wish(gpu_request("a")) == "gpu");
}

TEST_CASE("a question without an answer is asked again")
{
    Bed bed;
    bed.wish(gpu_request("a"));
    REQUIRE(bed.memo.next(bed.now).has_value());

    CHECK(bed.memo.take(std::nullopt, bed.now) == Gangs{"g"}); // it failed

    CHECK(bed.wish(gpu_request("a")) == "not known");
    CHECK(bed.answer_one() == "a");
    CHECK(bed.wish(gpu_request("a")) == "gpu");
}

TEST_CASE("namespaces take turns, however much one of them asks")
{
    Bed bed;
    for (int i = 0; i < 20; i++)
        bed.wish(number(i), "greedy");
    bed.answer_one();
    bed.wish(number(100), "other");
    bed.wish(number(101), "third");

    std::set<std::string> served{bed.answer_one(), bed.answer_one(),
                                 bed.answer_one()};

    CHECK(served == Gangs{"greedy", "other", "third"});
}

TEST_CASE("a namespace that has used its share up waits, and others do not")
{
    Bed bed;
    for (int i = 0; i < 5; i++)
        bed.wish(number(i), "greedy");
    CHECK(bed.answer_one(CelShares::share - 1) == "greedy");
    CHECK(!bed.memo.waits_for_share("greedy", bed.now));
    CHECK(bed.answer_one(1) == "greedy");

    CHECK(bed.answer_one() == "nobody");
    CHECK(bed.memo.waits_for_share("greedy", bed.now));
    bed.wish(number(100), "other");
    bed.wish(number(3), "other"); // which it does not get by its own share
    CHECK(bed.answer_one() == "other");
    CHECK(bed.answer_one() == "other");
    CHECK(bed.answer_one() == "nobody");
    CHECK(!bed.memo.waits_for_share("other", bed.now));

    bed.now += CelShares::period - std::chrono::milliseconds(1);
    CHECK(bed.answer_one() == "nobody");
    bed.now += std::chrono::milliseconds(1);
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.wish(number(4), "greedy") == "gpu");
}

TEST_CASE("the questions that are kept for a namespace are bounded")
{
    Bed bed;
    const int most = static_cast<int>(GresMemo::most_questions);
    for (int i = 0; i < 2 * most; i++)
        bed.wish(number(i));
    bed.wish(number(0), "b", "other");

    CHECK(bed.answer_all() == Gangs{"g", "other"});
    CHECK(bed.evaluated == most);
    for (int i = 0; i < 2 * most; i++) // the rest is asked next time
        bed.wish(number(i));
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.evaluated == 2 * most);
}

TEST_CASE("what is kept is bounded, and nobody loses by what another asks")
{
    Bed bed;
    auto tell = [&](const DeviceRequest &request, const std::string &ns) {
        bed.memo.counts_for(request, {ns, "g"});
        REQUIRE(bed.memo.next(bed.now).has_value());
        auto counts = std::make_shared<FitCounts>();
        counts->nodes.resize(GresMemo::most_kept / 10);
        bed.memo.take(GresMemo::Answer{.counts = std::move(counts)}, bed.now);
    };
    tell(number(0), "quiet");
    for (int i = 1; i <= 30; i++)
        tell(number(i), "greedy");

    int kept = 0;
    for (int i = 1; i <= 30; i++)
        kept += bed.memo.counts_for(number(i), {"greedy", "g"}) != nullptr;
    CHECK(bed.memo.counts_for(number(0), {"quiet", "g"}) != nullptr);
    CHECK(kept == 8); // and what has not been used for longest goes first
    CHECK(bed.memo.counts_for(number(30), {"greedy", "g"}) != nullptr);
}

TEST_CASE("which GRES each device is, is found out once for a catalog")
{
    Bed bed;
    auto catalog = std::make_shared<DeviceCatalog>(make_catalog({{"kn1", 4}}));
    GresMemo::Question question;
    question.request = gpu_request("a");
    auto has_gres = [&] {
        return bed.evaluator.answer(catalog, question).wish.has_value();
    };
    REQUIRE(has_gres());

    catalog->nodes.clear(); // as no catalog ever does: it would be seen

    CHECK(has_gres());
    CelBudget budget(CelSelector::max_sum);
    CHECK(!gres_for(*catalog, kinds_of(*catalog), question.request, budget)
               .has_value());
}
