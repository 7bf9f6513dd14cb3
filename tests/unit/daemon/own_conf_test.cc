// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/own_conf.h"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <unistd.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct ConfFile {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() /
        ("own-conf-" + std::to_string(getpid()) + ".conf");

    explicit ConfFile(const std::string &text) { write(text); }
    ~ConfFile() { std::filesystem::remove(path); }
    ConfFile(const ConfFile &) = delete;
    ConfFile &operator=(const ConfFile &) = delete;

    // As a kubelet does: it is never half there.
    void write(const std::string &text) const
    {
        auto next = path;
        next += ".new";
        std::ofstream(next) << text;
        std::filesystem::rename(next, path);
    }
    OwnConf own(const std::string &text) const
    {
        return OwnConf(path, text, [this] { return load_conf(path); });
    }
};

} // namespace

TEST_CASE("another text is a change, until the old one is back")
{
    ConfFile file("Workers=2\n");
    OwnConf own = file.own("Workers=2\n");
    CHECK_FALSE(own.changed());
    file.write("Workers=3\n");
    CHECK(own.changed());
    file.write("Workers=2\n");
    CHECK_FALSE(own.changed());
}

TEST_CASE("lines that are read by another parser count, too")
{
    ConfFile file("Workers=2\n");
    OwnConf own = file.own("Workers=2\n");
    file.write("Workers=2\nUserSocket=/run/slurmk8s/user.sock\n");
    CHECK(own.changed());
}

TEST_CASE("what an agent could not start with is no change")
{
    ConfFile file("Workers=2\n");
    OwnConf own = file.own("Workers=2\n");
    file.write("Workers=many\n");
    CHECK_FALSE(own.changed());
    std::filesystem::remove(file.path);
    CHECK_FALSE(own.changed());
    file.write("Workers=3\n");
    CHECK(own.changed());
}

TEST_CASE("a change is told once, and nothing after the end")
{
    ConfFile file("Workers=2\n");
    OwnConf own = file.own("Workers=2\n");
    std::atomic<int> told = 0;
    {
        OwnConfThread thread(own, [&] { told++; });
        file.write("Workers=3\n");
        while (told == 0)
            std::this_thread::sleep_for(10ms);
        file.write("Workers=4\n");
        std::this_thread::sleep_for(1100ms); // it would look once more
    }
    CHECK(told == 1);
}
