// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/group_spec.h"

#include "agent/calls/kube_bodies.h"
#include "agent/gang/group_table.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

GroupSpec spec_of(const std::string &spec, GroupApi api)
{
    auto json =
        Json::parse(R"({"metadata":{"namespace":"ns1","name":"g","uid":"u-1",)"
                    R"("resourceVersion":"7"},)" +
                    spec + "}");
    REQUIRE(json.has_value());
    return group_spec_from(*json, api);
}

GroupSpec of_plugins(const std::string &spec)
{
    return spec_of(R"("spec":{)" + spec + "}", GroupApi::plugins);
}

GroupSpec of_workload(const std::string &policy, const std::string &status = "")
{
    return spec_of(R"("spec":{"schedulingPolicy":{)" + policy +
                       R"(}},"status":{)" + status + "}",
                   GroupApi::workload);
}

} // namespace

TEST_CASE("a PodGroup of scheduler-plugins says how many Pods start together")
{
    GroupSpec spec = of_plugins(
        R"("minMember":3,"minResources":{"cpu":"9"},"scheduleTimeoutSeconds":60)");

    CHECK(spec.key.str() == "ns1/g");
    CHECK(spec.uid == "u-1");
    CHECK(spec.resource_version == "7");
    CHECK(spec.minimum == 3);
    CHECK(spec.timeout == std::chrono::seconds(60));
    CHECK(spec.unfit_reason == "");

    CHECK(of_plugins("").minimum == 1);
    CHECK(of_plugins(R"("minMember":2147483647)").minimum == 2147483647);
    // Somebody has written its status.
    spec = spec_of(R"("status":{"phase":"Running"})", GroupApi::plugins);
    CHECK(spec.status.phase == "Running");
    CHECK(spec.status_writer == StatusWriter::others);
}

TEST_CASE("a number of Pods that cannot be is an objection, not a size")
{
    for (const char *bad : {"0", "-1", "2147483648", "9223372036854775807",
                            "\"3\"", "{}", "1.5"}) {
        CAPTURE(bad);
        std::string value = bad;
        CHECK(of_plugins("\"minMember\":" + value).unfit_reason != "");
        CHECK(of_plugins("\"minMember\":" + value).minimum == 1);
        CHECK(
            of_workload("\"gang\":{\"minCount\":" + value + "}").unfit_reason !=
            "");
    }
    for (const char *odd : {"-5", "\"x\"", "9223372036854775807"})
        CHECK(of_plugins(std::string("\"scheduleTimeoutSeconds\":") + odd)
                  .timeout <= std::chrono::hours(24));
    CHECK(of_plugins("\"scheduleTimeoutSeconds\":-5").timeout.count() == 0);
}

TEST_CASE("a PodGroup of Kubernetes is a gang, or says that it is none")
{
    CHECK(of_workload(R"("gang":{"minCount":4})").minimum == 4);
    CHECK(of_workload(R"("basic":{})").minimum == 0);
    CHECK(of_workload(R"("basic":{})").unfit_reason == "");
    CHECK(of_workload("").unfit_reason.contains("not supported"));
    CHECK(of_workload(R"("composite":{})")
              .unfit_reason.contains("not supported"));
    // What it has been told.
    GroupSpec told = of_workload(
        R"("gang":{"minCount":4})",
        R"("conditions":[{"type":"DisruptionTarget","status":"True"},)"
        R"({"type":"PodGroupInitiallyScheduled","status":"False",)"
        R"("reason":"Unschedulable","message":"why"}])");
    CHECK(told.scheduled ==
          ScheduledCondition{"False", "Unschedulable", "why"});
}

// Objects as Kubernetes 1.36 and 1.37 write them.
TEST_CASE("every version of Kubernetes' PodGroup is read alike")
{
    for (const GroupApiPath &path : paths_of(GroupApi::workload)) {
        CAPTURE(path.words());
        auto json = Json::parse(
            R"({"metadata":{"namespace":"ns1","name":"g","uid":"u-1"},)"
            R"("spec":{"podGroupTemplateRef":{"workload":{}},)"
            R"("workloadRef":{"name":"w","templateName":"t"},)"
            R"("disruptionMode":{"all":{}},"priority":0,)"
            R"("schedulingPolicy":{"gang":{"minCount":4}}},"status":)"
            R"({"conditions":[{"type":")" +
            std::string(path.scheduled) +
            R"(","status":"True","reason":"Scheduled"}]}})");
        REQUIRE(json);
        GroupSpec spec = group_spec_from(*json, GroupApi::workload, path);
        CHECK(spec.path == &path);
        CHECK(spec.minimum == 4);
        CHECK(spec.unfit_reason == "");
        CHECK(spec.scheduled.status == "True");
    }
}

TEST_CASE("a JobSet has as many Pods as its Jobs run at once")
{
    auto jobs = [](const std::string &list, const std::string &more = "") {
        return spec_of(R"("spec":{"replicatedJobs":[)" + list + "]" + more +
                           "}",
                       GroupApi::jobset);
    };
    auto job = [](int replicas, int parallelism, const std::string &more = "",
                  const std::string &in_spec = "") {
        return "{\"replicas\":" + std::to_string(replicas) +
               ",\"template\":{\"spec\":{\"parallelism\":" +
               std::to_string(parallelism) + in_spec + "}}" + more + "}";
    };
    const std::string later = R"(,"dependsOn":[{"name":"d"}])";

    GroupSpec spec = jobs(job(1, 1) + "," + job(2, 2));
    CHECK(spec.size == 5);
    CHECK(spec.minimum == 5);
    CHECK_FALSE(spec.elastic);
    CHECK(jobs(job(1, 4, "", R"(,"completions":3)")).size == 3);
    CHECK(jobs("{}").size == 1);
    CHECK(jobs("").size == 1);
    spec = jobs(job(1, 1) + "," + job(2, 2, later));
    CHECK(spec.size == 5);
    CHECK(spec.minimum == 1);
    spec = jobs(job(1, 2) + "," + job(2, 2),
                R"(,"startupPolicy":{"startupPolicyOrder":"InOrder"})");
    CHECK(spec.size == 6);
    CHECK(spec.minimum == 2);
    // Of any size: MaxGangSize refuses it.
    CHECK(jobs(job(2147483647, 2147483647) + "," + job(2147483647, 2)).size ==
          2147483647);
    CHECK(jobs(job(-1, -5)).size == 1);
}

TEST_CASE("where the objects are")
{
    CHECK(path_of(GroupApi::plugins).list() ==
          "/apis/scheduling.x-k8s.io/v1alpha1/podgroups");
    CHECK(path_of(GroupApi::workload).status_of({"ns1", "g"}) ==
          "/apis/scheduling.k8s.io/v1beta1/namespaces/ns1/podgroups/g/status");
    CHECK(paths_of(GroupApi::workload).back().words() ==
          "podgroups.scheduling.k8s.io/v1alpha2");
    GroupPatch patch{GroupApi::workload, {}, {}, {}, {}};
    CHECK(&patch.where() == &path_of(GroupApi::workload));
    patch.path = &paths_of(GroupApi::workload).back();
    CHECK(&patch.where() == patch.path);
}

TEST_CASE("the condition names the version that it is based on")
{
    GroupPatch patch{GroupApi::workload,
                     {"ns1", "g"},
                     "u-1",
                     "7",
                     {"False", "Unschedulable", "why"},
                     true};
    patch.path = &paths_of(GroupApi::workload).back();
    const WallTime ten{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} +
                       std::chrono::hours(10)};

    CHECK(group_body(patch, ten) ==
          R"({"metadata":{"uid":"u-1","resourceVersion":"7"},"status":)"
          R"({"conditions":[{"type":"PodGroupScheduled","status":"False",)"
          R"("reason":"Unschedulable","message":"why",)"
          R"("lastTransitionTime":"2026-01-02T10:00:00Z"}]}})");
    patch.flips = false;
    CHECK_FALSE(group_body(patch, ten).contains("lastTransitionTime"));
    patch.path = &paths_of(GroupApi::workload).front();
    CHECK(group_body(patch, ten)
              .contains(R"("type":"PodGroupInitiallyScheduled",)"));
}

TEST_CASE("the status names the version that it is based on")
{
    GroupPatch patch{GroupApi::plugins, {"ns1", "g"}, "u-1", "7", {}};
    patch.status = {"Scheduling", 1, 0, 0, true, "ns1/train"};
    patch.flips = true;
    const WallTime ten{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2} +
                       std::chrono::hours(10)};

    CHECK(group_body(patch, ten) ==
          R"({"metadata":{"uid":"u-1","resourceVersion":"7"},"status":)"
          R"({"phase":"Scheduling","running":1,"succeeded":0,"failed":0,)"
          R"("scheduleStartTime":"2026-01-02T10:00:00Z",)"
          R"("occupiedBy":"ns1/train"}})");
    patch.flips = false; // it is there, and stays
    patch.status.occupied_by.clear();
    CHECK(group_body(patch, ten) ==
          R"({"metadata":{"uid":"u-1","resourceVersion":"7"},"status":)"
          R"({"phase":"Scheduling","running":1,"succeeded":0,"failed":0}})");
}

namespace {

Pod naming(const TextMap &labels, const std::string &scheduling_group)
{
    Pod pod = make_pod("p");
    pod.gang = gang_key(pod.key, {}, labels, {}, scheduling_group);
    return pod;
}

const TextMap labelled{{"scheduling.x-k8s.io/pod-group", "g"}};

GroupSpec group(GroupApi api, std::uint32_t minimum)
{
    GroupSpec spec;
    spec.api = api;
    spec.key = {"default", "g"};
    spec.uid = "u-1";
    spec.minimum = minimum;
    spec.size = std::max(1u, minimum);
    return spec;
}

} // namespace

TEST_CASE("a Pod is of the gang whose API is there, or alone")
{
    GroupTable table({GroupApi::plugins, GroupApi::workload});
    Pod both = naming(labelled, "w");
    CHECK_FALSE(table.settled());
    table.turn_off(GroupApi::plugins);
    CHECK_FALSE(table.settled());
    table.turn_off(GroupApi::workload);
    CHECK(table.settled());
    CHECK(table.choose_gang(both) == nullptr);

    table.replace(GroupApi::workload, {});
    REQUIRE(table.choose_gang(both));
    CHECK(table.choose_gang(both)->uid == "default/workload/w");
    CHECK_FALSE(table.choose_gang(naming(labelled, "")));
    table.replace(GroupApi::plugins, {});
    CHECK(table.choose_gang(both)->uid == "default/podgroup/g");

    // Our own annotation and label need no API.
    Pod own = make_member("m", "2");
    CHECK(GroupTable({}).choose_gang(own) == own.gang);
}

TEST_CASE("a Pod of the policy basic is alone; one on a node stays what it was")
{
    GroupTable table({});
    table.replace(GroupApi::workload, {group(GroupApi::workload, 0)});
    Pod pod = naming({}, "g");
    CHECK_FALSE(table.choose_gang(pod));

    pod.node_name = "kn1";
    CHECK_FALSE(table.choose_gang(pod));
    pod.annotations[names::rank_annotation] = "0";
    CHECK(table.choose_gang(pod));
    table.turn_off(GroupApi::workload);
    CHECK(table.choose_gang(pod));
    pod.annotations.clear();
    table.replace(GroupApi::workload, {group(GroupApi::workload, 2)});
    CHECK_FALSE(table.choose_gang(pod));
}

TEST_CASE(
    "a Pod on a node is of the gang that put it there, while its API is on")
{
    TextMap labels{{names::jobset_uid_label, "u-1"},
                   {names::jobset_name_label, "js"},
                   {names::jobset_attempt_label, "0"}};
    Pod pod = naming(labels, "w");
    pod.node_name = "kn1";
    pod.annotations[names::rank_annotation] = "0";
    GroupTable table({});
    CHECK(table.choose_gang(pod)->uid == "default/jobset/u-1.0"); // or any
    table.replace(GroupApi::workload, {});
    CHECK(table.choose_gang(pod)->uid == "default/workload/w");
    table.replace(GroupApi::jobset, {});
    CHECK(table.choose_gang(pod)->uid == "default/jobset/u-1.0");
}

TEST_CASE("only what matters to a gang is news to it")
{
    GroupTable table({});
    GroupSpec spec = group(GroupApi::workload, 2);
    CHECK(table.put(spec));
    spec.resource_version = "8";
    spec.scheduled = {"True", "Scheduled", ""};
    CHECK_FALSE(table.put(spec));
    CHECK(table.find("default", {GroupApi::workload, "g"})->scheduled.status ==
          "True");
    spec.minimum = 3;
    CHECK(table.put(spec));

    GroupSpec former = spec;
    spec.uid = "u-2";
    CHECK(table.put(spec));
    CHECK_FALSE(table.erase(former)); // its end comes late
    CHECK(table.find("default", {GroupApi::workload, "g"}));
    CHECK_FALSE(table.find("other", {GroupApi::workload, "g"}));
    CHECK_FALSE(table.find("default", {GroupApi::plugins, "g"}));
    CHECK(table.erase(spec));
    CHECK_FALSE(table.find("default", {GroupApi::workload, "g"}));
}
