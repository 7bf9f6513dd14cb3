// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/gate_file.h"

#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace bridge;

namespace {

const GateMemory some{{"n1", "n2"}, {"n2"}};

struct Place {
    TemporaryDirectory dir;
    std::string path = dir.path + "/k8s_gate";

    void write(const std::string &text) const
    {
        std::ofstream(path, std::ios::trunc) << text;
    }
    std::string read() const
    {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
};

} // namespace

TEST_CASE("the gate's file gives back what it was given")
{
    Place place;
    REQUIRE(GateFile(place.path).save(some));

    auto loaded = GateFile(place.path).load();

    REQUIRE(loaded);
    CHECK(*loaded == some);
    struct stat status{};
    REQUIRE(stat(place.path.c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0600);
    CHECK_FALSE(std::filesystem::exists(place.path + ".new"));
}

TEST_CASE("a gate file that is not there is no damage")
{
    Place place;

    auto loaded = GateFile(place.path).load();

    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == Code::not_found);
}

TEST_CASE("a gate file that is damaged or newer is refused, and replaced")
{
    Place place;
    REQUIRE(GateFile(place.path).save(some));
    const std::string good = place.read();
    std::vector<std::string> damaged = {
        "",
        "{}",
        "[]",
        std::string(100, '\0'),
        R"({"version":2,"bridge":[],"dirty":[]})",
        R"({"version":2,"bridge":"n[1-2]"})",
        R"({"version":1,"bridge":[]})",
        R"({"version":1,"bridge":[1],"dirty":[]})",
        R"({"version":1,"bridge":[""],"dirty":[]})",
        R"({"version":1,"bridge":"n1","dirty":[]})",
        good + "x",
    };
    for (std::size_t cut = 0; cut < good.size(); cut++)
        damaged.push_back(good.substr(0, cut));
    for (const std::string &text : damaged) {
        CAPTURE(text);
        place.write(text);
        GateFile file(place.path);

        auto loaded = file.load();

        REQUIRE_FALSE(loaded);
        CHECK(loaded.error().code == Code::rejected);
        REQUIRE(file.save(some));
        CHECK(GateFile(place.path).load() == some);
    }
}

TEST_CASE("a key that a later plugin has added to the gate file is left alone")
{
    Place place;
    place.write(R"({"version":1,"bridge":["n1","n2"],"later":{"a":[1]},)"
                R"("dirty":["n2"]})");

    CHECK(GateFile(place.path).load() == some);
}

TEST_CASE("a gate file that cannot be read is not one that is not there")
{
    Place place;
    std::filesystem::create_directory(place.path);

    auto loaded = GateFile(place.path).load();

    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == Code::busy);
}

TEST_CASE("what the gate's file says already is not written again")
{
    Place place;
    GateFile file(place.path);
    REQUIRE(file.save(some));
    std::filesystem::remove(place.path);

    REQUIRE(file.save(some));
    CHECK_FALSE(std::filesystem::exists(place.path));
    REQUIRE(file.save({}));
    CHECK(std::filesystem::exists(place.path));
}

TEST_CASE("a gate file that another slurmctld wrote is seen")
{
    Place place;
    GateFile mine(place.path), other(place.path);
    CHECK_FALSE(mine.load());
    CHECK_FALSE(mine.changed_by_others());

    REQUIRE(other.save(some));
    CHECK(mine.changed_by_others());
    CHECK_FALSE(other.changed_by_others());
    CHECK(mine.load() == some);
    CHECK_FALSE(mine.changed_by_others());
}

TEST_CASE("a gate file that cannot be written leaves the old one")
{
    Place place;
    GateFile file(place.path);
    REQUIRE(file.save(some));
    std::filesystem::create_directory(place.path + ".new");

    auto saved = file.save({});

    CHECK_FALSE(saved);
    CHECK(GateFile(place.path).load() == some);
}
