// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/shadow_plan.h"
#include "common/slurm/job.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

NodeUse shadow(JobId id, std::uint32_t cpus, std::uint64_t mib,
               bool pending = false)
{
    NodeUse use;
    use.job = {id, Sluid{id}};
    use.pending = pending;
    use.shadow_of = "n1";
    use.room = {cpus, MebiBytes{mib}};
    return use;
}

NodeRoom room(std::uint32_t cpus, std::uint64_t mib)
{
    return {cpus, MebiBytes{mib}};
}

// On a node where all of it is free.
ShadowPlan plan_in_room(const std::map<std::string, NodeRoom> &shortages,
                        const std::vector<NodeUse> &shadows)
{
    NodeRoom plenty{64, MebiBytes{1 << 20}, {{"gpu:a100", 8}, {"nic:x", 8}}};
    ShadowPlan plan = plan_shadows(shortages, shadows, {{"n1", plenty}});
    CHECK(plan.wait.empty());
    return plan;
}

std::vector<JobId> cancelled(const ShadowPlan &plan)
{
    std::vector<JobId> ids;
    for (const NodeUse &use : plan.cancel)
        ids.push_back(use.job.id);
    return ids;
}

} // namespace

TEST_CASE("a shortage gets one shadow of its size, and more when it grows")
{
    ShadowPlan plan = plan_in_room({{"n1", room(2, 100)}}, {});
    CHECK(plan.submit.at("n1") == room(2, 100));
    plan = plan_in_room({{"n1", room(2, 100)}}, {shadow(1, 2, 100)});
    CHECK(plan.submit.empty());
    CHECK(plan.cancel.empty());
    plan = plan_in_room({{"n1", room(3, 150)}}, {shadow(1, 2, 100, true)});
    CHECK(plan.submit.at("n1") == room(1, 50));
}

TEST_CASE("no shadow is without a CPU, or without memory")
{
    CHECK(plan_in_room({{"n1", room(0, 100)}}, {}).submit.at("n1") ==
          room(1, 100));
    CHECK(plan_in_room({{"n1", room(2, 0)}}, {}).submit.at("n1") == room(2, 1));
    // and what that gives too much is not taken back
    CHECK(plan_in_room({{"n1", room(0, 100)}}, {shadow(1, 1, 100)})
              .cancel.empty());
}

TEST_CASE("what is not needed any more is cancelled, first what still waits")
{
    CHECK(cancelled(plan_in_room({}, {shadow(1, 2, 100)})) ==
          std::vector<JobId>{1});
    CHECK(cancelled(plan_in_room({{"n1", room(2, 1)}},
                                 {shadow(1, 2, 1), shadow(2, 2, 1, true)})) ==
          std::vector<JobId>{2});
    CHECK(cancelled(plan_in_room({{"n1", room(2, 1)}},
                                 {shadow(1, 1, 1), shadow(2, 2, 1)})) ==
          std::vector<JobId>{1});
}

TEST_CASE("GRES are held as CPUs are")
{
    NodeRoom shortage;
    shortage.gres = {{"gpu:a100", 2}, {"nic:x", 1}};
    NodeUse held = shadow(1, 1, 1);
    held.room.gres = {{"gpu:a100", 1}, {"nic:x", 1}};

    NodeRoom whole = plan_in_room({{"n1", shortage}}, {}).submit.at("n1");
    CHECK(whole.gres == shortage.gres);
    CHECK(whole.cpus == 1);
    ShadowPlan more = plan_in_room({{"n1", shortage}}, {held});
    CHECK(more.cancel.empty());
    CHECK(more.submit.at("n1").gres ==
          std::map<std::string, std::uint32_t>{{"gpu:a100", 1}});
    held.room = whole;
    CHECK(plan_in_room({{"n1", shortage}}, {held}).submit.empty());
    shortage.gres = {{"gpu:a100", 1}}; // others have given some back
    ShadowPlan less = plan_in_room({{"n1", shortage}}, {held});
    CHECK(cancelled(less) == std::vector<JobId>{1});
    CHECK(less.submit.at("n1").gres == shortage.gres);
    CHECK(cancelled(
              plan_in_room({{"n1", room(1, 1)}}, {held, shadow(2, 2, 1)})) ==
          std::vector<JobId>{1});
}

TEST_CASE("a shadow takes what is free, and another one waits for the rest")
{
    std::map<std::string, NodeRoom> shortages{{"n1", room(6, 100)}};

    ShadowPlan plan = plan_shadows(shortages, {}, {{"n1", room(4, 1000)}});
    CHECK(plan.submit.at("n1") == room(4, 100));
    CHECK(plan.wait.at("n1") == room(2, 1)); // no job is without memory
    plan = plan_shadows(shortages, {}, {{"n1", room(6, 40)}});
    CHECK(plan.submit.at("n1") == room(6, 40));
    CHECK(plan.wait.at("n1") == room(1, 60));
    for (NodeRoom full : {room(0, 1000), room(8, 0)}) {
        plan = plan_shadows(shortages, {}, {{"n1", full}});
        CHECK(plan.submit.empty());
        CHECK(plan.wait.at("n1") == room(6, 100));
    }
    plan = plan_shadows(shortages, {}, {}); // nothing is known of the node
    CHECK(plan.submit.empty());
    CHECK(plan.wait.at("n1") == room(6, 100));
}

TEST_CASE("what a shadow that waits will have is not free for the next one")
{
    std::map<std::string, NodeRoom> free{{"n1", room(4, 1000)}};
    std::map<std::string, NodeRoom> shortages{{"n1", room(6, 6)}};

    ShadowPlan plan = plan_shadows(shortages, {shadow(1, 3, 3, true)}, free);
    CHECK(plan.submit.at("n1") == room(1, 3));
    CHECK(plan.wait.at("n1") == room(2, 1));
    plan = plan_shadows(shortages, {shadow(1, 3, 3)}, free); // it has its room
    CHECK(plan.submit.at("n1") == room(3, 3));
    CHECK(plan.wait.empty());
    plan = plan_shadows(shortages, {shadow(1, 6, 6, true)}, free);
    CHECK(plan.submit.empty());
    CHECK(plan.wait.empty());
    CHECK(plan.cancel.empty());
}

TEST_CASE("GRES that jobs have are waited for")
{
    NodeRoom shortage = room(1, 1);
    shortage.gres = {{"gpu:a100", 2}};
    NodeRoom free = room(4, 100);
    free.gres = {{"gpu:a100", 1}};

    ShadowPlan plan = plan_shadows({{"n1", shortage}}, {}, {{"n1", free}});
    CHECK(plan.submit.at("n1").gres ==
          std::map<std::string, std::uint32_t>{{"gpu:a100", 1}});
    CHECK(plan.wait.at("n1").gres ==
          std::map<std::string, std::uint32_t>{{"gpu:a100", 1}});
}

TEST_CASE("free is what no job has, also on a node that takes no jobs")
{
    SlurmNode node;
    node.usable_cpus = 8;
    node.usable_memory = MebiBytes{1000};
    node.allocated_cpus = 3;
    node.allocated_memory = MebiBytes{400};
    node.gres = "gpu:a100:4,gpu:h100:2,shard:8";
    node.gres_used = "gpu:a100:1(IDX:0),gpu:h100:2(IDX:4-5),shard:3";

    NodeRoom free = free_room(node);
    CHECK(free.cpus == 5);
    CHECK(free.memory == MebiBytes{600});
    CHECK(free.gres == std::map<std::string, std::uint32_t>{{"gpu:a100", 3}});
    node.drained = true;
    CHECK(free_room(node) == free);
}

TEST_CASE("a shadow is known by its admin_comment, and is no gang's job")
{
    std::string comment = encode_shadow("n1");
    CHECK(decode_shadow(comment) == "n1");
    CHECK_FALSE(decode_gang_tag(comment));
    CHECK_FALSE(decode_shadow(encode(GangTag{"a/b", "uid", 1})));
    for (const char *other :
         {"", "x", "{}", R"({"shadow":"n1"})", R"({"slurmk8s":1,"shadow":""})"})
        CHECK_FALSE(decode_shadow(other));
}
