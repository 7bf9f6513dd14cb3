// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/login_check.h"
#include "common/contract/login_dir.h"
#include "plugins/job_submit/login_notary.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

using namespace bridge;
using std::chrono::seconds;

namespace {

const LoginDir::Time now{seconds(1'800'000'000)};

std::string name_of(char digit)
{
    return std::string(64, digit);
}

std::string file_of(char digit, LoginDir::Time when)
{
    return name_of(digit) + "-1001-" +
           std::to_string(when.time_since_epoch().count());
}

struct Logins {
    TemporaryDirectory state;
    std::string path = state.path + "/k8s_logins";
    LoginDir directory{path};

    Code failure(const std::string &name, LoginDir::Time when = now) const
    {
        auto user = directory.user_of(name, when);
        REQUIRE(!user);
        return user.error().code;
    }
};

std::optional<std::string> login_of(std::vector<std::string> texts)
{
    std::vector<char *> entries{nullptr};
    for (std::string &text : texts)
        entries.push_back(text.data());
    return login_in(entries);
}

} // namespace

TEST_CASE_FIXTURE(Logins, "a login is found by its hash, for a minute")
{
    REQUIRE(directory.put(name_of('a'), 1001, now));

    CHECK(directory.user_of(name_of('a'), now).value() == 1001);
    CHECK(directory.user_of(name_of('a'), now + seconds(60)).value() == 1001);
    CHECK(failure(name_of('a'), now + seconds(91)) == Code::not_found);
    CHECK(failure(name_of('a'), now - seconds(31)) == Code::not_found);
    CHECK(failure(name_of('b')) == Code::not_found);
    struct stat facts{};
    REQUIRE(stat((path + "/" + file_of('a', now)).c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0600);
}

TEST_CASE_FIXTURE(Logins, "names of other forms reach no file")
{
    for (const std::string &name :
         {std::string(), std::string("../../etc/passwd"), name_of('A'),
          name_of('a') + "a", std::string(63, 'a') + "/"}) {
        CHECK(directory.put(name, 1001, now).error().code == Code::rejected);
        CHECK(failure(name) == Code::rejected);
    }
}

TEST_CASE_FIXTURE(Logins, "a second login of the same hash does not replace it")
{
    REQUIRE(directory.put(name_of('a'), 1001, now));

    CHECK(!directory.put(name_of('a'), 0, now));

    CHECK(directory.user_of(name_of('a'), now).value() == 1001);
}

TEST_CASE_FIXTURE(Logins, "old logins go, when another one comes")
{
    REQUIRE(directory.put(name_of('a'), 1001, now));
    std::ofstream(path + "/" + name_of('b')) << "0 18"; // of an older version
    std::ofstream(path + "/" + name_of('d') + "-0-x");  // of nobody
    CHECK(failure(name_of('d')) == Code::not_found);

    REQUIRE(directory.put(name_of('c'), 1001, now + seconds(120)));

    CHECK(!std::filesystem::exists(path + "/" + file_of('a', now)));
    CHECK(!std::filesystem::exists(path + "/" + name_of('b')));
    CHECK(failure(name_of('b')) == Code::not_found);
    CHECK(failure(name_of('d')) == Code::not_found);
}

TEST_CASE_FIXTURE(Logins, "what a login is stands in its name: no file is read")
{
    REQUIRE(directory.put(name_of('a'), 1001, now));
    std::ofstream(path + "/" + file_of('a', now)) << "0 " << "1800000000\n";
    chmod((path + "/" + file_of('a', now)).c_str(), 0);

    CHECK(directory.user_of(name_of('a'), now).value() == 1001);
    CHECK(directory.put(name_of('b'), 1001, now));
}

TEST_CASE_FIXTURE(Logins, "a directory that others may write is not believed")
{
    REQUIRE(directory.put(name_of('a'), 1001, now));
    chmod(path.c_str(), 0777);

    CHECK(failure(name_of('a')) == Code::busy);
    CHECK(!directory.put(name_of('b'), 1001, now));
}

TEST_CASE_FIXTURE(Logins, "a secret is good once, and only with its hash noted")
{
    LoginCheck check(directory);
    std::string secret = make_login_secret();
    REQUIRE(secret.size() == 64);
    REQUIRE(is_login_name(login_name_of(secret)));
    CHECK(check.user_of(secret, now).error().code == Code::denied);
    REQUIRE(directory.put(login_name_of(secret), 1001, now));

    CHECK(check.user_of(login_name_of(secret), now).error().code ==
          Code::denied);
    CHECK(check.user_of("", now).error().code == Code::denied);
    CHECK(check.user_of(secret, now).value() == 1001);
    CHECK(check.user_of(secret, now).error().code == Code::denied);
    CHECK(std::filesystem::is_empty(path)); // and for an agent that starts
    CHECK(LoginCheck(directory).user_of(secret, now).error().code ==
          Code::denied);
}

TEST_CASE("the hash of a secret is its SHA-256")
{
    CHECK(login_name_of("abc") ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a login is one entry of a job's environment for SPANK")
{
    CHECK(login_of({}) == std::nullopt);
    CHECK(login_of({"A=1", "XK8S_LOGIN=a", "K8S_LOGINS=a"}) == std::nullopt);
    CHECK(login_of({"A=1", "K8S_LOGIN=abc"}) == "abc");
    CHECK(login_of({"K8S_LOGIN="}) == "");
}

TEST_CASE_FIXTURE(Logins, "a login may come a little after its secret")
{
    using namespace std::chrono_literals;
    LoginCheck check(directory, 10s);
    std::string secret = make_login_secret();
    std::jthread slurmctld([&] {
        std::this_thread::sleep_for(100ms);
        static_cast<void>(directory.put(login_name_of(secret), 1001, now));
    });

    CHECK(check.user_of(secret, now).value_or(0) == 1001);

    int looks = 0;
    auto goes_on = [&] { return ++looks < 3; };
    CHECK(check.user_of(make_login_secret(), now, goes_on).error().code ==
          Code::denied);
    CHECK(looks == 3);
}
