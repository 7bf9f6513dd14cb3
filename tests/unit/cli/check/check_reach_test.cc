// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_reach.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Reach = KubeFacts::Reach;

HostFacts host_with_token()
{
    HostFacts host;
    host.token.path = "/etc/slurm/k8s/token";
    host.token.there = true;
    host.now = std::chrono::sys_seconds(1000000s);
    return host;
}

Findings found(Reach reach, const std::string &why,
               const HostFacts &host = host_with_token())
{
    KubeFacts kube;
    kube.reach = reach;
    kube.reach_reason = why;
    Conf conf;
    conf.kube_ca_file = "/etc/slurm/k8s/ca.crt";
    return check_reach(kube, host, conf);
}

} // namespace

TEST_CASE("addresses and names that are kept for examples are known as such")
{
    for (const char *url :
         {"https://192.0.2.10:6443", "https://198.51.100.1:6443",
          "https://203.0.113.255:443", "https://[2001:db8::1]:6443",
          "https://[2001:DB8:1::1]:6443", "https://[3fff:1::1]:6443",
          "https://example.com:6443", "https://k8s.example.org:6443/path",
          "https://API.Example.net:6443", "https://k8s.example:6443",
          "https://k8s.invalid:6443"})
        CHECK_MESSAGE(is_example_server(url), url);
    for (const char *url :
         {"https://192.0.3.10:6443", "https://10.192.0.2:6443",
          "https://[2001:db9::1]:6443", "https://myexample.com:6443",
          "https://example.com.site:6443", "https://127.0.0.1:6443", "",
          "https://", "https://["})
        CHECK_MESSAGE(!is_example_server(url), url);
}

TEST_CASE("a server that answers, or could not be asked, is no finding")
{
    CHECK(found(Reach::answered, "").empty());
    CHECK(found(Reach::not_asked, "HTTP 503").empty());
}

TEST_CASE("what keeps the API server from answering is an error with the line")
{
    struct {
        Reach reach;
        const char *about;
        const char *change;
    } const cases[] = {
        {Reach::no_server, "k8s.conf", "KubeApiServer=https://"},
        {Reach::example, "k8s.conf", "KubeApiServer=https://"},
        {Reach::no_answer, "k8s.conf", "KubeApiServer=https://"},
        {Reach::untrusted, "k8s.conf", "> /etc/slurm/k8s/ca.crt"},
        {Reach::no_token, "/etc/slurm/k8s/token",
         "slurmk8s setup --kubeconfig FILE"},
        {Reach::refused, "/etc/slurm/k8s/token",
         "slurmk8s setup --kubeconfig FILE"},
    };
    for (const auto &[reach, about, change] : cases) {
        Findings all = found(reach, "why");
        REQUIRE(all.size() == 1);
        CHECK(all[0].severity == Severity::error);
        CHECK(all[0].about == about);
        CHECK(all[0].says.contains("why"));
        CHECK(all[0].change.contains(change));
    }
}

TEST_CASE("a token that is known to have expired is not reported twice")
{
    HostFacts host = host_with_token();
    host.token_expires = host.now;
    CHECK(found(Reach::refused, "HTTP 401", host).empty());

    host.token_expires = host.now + 1s;
    CHECK(found(Reach::refused, "HTTP 401", host).size() == 1);
}
