// SPDX-License-Identifier: GPL-2.0-or-later
// What a sync of nodes makes of devices: GRES, indexes, and what is written.
#include "agent/gres/inventory.h"
#include "agent/nodes/devices.h"
#include "agent/nodes/gres.h"
#include "agent/nodes/sync.h"
#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/make_devices.h"
#include "tests/unit/fakes/make_nodes.h"

#include <doctest/doctest.h>
#include <utility>

using namespace bridge;

namespace {

// A slurmctld in which a job may start right before nodes are deleted.
struct QuickSlurm : FakeSlurm {
    Result<> delete_node(const std::string &names) override
    {
        if (std::exchange(starts_one, false)) {
            quick = sbatch(1);
            schedule();
        }
        return FakeSlurm::delete_node(names);
    }

    bool starts_one = false;
    JobRef quick;
};

// A cluster of Nodes with devices, and a slurmctld that obeys.
class Bed {
  public:
    Bed()
    {
        slurm.gres_types = {"gpu"};
        conf.resize_delay = std::chrono::seconds(60);
        nodes = {make_node("n1")};
    }

    void publish_slices(std::vector<ResourceSlice> slices)
    {
        inventory_ = std::make_shared<const DeviceInventory>(make_inventory(
            make_pools(std::move(slices)),
            {{"a100",
              make_class("a100", "device.attributes['d'].model == 'A'")},
             {"gpu", make_class("gpu", "device.driver == 'd'")}},
            wanted, counted));
    }
    void publish(const std::vector<std::string> &names,
                 const SliceOptions &options = {})
    {
        publish_slices({make_slice("n1", names, options)});
    }

    NodeSyncResult sync()
    {
        now_ += std::chrono::seconds(1);
        NodePlanInput input = make_input(nodes);
        input.count_devices = counts;
        input.await_devices = awaits;
        input.devices = inventory_;
        input.device_claims = std::make_shared<const DeviceClaims>(claims);
        auto result =
            sync_nodes({input, true, false, now_}, slurm, conf, state);
        REQUIRE(result);
        indexes = result->devices;
        words.clear();
        for (const std::string &one : result->warnings)
            words += one + ";";
        return *result;
    }
    // With nothing running there for as long as a node waits.
    NodeSyncResult sync_idle()
    {
        sync();
        now_ += conf.resize_delay;
        return sync();
    }

    std::string gres() const { return slurm.node("n1").gres; }
    std::string extra() const { return slurm.node("n1").extra; }
    std::string devices(const std::string &node = "n1") const
    {
        std::string text;
        auto index = indexes.find(node);
        if (index != indexes.end())
            for (const auto &[gres, slots] : index->second.slots())
                for (const DeviceSlot &slot : slots)
                    text += (text.empty() ? "" : " ") +
                            std::string(slot.absent ? "-" : "") +
                            slot.id.device;
        return text;
    }
    void forget_slices() { inventory_ = nullptr; }
    void restart() // of the agent
    {
        state = {};
        indexes.clear();
    }

    QuickSlurm slurm;
    Conf conf;
    NodeSyncState state;
    std::vector<Node> nodes;
    std::vector<DeviceGres> wanted{{"a100", "gpu", "a100"},
                                   {"gpu", "gpu", "other"}};
    std::vector<CapacityGres> counted;
    DeviceClaims claims;
    bool counts = true;
    bool awaits = false; // the agent has just started
    std::map<std::string, DeviceIndex> indexes;
    std::string words;

  private:
    std::shared_ptr<const DeviceInventory> inventory_;
    Clock::time_point now_{std::chrono::hours(1)};
};

constexpr char three[] = "k8sdev:1|gpu!a100@d/n1:a0:a1!other@d/n1:h2";

} // namespace

TEST_CASE("soon after the start no node is made before its devices are known")
{
    Bed bed;
    bed.awaits = true;
    bed.sync();
    CHECK(bed.slurm.count("create_node") == 0);

    bed.publish({"a0"});
    bed.sync();

    CHECK(bed.slurm.count("create_node") == 1);
    CHECK(bed.gres() == "gpu:a100:1");
}

TEST_CASE("a node is made with its devices, and then told which they are")
{
    Bed bed;
    bed.publish({"a0", "a1", "h2"});

    bed.sync();

    CHECK(bed.gres() == "gpu:a100:2,gpu:other:1");
    CHECK(bed.slurm.created("n1")->gres_conf ==
          "count=2,name=gpu,type=a100,file=/dev/null+"
          "count=1,name=gpu,type=other,file=/dev/null");
    CHECK(bed.extra() == three);
    CHECK(bed.devices() == "a0 a1 h2");
    CHECK(bed.words == "");
    bed.sync();
    CHECK(bed.slurm.count("set_extra") == 1);
    CHECK(bed.slurm.count("create_node") == 1);
}

TEST_CASE("what is counted without indexes is of the node's GRES, too")
{
    Bed bed;
    bed.counted = {{"d", "memory", "mem", *Quantity::parse("1Gi")}};
    auto publish = [&](int slices_in_pool) {
        bed.publish_slices(
            {make_slice("n1", {"a0"}, {.slices_in_pool = slices_in_pool}),
             make_slice("n1", {"h9"},
                        {.device = R"("allowMultipleAllocations":true,)"
                                   R"("capacity":{"memory":{"value":"40Gi"}})",
                         .slices_in_pool = slices_in_pool,
                         .name = "t"})});
    };
    publish(2);
    bed.sync();
    CHECK(bed.gres() == "gpu:a100:1"); // GresTypes has no more
    CHECK(bed.words.contains("GresTypes in slurm.conf has no mem"));
    CHECK(bed.words.contains("DeviceCapacity"));

    bed.slurm.gres_types = {"gpu", "mem"};
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:1,mem:40");
    CHECK(bed.slurm.created("n1")->gres_conf ==
          "count=1,name=gpu,type=a100,file=/dev/null+count=40,name=mem");
    CHECK(bed.extra() == "k8sdev:1|gpu!a100@d/n1:a0");
    CHECK(bed.sync().amounts.at("n1") == GresCounts{{"mem", 40}});

    publish(3); // its driver is about to say more
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:1,mem:40");
    CHECK(bed.slurm.count("create_node") == 2);

    publish(2);
    bed.claims.foreign = {{"d", "n1", "h9"}};
    bed.claims.foreign_shares[{"d", "n1", "h9"}]["memory"] =
        *Quantity::parse("1Gi");
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:1,mem:39");

    bed.publish({"a0"});
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:1");
    CHECK(bed.sync().amounts.empty());
}

TEST_CASE("a node is of no partition before its devices are said")
{
    Bed bed;
    bed.nodes = {make_node("n1"), make_node("n2")};
    bed.publish_slices({make_slice("n1", {"a0"}), make_slice("n2", {"a0"})});
    bed.state.rebuild_due = false;
    bed.sync();

    CHECK(bed.slurm.created("n1")->features == "k8s_new");
    CHECK(bed.slurm.node("n1").features == "k8s");
    CHECK(bed.slurm.node("n2").features == "k8s");
    CHECK(bed.slurm.count("set_features") == 1); // of both at once
    CHECK(bed.slurm.count("rebuild_partitions") == 1);
    bed.sync();
    CHECK(bed.slurm.count("set_features") == 1);
    CHECK(bed.slurm.count("rebuild_partitions") == 1);
}

TEST_CASE("what a crash left of a new node is done by the next life")
{
    for (const char *left : {"set_extra", "set_features"}) {
        CAPTURE(left);
        Bed bed;
        bed.publish({"a0", "a1", "h2"});
        bed.slurm.fail_next(left, Code::busy);
        CHECK(bed.sync().retry);
        CHECK(bed.slurm.node("n1").features == "k8s_new");
        CHECK(bed.slurm.count("rebuild_partitions") == 1); // the first sync's
        bed.restart();
        bed.state.rebuild_due = false;
        bed.sync();

        CHECK(bed.extra() == three);
        CHECK(bed.devices() == "a0 a1 h2");
        CHECK(bed.slurm.node("n1").features == "k8s");
        CHECK(bed.slurm.count("create_node") == 1);
        CHECK(bed.slurm.count("rebuild_partitions") == 2);
        CHECK(bed.words == "");
    }
}

TEST_CASE("a new node gets no features while its devices are not known")
{
    Bed bed;
    bed.publish({"a0"});
    bed.slurm.fail_next("set_extra", Code::busy);
    bed.sync();
    bed.restart();
    bed.awaits = true;
    bed.forget_slices();
    bed.sync();
    CHECK(bed.slurm.node("n1").features == "k8s_new");

    bed.publish({"a0", "a1"}); // more than it was made with
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:2");
    CHECK(bed.slurm.node("n1").features == "k8s");
    CHECK(bed.devices() == "a0 a1");
}

TEST_CASE("devices that come later are counted when the node is idle")
{
    Bed bed;
    bed.publish_slices({make_slice("n1", {})});
    bed.sync();
    CHECK(bed.gres() == "");
    JobRef job = bed.slurm.sbatch(1); // keeps it busy
    bed.slurm.schedule();

    bed.publish({"a0"});
    bed.sync_idle();
    CHECK(bed.gres() == "");
    CHECK(bed.devices() == "a0"); // an index that Slurm does not have yet

    bed.slurm.scancel(job.id);
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:1");
    CHECK(bed.devices() == "a0");
}

TEST_CASE("a node that a crash left without the GRES of Pods is recreated as "
          "soon as it is idle")
{
    Bed bed;
    bed.publish({"a0", "a1"});
    CHECK(bed.sync().index_counts.at("n1").at("gpu") == 2);
    bed.slurm.lose_gres("n1");
    JobRef job = bed.slurm.sbatch(1);
    bed.slurm.schedule();

    SUBCASE("a Pod has one of them")
    {
        bed.claims.ours = {{"d", "n1", "a1"}};
        CHECK(bed.sync().index_counts.at("n1").empty());
        CHECK(bed.words.contains("Slurm does not count devices that Pods "
                                 "have there; it will be recreated"));
        CHECK(bed.devices() == "a0 a1");
        bed.slurm.scancel(job.id);

        CHECK(bed.sync().index_counts.at("n1").at("gpu") == 2);
        CHECK(bed.gres() == "gpu:a100:2");
        bed.sync();
        CHECK(bed.words == "");
    }
    SUBCASE("no Pod has any")
    {
        bed.sync();
        CHECK(bed.words == "");
        bed.slurm.scancel(job.id);
        bed.sync();
        CHECK(bed.gres() == "");
        bed.sync_idle(); // as for devices that have come
        CHECK(bed.gres() == "gpu:a100:2");
    }
    SUBCASE("Slurm has the index of what the Pod has")
    {
        bed.slurm.lose_gres("n1", "gpu:a100:1");
        bed.claims.ours = {{"d", "n1", "a0"}};
        CHECK(bed.sync().index_counts.at("n1").at("gpu") == 1);
        CHECK(bed.words == "");
        bed.slurm.scancel(job.id);
        bed.sync();
        CHECK(bed.gres() == "gpu:a100:1");
    }
    SUBCASE("and not of another one")
    {
        bed.slurm.lose_gres("n1", "gpu:a100:1");
        bed.claims.ours = {{"d", "n1", "a1"}};
        bed.slurm.scancel(job.id);
        bed.sync();
        CHECK(bed.gres() == "gpu:a100:2");
    }
    SUBCASE("GresTypes does not name them now, and may again")
    {
        bed.slurm.gres_types.clear();
        bed.claims.ours = {{"d", "n1", "a1"}};
        bed.slurm.scancel(job.id);
        CHECK(bed.sync().index_counts.at("n1") ==
              GresCounts{{"gpu", 2}, {"gpu:a100", 2}});
        CHECK(bed.slurm.count("create_node") == 1);
    }
    SUBCASE("an administrator has drained it")
    {
        bed.claims.ours = {{"d", "n1", "a1"}};
        bed.slurm.scancel(job.id);
        bed.slurm.set_drained("n1", "fan");
        bed.sync_idle();
        CHECK(bed.gres() == "");
        CHECK(bed.slurm.node("n1").reason == "fan");
    }
}

TEST_CASE(
    "indexes survive a new life of the agent, and slices that come and go")
{
    Bed bed;
    bed.publish({"a0", "a1", "h2"});
    bed.sync();

    bed.restart();
    bed.publish({"h2", "a1", "a0"}); // in whatever order
    bed.sync();
    CHECK(bed.devices() == "a0 a1 h2");
    CHECK(bed.extra() == three);

    bed.publish_slices({make_slice("n1", {"a1"}, {.slices_in_pool = 2})});
    bed.sync_idle();
    CHECK(bed.devices() == "-a0 -a1 -h2"); // incomplete: nobody knows
    CHECK(bed.gres() == "gpu:a100:2,gpu:other:1");
    bed.publish_slices(
        {make_slice("n1", {"a1"}, {.slices_in_pool = 2}),
         make_slice("n1", {"a0", "h2"}, {.slices_in_pool = 2, .name = "t"})});
    bed.sync();
    CHECK(bed.devices() == "a0 a1 h2");
    CHECK(bed.slurm.count("create_node") == 1);
}

TEST_CASE(
    "what is known to be gone leaves an idle node, and a busy one's index")
{
    Bed bed;
    bed.publish({"a0", "a1", "h2"});
    bed.sync();
    bed.slurm.set_gres_used("n1", "gpu:a100:1(IDX:0),gpu:other:0(IDX:N/A)");

    bed.publish({"a1", "h2", "a7"}); // a0 is gone while a job has it
    bed.sync();
    CHECK(bed.devices() == "-a0 a1 h2 a7");
    bed.slurm.set_gres_used("n1", "");
    bed.publish({"a1", "h2", "a7"});
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:2,gpu:other:1");
    CHECK(bed.devices() == "a1 h2 a7");
    CHECK(bed.extra() ==
          "k8sdev:1|gpu!a100@d/n1:a1!other@d/n1:h2!a100@d/n1:a7");

    bed.publish_slices({}); // the driver is gone
    bed.sync_idle();
    CHECK(bed.gres() == "");
    CHECK(bed.extra() == "");
    CHECK(bed.devices() == "");
}

TEST_CASE("a device in an allocated claim keeps its index, one in a foreign "
          "claim goes")
{
    Bed bed;
    bed.publish({"a0", "a1"});
    bed.sync();
    bed.claims.ours = {{"d", "n1", "a0"}};
    bed.publish({"a1", "a7"});
    bed.sync();
    CHECK(bed.devices() == "-a0 a1 a7"); // a7 does not take its place

    bed.claims = {{}, {{"d", "n1", "a1"}}};
    bed.publish({"a0", "a1"});
    bed.sync_idle();
    CHECK(bed.devices() == "a0");
    CHECK(bed.gres() == "gpu:a100:1");
}

TEST_CASE("nothing is believed of GRES that no word in extra explains")
{
    Bed bed;
    bed.publish({"a0", "h2"});
    bed.sync();
    for (const char *words :
         {"", "rack=7", "k8sdev:2|x", "rack=7 k8sdev:1|gpu!a100@d/n1:a0"}) {
        CAPTURE(words);
        bed.restart();
        (void)bed.slurm.set_extra("n1", words);
        bed.slurm.set_gres_used("n1", "gpu:a100:1(IDX:0)");

        bed.sync();
        CHECK(bed.devices() == "");
        CHECK(bed.words.contains("does not say which devices"));
        CHECK(bed.extra() == words); // until it is made anew
    }
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:1,gpu:other:1");
    CHECK(bed.extra() == "rack=7 k8sdev:1|gpu!a100@d/n1:a0!other@d/n1:h2");
    CHECK(bed.devices() == "a0 h2");
}

TEST_CASE("a word that is lost while the agent lives is written again")
{
    Bed bed;
    bed.publish({"a0", "a1", "h2"});
    bed.sync();
    bed.publish({"h2", "a1", "a0"});
    (void)bed.slurm.set_extra("n1", "rack=7");
    bed.sync();

    CHECK(bed.extra() == std::string("rack=7 ") + three);
    CHECK(bed.devices() == "a0 a1 h2");
    CHECK(bed.slurm.count("create_node") == 1);
}

TEST_CASE("nobody relies on what could not be written")
{
    Bed bed;
    bed.publish({"a0"});
    bed.slurm.fail_next("set_extra", Code::busy);
    CHECK(bed.sync().retry);
    CHECK(bed.devices() == "");
    bed.sync();
    CHECK(bed.devices() == "a0");

    Bed other;
    other.publish({"a0"});
    other.slurm.fail_next("create_node", Code::uncertain);
    other.sync();
    CHECK(other.slurm.count("set_extra") == 0);
    CHECK(other.devices() == "");
}

TEST_CASE("indexes move only once the node is deleted")
{
    Bed bed;
    bed.publish({"a0", "a1"});
    bed.sync();
    bed.publish({"a1"});
    bed.slurm.fail_next("delete_node", Code::rejected);

    NodeSyncResult refused = bed.sync_idle();
    CHECK(refused.devices.empty());
    CHECK(refused.retry);
    CHECK(refused.retry_soon);
    CHECK(bed.state.devices.empty());
    CHECK_FALSE(bed.sync().retry_soon);
    CHECK(bed.devices() == "-a0 a1");
    CHECK(bed.gres() == "gpu:a100:2");

    bed.sync_idle();
    CHECK(bed.devices() == "a1");
    CHECK(bed.gres() == "gpu:a100:1");
}

TEST_CASE(
    "where some nodes were deleted before a busy one, a job there keeps its "
    "indexes")
{
    Bed bed;
    bed.nodes = {make_node("n1"), make_node("n2")};
    auto publish = [&](const std::vector<std::string> &names) {
        bed.publish_slices({make_slice("n1", names), make_slice("n2", names)});
    };
    publish({"a0", "a1"});
    bed.sync();
    publish({"a1"});
    bed.slurm.starts_one = true;

    CHECK(bed.sync_idle().devices.empty());
    REQUIRE(bed.slurm.job(bed.slurm.quick.id).job.nodes ==
            std::vector<std::string>{"n1"});
    CHECK(bed.slurm.count("delete_node") == 1); // of both at once
    bed.sync();
    CHECK(bed.devices("n1") == "-a0 a1");
    CHECK(bed.devices("n2") == "a1");

    bed.slurm.scancel(bed.slurm.quick.id);
    bed.sync_idle();
    CHECK(bed.devices("n1") == "a1");
}

TEST_CASE("a node that could not be deleted was not made anew in vain")
{
    Bed bed;
    bed.publish({"a0"});
    bed.sync();
    bed.publish({"a0", "a1"});
    for (int i = 0; i < 4; i++) {
        bed.slurm.fail_next("delete_node", Code::rejected);
        bed.sync_idle();
        CHECK(bed.words == "");
    }
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:2");
}

TEST_CASE("a GRES that slurm.conf does not have is said, and not asked for")
{
    Bed bed;
    bed.slurm.gres_types = {"nic"};
    bed.publish({"a0"});
    bed.sync();

    CHECK(bed.gres() == "");
    CHECK(bed.words.contains("GresTypes in slurm.conf has no gpu"));
}

TEST_CASE(
    "while devices are unknown nodes keep what they have; off, it is not ours")
{
    Bed bed;
    bed.publish({"a0", "a1", "h2"});
    bed.sync();
    bed.restart();

    Bed unknown;
    unknown.slurm.add_node("n1");
    (void)unknown.slurm.set_extra("n1", three);
    unknown.nodes[0].allocatable.cpu = MilliCpu{8000}; // it is made anew
    unknown.sync_idle();
    CHECK(unknown.gres() == "gpu:a100:2,gpu:other:1");
    CHECK(unknown.extra() == three);
    CHECK(unknown.devices() == "a0 a1 h2");

    bed.counts = false;
    bed.publish_slices({});
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:2,gpu:other:1");
    CHECK(bed.devices() == "");
}

TEST_CASE(
    "where Slurm takes no such GRES the node is not lost and got for ever")
{
    Bed bed;
    bed.slurm.drop_gres = true;
    bed.publish({"a0"});
    for (int i = 0; i < 6; i++)
        bed.sync_idle();

    CHECK(bed.slurm.count("create_node") == 4); // once, and three tries
    CHECK(bed.words.contains("recreated with Gres=gpu:a100:1"));
    bed.slurm.drop_gres = false;
    bed.publish({"a0", "a1"}); // other GRES are tried
    bed.sync_idle();
    CHECK(bed.gres() == "gpu:a100:2");
}

TEST_CASE("nodes with devices are made one by one")
{
    Bed bed;
    bed.nodes = {make_node("n1"), make_node("n2"), make_node("n3")};
    bed.publish_slices({make_slice("n1", {"a0"}), make_slice("n2", {"a0"})});
    bed.sync();

    CHECK(bed.slurm.count("create_node") == 3);
    CHECK(bed.slurm.node("n2").extra == "k8sdev:1|gpu!a100@d/n2:a0");
    CHECK(bed.slurm.node("n3").extra == "");
}
