// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include "agent/gres/evaluator.h"
#include "agent/gres/plan_results.h"

#include "tests/unit/flows/claims.h"

#include <chrono>
#include <doctest/doctest.h>
#include <set>
#include <string>

using namespace bridge;

namespace {

constexpr char model_a[] = "device.attributes['gpu.example.com'].model == 'A'";

using Kind = DeviceQuestion::Kind;
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

TEST_CASE("an answer of the devices of before is used until there is another")
{
    Bed bed;
    bed.count(gpu_request("a"));
    bed.answer_all();
    CHECK(bed.count(gpu_request("a")) == 4);
    CHECK(!bed.outdated);
    const std::uint64_t version = bed.memo.version();

    bed.turn_to(5);
    CHECK(bed.count(gpu_request("a")) == 4);
    CHECK(bed.outdated);
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.count(gpu_request("a")) == 5);
    CHECK(!bed.outdated);
    CHECK(bed.memo.version() != version);
    CHECK(bed.evaluated == 2);
}

TEST_CASE("devices that change faster than questions are answered")
{
    Bed bed;
    bed.wish(gpu_request("a"));
    for (int i = 0; i < 20; i++) {
        auto question = bed.memo.next(bed.now);
        if (question) {
            DeviceAnswer answer = bed.evaluator.answer(bed.catalog, *question);
            bed.turn_to(5 + i); // before it is there
            answer.cost = 1;
            CHECK(bed.memo.take(std::move(answer), bed.now) == Gangs{"g"});
        }
        CHECK(bed.wish(gpu_request("a")) == "gpu");
        CHECK(bed.outdated);
    }
    CHECK(bed.memo.version() == 0); // it was always the same
}

TEST_CASE("what is missing comes before what is only outdated")
{
    Bed bed;
    for (int i = 0; i < 5; i++)
        bed.wish(number(i));
    bed.answer_all();
    bed.turn_to(5);
    for (int i = 0; i < 5; i++)
        bed.wish(number(i), "a", "old");
    bed.wish(number(5), "a", "new");

    CHECK(bed.answer_one(cel_limits::of_namespace / 2) == "a");
    CHECK(bed.woken == Gangs{"new"});

    // And has half of the share for itself.
    CHECK(bed.answer_one() == "nobody");
    bed.wish(number(6), "a", "new");
    CHECK(bed.answer_one() == "a");
    CHECK(bed.woken == Gangs{"new"});
    CHECK(bed.memo.due(bed.now) == bed.now + cel_limits::period);
    bed.now += cel_limits::period;
    CHECK(bed.answer_all() == Gangs{"old"});
}

TEST_CASE("a question whose answer fails is asked again, but not at once")
{
    Bed bed;
    bed.wish(gpu_request("a"));
    auto fails = [&] {
        auto question = bed.memo.next(bed.now);
        if (question)
            CHECK(bed.memo.take(std::nullopt, bed.now).empty());
        return question.has_value();
    };
    REQUIRE(fails());
    bed.wish(number(1), "a", "other");
    CHECK(bed.answer_one() == "a"); // which need not wait for it
    CHECK(bed.woken == Gangs{"other"});

    int times = 1;
    for (int i = 0; i < 300; i++) { // half a minute
        bed.now += std::chrono::milliseconds(100);
        bed.wish(gpu_request("a"));
        times += fails();
    }
    CHECK(times == 5); // after 1, 2, 4, 8 s
    CHECK(bed.memo.due(bed.now) > bed.now);
    bed.now = bed.memo.due(bed.now);
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.wish(gpu_request("a")) == "gpu");
}

TEST_CASE("all who have asked a question that fails ask it again")
{
    Bed bed;
    bed.wish(gpu_request("a"), "a", "g");
    REQUIRE(bed.memo.next(bed.now).has_value());
    bed.wish(gpu_request("a"), "b", "placed", true);
    CHECK(bed.memo.take(std::nullopt, bed.now).empty());
    CHECK(bed.memo.awaits("g"));

    bed.now = bed.memo.due(bed.now);
    CHECK(bed.answer_one() == "b"); // which comes first
    CHECK(bed.woken == Gangs{"g", "placed"});
    CHECK(bed.answer_one() == "nobody");
    CHECK(!bed.memo.awaits("placed"));
}

TEST_CASE("a gang is woken by the last answer that was missing")
{
    Bed bed;
    bed.wish(number(0));
    bed.answer_all();
    bed.turn_to(5);
    bed.wish(number(0));
    bed.wish(number(1));

    bed.answer_one();
    CHECK(bed.woken == Gangs{"g"});
    CHECK(bed.memo.awaits("g"));
    bed.answer_one();
    CHECK(bed.woken == Gangs{"g"});
    CHECK(!bed.memo.awaits("g"));
}

TEST_CASE("an answer that was let go of meanwhile may have become another")
{
    Bed bed;
    bed.count(number(0));
    bed.answer_all();
    bed.turn_to(5);
    bed.count(number(0));
    const std::uint64_t version = bed.memo.version();

    bed.count(number(1)); // comes first, and is large
    REQUIRE(bed.memo.next(bed.now)->id != "");
    auto counts = std::make_shared<FitCounts>();
    counts->nodes.resize(KeptAnswers::most_bytes / 200);
    bed.memo.take(DeviceAnswer{.counts = std::move(counts)}, bed.now);
    CHECK(bed.memo.version() == version);
    bed.answer_all();

    CHECK(bed.count(number(0)) == 5);
    CHECK(bed.memo.version() != version);
}

TEST_CASE("gangs that have nodes are served first, whatever their share")
{
    Bed bed;
    for (int i = 0; i < 3; i++)
        bed.wish(number(i));
    bed.wish(number(2), "a", "placed", true); // which waits already
    CHECK(bed.answer_one(cel_limits::of_namespace) == "a");
    CHECK(bed.woken == Gangs{"placed"});
    CHECK(bed.answer_one() == "nobody");

    bed.wish(number(3), "a", "placed", true);
    CHECK(bed.answer_one() == "a");
    CHECK(bed.woken == Gangs{"placed"});
}

TEST_CASE("a gang that has nodes does not wait to hear that it may again")
{
    Bed bed;
    DeviceRequest request = gpu_request("a", "device.driver == 'none'");
    request.class_name = "other.example.com";
    CHECK(bed.wish(request) == "not known");
    bed.answer_all();
    REQUIRE(bed.wish(request) != "gpu");
    bed.wish(number(0));
    CHECK(bed.answer_one(cel_limits::of_namespace) == "a");

    bed.turn_to(5);
    bed.wish(request, "a", "waits");
    CHECK(bed.answer_one() == "nobody");
    bed.wish(request, "a", "placed", true);
    CHECK(bed.answer_one() == "a");
    CHECK(bed.woken.contains("placed"));
}

TEST_CASE("gangs that have nodes hold up no other namespace")
{
    Bed bed;
    for (int i = 0; i < 30; i++)
        bed.wish(number(i), "greedy", "placed", true);
    for (int i = 40; i < 43; i++)
        bed.wish(number(i), "other");

    int others = 0;
    for (int i = 0; i < 6; i++)
        others += bed.answer_one() == "other";
    CHECK(others == 3);
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
    CHECK(bed.answer_one(cel_limits::of_namespace - 1) == "greedy");
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

    bed.now += cel_limits::period - std::chrono::milliseconds(1);
    CHECK(bed.answer_one() == "nobody");
    bed.now += std::chrono::milliseconds(1);
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.wish(number(4), "greedy") == "gpu");
}

TEST_CASE("the questions that wait of a namespace are bounded")
{
    Bed bed;
    const int most = static_cast<int>(QuestionQueue::most);
    for (int i = 0; i < most; i++)
        bed.wish(number(i));
    for (int i = most; i < 2 * most; i++)
        bed.wish(number(i), "a", "late");
    bed.wish(number(0), "b", "other");
    CHECK(bed.memo.awaits("late"));

    CHECK(bed.answer_all() == Gangs{"g", "late", "other"});
    CHECK(bed.evaluated == most);
    CHECK(!bed.memo.awaits("late"));
    for (int i = 0; i < 2 * most; i++) // the rest is asked next time
        bed.wish(number(i));
    CHECK(bed.answer_all() == Gangs{"g"});
    CHECK(bed.evaluated == 2 * most);
}

TEST_CASE("who has no room for a question asks again when others make it")
{
    Bed bed;
    bed.wish(number(0), "poor");
    bed.answer_one(cel_limits::of_namespace);
    const int most = static_cast<int>(QuestionQueue::most);
    for (int i = 1; i <= most; i++)
        bed.wish(number(i), "poor");
    bed.wish(number(most + 1), "poor", "late");
    bed.wish(number(most + 2), "poor", "later");
    for (int i = 1; i <= most; i++)
        bed.wish(number(i), "rich", "rich");

    CHECK(bed.answer_one() == "rich");
    CHECK(bed.woken == Gangs{"late", "later"});
    CHECK(!bed.memo.awaits("late"));
}

TEST_CASE("what has no room comes in the order in which it was asked")
{
    Bed bed;
    const int most = static_cast<int>(QuestionQueue::most);
    for (int i = 0; i < most; i++)
        bed.wish(number(i));
    bed.wish(number(100), "a", "z");
    for (int i = 0; i < 20; i++)
        bed.wish(number(100), "a", "h" + std::to_string(i));

    bed.answer_one();
    CHECK(bed.woken.contains("z"));
    CHECK(bed.woken.size() == 10);
}

TEST_CASE("what questions of a namespace may say is bounded, but for one")
{
    Bed bed;
    auto large = [&](int i) {
        std::string text(9'000, 'x');
        DeviceRequest request = gpu_request("a");
        for (int k = 0; k < 32; k++)
            request.selectors.push_back(
                *CelSelector::parse(std::format("'{}{}' != '{}'", i, text, k)));
        return request;
    };
    for (int i = 0; i < 10; i++)
        bed.wish(large(i), "a", "g" + std::to_string(i));

    bed.wish(large(10), "a", "placed", true); // there is always room for one

    int asked = 0;
    while (bed.memo.next(bed.now) && asked < 20) {
        asked++;
        bed.memo.take(DeviceAnswer{}, bed.now);
    }
    CHECK(asked == 3 + 1); // of less than a megabyte, and that of "placed"
}

TEST_CASE("what is kept is bounded, and nobody loses by what another asks")
{
    Bed bed;
    auto tell = [&](const DeviceRequest &request, const std::string &ns) {
        bed.memo.counts_for(request, {ns, "g"});
        REQUIRE(bed.memo.next(bed.now).has_value());
        auto counts = std::make_shared<FitCounts>();
        counts->nodes.resize(KeptAnswers::most_bytes / 200 / 10 - 100);
        bed.memo.take(DeviceAnswer{.counts = std::move(counts)}, bed.now);
    };
    tell(number(0), "quiet");
    for (int i = 1; i <= 30; i++)
        tell(number(i), "greedy");

    int kept = 0;
    for (int i = 1; i <= 30; i++)
        kept += bed.memo.counts_for(number(i), {"greedy", "g"}).has_value();
    CHECK(bed.memo.counts_for(number(0), {"quiet", "g"}).has_value());
    CHECK(kept == 9); // and what has not been used for longest goes first
    CHECK(bed.memo.counts_for(number(30), {"greedy", "g"}).has_value());
}

TEST_CASE("answers of many namespaces are let go of one by one")
{
    KeptAnswers answers;
    const std::string words(1'000'000, 'x');
    for (int i = 0; i < 1000; i++) {
        std::string name = std::to_string(i);
        answers.keep(name, "ns" + name,
                     {DeviceAnswer{.wish = fail(Code::rejected, words)}, 1});
        CHECK(answers.find(name) != nullptr);
    }
    int kept = 0;
    for (int i = 0; i < 1000; i++)
        kept += answers.find(std::to_string(i)) != nullptr;
    CHECK(kept == 67);
}

namespace {

// What is known of the selectors of this request for this device, as
// plan_claims() looks it up: "yes", "no", "not known".
std::string result(GresMemo &memo, const DeviceCatalog &catalog,
                   const DeviceRequest &request, const DevicePtr &device)
{
    PlanResults results;
    results.add({{0, &request, {}}}, catalog.classes,
                [&](const DeviceRequest &one, const DeviceClass &of_it) {
                    return memo.results_for(one, of_it);
                });
    CelBudget budget(1000, &results);
    auto reason = unfit_device_reason(
        *device, request, catalog.classes.at(request.class_name), budget);
    CHECK(results.any_missing() == !reason.has_value());
    return !reason ? "not known" : reason->empty() ? "yes" : "no";
}

} // namespace

TEST_CASE("what selectors came to for single devices is remembered")
{
    Bed bed;
    DeviceRequest request = gpu_request("a", model_a);
    const DeviceClass &of_it = bed.catalog->classes.at(request.class_name);
    const auto devices = bed.catalog->pools.at(0).devices;
    auto result_for = [&](std::size_t i) {
        return result(bed.memo, *bed.catalog, request, devices[i]);
    };
    CHECK(result_for(0) == "not known");

    bed.memo.ask_results(request, of_it, {devices[0]}, {"a", "g", true});
    bed.memo.ask_results(request, of_it, {devices[1]}, {"a", "h", true});
    CHECK(bed.answer_all() == Gangs{"g", "h"});
    CHECK(bed.evaluated == 1);
    CHECK(result_for(0) == "yes");
    CHECK(result_for(1) != "not known");
    CHECK(result_for(2) == "not known");

    bed.memo.ask_results(request, of_it, {devices[2], devices[0]},
                         {"a", "g", true});
    bed.answer_all();
    for (std::size_t i = 0; i < 3; i++)
        CHECK(result_for(i) == (i < 2 ? "yes" : "no"));
}

TEST_CASE("devices that are asked for while others are compared come next")
{
    Bed bed;
    DeviceRequest request = gpu_request("a", model_a);
    const DeviceClass &of_it = bed.catalog->classes.at(request.class_name);
    const auto devices = bed.catalog->pools.at(0).devices;
    auto ask = [&](std::size_t i, const std::string &ns,
                   const std::string &gang) {
        bed.memo.ask_results(request, of_it, {devices[i]}, {ns, gang, true});
    };
    ask(0, "a", "g");
    auto question = bed.memo.next(bed.now);
    REQUIRE(question.has_value());
    ask(0, "a", "same");
    ask(1, "a", "g");
    ask(2, "a", "g");
    ask(3, "b", "h");
    DeviceAnswer answer = bed.evaluator.answer(bed.catalog, *question);
    CHECK(bed.memo.take(std::move(answer), bed.now) == Gangs{"same"});

    CHECK(bed.answer_all() == Gangs{"g", "h"});
    CHECK(bed.evaluated == 2);
    for (std::size_t i = 0; i < 4; i++)
        CHECK(result(bed.memo, *bed.catalog, request, devices[i]) !=
              "not known");
}

TEST_CASE("which GRES each device is, is found out once for a catalog")
{
    Bed bed;
    auto catalog = std::make_shared<DeviceCatalog>(make_catalog({{"kn1", 4}}));
    DeviceQuestion question;
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

TEST_CASE("a device that is too expensive alone holds up no other")
{
    // Each costs some hundred thousand steps.
    constexpr char dear[] =
        "[1,2,3,4,5,6,7,8,9,10,11,12].all(a,[1,2,3,4,5,6,7,8,9,10,11,12]"
        ".all(b,[1,2,3,4,5,6,7,8,9,10,11,12].all(c,"
        "[1,2,3,4,5,6,7,8,9,10,11,12].all(d,a+b+c+d>0))))";
    Bed bed;
    const auto devices = bed.catalog->pools.at(0).devices;
    DeviceQuestion question;
    question.kind = Kind::results;
    question.request = gpu_request("a");
    for (int i = 0; i < 200; i++)
        question.class_selectors.push_back(*CelSelector::parse(dear));
    question.devices = {devices[0], devices[1]};

    for (std::size_t times = 1; times <= 2; times++) {
        DeviceAnswer answer = bed.evaluator.answer(bed.catalog, question);
        REQUIRE(answer.results->devices.size() == times);
        question.before = answer.results;
    }
    for (const auto &[id, of_it] : question.before->devices) {
        REQUIRE(!of_it.results.back());
        CHECK(of_it.results.back().error().message.contains("too expensive"));
    }
}

TEST_CASE("no answer keeps a device that has gone")
{
    Bed bed;
    DeviceRequest request = gpu_request("a", model_a);
    const DeviceClass of_it = bed.catalog->classes.at(request.class_name);
    bed.count(request);
    bed.memo.ask_results(request, of_it, {bed.catalog->pools[0].devices[0]},
                         {"a", "g"});
    bed.answer_all();
    const std::weak_ptr<const Device> device = bed.catalog->pools[0].devices[0];

    bed.turn_to(5);
    bed.wish(gpu_request("other"));
    bed.answer_all();

    CHECK(bed.memo.results_for(request, of_it)->devices.size() == 1);
    CHECK(device.expired());
}
