// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/hook_files.h"

#include "common/contract/batch_names.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

const LoginDir::Time now{std::chrono::seconds(1'800'000'000)};

bool becomes(const std::function<bool()> &true_now)
{
    for (int i = 0; i < 1000; i++) {
        if (true_now())
            return true;
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

struct Site {
    TemporaryDirectory directory;
    std::string conf = directory.path + "/k8s.conf";
    std::string state = directory.path + "/state";
    ScriptDir scripts{state + "/" + names::scripts_dir};
    LoginDir logins{state + "/" + names::logins_dir};
    std::string login = std::string(64, 'a');
    std::atomic<int> errors = 0;
    HookFiles::Settings settings{.conf_path = conf,
                                 .state_save_location = state,
                                 .look = 20ms,
                                 .patience = 300ms,
                                 .most_bytes = 10'000,
                                 .most_files = 5};
    std::unique_ptr<HookFiles> files;

    Site()
    {
        std::filesystem::create_directory(state);
        write_conf("10");
    }

    void write_conf(const std::string &timeout) const
    {
        std::ofstream(conf + ".new")
            << "BindTimeout=" << timeout << "\nUserAddress=127.0.0.1:1\n"
            << "UserCertificate=/c\nUserKey=/k\n";
        std::filesystem::rename(conf + ".new", conf);
    }

    void start()
    {
        files = std::make_unique<HookFiles>(
            settings, [this](const std::string &) { errors++; });
        files->start();
    }

    // As on a file server that is away: who opens this file waits.
    void let_conf_hang() const
    {
        std::filesystem::remove(conf);
        REQUIRE(mkfifo(conf.c_str(), 0600) == 0);
    }

    void end_hanging() const
    {
        std::filesystem::rename(conf, conf + ".fifo");
        write_conf("30");
        std::ofstream(conf + ".fifo") << "\n";
    }

    void forbid_scripts() const
    {
        std::ofstream(scripts.path()) << "no directory";
    }
};

} // namespace

TEST_CASE_FIXTURE(Site, "what a hook hands over is written soon")
{
    start();

    auto name = files->store_script("one");
    REQUIRE(name);
    CHECK_FALSE(files->record_login(login, 1001, now));

    CHECK(becomes([&] { return scripts.read(*name).value_or("") == "one"; }));
    CHECK(becomes([&] { return logins.user_of(login, now) == 1001u; }));
}

TEST_CASE_FIXTURE(Site, "k8s.conf is known at once, and changes are seen")
{
    start();
    REQUIRE(files->conf());
    CHECK(files->conf()->bind_timeout == 10s);

    write_conf("20");

    CHECK(becomes([&] { return files->conf()->bind_timeout == 20s; }));
}

TEST_CASE_FIXTURE(Site, "no hook waits for a file system that does not answer")
{
    start();
    REQUIRE(files->conf());
    let_conf_hang();
    std::this_thread::sleep_for(settings.patience + 200ms);

    auto begin = std::chrono::steady_clock::now();
    CHECK(files->conf()->bind_timeout == 10s);
    CHECK(files->store_script("one").error().contains("does not answer"));
    CHECK(files->record_login(login, 1001, now)->contains("does not answer"));
    CHECK(std::chrono::steady_clock::now() - begin < 5s);

    end_hanging();
    CHECK(becomes([&] { return files->store_script("one").has_value(); }));
}

TEST_CASE_FIXTURE(Site, "scripts are refused while none can be written")
{
    start();
    forbid_scripts();
    auto first = files->store_script("one"); // nobody knows yet
    REQUIRE(first);
    REQUIRE(becomes([&] { return !files->store_script("two"); }));

    CHECK(files->store_script("two").error() ==
          "slurmctld cannot store the script: see its log. Try again later.");
    CHECK(errors == 1);

    std::filesystem::remove(scripts.path());
    CHECK(becomes([&] { return scripts.read(*first).value_or("") == "one"; }));
    CHECK(becomes([&] { return files->store_script("two").has_value(); }));
}

TEST_CASE_FIXTURE(Site, "what waits to be written is bounded")
{
    settings.patience = 1min;
    start();
    let_conf_hang();
    std::this_thread::sleep_for(200ms);

    CHECK_FALSE(files->store_script(std::string(10'001, 'x')));
    REQUIRE(files->store_script(std::string(9'000, 'x')));
    CHECK(files->store_script(std::string(1'001, 'x'))
              .error()
              .contains("too many others"));
    for (int i = 0; i < 4; i++)
        REQUIRE(files->store_script("x"));
    CHECK_FALSE(files->store_script("x"));

    end_hanging();
    CHECK(becomes([&] { return files->store_script("x").has_value(); }));
}

TEST_CASE_FIXTURE(Site, "a slurmctld that ends waits for what is not written")
{
    start();
    auto name = files->store_script("one");
    REQUIRE(name);

    files->finish(10s);

    CHECK(scripts.read(*name).value_or("") == "one");
}

TEST_CASE_FIXTURE(Site, "nobody logs in where the agent serves no users")
{
    std::filesystem::remove(conf);
    start();

    CHECK(files->record_login(login, 1001, now)->contains("UserAddress"));
    CHECK(errors == 1);
}
