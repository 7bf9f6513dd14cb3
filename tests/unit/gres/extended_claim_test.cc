// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/extended_claim.h"

#include "common/kube/text.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"

#include <chrono>
#include <doctest/doctest.h>
#include <map>

using namespace bridge;

namespace {

constexpr char gpu[] = "example.com/gpu";

DeviceClasses classes_for(const std::string &resource = gpu)
{
    DeviceClass made = make_class();
    made.extended_resource_name = resource;
    return {{made.name, made}};
}

ContainerAsks asks(const std::string &container, std::size_t index,
                   std::int64_t count, bool ends_first = false)
{
    return {container, index, ends_first, {{gpu, count, 0}}};
}

Pod with(std::vector<ContainerAsks> containers)
{
    Pod pod = make_pod("web");
    pod.extended = std::move(containers);
    return pod;
}

// "NAME*COUNT …; CONTAINER=REQUEST …"
std::string plan_of(const Pod &pod)
{
    ExtendedNeeds needs = extended_needs(pod, classes_for(), nullptr);
    REQUIRE(needs.claim);
    std::string text;
    for (const ClaimRequest &request : needs.claim->requests)
        text += (text.empty() ? "" : " ") + request.name + "*" +
                std::to_string(request.choices.at(0).count);
    text += ";";
    for (const RequestMapping &one : needs.mappings)
        text += " " + one.container + "=" + one.request;
    return text;
}

} // namespace

TEST_CASE("the claim is the one that kube-scheduler makes")
{
    Pod pod = pod_from(json_file("pod-extended.json"));
    pod.node_name.clear();
    Json golden = json_file("claims.json").at("extres/protected");

    ExtendedNeeds needs = extended_needs(pod, classes_for(), nullptr);

    Json made = json_of(needs.body);
    for (const char *path :
         {"apiVersion", "kind", "metadata/generateName", "metadata/namespace",
          "metadata/annotations", "metadata/ownerReferences",
          "metadata/finalizers", "spec"}) {
        CAPTURE(path);
        CHECK(made.at(path).dump() == golden.at(path).dump());
    }
    CHECK(made.text("metadata/name") == extended_claim_key(pod).name);
    CHECK(made.at("metadata").members().size() == 6);
    CHECK(made.members().size() == 4);
    CHECK(needs.mappings ==
          std::vector<RequestMapping>{{"main", gpu, "container-0-request-1"}});
    CHECK(is_extended_claim(*needs.claim, pod));
    CHECK(needs.claim->uid == uid_until_made(pod.uid));
}

TEST_CASE("its name is made from the Pod's uid, as long as the API server's")
{
    Pod pod = make_pod("web");
    std::string name = extended_claim_key(pod).name;

    CHECK(name.starts_with("web-extended-resources-"));
    CHECK(name.size() == std::string("web-extended-resources-").size() + 5);
    CHECK(is_object_name(name));
    CHECK(name == extended_claim_key(pod).name);
    pod.uid = "another";
    CHECK(name != extended_claim_key(pod).name);
    pod.key.name = std::string(250, 'a');
    CHECK(extended_claim_key(pod).name.size() == 63);
    pod.extended = {asks("main", 0, 1)};
    auto needs = extended_needs(pod, classes_for(), nullptr);
    CHECK_FALSE(json_of(needs.body).at("metadata/generateName").present());
}

TEST_CASE("init containers get what later containers will have")
{
    // As kube-scheduler was seen to do it, and as its source has it.
    CHECK(plan_of(with({asks("init", 0, 1, true), asks("c0", 1, 1)})) ==
          "container-1-request-0*1; c0=container-1-request-0 "
          "init=container-1-request-0");
    CHECK(plan_of(with({asks("init", 0, 3, true), asks("c0", 1, 1),
                        asks("c1", 2, 1)})) ==
          "container-0-request-0*1 container-1-request-0*1 "
          "container-2-request-0*1; c0=container-1-request-0 "
          "c1=container-2-request-0 init=container-1-request-0 "
          "init=container-2-request-0 init=container-0-request-0");
    // The largest surplus is asked for once, for all.
    CHECK(plan_of(with({asks("i0", 0, 2, true), asks("i1", 1, 4, true),
                        asks("c0", 2, 1)})) ==
          "container-1-request-0*3 container-2-request-0*1; "
          "c0=container-2-request-0 i0=container-2-request-0 "
          "i0=container-1-request-0 i1=container-2-request-0 "
          "i1=container-1-request-0");
    // A sidecar that starts before it keeps its own.
    CHECK(plan_of(with({asks("side", 0, 1), asks("init", 1, 1, true)})) ==
          "container-0-request-0*1 container-1-request-0*1; "
          "side=container-0-request-0 init=container-1-request-0");
    CHECK(plan_of(with({asks("init", 0, 1, true), asks("side", 1, 2)})) ==
          "container-1-request-0*2; side=container-1-request-0 "
          "init=container-1-request-0");
}

TEST_CASE("of several classes the newest offers a resource, then the first by "
          "name")
{
    DeviceClasses classes;
    const std::map<std::string, int> created = {
        {"a", 1}, {"b", 2}, {"c", 2}, {"d", 0}};
    for (const auto &[name, when] : created) {
        DeviceClass one = make_class(name);
        one.extended_resource_name = name == "d" ? "" : gpu;
        one.created = std::chrono::sys_seconds(std::chrono::seconds(when));
        classes[name] = one;
    }

    CHECK(class_behind(classes, gpu)->name == "b");
    CHECK(class_behind(classes, "deviceclass.resource.kubernetes.io/d")->name ==
          "d");
    CHECK(class_behind(classes, "deviceclass.resource.kubernetes.io/e") ==
          nullptr);
    CHECK(class_behind(classes, "example.com/other") == nullptr);
}

TEST_CASE("a resource that no class offers, and more than a claim can have")
{
    Pod pod = with({asks("main", 0, 1)});
    CHECK(extended_needs(pod, classes_for("example.com/other"), nullptr)
              .unfit_reason ==
          "the resource example.com/gpu is not supported by slurm-k8s-bridge "
          "yet: no DeviceClass offers it, and DeviceGres in k8s.conf does not "
          "name it");
    pod = with({asks("main", 0, 33)});
    ExtendedNeeds needs = extended_needs(pod, classes_for(), nullptr);
    CHECK(needs.unfit_reason.contains("33 devices"));
    CHECK_FALSE(needs.claim);
    pod.extended.clear();
    for (std::size_t i = 0; i < 33; i++)
        pod.extended.push_back(asks("c" + std::to_string(i), i, 1));
    CHECK(extended_needs(pod, classes_for(), nullptr)
              .unfit_reason.contains("33 requests"));
    CHECK(extended_needs(make_pod("none"), {}, nullptr).unfit_reason.empty());
}

TEST_CASE("a claim that is there is taken, if it is as it would be made")
{
    Pod pod = with({asks("main", 0, 2)});
    ExtendedNeeds made = extended_needs(pod, classes_for(), nullptr);
    ResourceClaim there = make_claim(made.body);
    auto needs_with = [&](const ResourceClaim &claim) {
        return extended_needs(pod, classes_for(),
                              std::make_shared<const ResourceClaim>(claim));
    };

    ExtendedNeeds again = needs_with(there);
    CHECK(again.body.empty());
    CHECK(again.reason.empty());
    CHECK(again.claim->key == there.key);
    CHECK(again.mappings == made.mappings);

    ResourceClaim odd = there;
    odd.owner_uid = "another";
    CHECK(needs_with(odd).reason.contains("was not made for"));
    odd = there;
    odd.for_extended_resources = false;
    CHECK(needs_with(odd).reason.contains("was not made for"));
    odd = there;
    odd.deleting = true;
    CHECK(needs_with(odd).reason.contains("is being deleted"));
    odd = there;
    odd.requests[0].choices[0].count = 1;
    CHECK(needs_with(odd).reason.contains("is not what"));
    odd = there;
    odd.requests[0].choices[0].admin_access = true;
    CHECK(needs_with(odd).reason.contains("is not what"));
    odd = there;
    odd.config.push_back({{}, "\"opaque\":{}"}); // of its owner's
    CHECK(needs_with(odd).reason.contains("is not what"));
    CHECK_FALSE(needs_with(odd).claim);

    pod.node_name = "kn1"; // with whatever it has, also when the class is gone
    auto bound =
        extended_needs(pod, {}, std::make_shared<const ResourceClaim>(odd));
    CHECK(bound.claim);
    CHECK(bound.unfit_reason.empty());
}

TEST_CASE("what a Node's device plugins offer is none of a DeviceClass")
{
    Pod pod = with({asks("main", 0, 1)});
    Node node = make_node("kn1");
    auto reason = [&](const Pod &of) {
        auto needs = extended_needs(of, classes_for(), nullptr);
        return no_device_reason(needs, node, false);
    };
    CHECK(reason(pod) == "");
    node.allocatable.others[gpu] = 0;
    CHECK(reason(pod) == "");
    node.allocatable.others[gpu] = 4;
    CHECK(reason(pod) == "its Node offers example.com/gpu by a device plugin");
    CHECK(reason(make_pod("plain")) == "");
}

TEST_CASE("a resource of DeviceGres that no class offers is a device plugin's")
{
    const PluginGres plugins = {{gpu, {gpu, "gpu", "a100"}}};
    Pod pod = with({asks("init", 0, 3, true), asks("main", 1, 2)});
    pod.requests.others[gpu] = 3; // as a kubelet counts it
    ExtendedNeeds needs = extended_needs(pod, {}, nullptr, plugins);

    CHECK(needs.unfit_reason == "");
    CHECK_FALSE(needs.claim);
    CHECK(needs.body == "");
    CHECK(needs.plugins == std::vector<PluginWish>{{gpu, "gpu", "a100", 3}});
    CHECK_FALSE(wants_extended_claim(pod, {}, plugins));
    CHECK(wants_extended_claim(pod, {}, {}));

    Node node = make_node("kn1");
    CHECK(no_device_reason(needs, node, false).starts_with("no device plugin"));
    node.allocatable.others[gpu] = 4;
    CHECK(no_device_reason(needs, node, false) == "");
    CHECK(no_device_reason(needs, node, true).contains("has a slurmd"));

    // One that a class offers is that class's, on every Node.
    needs = extended_needs(pod, classes_for(), nullptr, plugins);
    CHECK(needs.claim);
    CHECK(needs.plugins.empty());
    CHECK(wants_extended_claim(pod, classes_for(), plugins));

    // What runs without a claim has got it of a device plugin.
    pod.node_name = "kn1";
    CHECK(extended_needs(pod, classes_for(), nullptr, plugins).plugins.size() ==
          1);
    pod.extended_claim = "web-extended-resources-x";
    CHECK(extended_needs(pod, classes_for(), nullptr, plugins).plugins.empty());
}

TEST_CASE("a claim for one resource, and a device plugin's beside it")
{
    Pod pod = with({asks("main", 0, 1)});
    pod.extended[0].amounts.push_back({"nvidia.com/gpu", 2, 1});
    pod.requests.others = {{gpu, 1}, {"nvidia.com/gpu", 2}};
    ExtendedNeeds needs =
        extended_needs(pod, classes_for(), nullptr,
                       {{"nvidia.com/gpu", {"nvidia.com/gpu", "gpu", "a100"}}});

    REQUIRE(needs.claim);
    CHECK(needs.claim->requests.size() == 1);
    REQUIRE(needs.mappings.size() == 1);
    CHECK(needs.mappings[0].resource == gpu);
    REQUIRE(needs.plugins.size() == 1);
    CHECK(needs.plugins[0].resource == "nvidia.com/gpu");
}
