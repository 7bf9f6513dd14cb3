// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/private_dir.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace bridge;

namespace {

struct Fixture {
    TemporaryDirectory home;
    std::string path = home.path + "/private";
    PrivateDir directory{path};

    Fixture() { REQUIRE(directory.make()); }
};

} // namespace

TEST_CASE_FIXTURE(Fixture, "what was put is read, and nothing else is there")
{
    REQUIRE(directory.put("a", "text"));
    CHECK(directory.read("a", 100).value() == "text");
    CHECK(directory.list().value() == std::vector<std::string>{"a"});
    CHECK(std::ranges::distance(std::filesystem::directory_iterator(path)) ==
          1);
}

TEST_CASE_FIXTURE(Fixture, "a try that failed is not seen, and not in the way")
{
    std::ofstream(path + "/.a") << "half of an earlier te"; // with no room left
    CHECK(directory.list().value().empty());
    CHECK(directory.read("a", 100).error().code == Code::not_found);
    REQUIRE(directory.put("a", "text"));
    REQUIRE(directory.put("a", "text")); // whose answer was lost
    CHECK(directory.read("a", 100).value() == "text");
    CHECK(directory.list().value() == std::vector<std::string>{"a"});
}

TEST_CASE_FIXTURE(Fixture, "what cannot be put is not there")
{
    std::filesystem::create_directory(path + "/a"); // so nothing has that name
    CHECK_FALSE(directory.put("a", "text"));
    std::filesystem::remove(path + "/a");
    CHECK(std::filesystem::is_empty(path));
    REQUIRE(directory.put("a", "text"));
}
