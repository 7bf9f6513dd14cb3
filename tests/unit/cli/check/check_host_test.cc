// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_host.h"
#include "cli/check/finding.h"
#include "cli/check/token_expiry.h"

#include "common/base/json.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <fstream>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t slurm_id = 64030;
const SlurmUser slurm_user{slurm_id, "slurm"};

HostFacts good()
{
    HostFacts host;
    host.conf = {"/etc/slurm/k8s.conf", true, "", 0, 0644, false, false};
    host.token = {
        "/etc/slurm/k8s/token", true, "", slurm_id, 0400, false, false};
    host.socket_directory = {
        "/run/slurmk8s", true, "", slurm_id, 0755, true, false};
    host.socket = {
        "/run/slurmk8s/hook.sock", true, "", slurm_id, 0600, false, true};
    host.state_save =
        FileFacts{"/var/spool", true, "", slurm_id, 0700, true, false};
    host.now = std::chrono::sys_seconds(1000000s);
    host.token_expires = host.now + 24h;
    host.agent.answers = host.agent.serving = true;
    return host;
}

Findings all(const HostFacts &host)
{
    Findings found = check_files(host, slurm_user);
    Findings more = check_agent(host);
    found.insert(found.end(), more.begin(), more.end());
    return found;
}

struct Case {
    const char *what;
    std::function<void(HostFacts &)> spoil;
    Severity severity;
};

const std::vector<Case> cases = {
    {"k8s.conf is writable", [](auto &h) { h.conf.mode = 0664; },
     Severity::error},
    {"k8s.conf is a user's", [](auto &h) { h.conf.owner = 1000; },
     Severity::error},
    {"no token", [](auto &h) { h.token.there = false; }, Severity::error},
    {"the token can be read", [](auto &h) { h.token.mode = 0440; },
     Severity::error},
    {"the token is a user's", [](auto &h) { h.token.owner = 1000; },
     Severity::error},
    {"the agent may not read the token", [](auto &h) { h.token.owner = 0; },
     Severity::error},
    {"nobody may read it", [](auto &h) { h.token.mode = 0; }, Severity::error},
    {"the token has expired", [](auto &h) { h.token_expires = h.now; },
     Severity::error},
    {"the token expires soon", [](auto &h) { h.token_expires = h.now + 59min; },
     Severity::warning},
    {"anybody may put a socket there",
     [](auto &h) { h.socket_directory.mode = 0777; }, Severity::error},
    {"the directory is a user's",
     [](auto &h) { h.socket_directory.owner = 1000; }, Severity::error},
    {"no directory beside an agent",
     [](auto &h) { h.socket_directory.there = false; }, Severity::error},
    {"no socket beside an agent", [](auto &h) { h.socket.there = false; },
     Severity::error},
    {"a file in place of the socket", [](auto &h) { h.socket.socket = false; },
     Severity::error},
    {"the agent is another user", [](auto &h) { h.socket.owner = 1000; },
     Severity::error},
    {"no StateSaveLocation", [](auto &h) { h.state_save->there = false; },
     Severity::error},
    {"a user's StateSaveLocation", [](auto &h) { h.state_save->owner = 1000; },
     Severity::error},
    {"a writable one", [](auto &h) { h.state_save->mode = 0770; },
     Severity::error},
    {"a readable one", [](auto &h) { h.state_save->mode = 0755; },
     Severity::note},
    {"no agent", [](auto &h) { h.agent = {}; }, Severity::warning},
    {"an agent with a problem",
     [](auto &h) { h.agent.problems["slurmctld"] = "away"; },
     Severity::warning},
    {"an agent on standby", [](auto &h) { h.agent.standby = "ctl2 acts"; },
     Severity::note},
};

std::string jwt(const std::string &claims)
{
    return "e30." + claims + ".c2ln";
}

} // namespace

TEST_CASE("a host in order has no finding, also before the agent was started")
{
    CHECK(all(good()).empty());
    HostFacts host = good();
    host.agent = {};
    host.socket.there = false;
    CHECK(check_socket(host, slurm_user).empty());
    host.socket_directory.there = false;
    CHECK(check_socket(host, slurm_user).at(0).severity == Severity::note);
}

TEST_CASE("what is wrong on the host is found, each by itself")
{
    for (const Case &one : cases) {
        CAPTURE(one.what);
        HostFacts host = good();
        one.spoil(host);

        Findings found = all(host);

        REQUIRE(found.size() == 1);
        CHECK(found[0].severity == one.severity);
    }
}

TEST_CASE("lines to change name the real SlurmUser, owner, mode and file")
{
    HostFacts host = good();
    host.token.owner = 0;
    host.token.owner_name = "root";
    Finding token = check_token(host, slurm_user).at(0);
    CHECK(token.says.starts_with("slurmk8sd runs as slurm"));
    CHECK(token.says.ends_with("the owner is root, the mode 0400"));
    CHECK(token.change ==
          "chown slurm /etc/slurm/k8s/token; chmod 400 /etc/slurm/k8s/token");
    CHECK(check_token(host, std::nullopt).empty()); // who else could it be?
    CHECK(check_token(host, SlurmUser{0, "root"}).empty());

    host.socket_directory.mode = 0777;
    CHECK(check_socket(host, std::nullopt).at(0).change ==
          "chmod 755 /run/slurmk8s");
    host = good();
    host.socket.owner = 0;
    host.socket.owner_name = "root";
    Finding socket = check_socket(host, slurm_user).at(0);
    CHECK(
        socket.says.contains("ran as root, not as SlurmUser, which is slurm"));
    CHECK(socket.change.contains("User=slurm"));
    host = good();
    host.state_save->owner = 1000;
    CHECK(check_state_save(host, slurm_user).at(0).change ==
          "chown slurm /var/spool");
}

TEST_CASE("in a Pod owners and modes are the kubelet's, which is said")
{
    HostFacts host = good();
    host.in_pod = true;
    host.token.mode = 0440;
    host.state_save->mode = 0775;
    Findings found = check_files(host, slurm_user);
    REQUIRE(found.size() == 1);
    CHECK(found[0].severity == Severity::note);
    CHECK(found[0].says.contains("not checked"));
}

TEST_CASE("what lets every Pod be anybody is worth a warning")
{
    CHECK(check_choices({}).empty());
    Conf conf;
    conf.choose_user = conf.choose_priority = {"physics", "ops"};
    CHECK(check_choices(conf).empty());

    conf.choose_user = {"physics", "*"};
    conf.choose_priority = {"*"};
    conf.allow_root = true;
    CHECK(check_choices(conf).size() == 3);
}

TEST_CASE("a token says when it expires")
{
    using std::chrono::sys_seconds;

    CHECK(token_expiry(jwt("eyJleHAiOjEwMDB9")) == sys_seconds(1000s));
    CHECK(token_expiry(jwt("eyJleHAiOiIxIn0")) == std::nullopt); // text
    CHECK(token_expiry(jwt("eyJleHAiOi0xfQ")) == std::nullopt);  // -1
    CHECK(token_expiry(jwt("e30")) == std::nullopt);             // {}
    for (const char *text : {"", "a", "a.b", "..", "e30.%%%.x", "e30.===.x",
                             "opaque-token.without.claims"})
        CHECK(token_expiry(text) == std::nullopt);
}

TEST_CASE("files are looked at as they are")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/file";
    CHECK_FALSE(read_file_facts(path).there);
    CHECK_FALSE(read_file_facts(path).reason.empty());

    std::ofstream(path) << "x";
    chmod(path.c_str(), 0640);

    FileFacts facts = read_file_facts(path);
    CHECK(facts.there);
    CHECK(facts.mode == 0640);
    CHECK(facts.owner == geteuid());
    CHECK(read_file_facts(directory.path).directory);
}

TEST_CASE("the exit status is the worst: errors, then what was not checked")
{
    Finding error{Severity::error, "a", "b", ""};
    Finding warning{Severity::warning, "a", "b", ""};

    CHECK(verdict({}, {}) == 0);
    CHECK(verdict({warning}, {}) == 0);
    CHECK(verdict({warning}, {"Slurm: away"}) == 2);
    CHECK(verdict({warning, error}, {"Slurm: away"}) == 1);

    Findings both{warning, error};
    sort_by_weight(both);
    CHECK(both == Findings{error, warning});
    CHECK(count(both, Severity::note) == 0);
    auto json = Json::parse(findings_json(both, {"x"}));
    REQUIRE(json.has_value());
    CHECK(json->text("findings/0/severity") == "error");
    CHECK(json->text("findings/1/about") == "a");
    CHECK(json->text("notChecked/0") == "x");
}
