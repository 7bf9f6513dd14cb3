// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/output_name.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

std::string expand(std::string_view pattern)
{
    return expand_output(
        pattern, {{4711, Sluid{1}}, "my job", "alice", "kn1", "/home/alice"});
}

} // namespace

TEST_CASE("sbatch's patterns stand for what they do in a batch step")
{
    struct {
        const char *pattern;
        const char *name;
    } rows[] = {
        {"/a/%j", "/a/4711"},
        {"/%A-%J", "/4711-4711"},
        {"/%x", "/my job"},
        {"/%u/%N", "/alice/kn1"},
        {"/%n%t%r", "/000"},
        {"/%s", "/batch"},
        {"/%a.%b", "/4294967294.4"},
        {"/%6j", "/004711"},
        {"/%2j", "/4711"},
        {"/%99j", "/0000004711"},
        {"/%3t", "/000"},
        {"/%5x%4N", "/my jobkn1"},
        {"/100%%", "/100%"},
        {"/%%j", "/%j"},
        {"/%q%5q", "/%q%5q"},
        {"/%", "/"},
        {"/%12", "/%12"},
        {"/%5%", "/%5%"},
        {"/\\%j", "/%j"},
        {"/%j\\\\%j", "/%j%j"},
    };
    for (auto [pattern, name] : rows) {
        CAPTURE(pattern);
        CHECK(expand(pattern) == name);
    }
}

TEST_CASE("a relative name is one of the working directory")
{
    CHECK(expand("slurm-%j.out") == "/home/alice/slurm-4711.out");
    CHECK(expand("../x") == "/home/alice/../x");
    CHECK(expand_output("x", {{}, "", "", "", "/"}) == "/x");
    CHECK(expand("").empty());
}

TEST_CASE("of an array's task %A is the array and %a the task")
{
    OutputFacts facts{{4713, Sluid{1}},   "x", "alice", "kn1", "/d",
                      ArrayTask{4711, 12}};

    CHECK(expand_output("/%A_%a.%j.%b", facts) == "/4711_12.4713.2");
    CHECK(expand_output("/%6A_%4a", facts) == "/004711_0012");
}
