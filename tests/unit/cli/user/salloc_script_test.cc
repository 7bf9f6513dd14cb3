// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/job_name.h"
#include "cli/user/salloc_script.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

TEST_CASE("the script and the shell of an interactive job meet in one place")
{
    std::string script = salloc_script();
    auto words = salloc_command({"ls", "a b", "$(x)"}, "xterm");

    CHECK(script.starts_with("#!/bin/sh\n"));
    REQUIRE(words.size() == 7);
    for (const char *file :
         {"/slurmk8s-pipes/salloc.env", "/slurmk8s-pipes/salloc.pid"}) {
        CHECK(script.contains(file));
        CHECK(words[2].contains(file));
    }
    CHECK(!script.contains("{}"));
    // What the user says is no part of the shell's text.
    CHECK(!words[2].contains("$(x)"));
    CHECK(std::vector(words.begin() + 3, words.end()) ==
          std::vector<std::string>{"xterm", "ls", "a b", "$(x)"});
    CHECK(salloc_command({}, "").back() == "dumb");
}

TEST_CASE("a job is meant by its JobId, or as a task of an array")
{
    CHECK(parse_job_name("4711") == JobName{4711, {}});
    CHECK(parse_job_name("4711_0") == JobName{4711, 0});
    CHECK(find_job_id({4711, {}}).value() == 4711);
    for (const char *text :
         {"", "0", "-1", "4711.batch", "4711_", "_3", "x", "4711_3_1",
          "4711_[1-3]", "4294967296", "4711+1", "s7", " 1"}) {
        CAPTURE(text);
        CHECK(parse_job_name(text) == std::nullopt);
    }
}
