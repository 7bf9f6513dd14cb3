// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/autoscale.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

PotentialWorkers workers()
{
    return {.range = {0, 32},
            .idle_time = 300s,
            .prefix = "w-",
            .digits = 2,
            .conf = "CPUs=4 RealMemory=1000 Port=6818 Feature=w,big"};
}

} // namespace

TEST_CASE("a range has a least and a largest number of Pods")
{
    CHECK(read_replica_range("0-32") == ReplicaRange{0, 32});
    CHECK(read_replica_range("2-2") == ReplicaRange{2, 2});
    CHECK(read_replica_range("0-65533") == ReplicaRange{0, 65533});
    for (const char *text :
         {"", "-", "32", "0-", "-3", "3-2", "0-0", "0-65534", " 0-3", "0-3 ",
          "0-3-4", "a-b", "0-4294967296", "0x0-3", "+0-3", "0--3"})
        CHECK_MESSAGE(!read_replica_range(text), text);
}

TEST_CASE("an idle time is a number with its unit")
{
    CHECK(read_idle_time("90s") == 90s);
    CHECK(read_idle_time("5m") == 300s);
    CHECK(read_idle_time("1h") == 3600s);
    CHECK(read_idle_time("0s") == 0s);
    CHECK(read_idle_time("8760h") == 8760h);
    for (const char *text : {"", "5", "m", "5 m", "-5m", "5d", "1h30m", "8761h",
                             "4294967295h", "5M"})
        CHECK_MESSAGE(!read_idle_time(text), text);
}

TEST_CASE("what the operator says of workers is what the agent reads")
{
    CHECK(read_potential_workers(workers().text()) == workers());
}

TEST_CASE("nobody makes slurmctld do something else by that annotation")
{
    CHECK(!read_potential_workers(""));
    CHECK(!read_potential_workers("{}"));
    auto with = [](auto change) {
        PotentialWorkers made = workers();
        change(made);
        return read_potential_workers(made.text()).has_value();
    };
    CHECK(with([](auto &) {}));
    for (const char *prefix : {"", "-w", "W", "w,ctl", "w[0-9]", "w ", "w.x"})
        CHECK_FALSE(with([&](auto &one) { one.prefix = prefix; }));
    for (const char *conf :
         {"", "Feature=w NodeName=ctl", "nodename=ctl", "CPUs=4  Feature=w",
          "NodeAddr=10.0.0.1", "State=IDLE", "Reason=x", "CPUs", "CPUs=", "=4",
          "CPUs=4\nNodeName=x", "Feature=\xc3\xa4", "Node Name=x"})
        CHECK_FALSE_MESSAGE(with([&](auto &one) { one.conf = conf; }), conf);
    CHECK_FALSE(with([](auto &one) { one.range = {5, 4}; }));
    CHECK_FALSE(with([](auto &one) { one.range = {0, 65534}; }));
    CHECK_FALSE(with([](auto &one) { one.digits = 10; }));
    CHECK_FALSE(with([](auto &one) { one.idle_time = 9000h; }));
    CHECK_FALSE(with([](auto &one) { one.idle_time = -1s; }));
}

TEST_CASE("names of Slurm nodes have numbers")
{
    PotentialWorkers made = workers();
    CHECK(made.node(0) == "w-00");
    CHECK(made.node(123) == "w-123");
    CHECK(made.number_of("w-07") == 7);
    CHECK(made.number_of("w-123") == 123);
    for (const char *name : {"w-7", "w-", "w-0007", "x-07", "w-07a", ""})
        CHECK_MESSAGE(!made.number_of(name), name);
}
