// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/manifests.h"

#include "common/base/json.h"

#include <doctest/doctest.h>

using namespace bridge;
using Names = std::vector<std::string>;
using Ids = std::vector<ObjectId>;

namespace {

const Names all = {"nodes-patch", "devices", "adopt"};
const Names known = {"nodes-patch", "devices", "adopt", "sbatch-attach",
                     "node-labels"};

const Ids some = {{"v1", "Namespace", "", "ours"},
                  {"rbac.authorization.k8s.io/v1", "Role", "ours", "agent"}};

} // namespace

TEST_CASE("the components of \"all\" are those of its kustomization")
{
    CHECK(components_of("# - ../components/no\nresources:\n- ../base\n"
                        "components:\n- ../components/volumes\n"
                        "- ../components/devices\n") ==
          Names{"volumes", "devices"});
    CHECK(components_of("").empty());
}

TEST_CASE("components are chosen by word or by name")
{
    const KubeRelease release{36, true, true};
    CHECK(choose_components("all", all, known, release) == all);
    CHECK(choose_components("base", all, known, release) == Names{});
    CHECK(choose_components("devices,sbatch-attach", all, known, release) ==
          Names{"devices", "sbatch-attach"});
    for (const char *words :
         {"", "device", "devices,", "../../etc", "all,base"})
        CHECK(choose_components(words, all, known, release).error().code ==
              Code::rejected);
}

TEST_CASE("what a cluster does not serve is left out, or taken in its variant")
{
    CHECK(choose_components("all", all, known, {35, true, false}) ==
          Names{"nodes-patch", "devices", "adopt-1.35"});
    CHECK(choose_components("all", all, known, {35, false, false}) ==
          Names{"nodes-patch", "devices"});
    // Who names it gets the API server's own answer.
    CHECK(choose_components("node-labels", all, known, {35, false, false}) ==
          Names{"node-labels-1.35"});
}

TEST_CASE("the kustomization names the base and the components")
{
    std::string text = kustomization_of("../../usr/share/x", {"devices"});
    CHECK(text.contains("resources:\n- ../../usr/share/x/base\n"));
    CHECK(
        text.contains("components:\n- ../../usr/share/x/components/devices\n"));
    CHECK_FALSE(kustomization_of("p", {}).contains("components"));
}

TEST_CASE("objects are found in what kubectl kustomize prints")
{
    CHECK(object_ids("apiVersion: v1\n"
                     "kind: Namespace\n"
                     "metadata:\n"
                     "  name: ours\n"
                     "---\n"
                     "apiVersion: rbac.authorization.k8s.io/v1\n"
                     "kind: Role\n"
                     "metadata:\n"
                     "  labels:\n"
                     "    name: no\n"
                     "  name: agent\n"
                     "  namespace: ours\n"
                     "rules:\n"
                     "- resources:\n"
                     "  name: neither\n"
                     "  resourceNames: [x]\n") == some);
    CHECK(object_ids("").empty());
    CHECK(object_ids("---\nkind: A\n---\nmetadata:\n  name: b\n").empty());
}

TEST_CASE("objects are remembered as text")
{
    CHECK(parse_ids(text_of(some)) == some);
    CHECK(parse_ids("").empty());
    CHECK(parse_ids("v1 Pod -\nv1 Pod - a b\nv1 Pod  a\n\n").empty());
}

TEST_CASE("the last object is deleted first")
{
    auto list = Json::parse(list_of(some));
    REQUIRE(list.has_value());
    CHECK(list->text("kind") == "List");
    CHECK(list->text("items/0/kind") == "Role");
    CHECK(list->text("items/0/metadata/namespace") == "ours");
    CHECK(list->text("items/1/metadata/name") == "ours");
    CHECK_FALSE(list->at("items/1/metadata/namespace").present());
}

TEST_CASE("what a newer version has no longer is dropped, whatever its API "
          "version was")
{
    Ids fresh = {{"v1", "Namespace", "", "ours"},
                 {"rbac.authorization.k8s.io/v2", "Role", "ours", "agent"}};
    CHECK(dropped(some, fresh).empty());
    fresh.pop_back();
    CHECK(dropped(some, fresh) == Ids{some[1]});
    CHECK(dropped({}, fresh).empty());
}
