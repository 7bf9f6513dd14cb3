// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_reach.h"

#include "cli/check/check_host.h"
#include "common/base/ascii.h"

#include <algorithm>
#include <array>
#include <string>

namespace bridge {

namespace {

constexpr char show_server[] =
    "kubectl config view --minify -o jsonpath='{.clusters[0].cluster.server}'";
constexpr char show_ca[] = "kubectl get configmap kube-root-ca.crt "
                           "-o jsonpath='{.data.ca\\.crt}'";

// The host without brackets, port and path, in lower case.
std::string host_in(std::string_view url)
{
    if (auto scheme = url.find("://"); scheme != url.npos)
        url.remove_prefix(scheme + 3);
    url = url.substr(0, url.find('/'));
    if (url.starts_with('['))
        return lower_case(std::string(url.substr(1, url.find(']') - 1)));
    return lower_case(std::string(url.substr(0, url.rfind(':'))));
}

std::string server_line()
{
    return std::string("KubeApiServer=https://HOST:PORT in k8s.conf, as "
                       "printed by: ") +
           show_server;
}

Finding wrong(const std::string &about, const std::string &says,
              const std::string &change)
{
    return {Severity::error, about, says, change};
}

// These are findings about the file itself already.
bool token_is_known_bad(const HostFacts &host)
{
    return !host.token.there ||
           (host.token_expires && *host.token_expires <= host.now);
}

} // namespace

bool is_example_server(std::string_view url)
{
    constexpr std::array addresses = {"192.0.2.",  "198.51.100.", "203.0.113.",
                                      "2001:db8:", "2001:0db8:",  "3fff:"};
    constexpr std::array names = {"example", "example.com", "example.net",
                                  "example.org", "invalid"};
    std::string host = host_in(url);
    return std::ranges::any_of(
               addresses,
               [&](const char *one) { return host.starts_with(one); }) ||
           std::ranges::any_of(names, [&](const char *one) {
               return host == one || host.ends_with(std::string(".") + one);
           });
}

Findings check_reach(const KubeFacts &kube, const HostFacts &host,
                     const Conf &conf)
{
    using Reach = KubeFacts::Reach;
    const std::string &why = kube.reach_reason;
    switch (kube.reach) {
    case Reach::answered:
    case Reach::not_asked:
        return {};
    case Reach::no_server:
        return {wrong("k8s.conf", why, server_line())};
    case Reach::example:
        return {wrong("k8s.conf",
                      "KubeApiServer=" + why + " is an address for examples",
                      server_line())};
    case Reach::no_answer:
        return {wrong("k8s.conf",
                      "no API server answers at KubeApiServer: " + why,
                      server_line())};
    case Reach::untrusted:
        return {wrong("k8s.conf",
                      "the authority in KubeCaFile has not signed the "
                      "certificate of what answers at KubeApiServer: " +
                          why,
                      show_ca + (" > " + conf.kube_ca_file))};
    case Reach::no_token:
        return {wrong(host.token.path, why, make_token_command)};
    case Reach::refused:
        if (token_is_known_bad(host))
            return {};
        return {wrong(host.token.path,
                      "the API server does not accept the token: " + why,
                      make_token_command)};
    }
    return {};
}

} // namespace bridge
