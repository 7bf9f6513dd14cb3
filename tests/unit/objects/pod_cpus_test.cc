// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_cpus.h"

#include "agent/objects/objects.h"
#include "tests/unit/fakes/test_data.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

// "name=cpu" and the claims that it names.
std::string container(const std::string &cpu, const std::string &claims = "",
                      const std::string &more = "")
{
    return R"({"name":"c","resources":{"requests":{"cpu":")" + cpu +
           R"("},"claims":[)" + claims + "]}" + more + "}";
}

std::string use(const std::string &entry, const std::string &request = "")
{
    return R"({"name":")" + entry +
           (request.empty() ? R"("})" : R"(","request":")" + request + R"("})");
}

std::int64_t needs(const std::string &containers, const ClaimCpus &claims,
                   const std::string &more = "")
{
    Pod pod = pod_from(
        json_of(R"({"spec":{"containers":[)" + containers + "]" + more + "}}"));
    return cpus_with_claims(pod.cpus, pod.requests.cpu, claims).value;
}

const ClaimCpus four = {{"a", {{"cpu", 4}}}};
constexpr char sidecar[] = R"(,"restartPolicy":"Always")";

} // namespace

TEST_CASE("a container's claim and its request are the same CPUs")
{
    CHECK(needs(container("4", use("a")), four) == 4000);
    CHECK(needs(container("0", use("a")), four) == 4000);
    CHECK(needs(container("5500m", use("a")), four) == 5500);
    CHECK(needs(container("2", use("a")), four) == 4000);
}

TEST_CASE("who does not name the claim has no part in its CPUs")
{
    CHECK(needs(container("0", use("a")) + "," + container("2"), four) == 6000);
    CHECK(needs(container("4", use("a")) + "," + container("2"), four) == 6000);
    CHECK(needs(container("4"), four) == 8000); // nobody names it
}

TEST_CASE("a claim counts once, however many containers name it")
{
    std::string both =
        container("0", use("a")) + "," + container("0", use("a"));
    CHECK(needs(both, four) == 4000);
    // The kubelet counts what containers request.
    both = container("4", use("a")) + "," + container("4", use("a"));
    CHECK(needs(both, four) == 8000);
}

TEST_CASE("a container that names one request of a claim has that part of it")
{
    const ClaimCpus two = {{"a", {{"x", 4}, {"y", 2}}}};
    CHECK(needs(container("4", use("a", "x")), two) == 6000);
    CHECK(needs(container("4", use("a", "y")), two) == 8000);
    CHECK(needs(container("6", use("a")), two) == 6000);
}

TEST_CASE("a claim is kept while containers run that do not name it")
{
    std::string init =
        R"(,"initContainers":[)" + container("4", use("a")) + "]";
    CHECK(needs(container("2"), four, init) == 6000);
    CHECK(needs(container("4", use("a")), four,
                R"(,"initContainers":[)" + container("3") + "]") == 7000);
    CHECK(needs(container("4", use("a")), four,
                R"(,"initContainers":[)" + container("1", "", sidecar) + "," +
                    container("2") + "]") == 7000);
}

TEST_CASE("requests of the whole Pod, and its overhead")
{
    std::string all = R"(,"resources":{"requests":{"cpu":"16"}})";
    CHECK(needs(container("0", use("a")) + "," + container("0"), four, all) ==
          16000);
    CHECK(needs(container("0", use("a")) + "," + container("2"), four,
                R"(,"resources":{"requests":{"cpu":"3"}})") == 6000);
    CHECK(needs(container("4", use("a")), four,
                R"(,"overhead":{"cpu":"500m"})") == 4500);
}

TEST_CASE("without CPUs in its claims a Pod needs what it requests")
{
    CHECK(needs(container("3", use("a")), {}) == 3000);
    CHECK(needs(container("3", use("a")), {{"a", {}}}) == 3000);
    CHECK(needs(container("3"), {}) == 3000);
}

TEST_CASE("only where a container names a claim anything is kept")
{
    CHECK(pod_cpus_of(json_of(R"({"spec":{"containers":[)" + container("3") +
                              "]}}")) == PodCpus{});
    CHECK(pod_cpus_of(json_of("{}")) == PodCpus{});
    CHECK(pod_cpus_of(json_of(R"({"spec":{"containers":[)" +
                              container("odd", use("a")) + "]}}"))
              .containers.at(0) ==
          ContainerCpus{ContainerCpus::Kind::app, {}, {{"a", ""}}});
}
