// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/refresh.h"

#include <doctest/doctest.h>
#include <stdexcept>

using namespace bridge;

namespace {

struct Desk {
    using Answer = std::optional<bool>;

    Refresh refresh;
    int made = 0;

    bool ask(Answer first, Answer second)
    {
        return refresh({[&] { return first; }, [&] { return second; }},
                       [&] { made++; });
    }
};

} // namespace

TEST_CASE_FIXTURE(Desk, "it is made when an answer has changed, and only then")
{
    CHECK(ask(true, true));
    CHECK(made == 1);
    CHECK(ask(false, false));
    CHECK(made == 1);
    CHECK(ask(false, true));
    CHECK(made == 2);
}

TEST_CASE_FIXTURE(Desk, "a change is not lost when the next has no answer")
{
    CHECK_FALSE(ask(true, std::nullopt));
    CHECK(made == 0);

    CHECK(ask(false, false)); // nothing has changed since
    CHECK(made == 1);
}

TEST_CASE_FIXTURE(Desk, "nor when there is no memory to make it")
{
    auto changed = [] { return std::optional(true); };
    CHECK_THROWS(
        refresh({changed}, [] { throw std::runtime_error("no memory"); }));

    CHECK(ask(false, false));
    CHECK(made == 1);
}
