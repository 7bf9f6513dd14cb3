// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_screen.h"

#include "cli/top/duration_text.h"
#include "cli/top/row_shares.h"
#include "common/base/display_width.h"
#include "tests/unit/cli/top/top_pages.h"

#include <algorithm>
#include <chrono>

using namespace bridge;

namespace {

using std::chrono::seconds;

const ScreenTime at_now{top_now, std::chrono::hours(1), {}};

std::vector<std::string> texts(const TopView &view, ScreenSize size = {},
                               const ScreenTime &time = at_now)
{
    std::vector<std::string> all;
    for (ScreenLine &line : top_screen(view, size, time))
        all.push_back(std::move(line.text));
    return all;
}

bool has(const std::vector<std::string> &lines, const std::string &line)
{
    CAPTURE(line);
    return std::ranges::contains(lines, line);
}

std::string joined(const std::vector<std::string> &lines)
{
    std::string all;
    for (const std::string &line : lines)
        all += line + "\n";
    return all;
}

} // namespace

TEST_CASE("the screen of a small cluster")
{
    TopView view = top_view(small_pages(), {}, top_now);
    view.flow = TopFlow{4, 123.4, seconds(280)};
    view.wait = TopWait{200, false, seconds(280)};

    CHECK(
        joined(texts(view, {80, 0})) ==
        R"(23:13:20  numbers of 10 s ago, slurmctld answers, slurmk8sd has no problem
NODES     6 in all, 1 allocated, 1 mixed, 3 idle, 1 drained, 1 down, 1 not
          responding
CPUs      [||||||||||||||||||||||||||||||||||||||  ]  97% 311040 of 320000
memory    [||||||||||||||||||||                    ]  50% 1.5 of 3.0 TiB
gpu:a100  [||||||||||||                            ]  30% 12 of 40
nic       [                                        ]   0% 0 of 2
QUEUE     12 running, 5 pending (1 held)
          jobs without Pods: 9 running, 0 pending; Pods: 3 running, 5 pending
          4.0 started, 123 ended a minute (in 4 min), median wait 3 min

 PENDING REASON      MEANING
       4 Priority    jobs of higher priority wait before it in the partition
       1 JobHeldUser its user holds it

NODE OUT   SINCE  USER REASON
n2          50 s  ops   ]0;x  Lüfter?
n1           2 h  root fan fails
n3             -  -    -
)");
}

TEST_CASE("no line is longer than the screen, and there are not more of them")
{
    for (const TopPages &pages : {small_pages(), large_pages()})
        for (std::size_t columns : {1, 2, 5, 10, 29, 30, 40, 59, 60, 80, 250})
            for (std::size_t rows : {1, 2, 3, 5, 10, 24, 100}) {
                CAPTURE(columns);
                CAPTURE(rows);
                auto lines =
                    texts(top_view(pages, {}, top_now), {columns, rows});
                CHECK(lines.size() <= rows);
                CHECK(!lines.empty());
                for (const std::string &line : lines)
                    CHECK(display_width(line) <= columns);
            }
}

TEST_CASE("200 partitions and 1000 nodes share the rows, and say how many more "
          "there are")
{
    auto lines = texts(top_view(large_pages(), {}, top_now), {80, 40});

    CHECK(lines.size() == 40);
    CHECK(lines.back() == "and 988 more nodes");
    CHECK(has(lines, "and 188 more partitions"));
    std::string all = joined(lines);
    CHECK(all.contains("\npart199       199     11940 of 12736     93%      398"
                       "      597\n"));
    CHECK(all.contains("\nnode0999    11 d  root it has lost its fabric\n"));
    CHECK(!all.contains("part150"));
}

TEST_CASE("on 40 columns tables have fewer columns")
{
    auto lines = texts(top_view(large_pages(), {}, top_now), {40, 40});

    CHECK(has(lines, "PARTITION    USED  RUNNING  PENDING"));
    CHECK(has(lines, "part199       93%      398      597"));
    CHECK(has(lines, "node0999    11 d  it has lost its fabric"));
}

TEST_CASE("a screen without an end shows everything")
{
    auto lines = texts(top_view(large_pages(), {}, top_now));

    CHECK(lines.size() > 1200);
    CHECK(!joined(lines).contains(" more "));
    CHECK(joined(lines).contains("\n\nPARTITION"));
}

TEST_CASE("what others have written neither moves the cursor nor the columns")
{
    auto lines = texts(top_view(small_pages(), {}, top_now), {60, 50});

    CHECK(has(lines, "n2          50 s  ops   ]0;x  L\u00fcfter?"));
    CHECK(has(lines, "n1           2 h  root fan fails"));
    CHECK(has(lines, "n3             -  -    -"));
    for (const std::string &line : lines)
        for (char c : line)
            CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
}

TEST_CASE("without numbers the first line says why and for how long")
{
    ScreenTime time = at_now;
    time.without_since = top_now - seconds(35);

    auto lines = top_screen(top_view_without("slurmk8sd does not answer at x"),
                            {80, 24}, time);

    REQUIRE(lines.size() == 1);
    CHECK(lines[0].text ==
          "23:13:20  slurmk8sd does not answer at x (for 35 s)");
    CHECK(lines[0].alarm);
    TopView away;
    away.state = TopState::slurm_away;
    away.problems = 0;
    away.troubles = {"one Pod outside the queue: see slurmk8s check"};
    CHECK(texts(away, {120, 24})[0] ==
          "23:13:20  slurmctld does not answer slurmk8sd: no numbers of Slurm, "
          "slurmk8sd has no problem");
    CHECK(texts(away, {120, 24})[1] == away.troubles[0]);
}

TEST_CASE("rows are shared evenly, but nobody gets more than it wants")
{
    using Rows = std::vector<std::size_t>;
    CHECK(row_shares(10, {}) == Rows{});
    CHECK(row_shares(10, {3, 4}) == Rows{3, 4});
    CHECK(row_shares(10, {100, 2, 100}) == Rows{4, 2, 4});
    CHECK(row_shares(0, {1, 2}) == Rows{0, 0});
    CHECK(row_shares(1, {1, 2}) == Rows{0, 1});
}

TEST_CASE("durations are told in one unit")
{
    CHECK(duration_text(seconds(-5)) == "0 s");
    CHECK(duration_text(seconds(119)) == "119 s");
    CHECK(duration_text(seconds(120)) == "2 min");
    CHECK(duration_text(seconds(7199)) == "119 min");
    CHECK(duration_text(seconds(7200)) == "2 h");
    CHECK(duration_text(std::chrono::days(3)) == "3 d");
}
