// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/finding.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Finding wants(const std::string &about, WordChange::Words wanted,
              Severity severity = Severity::warning)
{
    return make_finding(
        severity, about, "says",
        {"Key=", {{"old", "1"}, {"plain", ""}}, std::move(wanted)});
}

} // namespace

TEST_CASE("a word is added to its line, or takes the place of its name's")
{
    CHECK(wants("a", {{"new", "2"}}).change == "Key=new=2,old=1,plain");
    CHECK(wants("a", {{"old", "2"}}).change == "Key=old=2,plain");
    CHECK(
        make_finding(Severity::note, "a", "b", {"P … ", {}, {{"x", "1"}}, ' '})
            .change == "P … x=1");
}

TEST_CASE("findings that want words of one line all show the same line")
{
    Findings all{wants("a", {{"new", "2"}}),
                 wants("a", {{"old", "3"}}),
                 wants("b", {{"other", ""}}),
                 {Severity::error, "a", "says", "Key=as it is"}};

    merge_changes(all);

    CHECK(all[0].change == "Key=new=2,old=3,plain");
    CHECK(all[1].change == all[0].change);
    CHECK(all[2].change == "Key=old=1,other,plain"); // of another file
    CHECK(all[3].change == "Key=as it is");
}

TEST_CASE("findings with one change stand side by side, by their weight")
{
    Findings all{{Severity::warning, "a", "1", "x"},
                 {Severity::warning, "a", "2", ""},
                 {Severity::error, "a", "3", "x"},
                 {Severity::warning, "a", "4", ""},
                 {Severity::warning, "a", "5", "x"}};

    sort_by_weight(all);

    std::string order;
    for (const Finding &one : all)
        order += one.says;
    CHECK(order == "31524");
}
