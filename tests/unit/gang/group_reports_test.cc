// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/group_reports.h"

#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Pod labelled(const std::string &name, const std::string &group,
             const std::string &phase = "Pending")
{
    Pod pod = make_pod(name);
    pod.phase = phase;
    TextMap labels;
    if (!group.empty())
        labels[plugins_group_label] = group;
    pod.gang = gang_key(pod.key, {}, labels, {}, "workload");
    return pod;
}

// One API server, as it answers a single agent.
class Desk {
  public:
    GroupTable table{{}};
    GroupReports reports;
    Clock::time_point now = Clock::now();

    Desk() { table.replace(GroupApi::plugins, {}); }

    void put(const GroupSpec &group)
    {
        table.put(group);
        reports.put(group, now);
    }
    GroupSpec group(std::uint32_t minimum, const std::string &uid = "u-1") const
    {
        GroupSpec spec;
        spec.api = GroupApi::plugins;
        spec.key = {"default", "g"};
        spec.uid = uid;
        spec.resource_version = "1";
        spec.minimum = spec.size = minimum;
        return spec;
    }
    GroupSpec there() const
    {
        return *table.find("default", {GroupApi::plugins, "g"});
    }
    void pods(int from, int to, const std::string &phase = "Pending")
    {
        for (int i = from; i < to; i++)
            reports.put(labelled("p-" + std::to_string(i), "g", phase), now);
    }
    std::vector<GroupPatch> due() { return reports.pop_due(table, now); }
    // All that is due is written, and comes back by the watch.
    std::size_t write()
    {
        auto patches = due();
        for (const GroupPatch &patch : patches) {
            GroupSpec spec = there();
            REQUIRE(spec.resource_version == patch.resource_version);
            spec.status = patch.status;
            spec.status_writer = StatusWriter::us;
            spec.resource_version += "1";
            put(spec);
            reports.done(patch, {}, now);
        }
        return patches.size();
    }
    std::size_t pass(milliseconds time)
    {
        now += time;
        return write();
    }
    std::string said() const
    {
        PodGroupStatus status = there().status;
        return status.phase + " " + std::to_string(status.running) + " " +
               std::to_string(status.succeeded) + " " +
               std::to_string(status.failed);
    }
};

} // namespace

TEST_CASE("the controller has ten seconds; then the status follows the Pods")
{
    Desk desk;
    desk.put(desk.group(2));
    desk.pods(0, 1);
    CHECK(desk.pass(milliseconds(9999)) == 0);
    CHECK(desk.reports.next_due() == desk.now + milliseconds(1));
    CHECK(desk.pass(milliseconds(1)) == 1);
    CHECK(desk.said() == "Pending 0 0 0");
    CHECK_FALSE(desk.there().status.started);

    desk.pods(1, 2);
    CHECK(desk.pass(seconds(1)) == 1);
    CHECK(desk.said() == "Scheduling 0 0 0");
    CHECK(desk.there().status.started);
    desk.pods(0, 2, "Running");
    CHECK(desk.pass(seconds(1)) == 1);
    CHECK(desk.said() == "Running 2 0 0");
    desk.pods(0, 2, "Succeeded");
    CHECK(desk.pass(seconds(1)) == 1);
    CHECK(desk.said() == "Finished 0 2 0");

    for (int i = 0; i < 2; i++)
        desk.reports.remove("uid-p-" + std::to_string(i), desk.now);
    CHECK(desk.pass(seconds(60)) == 0); // it stays
    CHECK(desk.reports.next_due() == Clock::time_point::max());
}

TEST_CASE("512 Pods that start one by one are a write a second")
{
    Desk desk;
    desk.put(desk.group(512));
    desk.pods(0, 512);
    CHECK(desk.pass(seconds(10)) == 1);
    std::size_t writes = 0;
    for (int i = 0; i < 512; i++) {
        desk.pods(i, i + 1, "Running");
        writes += desk.pass(milliseconds(10));
    }
    writes += desk.pass(seconds(1));
    CHECK(writes <= 6);
    CHECK(desk.said() == "Running 512 0 0");
}

TEST_CASE("nothing is written where somebody else writes, sooner or later")
{
    Desk desk;
    GroupSpec theirs = desk.group(1);
    theirs.status_writer = StatusWriter::others;
    desk.put(theirs);
    desk.pods(0, 1);
    CHECK(desk.pass(seconds(60)) == 0);

    desk.put(desk.group(1, "u-2"));
    CHECK(desk.pass(seconds(10)) == 1);
    theirs = desk.there();
    theirs.status_writer = StatusWriter::others;
    desk.put(theirs);
    desk.pods(0, 1, "Running");
    CHECK(desk.pass(seconds(60)) == 0);
}

TEST_CASE("nothing is written of a PodGroup that no Pod of ours names")
{
    Desk desk;
    desk.put(desk.group(1));
    CHECK(desk.pass(seconds(60)) == 0);
    GroupSpec told = desk.group(1); // by an agent like us, whose Pods they are
    told.status.phase = "Running";
    told.status_writer = StatusWriter::us;
    desk.put(told);
    CHECK(desk.pass(seconds(60)) == 0);
    desk.reports.put(labelled("far", ""), desk.now);
    Pod elsewhere = labelled("p-9", "g");
    elsewhere.key.ns = "other";
    desk.reports.put(elsewhere, desk.now);
    CHECK(desk.pass(seconds(60)) == 0);

    // Ours, which went again.
    desk.put(desk.group(1));
    desk.pods(0, 1);
    CHECK(desk.pass(seconds(1)) == 1);
    CHECK(desk.said() == "Scheduling 0 0 0");
    desk.reports.remove("uid-p-0", desk.now);
    CHECK(desk.pass(seconds(1)) == 1);
    CHECK(desk.said() == "Pending 0 0 0");
}

TEST_CASE("a Pod counts where its label says, and once")
{
    Desk desk;
    desk.put(desk.group(2));
    desk.pods(0, 2, "Running");
    desk.pods(0, 2, "Running");
    desk.pass(seconds(10));
    CHECK(desk.said() == "Running 2 0 0");
    desk.reports.put(labelled("p-0", "h", "Running"), desk.now);
    desk.pass(seconds(1));
    CHECK(desk.said() == "Pending 1 0 0");
    desk.reports.put(labelled("p-1", "", "Running"), desk.now);
    desk.pass(seconds(1));
    CHECK(desk.said() == "Pending 0 0 0");
    desk.reports.remove("uid-p-0", desk.now);
    desk.reports.remove("uid-p-1", desk.now);
    desk.reports.remove("uid-p-7", desk.now);
    CHECK(desk.pass(seconds(60)) == 0);
}

TEST_CASE("its Pods' owner has it; a Pod without one says nothing of that")
{
    Desk desk;
    desk.put(desk.group(2));
    Pod owned = labelled("p-0", "g");
    owned.owner = {"batch/v1", "Job", "train", "u-9"};
    desk.reports.put(owned, desk.now);
    desk.pods(1, 2);
    desk.pass(seconds(10));
    CHECK(desk.there().status.occupied_by == "default/train");
    owned.phase = "Running";
    desk.reports.put(owned, desk.now);
    desk.pass(seconds(1));
    CHECK(desk.said() == "Scheduling 1 0 0");
    CHECK(desk.there().status.occupied_by == "default/train");
}

TEST_CASE("a write that fails is made again, one under way is waited for")
{
    for (auto [code, wait] : {std::pair{Code::conflict, seconds(1)},
                              {Code::busy, seconds(30)},
                              {Code::denied, seconds(30)},
                              {Code::uncertain, seconds(30)}}) {
        CAPTURE(code_name(code));
        Desk desk;
        desk.put(desk.group(1));
        desk.pods(0, 1);
        desk.now += seconds(10);
        auto patches = desk.due();
        REQUIRE(patches.size() == 1);
        desk.pods(0, 1, "Running");
        desk.now += seconds(5);
        CHECK(desk.due().empty());
        CHECK(desk.reports.next_due() == Clock::time_point::max());

        desk.now -= seconds(5);
        desk.reports.done(patches[0], fail(code, "no"), desk.now);
        CHECK(desk.reports.next_due() == desk.now + wait);
        CHECK(desk.pass(wait) == 1);
        CHECK(desk.said() == "Running 1 0 0");
    }
}

TEST_CASE("the server's wish for a pause is heard")
{
    Desk desk;
    desk.put(desk.group(1));
    desk.pods(0, 1);
    desk.now += seconds(10);
    auto patches = desk.due();
    REQUIRE(patches.size() == 1);
    desk.reports.done(patches[0],
                      std::unexpected(Error{Code::busy, "no", seconds(45)}),
                      desk.now);
    CHECK(desk.reports.next_due() == desk.now + seconds(45));
}

TEST_CASE("what was written is not written again before it was watched")
{
    Desk desk;
    desk.put(desk.group(1));
    desk.pods(0, 1);
    desk.now += seconds(10);
    auto patches = desk.due();
    REQUIRE(patches.size() == 1);
    CHECK(patches[0].flips);
    desk.reports.done(patches[0], {}, desk.now);
    desk.pods(0, 1, "Running");
    CHECK(desk.pass(seconds(60)) == 0);

    GroupSpec seen = desk.there();
    seen.status = patches[0].status;
    seen.status_writer = StatusWriter::us;
    seen.resource_version = "2";
    desk.put(seen);
    patches = desk.due();
    REQUIRE(patches.size() == 1);
    CHECK_FALSE(patches[0].flips);
    CHECK(patches[0].resource_version == "2");
    CHECK(patches[0].uid == "u-1");
    CHECK(patches[0].status.phase == "Running");
}

TEST_CASE("a later life of the agent has nothing to add")
{
    Desk desk;
    GroupSpec told = desk.group(2);
    told.status = {"Running", 2, 0, 0, true, "default/train"};
    told.status_writer = StatusWriter::us;
    desk.pods(0, 2, "Running");
    desk.table.put(told);
    desk.reports.replace({told}, desk.now);
    CHECK(desk.pass(seconds(60)) == 0);
    desk.pods(0, 1, "Failed");
    CHECK(desk.pass(milliseconds(0)) == 1);
    CHECK(desk.said() == "Failed 1 0 1");
}

TEST_CASE("a PodGroup that is gone is forgotten, one made anew is another")
{
    Desk desk;
    GroupSpec first = desk.group(1);
    desk.put(first);
    desk.pods(0, 1);
    desk.now += seconds(10);
    auto patches = desk.due();
    REQUIRE(patches.size() == 1);
    GroupSpec second = desk.group(1, "u-2");
    desk.put(second);
    desk.reports.erase(first); // its end comes late
    desk.reports.done(patches[0], fail(Code::conflict, "another"), desk.now);
    CHECK(desk.pass(milliseconds(9999)) == 0);
    CHECK(desk.pass(milliseconds(1)) == 1);

    desk.table.erase(desk.there());
    desk.reports.erase(second);
    desk.pods(0, 1, "Running");
    CHECK(desk.due().empty());
    CHECK(desk.reports.next_due() == Clock::time_point::max());
    desk.put(second);
    desk.reports.replace({}, desk.now); // the API is gone
    CHECK(desk.reports.next_due() == Clock::time_point::max());
    GroupSpec other = desk.group(1);
    other.api = GroupApi::workload;
    desk.reports.put(other, desk.now);
    desk.reports.erase(other);
    CHECK(desk.reports.next_due() == Clock::time_point::max());
}
