// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/burst.h"
#include "tests/unit/plugins/job_submit/burst_bed.h"

#include <doctest/doctest.h>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace bridge;

namespace {

using Rules = std::vector<BurstRule>;

BurstDecision decide(const BurstBed &bed, const Rules &rules)
{
    return decide_burst(bed.desc, rules, bed.view, bed.facts);
}

bool says_no(std::vector<std::string> texts)
{
    std::vector<char *> entries{nullptr};
    for (std::string &entry : texts)
        entries.push_back(entry.data());
    return says_no_burst(entries);
}

} // namespace

TEST_CASE("a rule adds its partition behind the job's own, and says so")
{
    BurstBed bed;
    auto decision = decide(bed, {{"main", "burst"}});

    CHECK(decision.taken == Rules{{"main", "burst"}});
    CHECK(partitions_of(decision) == "main,burst");
    CHECK(burst_message(decision) ==
          "slurmk8s: the job may also start in partition burst (workers in "
          "Kubernetes), by Burst=main:burst of k8s.conf; --k8s-no-burst "
          "prevents that");
}

TEST_CASE("several rules add theirs in their order, and none leads on")
{
    BurstBed bed;
    bed.view.partitions["spot"] = bed.view.partitions["burst"];
    bed.view.partitions["far"] = bed.view.partitions["burst"];
    auto decision = decide(bed, {{"main", "spot"},
                                 {"spot", "far"},
                                 {"other", "far"},
                                 {"main", "burst"}});

    CHECK(partitions_of(decision) == "main,spot,burst");
    CHECK(burst_message(decision).contains("partition spot or burst "));
    CHECK(burst_message(decision).contains(
        "by Burst=main:spot, Burst=main:burst of"));
    CHECK(decision.unknown == std::vector<std::string>{"other"});
}

TEST_CASE("a job without a partition is in the default one")
{
    BurstBed bed;
    bed.desc.partition = nullptr;

    CHECK(partitions_of(decide(bed, {{"main", "burst"}})) == "main,burst");
    bed.view.default_partition = "burst";
    CHECK(decide(bed, {{"main", "burst"}}).taken.empty());
}

TEST_CASE("other partitions, and those that are not there, add nothing")
{
    BurstBed bed;

    CHECK(decide(bed, {}).taken.empty());
    CHECK(decide(bed, {{"burst", "main"}}).taken.empty());
    auto decision = decide(bed, {{"main", "gone"}, {"lost", "gone"}});
    CHECK(decision.taken.empty());
    CHECK(decision.unknown == std::vector<std::string>{"gone", "lost"});
}

TEST_CASE("a partition that cannot take the job is left out with a reason")
{
    BurstBed bed;
    bed.view.partitions["spot"] = bed.view.partitions["burst"];
    bed.burst().up = false;
    auto decision = decide(bed, {{"main", "burst"}, {"main", "spot"}});

    CHECK(decision.taken == Rules{{"main", "spot"}});
    CHECK(decision.left ==
          std::vector<std::string>{"partition burst: it is not UP"});
}

TEST_CASE("the rules are for plain batch jobs and their arrays")
{
    CHECK(not_plain_reason(BurstBed().desc) == "");
    using Change = std::function<void(job_desc_msg_t &)>;
    const Change plain[] = {
        [](auto &d) { d.array_inx = text_of("1-9"); },
        [](auto &d) { d.partition = nullptr; },
        [](auto &d) { d.exc_nodes = text_of("n1"); },
        [](auto &d) { d.shared = 0; },
        [](auto &d) { d.dependency = text_of("afterok:1"); },
        [](auto &d) { d.licenses = text_of("matlab"); },
        [](auto &d) { d.priority = 0; },
    };
    for (const Change &change : plain) {
        BurstBed bed;
        change(bed.desc);
        CHECK(not_plain_reason(bed.desc) == "");
    }
    const Change others[] = {
        [](auto &d) { d.bitflags |= EXTERNAL_JOB; },
        [](auto &d) { d.bitflags |= CRON_JOB; },
        [](auto &d) { d.script = nullptr; }, // salloc, srun
        [](auto &d) { d.script = text_of(""); },
        [](auto &d) { d.het_job_offset = 0; },
        [](auto &d) { d.het_job_offset = 1; },
        [](auto &d) { d.partition = text_of("main,other"); },
        [](auto &d) { d.partition = text_of("main,main"); },
        [](auto &d) { d.req_nodes = text_of("n1"); },
        [](auto &d) { d.reservation = text_of("r"); },
        [](auto &d) { d.burst_buffer = text_of("#BB"); },
        [](auto &d) { d.batch_features = text_of("f"); },
        [](auto &d) { d.container = text_of("/bundle"); },
        [](auto &d) { d.clusters = text_of("c"); },
    };
    for (const Change &change : others) {
        BurstBed bed;
        change(bed.desc);
        CHECK(not_plain_reason(bed.desc) != "");
    }
}

TEST_CASE("a user says no by an entry that no other name is like")
{
    CHECK(says_no({"A=1", "K8S_NO_BURST=yes"}));
    CHECK(says_no({"K8S_NO_BURST="}));
    CHECK_FALSE(says_no({}));
    CHECK_FALSE(says_no({"XK8S_NO_BURST=yes", "K8S_NO_BURST_=yes", "K8S_"}));
}

TEST_CASE("only the groups of partitions that rules add are of interest")
{
    BurstBed bed;
    bed.own().allow_groups = {"everybody"};
    bed.burst().allow_groups = {"staff", "guests"};
    bed.view.partitions["spot"] = bed.view.partitions["burst"];
    bed.view.partitions["spot"].limits.allow_groups = {"staff"};
    using Groups = std::set<std::string>;

    CHECK(groups_of(Rules{{"main", "burst"}, {"main", "lost"}}, bed.view) ==
          Groups{"guests", "staff"});
    CHECK(groups_of(Rules{{"burst", "spot"}}, bed.view) == Groups{"staff"});
    CHECK(groups_of(Rules{}, bed.view).empty());
}
