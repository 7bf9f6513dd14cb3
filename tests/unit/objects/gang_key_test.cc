// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/gang_key.h"

#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

const OwnerRef no_owner;
const OwnerRef some_job{"batch/v1", "Job", "steps", "uid-steps"};
const TextMap sized{{"slurmk8s/gang-size", "8"}};

GangKeyPtr key_of(const TextMap &labels, const TextMap &annotations,
                  const OwnerRef &owner = no_owner)
{
    return gang_key({"ns1", "web-0"}, owner, labels, annotations);
}

std::string unfit_sizes_reason(const std::string &size,
                               const std::string &least = {})
{
    TextMap annotations{{"slurmk8s/gang-size", size}};
    if (!least.empty())
        annotations["slurmk8s/gang-min"] = least;
    return key_of({{"slurmk8s/gang", "train"}}, annotations)->unfit_reason;
}

const TextMap jobset_labels{{"jobset.sigs.k8s.io/jobset-uid", "u-1"},
                            {"jobset.sigs.k8s.io/jobset-name", "js"},
                            {"jobset.sigs.k8s.io/restart-attempt", "2"},
                            {"jobset.sigs.k8s.io/job-global-index", "1"},
                            {"batch.kubernetes.io/job-completion-index", "3"}};

const TextMap lws_labels{{"leaderworkerset.sigs.k8s.io/name", "serve"},
                         {"leaderworkerset.sigs.k8s.io/group-index", "4"},
                         {"leaderworkerset.sigs.k8s.io/group-key", "0f"},
                         {"leaderworkerset.sigs.k8s.io/worker-index", "2"},
                         {"apps.kubernetes.io/pod-index", "9"}};

} // namespace

TEST_CASE("a Pod that says nothing is alone, whatever owns it")
{
    CHECK_FALSE(key_of({}, {}));
    CHECK_FALSE(key_of({{"app", "web"}}, {}, some_job));
    CHECK(key_of(jobset_labels, {}, some_job)->group.api == GroupApi::jobset);
    CHECK_FALSE(key_of({}, sized)); // of what?
    CHECK_FALSE(key_of(lws_labels, {}));
}

TEST_CASE("our label names a gang of its namespace, whatever owns the Pods")
{
    auto key = key_of({{"slurmk8s/gang", "train"}}, sized);

    REQUIRE(key);
    CHECK(key->uid == "ns1/gang/train");
    CHECK(key->name == "train");
    CHECK(key->size == 8);
    CHECK(key->minimum == 8);
    CHECK(key->unfit_reason == "");
    CHECK(key_of({{"slurmk8s/gang", "train"}}, sized, some_job)->uid ==
          key->uid);
    TextMap labels = jobset_labels;
    labels["slurmk8s/gang"] = "train";
    CHECK(key_of(labels, sized)->uid == key->uid);
}

TEST_CASE("the annotation alone makes a gang of a Job")
{
    auto key = key_of({}, sized, some_job);

    REQUIRE(key);
    CHECK(key->uid == "ns1/job/uid-steps");
    CHECK(key->name == "steps");
    CHECK(key->size == 8);
}

TEST_CASE("the annotation alone makes a gang of each attempt of a JobSet")
{
    auto key = key_of(jobset_labels, sized, some_job);

    REQUIRE(key);
    CHECK(key->uid == "ns1/jobset/u-1.2");
    CHECK(key->name == "js");
    CHECK(key->indexed);
    CHECK(key->index == (std::uint64_t{1} << 32) + 3);
}

TEST_CASE("a group of a LeaderWorkerSet is a gang of the size that LWS says")
{
    auto key = key_of(lws_labels, {{"leaderworkerset.sigs.k8s.io/size", "3"}});

    REQUIRE(key);
    CHECK(key->uid == "ns1/lws/0f");
    CHECK(key->name == "serve-4");
    CHECK(key->size == 3);
    CHECK(key->index == 2);
    CHECK(key_of(lws_labels, {{"leaderworkerset.sigs.k8s.io/size", "3"},
                              {"slurmk8s/gang-min", "1"}})
              ->minimum == 1);
}

TEST_CASE("what is no size is refused in words")
{
    CHECK(unfit_sizes_reason("8") == "");
    CHECK(unfit_sizes_reason("8", "2") == "");
    CHECK(unfit_sizes_reason("").contains("needs the annotation"));
    for (const char *bad : {"0", "-1", "8 ", "eight", "1e3", "99999999999"}) {
        CAPTURE(bad);
        CHECK(unfit_sizes_reason(bad).contains(
            "slurmk8s/gang-size must be a number of Pods"));
        CHECK(unfit_sizes_reason("8", bad).contains(
            "slurmk8s/gang-min must be a number of Pods"));
    }
    CHECK(unfit_sizes_reason("8", "9").contains("must not be more than"));
    CHECK(key_of({{"slurmk8s/gang", "train"}},
                 {{"slurmk8s/gang-size", "8"}, {"slurmk8s/gang-min", "9"}})
              ->minimum == 8);
    CHECK(unfit_sizes_reason("8\n\x1b[2J").find('\x1b') == std::string::npos);
    CHECK(unfit_sizes_reason(std::string(10000, '9')).size() < 300);
}

TEST_CASE("an index that is none does not count")
{
    for (const char *bad : {"", "-1", "x", "99999999999"}) {
        auto key = key_of({{"slurmk8s/gang", "train"},
                           {"batch.kubernetes.io/job-completion-index", bad}},
                          sized);
        CHECK_FALSE(key->indexed);
        CHECK(key->index == 0);
    }
}

TEST_CASE("Pods that contradict each other are no gang")
{
    auto terms = [](std::vector<Pod> pods, std::uint32_t most = 100) {
        std::vector<PodPtr> shared;
        for (Pod &pod : pods)
            shared.push_back(share(std::move(pod)));
        return terms_of(shared, most);
    };
    Pod eight = make_member("a", "8");

    CHECK(terms({eight, make_member("b", "8")}).unfit_reason == "");
    CHECK(terms({eight, make_member("b", "8")}).size == 8);
    CHECK(terms({eight, make_member("b", "4")})
              .unfit_reason.contains("different sizes"));
    CHECK(terms({eight, make_member("b", "8", {1000}, "4")})
              .unfit_reason.contains("different sizes"));
    CHECK(
        terms({eight, make_member("b", "x")}).unfit_reason.contains("Pod b: "));
    CHECK(terms({eight}, 7).unfit_reason ==
          "a gang may have 7 Pods, not 8: MaxGangSize in k8s.conf");
    CHECK(terms({make_member("a", "1"), make_member("b", "1")}, 1)
              .unfit_reason.contains("not 2"));
    // One that is over has nothing to say.
    CHECK(terms({with_end(eight, "Failed"), make_member("b", "4")})
              .unfit_reason == "");
}

TEST_CASE("ranks go by index, then by name with numbers as numbers")
{
    auto pod = [](const std::string &name, std::uint64_t index) {
        Pod made = make_pod(name);
        GangKey key;
        key.index = index;
        made.gang = std::make_shared<const GangKey>(key);
        return made;
    };

    CHECK(ranks_before(pod("b", 0), pod("a", 1)));
    CHECK(ranks_before(pod("w-2", 0), pod("w-10", 0)));
    CHECK_FALSE(ranks_before(pod("w-10", 0), pod("w-2", 0)));
    CHECK(ranks_before(pod("w-09", 0), pod("w-10", 0)));
    CHECK(ranks_before(pod("a-7", 0), pod("b-1", 0)));
    CHECK(ranks_before(pod("7", 0), pod("a", 0)));
    CHECK_FALSE(ranks_before(pod("a", 0), pod("a", 0)));
}

TEST_CASE(
    "a PodGroup or a JobSet is named by the Pod, and not believed to be there")
{
    const TextMap labels{{"scheduling.x-k8s.io/pod-group", "pg"}};
    auto key = gang_key({"ns1", "web-0"}, some_job, labels, {}, "wl");
    REQUIRE(key);
    CHECK(key->uid == "ns1/podgroup/pg");
    CHECK(key->name == "pg");
    CHECK(key->group == GroupRef{GroupApi::plugins, "pg"});
    CHECK(key->size == 0); // the object says it
    REQUIRE(key->otherwise);
    CHECK(key->otherwise->uid == "ns1/workload/wl");
    CHECK_FALSE(key->otherwise->otherwise);

    TextMap of_set = jobset_labels;
    key = gang_key({"ns1", "web-0"}, some_job, of_set, {}, "wl");
    CHECK(key->uid == "ns1/jobset/u-1.2");
    CHECK(key->group == GroupRef{GroupApi::jobset, "js"});
    CHECK(key->group_uid == "u-1");
    CHECK(key->index == ((std::uint64_t{1} << 32) | 3));
    CHECK(key->otherwise->uid == "ns1/workload/wl");

    Pod pod = make_pod("p");
    pod.gang = key;
    CHECK(names_gang(pod, "ns1/workload/wl"));
    CHECK(names_gang(pod, "ns1/jobset/u-1.2"));
    CHECK_FALSE(names_gang(pod, "ns1/podgroup/wl"));
}

TEST_CASE("what the Pods say of their size goes first; 0 is no gang at all")
{
    const TextMap none{{"slurmk8s/gang-size", "0"}};
    auto of = [](const TextMap &labels, const TextMap &annotations) {
        return gang_key({"ns1", "web-0"}, some_job, labels, annotations, "wl");
    };
    CHECK(of({}, sized)->uid == "ns1/job/uid-steps");
    CHECK(of(jobset_labels, sized)->group.api == GroupApi::none);
    CHECK_FALSE(of({}, none));
    CHECK_FALSE(of(jobset_labels, none));
    CHECK_FALSE(of(lws_labels, none));
    CHECK(of({{"slurmk8s/gang", "train"}}, none)->unfit_reason != "");
}
