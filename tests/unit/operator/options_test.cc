// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/options.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

Result<Options> parse(std::vector<std::string> words)
{
    words.insert(words.begin(), "slurmk8s-operator");
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

} // namespace

TEST_CASE("the options of slurmk8s-operator")
{
    auto options =
        parse({"-n", "a", "--namespace", "b", "-s", "https://h:1", "--ca-file",
               "/ca", "--token-file", "/t", "--lease-namespace", "c",
               "--lease-name", "d", "-w", "0.0.0.0:80", "-l", "debug"});
    REQUIRE(options);
    CHECK(options->namespaces == std::vector<std::string>{"a", "b"});
    CHECK(options->server == "https://h:1");
    CHECK(options->ca_file == "/ca");
    CHECK(options->token_file == "/t");
    CHECK(options->lease_namespace == "c");
    CHECK(options->lease_name == "d");
    CHECK(options->web_address == "0.0.0.0:80");
    CHECK(options->log_level == LogLevel::debug);
    CHECK(parse({})->namespaces.empty());
    CHECK_FALSE(parse({})->check_unused);
    CHECK(parse({"--check-unused"})->check_unused);
    CHECK(parse({"-V"})->version);
    CHECK(parse({"-h"})->help);
}

TEST_CASE("options that make no sense are refused with the reason")
{
    CHECK(parse({"-n", "a/b"}).error().message ==
          "\"a/b\" is no name of Kubernetes");
    CHECK_FALSE(parse({"-n", ""}));
    CHECK_FALSE(parse({"--lease-name", "../x"}));
    CHECK_FALSE(parse({"-l", "loud"}));
    CHECK_FALSE(parse({"more"}));
}
