// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/lease_keeper.h"
#include "tests/unit/fakes/fake_lease.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

// One agent: its socket, its permit and its keeper.
struct Agent {
    TemporaryDirectory directory;
    std::string path = directory.path + "/hook.sock";
    PacketSocket listener = *PacketSocket::listen(path, 0600);
    Permit permit{path};
    Control control = Control::ours;
    BootClock::time_point now;
    int acquired = 0;
    std::vector<LeaseNews> news;
    std::vector<std::string> ended;
    LeaseKeeper keeper;

    Agent(LeaseStore &store, const std::string &host,
          const std::string &instance = "1")
        : keeper(
              {store, permit, [this] { return control; },
               [this] { return now; }},
              {host, "place-" + host, instance},
              {[this] { acquired++; },
               [this](LeaseNews n) { news.push_back(std::move(n)); },
               [this](const std::string &reason) { ended.push_back(reason); }})
    {
        permit.set_socket(socket_file(path));
    }

    void step(BootClock::time_point at)
    {
        now = at;
        keeper.step();
    }

    bool may_write(BootClock::time_point at) const
    {
        return permit.check(at).has_value();
    }
};

constexpr BootClock::time_point start{100s};

} // namespace

TEST_CASE("the first agent makes the Lease and acts at once")
{
    FakeLease store;
    Agent agent(store, "ctl1");
    CHECK_FALSE(agent.may_write(start));

    agent.step(start);

    CHECK(agent.acquired == 1);
    CHECK(agent.may_write(start));
    CHECK(store.record.holder == "ctl1_place-ctl1_1");
    CHECK(agent.news == std::vector{LeaseNews{}});
}

TEST_CASE("a holder renews, and acts only once")
{
    FakeLease store;
    Agent agent(store, "ctl1");
    for (auto now = start; now < start + 60s; now += 2s) {
        agent.step(now);
        CHECK(agent.may_write(now + 3s));
    }

    CHECK(agent.acquired == 1);
    CHECK(store.writes == 30);
    CHECK(store.record.transitions == 0);
    CHECK(agent.ended.empty());
}

TEST_CASE("a second agent stands by, and takes over when the first is silent")
{
    FakeLease store;
    Agent first(store, "ctl1");
    Agent second(store, "ctl2");
    first.step(start);
    second.step(start);

    CHECK(second.acquired == 0);
    CHECK_FALSE(second.may_write(start));
    CHECK(second.news.back().standby == "ctl1 has the Lease");

    second.step(start + 14s);
    CHECK(second.acquired == 0);
    CHECK_FALSE(first.may_write(start + 12s)); // long before the other may
    second.step(start + 15s);
    CHECK(second.acquired == 1);
    CHECK(second.may_write(start + 15s));
    CHECK(second.news.back().standby.empty());

    first.step(start + 16s); // wakes up
    CHECK_FALSE(first.may_write(start + 16s));
    CHECK(first.ended.empty()); // its renewal was refused: it reads who has it
    first.step(start + 18s);
    CHECK(first.ended == std::vector<std::string>{"ctl2 has taken the Lease"});
    CHECK(first.keeper.ended());
}

TEST_CASE("an agent of the same place takes over at once")
{
    FakeLease store;
    Agent first(store, "ctl1", "1");
    first.step(start);
    Agent second(store, "ctl1", "2");

    second.step(start + 1s);

    CHECK(second.acquired == 1);
    CHECK(store.record.transitions == 1);
}

TEST_CASE("what was given back is taken at once, by whoever's turn it is")
{
    FakeLease store;
    Agent first(store, "ctl1");
    Agent second(store, "ctl2");
    first.step(start);
    second.control = Control::others;
    second.step(start);
    first.keeper.give_back();
    CHECK_FALSE(first.may_write(start));

    second.step(start + 1s);
    CHECK(second.acquired == 0);
    CHECK(second.news.back().standby ==
          "slurmctld of another host is in control");
    second.control = Control::ours;
    second.step(start + 2s);
    CHECK(second.acquired == 1);
}

TEST_CASE("a holder whose slurmctld is no longer in control ends")
{
    FakeLease store;
    Agent agent(store, "ctl1");
    agent.step(start);
    agent.control = Control::unknown; // no slurmctld lives: nothing is said
    agent.step(start + 2s);
    CHECK(agent.ended.empty());

    agent.control = Control::others;
    agent.step(start + 4s);

    CHECK(agent.ended.size() == 1);
    CHECK_FALSE(agent.may_write(start + 4s));
    CHECK_FALSE(store.record.holder.empty()); // requests may be under way
    agent.keeper.give_back();
    CHECK(store.record.holder.empty());
}

TEST_CASE("an agent that lost its socket ends, and leaves the Lease alone")
{
    FakeLease store;
    Agent agent(store, "ctl1");
    agent.step(start);
    auto other = PacketSocket::listen(agent.path, 0600);
    REQUIRE(other);

    agent.step(start + 2s);

    CHECK(agent.ended.size() == 1);
    CHECK_FALSE(agent.may_write(start + 2s));
    CHECK(store.writes == 1);
}

TEST_CASE("while the API server is away the permit runs out; then it goes on")
{
    FakeLease store;
    Agent agent(store, "ctl1");
    agent.step(start);
    store.refuses = Error{Code::busy, "nobody answers"};
    for (auto now = start + 2s; now < start + 60s; now += 2s)
        agent.step(now);
    CHECK_FALSE(agent.may_write(start + 60s));
    CHECK(agent.news.back() == LeaseNews{"", "nobody answers"});

    store.refuses.reset();
    agent.step(start + 60s);

    CHECK(agent.may_write(start + 60s));
    CHECK(agent.news.back() == LeaseNews{});
    CHECK(agent.acquired == 1);
    CHECK(agent.ended.empty());
}

TEST_CASE("an answer that was lost is found out")
{
    FakeLease store;
    Agent agent(store, "ctl1");
    store.loses_answers = true;
    agent.step(start);
    CHECK_FALSE(agent.may_write(start));

    store.loses_answers = false;
    agent.step(start + 2s);
    CHECK(agent.may_write(start + 2s));
    CHECK(agent.acquired == 1);

    store.loses_answers = true;
    agent.step(start + 4s);
    store.loses_answers = false;
    agent.step(start + 6s);
    CHECK(agent.may_write(start + 17s));
    CHECK(agent.ended.empty());
    CHECK(store.record.transitions == 0);
}

TEST_CASE("an agent whose answers are always lost reads that it was heard")
{
    FakeLease store;
    store.loses_answers = true;
    Agent agent(store, "ctl1");
    agent.step(start);
    for (auto now = start + 2s; now < start + 60s; now += 2s) {
        agent.step(now);
        CHECK(agent.may_write(now + 9s)); // from the write before this look
        CHECK_FALSE(agent.may_write(now + 10s));
    }
    CHECK(agent.acquired == 1);
}

TEST_CASE(
    "without the right to use the Lease nothing is written, and it says so")
{
    FakeLease store;
    store.refuses = Error{Code::denied, "HTTP 403: leases is forbidden"};
    Agent agent(store, "ctl1");

    agent.step(start);

    CHECK(agent.acquired == 0);
    CHECK_FALSE(agent.may_write(start));
    CHECK(agent.news.back().problem.contains("leases is forbidden"));
    CHECK(agent.news.back().problem.contains("contribs/kubernetes"));
    CHECK_FALSE(agent.news.back().standby.empty());
}

TEST_CASE("a token that is wrong or unreadable is not cured by other rights")
{
    FakeLease store;
    store.refuses = Error{Code::denied, "HTTP 401: Unauthorized"};
    Agent refused(store, "ctl1");
    refused.step(start);
    CHECK(refused.news.back().problem.contains("create token slurmk8sd"));
    CHECK_FALSE(refused.news.back().problem.contains("apply"));

    store.refuses = Error{Code::denied, "the token in /t cannot be read"};
    Agent unreadable(store, "ctl2");
    unreadable.step(start);
    CHECK(unreadable.news.back().problem == "the token in /t cannot be read");
}

TEST_CASE("a Lease that was deleted under its holder is made again")
{
    FakeLease store;
    Agent agent(store, "ctl1");
    agent.step(start);
    store.record = {};
    agent.step(start + 2s); // conflict
    agent.step(start + 4s);

    CHECK(agent.ended.size() == 1); // somebody may have had it in between
}

// Two agents would act at once.
TEST_CASE("a slow answer does not make a renewal older than it is")
{
    FakeLease store;
    Agent first(store, "ctl1");
    Agent second(store, "ctl2");
    first.step(start);
    first.step(start);
    store.while_reading = [&] { // the answer comes after six seconds
        first.step(start + 5s);
        second.now = start + 6s;
    };
    second.step(start);
    store.while_reading = [] {};

    second.step(start + 5s + lease_duration);

    CHECK(second.acquired == 0);
    CHECK(first.may_write(start + 16s));
    second.step(start + 6s + lease_duration);
    CHECK(second.acquired == 1);
}
