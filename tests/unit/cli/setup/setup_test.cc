// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/kubectl.h"
#include "cli/setup/options.h"
#include "cli/setup/program.h"
#include "common/kube/base64.h"

#include <doctest/doctest.h>
#include <initializer_list>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

Result<SetupOptions> parse(std::initializer_list<const char *> words,
                           bool uninstall = false)
{
    std::vector<std::string> copies = {"setup"};
    copies.insert(copies.end(), words.begin(), words.end());
    std::vector<char *> arguments;
    for (std::string &word : copies)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    return parse_setup_options(static_cast<int>(copies.size()),
                               arguments.data(), uninstall);
}

Result<KubeCluster> cluster(const std::string &json)
{
    return cluster_from(
        *Json::parse(R"({"clusters":[{"cluster":)" + json + "}]}"));
}

} // namespace

TEST_CASE("the options of setup")
{
    auto options =
        parse({"--nodes", "n1,n2", "--nodes=n3", "--namespace", "a=alice",
               "--namespace", "b=bob:acct", "--dry-run", "--token-lifetime=12h",
               "-f", "/k8s.conf", "--components", "devices"});
    REQUIRE(options.has_value());
    CHECK(options->nodes == std::vector<std::string>{"n1", "n2", "n3"});
    CHECK(options->namespaces.size() == 2);
    CHECK(options->dry_run);
    CHECK(options->token_life == 12h);
    CHECK(options->conf_path == "/k8s.conf");
    CHECK(options->components == "devices");
    CHECK(parse({})->token_life == 168h);
}

TEST_CASE("each command has its own options")
{
    CHECK(parse({"--yes", "--force"}, true)->force);
    CHECK_FALSE(parse({"--nodes", "n1"}, true).has_value());
    CHECK_FALSE(parse({"--force"}).has_value());
    CHECK_FALSE(parse({"word"}).has_value());
    CHECK_FALSE(parse({"--namespace", "a"}).has_value());
}

TEST_CASE("a token may live from an hour to 30 days")
{
    CHECK(parse_token_life("3600") == 3600s);
    CHECK(parse_token_life("90m") == 90min);
    CHECK(parse_token_life("30d") == 720h);
    for (const char *text : {"", "h", "59m", "31d", "-1d", "1w", "4294967295d"})
        CHECK_FALSE(parse_token_life(text).has_value());
}

TEST_CASE("the address and the authority are those of the kubeconfig")
{
    auto found = cluster(R"({"server":"https://a:6443/",)"
                         R"("certificate-authority-data":")" +
                         base64(std::string_view("PEM\n")) + "\"}");
    REQUIRE(found.has_value());
    CHECK(found->server == "https://a:6443");
    CHECK(found->ca == "PEM\n");
    CHECK_FALSE(found->odd);

    CHECK(cluster(R"({"server":"https://a","proxy-url":"http://p"})")->odd);
    CHECK(cluster(R"({"server":"https://a",)"
                  R"("certificate-authority-data":"%%"})")
              ->ca.empty());
    for (const char *json : {"{}", R"({"server":"http://a"})", "[]"})
        CHECK_FALSE(cluster(json).has_value());
}

TEST_CASE("a program gets its input, and says how it ended")
{
    auto cat = run_program({"cat"}, "some text");
    REQUIRE(cat.has_value());
    CHECK(cat->status == 0);
    CHECK(cat->out == "some text");

    auto bad = run_program({"sh", "-c", "echo why >&2; exit 3"});
    REQUIRE(bad.has_value());
    CHECK(bad->status == 3);
    CHECK(bad->err == "why\n");
    CHECK(run_program({"sh", "-c", "kill -9 $$"})->status == 137);
    CHECK(run_program({"/nowhere/program"}).error().code == Code::not_found);
}
