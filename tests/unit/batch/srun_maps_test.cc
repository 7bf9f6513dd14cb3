// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/srun_maps.h"

#include "agent/batch/srun.h"
#include "agent/batch/srun_map.h"
#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <utility>

using namespace bridge;
using std::chrono::seconds;

namespace {

// Something happens while somebody waits for the ConfigMap's metadata.
struct SlowKube : FakeKube {
    std::function<void()> meanwhile;

    Result<std::string> get_config_map_uid(const ObjectKey &key) override
    {
        if (meanwhile)
            std::exchange(meanwhile, {})();
        return FakeKube::get_config_map_uid(key);
    }
};

// Jobs of one node in one namespace, at seconds of a clock.
struct Looks {
    SlowKube kube;
    SrunMaps maps;
    SrunProgram program{"program", srun_map_name("program")};

    // Its uid is known: it is looked at by that.
    Looks()
    {
        REQUIRE(at(-int(map_believed.count())) == true);
        REQUIRE(at(0) == false);
    }
    // Whether it was missing.
    Result<bool> at(int second)
    {
        return restore_srun_map_if_gone(
            "jobs", program, kube, maps,
            {Clock::time_point(seconds(second)), true});
    }
    std::size_t requests() const
    {
        return kube.count("get_config_map") + kube.count("get_config_map_uid");
    }
};

} // namespace

TEST_CASE("srun is read once, and again when its file is another one")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/srun";
    SrunMaps maps;
    CHECK(maps.program(path).error().code == Code::not_found);
    std::ofstream(path) << "one";

    auto one = maps.program(path);
    REQUIRE(one.has_value());
    CHECK((*one)->bytes == "one");
    CHECK((*one)->map == srun_map_name("one"));
    CHECK(*maps.program(path) == *one); // the same object

    std::string next = directory.path + "/next"; // as a package is installed
    std::ofstream(next) << "two";
    auto time = std::filesystem::last_write_time(path);
    std::filesystem::last_write_time(next, time);
    std::filesystem::rename(next, path);
    CHECK((*maps.program(path))->bytes == "two");
    std::ofstream(path) << "more";
    CHECK((*maps.program(path))->bytes == "more");
    std::ofstream(path) << "less";
    std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
    CHECK((*maps.program(path))->bytes == "less");

    std::filesystem::remove(path);
    CHECK(maps.program(path).error().code == Code::not_found);
    CHECK((*one)->bytes == "one"); // of who has it still
}

TEST_CASE("a refusal is known for a while, and until a ConfigMap was seen")
{
    SrunMaps maps;
    Clock::time_point now{};
    CHECK_FALSE(maps.refused("a", now));

    maps.refuse("a", "a quota", now);

    CHECK(maps.refused("a", now + refusal_lifetime / 2) == "a quota");
    CHECK_FALSE(maps.refused("b", now));
    CHECK_FALSE(maps.refused("a", now + refusal_lifetime));
    maps.record_seen("a", {.name = "x"});
    CHECK_FALSE(maps.refused("a", now));
    CHECK(maps.seen("a")->name == "x");
    maps.forget("a");
    CHECK_FALSE(maps.seen("a"));
}

TEST_CASE("one worker looks, and the others believe for a while what was seen")
{
    SrunMaps maps;
    Clock::time_point then{};
    auto must_look = [&](const char *ns, std::chrono::seconds age) {
        return maps.begin_check(ns, "x", {then + age, true});
    };
    maps.record_seen("a", {.name = "x", .looked = then});
    maps.record_seen("b", {.name = "y", .looked = then});
    CHECK_FALSE(must_look("a", seconds(0)));
    CHECK(must_look("b", seconds(0))); // another program
    CHECK(maps.begin_check("a", "x", {then, false}));
    maps.end_check("a");

    CHECK(must_look("a", map_believed));
    CHECK_FALSE(must_look("a", map_believed));
    CHECK(must_look("a", 2 * map_believed));
    maps.end_check("a");
    CHECK(must_look("a", map_believed)); // that look has seen nothing
}

TEST_CASE("only a look at the ConfigMap that came back counts")
{
    Looks looks;
    looks.kube.config_maps.clear();
    Result<bool> other = false;
    looks.kube.meanwhile = [&] { other = looks.at(25); };

    CHECK(looks.at(19) == false); // somebody else has made it
    CHECK(other == true);
    CHECK(looks.kube.config_maps.size() == 1);
}

TEST_CASE("while one worker looks at the ConfigMap the others ask for nothing")
{
    for (bool fails : {false, true}) {
        CAPTURE(fails);
        Looks looks;
        std::size_t before = looks.requests();
        looks.kube.meanwhile = [&] {
            CHECK(looks.at(12) == false);
            CHECK(looks.requests() == before);
        };
        if (fails)
            for (const char *what : {"get_config_map_uid", "get_config_map"})
                looks.kube.fail_next(what, Code::busy);

        CHECK(looks.at(10).has_value() == !fails);
        std::size_t asked = looks.requests();
        CHECK(asked == before + (fails ? 2 : 1));
        CHECK(looks.at(13) == false);
        CHECK(looks.requests() == asked + (fails ? 1 : 0));
    }
}
