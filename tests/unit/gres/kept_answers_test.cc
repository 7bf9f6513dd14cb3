// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/kept_answers.h"

#include "tests/unit/gres/memo_bed.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("an answer that was let go of meanwhile may have become another")
{
    MemoBed bed;
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

TEST_CASE("what is kept is bounded, and nobody loses by what another asks")
{
    MemoBed bed;
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
