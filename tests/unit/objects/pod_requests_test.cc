// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_requests.h"
#include "tests/unit/fakes/test_data.h"

#include <utility>

using namespace bridge;

namespace {

// {"name": …, "resources": {"requests": {"cpu": …, "memory": …}}}
std::string container(const std::string &name, const std::string &cpu,
                      const std::string &memory, const std::string &more = "")
{
    return R"({"name": ")" + name +
           R"(", "resources": {"requests": {"cpu": ")" + cpu +
           R"(", "memory": ")" + memory + R"("}})" + more + "}";
}

const std::string always = R"(, "restartPolicy": "Always")";

PodRequests of_spec(const std::string &containers,
                    const std::string &inits = "", const std::string &more = "")
{
    return pod_requests(json_of(R"({"spec": {"containers": [)" + containers +
                                R"(], "initContainers": [)" + inits + "]" +
                                more + "}}"));
}

} // namespace

TEST_CASE("containers add up, init containers peak, sidecars do both")
{
    struct {
        const char *what;
        std::string containers;
        std::string inits;
        std::int64_t cpu; // thousandths
        std::int64_t memory;
    } const table[] = {
        {"one", container("a", "500m", "10"), "", 500, 10},
        {"two", container("a", "1", "10") + "," + container("b", "2", "5"), "",
         3000, 15},
        {"a larger init container", container("a", "1", "10"),
         container("i", "4", "5"), 4000, 10},
        {"init containers do not add up", container("a", "1", "1"),
         container("i", "2", "2") + "," + container("j", "2", "2"), 2000, 2},
        {"a sidecar adds to the containers", container("a", "1", "1"),
         container("s", "2", "2", always), 3000, 3},
        {"an init container after a sidecar has it beside it",
         container("a", "1", "1"),
         container("s", "2", "2", always) + "," + container("i", "3", "3"),
         5000, 5},
        {"an init container before a sidecar has not", container("a", "1", "1"),
         container("i", "3", "3") + "," + container("s", "2", "2", always),
         3000, 3},
        {"no containers", "", "", 0, 0},
    };
    for (const auto &row : table) {
        CAPTURE(row.what);
        PodRequests asks = of_spec(row.containers, row.inits);
        CHECK(asks.requests.cpu == MilliCpu{row.cpu});
        CHECK(asks.requests.memory == Bytes{row.memory});
        CHECK(asks.unfit_reasons.empty());
    }
}

TEST_CASE("pod-level requests replace the sum, overhead is added always")
{
    PodRequests asks = of_spec(container("a", "1", "10"), "",
                               R"(, "resources": {"requests": {"cpu": "4",
                     "example.com/gpu": "9", "hugepages-2Mi": "2Mi"}},
                   "overhead": {"cpu": "250m", "memory": "1"})");

    CHECK(asks.requests.cpu == MilliCpu{4250});
    CHECK(asks.requests.memory == Bytes{11});
    CHECK(asks.requests.others ==
          std::map<std::string, std::int64_t>{{"hugepages-2Mi", 2 << 20}});
}

TEST_CASE("other resources are counted in units")
{
    PodRequests asks = pod_requests(json_file("pod-extended.json"));

    CHECK(asks.requests.others.at("example.com/gpu") == 2);
    CHECK(asks.requests.cpu == MilliCpu{1000});
}

TEST_CASE("fractions of a byte and of a thousandth are rounded up")
{
    PodRequests asks = of_spec(container("a", "100u", "0.1"));

    CHECK(asks.requests.cpu == MilliCpu{1});
    CHECK(asks.requests.memory == Bytes{1});
}

TEST_CASE("hostile amounts neither overflow nor pass for small ones")
{
    std::string huge = "4611686018427387904"; // 2^62, the most that parses
    std::string many;
    for (int i = 0; i < 9; i++)
        many += container("c" + std::to_string(i), "1", huge) + ",";
    many += container("last", "1", huge);

    PodRequests asks =
        of_spec(many, many, R"(, "overhead": {"memory": ")" + huge + R"("})");

    CHECK(asks.requests.memory == Bytes{std::int64_t{1} << 62});
    CHECK(asks.requests.cpu == MilliCpu{10000});
}

TEST_CASE("what is no quantity becomes an objection that names it")
{
    for (std::string bad : {"", "x", "-1", "1 Gi", "1e999", "NaN",
                            "99999999999999999999999999999999999"}) {
        CAPTURE(bad);
        PodRequests asks = of_spec(container("main", bad, "1"));
        CHECK(asks.requests.cpu == MilliCpu{0});
        REQUIRE(asks.unfit_reasons.size() == 1);
        CHECK(
            asks.unfit_reasons[0].starts_with("container main requests cpu: "));
    }
    PodRequests number = pod_requests(json_of(R"({"spec": {"containers":
        [{"name": "n", "resources": {"requests": {"cpu": 2}}}]}})"));
    CHECK(number.unfit_reasons.size() == 1); // JSON strings only
}

TEST_CASE("a container that is being resized counts with the most it may have")
{
    const std::string spec =
        R"({"spec": {"containers": [)" + container("a", "2", "20") + "]}, ";
    const std::string held = R"("status": {"containerStatuses": [
        {"name": "a", "resources": {"requests": {"cpu": "3", "memory": "5"}},
         "allocatedResources": {"cpu": "1", "memory": "7"}}])";

    auto asks = [&](const std::string &rest) {
        Requests requests = pod_requests(json_of(spec + rest)).requests;
        return std::pair(requests.cpu.value, requests.memory.value);
    };

    CHECK(asks(held + "}}") == std::pair(3000L, 20L));
    CHECK(asks(held + R"(, "conditions": [{"type": "PodResizePending",
                          "reason": "Infeasible"}]}})") ==
          std::pair(3000L, 7L));
    CHECK(asks(held + R"(, "conditions": [{"type": "PodResizePending",
                          "reason": "Deferred"}]}})") == std::pair(3000L, 20L));
    CHECK(asks(R"("status": {"containerStatuses": [{"name": "a",
                  "allocatedResources": {"cpu": "9"}}]}})") ==
          std::pair(2000L, 20L));
}
