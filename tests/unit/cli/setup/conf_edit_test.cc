// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/conf_edit.h"

#include "common/contract/conf.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

TEST_CASE("a value is changed in its place, and nothing else is")
{
    const std::string text = "# ours\n"
                             "  kubeapiserver = https://old  # the old one\n"
                             "\n"
                             "Partition=k8s\n";

    CHECK(with_conf_value(text, "KubeApiServer", "https://new") ==
          "# ours\n"
          "  kubeapiserver = https://new  # the old one\n"
          "\n"
          "Partition=k8s\n");
    CHECK(with_conf_value(text, "Partition", "k8s") == text);
}

TEST_CASE("a key that is not there is added at the end, a commented one stays")
{
    CHECK(with_conf_value("#Partition=a\nLogLevel=info", "Partition", "k8s") ==
          "#Partition=a\nLogLevel=info\nPartition=k8s\n");
    CHECK(with_conf_value("", "Partition", "k8s") == "Partition=k8s\n");
}

TEST_CASE("an empty value is filled in")
{
    CHECK(with_conf_value("Partition=\n", "Partition", "k8s") ==
          "Partition=k8s\n");
    CHECK(with_conf_value("Partition= # none\n", "Partition", "k8s") ==
          "Partition=k8s # none\n");
}

TEST_CASE("values are read as k8s.conf has them")
{
    const std::string text = "A=1\nKubeCaFile = /a b # x\nPartitions=no\n";
    CHECK(conf_value(text, "KubeCaFile") == "/a b");
    CHECK(conf_value(text, "a") == "1");
    CHECK_FALSE(conf_value(text, "Partition").has_value());
    CHECK_FALSE(conf_value("", "A").has_value());
}

TEST_CASE("what is written is read by parse_conf()")
{
    std::string text = "\t#\r\nLogLevel=debug\r\n";
    text = with_conf_value(text, "KubeTokenFile", "/t");
    text = with_conf_value(text, "LogLevel", "error");

    auto conf = parse_conf(text);

    REQUIRE(conf.has_value());
    CHECK(conf->kube_token_file == "/t");
    CHECK(conf->log_level == LogLevel::error);
}
