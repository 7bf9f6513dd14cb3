// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/creation_time.h"
#include "agent/owner/owner.h"
#include "tests/unit/fakes/fake_slurm.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <utility>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct Bed {
    FakeSlurm slurm;
    TaskQueue submits, workers, reporters;
    Mailbox<Message> mailbox;
    Owner owner{std::make_shared<const Conf>(),
                {slurm, submits, workers, reporters,
                 [](HookMessage, PluginConnection) {}},
                mailbox};

    void hear(Message message)
    {
        owner.handle(std::move(message), Clock::now());
    }
    // The line of the histogram with that end.
    std::string line(const std::string &end) const
    {
        std::string text =
            std::move(owner.metrics(MetricFormat::prometheus)).finish();
        std::size_t at = text.find("slurmk8sd_pod_binding_seconds" + end);
        REQUIRE(at != text.npos);
        return text.substr(at, text.find('\n', at) - at);
    }
};

Pod pod(std::chrono::seconds age, const std::string &node = "")
{
    Pod made;
    made.key = {"default", "p"};
    made.uid = "1";
    made.scheduler_name = "slurm";
    made.created = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now() - age);
    made.node_name = node;
    return made;
}

} // namespace

TEST_CASE("the first event tells when a Pod was created, if it came at once")
{
    Pod one;
    one.created = std::chrono::sys_seconds(1000s);
    CHECK(creation_of(one) == one.created); // no event has come
    one.arrived = std::chrono::sys_seconds(1000s) + 850ms;
    CHECK(creation_of(one) == one.arrived);
    one.arrived = std::chrono::sys_seconds(999s) + 900ms; // clocks differ
    CHECK(creation_of(one) == one.arrived);
    one.arrived = std::chrono::sys_seconds(1060s); // after an outage
    CHECK(creation_of(one) == one.created);
}

TEST_CASE("a binding counts once, from the creation of the Pod")
{
    Bed bed;
    bed.hear(Changed<Pod>{pod(0s), false});
    CHECK(bed.line("_count") == "slurmk8sd_pod_binding_seconds_count 0");
    bed.hear(Changed<Pod>{pod(0s, "n1"), false});
    bed.hear(Changed<Pod>{pod(0s, "n1"), false});
    CHECK(bed.line("_count") == "slurmk8sd_pod_binding_seconds_count 1");
    CHECK(bed.line("_bucket{le=\"2.5\"}").ends_with(" 1"));
}

TEST_CASE(
    "a Pod that was there before the agent has waited since its creation, "
    "and a list may show its binding")
{
    Bed bed;
    bed.hear(Listed<Pod>{"slurm", {pod(1000s)}});
    bed.hear(Changed<Pod>{pod(1000s), false}); // some change of it
    bed.hear(Listed<Pod>{"slurm", {pod(1000s, "n1")}});
    CHECK(bed.line("_count") == "slurmk8sd_pod_binding_seconds_count 1");
    CHECK(bed.line("_bucket{le=\"900.0\"}").ends_with(" 0"));
    CHECK(bed.line("_bucket{le=\"3600.0\"}").ends_with(" 1"));
}
