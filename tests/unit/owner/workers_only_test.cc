// SPDX-License-Identifier: GPL-2.0-or-later
// The owner thread of an agent that serves workers only.
#include "agent/owner/owner.h"
#include "common/base/json.h"
#include "tests/unit/fakes/fake_slurm.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <vector>

using namespace bridge;

namespace {

struct Bed {
    FakeSlurm slurm;
    TaskQueue submits, workers, reporters;
    Mailbox<Message> mailbox;
    std::vector<HookMessage> sent;
    Owner owner;
    Clock::time_point now{std::chrono::hours(1)};

    explicit Bed(bool schedule_pods = false)
        : owner(conf_with(schedule_pods),
                {slurm, submits, workers, reporters,
                 [this](HookMessage m, PluginConnection) {
                     sent.push_back(std::move(m));
                 }},
                mailbox)
    {
    }

    static std::shared_ptr<const Conf> conf_with(bool schedule_pods)
    {
        auto conf = std::make_shared<Conf>();
        conf->schedule_pods = schedule_pods;
        conf->worker_namespaces = {"slurm"};
        return conf;
    }
    void hear(Message message) { owner.handle(std::move(message), now); }
    Json status() const { return *Json::parse(owner.status_json()); }
};

} // namespace

TEST_CASE("it serves once it has the Lease, without any list and any plugin")
{
    Bed bed;
    CHECK_FALSE(bed.status().flag("serving"));
    CHECK(bed.owner.health().failures(false).contains("Lease"));

    bed.hear(WatchState{start_problem, ""});

    CHECK(bed.status().flag("serving"));
    CHECK(bed.status().flag("workersOnly"));
    CHECK(bed.owner.health().failures(false).empty());
}

TEST_CASE("a plugin that goes away is no problem, and learns of no nodes")
{
    Bed bed;
    bed.hear(WatchState{start_problem, ""});
    bed.hear(HookReceived{{.type = HookMessage::Type::hello,
                           .version = hook_protocol_version,
                           .cluster = "c",
                           .host = "h"},
                          PluginConnection(1)});
    REQUIRE(bed.sent.size() == 1);
    CHECK(bed.sent[0].type == HookMessage::Type::bridge);
    CHECK(bed.sent[0].nodes.empty());

    bed.hear(HookLost{});

    CHECK(bed.owner.health().problems().empty());
}

TEST_CASE("SchedulePods stays as it was at the start")
{
    Bed bed;
    bed.hear(WatchState{start_problem, ""});
    bed.hear(Reload{Bed::conf_with(true)});
    CHECK(bed.status().flag("workersOnly"));

    Bed other(true);
    other.hear(Reload{Bed::conf_with(false)});
    CHECK_FALSE(other.status().flag("workersOnly"));
    CHECK_FALSE(other.status().flag("serving"));
}

TEST_CASE("of a standby it is no problem that it has not begun")
{
    Bed bed(true);
    auto problems = [&] {
        std::string text =
            std::move(bed.owner.metrics(MetricFormat::prometheus)).finish();
        std::size_t at = text.find("\nslurmk8sd_problems ");
        REQUIRE(at != text.npos);
        return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
    };
    CHECK(problems() == "slurmk8sd_problems 2"); // no lists and no plugin yet
    bed.hear(LeaseNews{.standby = "another agent acts", .problem = ""});
    CHECK(problems() == "slurmk8sd_problems 0");
    CHECK(bed.status().members("problems").empty());
    bed.hear(LeaseNews{.standby = "another agent acts", .problem = "denied"});
    bed.hear(WatchState{"token", "expires and is not renewed"});
    CHECK(problems() == "slurmk8sd_problems 2");
    CHECK(bed.status().members("problems").size() == 2);
}
