// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/metrics_access.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

using namespace bridge;

namespace {

struct Fixture {
    TemporaryDirectory directory;
    std::string path = directory.path + "/token";
    MetricsAccess access{path};

    void write(const std::string &text, int mode = 0640) const
    {
        std::filesystem::remove(path);
        std::ofstream(path) << text;
        std::filesystem::permissions(path,
                                     static_cast<std::filesystem::perms>(mode));
    }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "who sends the token is trusted, who sends none is "
                           "anyone, and another token is refused")
{
    write("0123456789abcdef\n");
    CHECK(access.reader("") == MetricsReader::anyone);
    CHECK(access.reader("Bearer 0123456789abcdef") == MetricsReader::trusted);
    for (const char *wrong :
         {"Bearer 0123456789abcdeg", "Bearer 0123456789abcde",
          "Bearer 0123456789abcdef0", "Bearer ", "Basic 0123456789abcdef",
          "0123456789abcdef", "bearer"}) {
        CAPTURE(wrong);
        CHECK_FALSE(access.reader(wrong));
    }
}

TEST_CASE_FIXTURE(Fixture, "a new token counts at once")
{
    write("0123456789abcdef\n");
    write("fedcba9876543210");
    CHECK(access.reader("Bearer fedcba9876543210") == MetricsReader::trusted);
    CHECK_FALSE(access.reader("Bearer 0123456789abcdef"));
}

TEST_CASE_FIXTURE(Fixture, "a token that is no secret opens nothing")
{
    CHECK_FALSE(access.reader("Bearer 0123456789abcdef")); // there is no file
    write("0123456789abcdef\n", 0644);                     // all can read it
    CHECK_FALSE(access.reader("Bearer 0123456789abcdef"));
    write("short\n");
    CHECK_FALSE(access.reader("Bearer short"));
    write("");
    CHECK_FALSE(access.reader("Bearer "));
}

TEST_CASE("without MetricsTokenFile every token is refused")
{
    MetricsAccess access("");
    CHECK(access.reader("") == MetricsReader::anyone);
    CHECK_FALSE(access.reader("Bearer "));
    CHECK_FALSE(access.reader("Bearer 0123456789abcdef"));
}
