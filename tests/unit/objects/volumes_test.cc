// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/volumes.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/fakes/make_volumes.h"
#include "tests/unit/fakes/test_data.h"

using namespace bridge;

namespace {

constexpr char local_class[] = "local";

Claim claim(const std::string &name)
{
    Claim made = make_claim(name, local_class);
    made.access_modes = {"ReadWriteOnce"};
    made.storage = 100;
    return made;
}

Claim bound(const std::string &name, const std::string &volume)
{
    Claim made = claim(name);
    bind_claim(made, volume);
    return made;
}

Volume volume(const std::string &name, const std::string &node,
              std::int64_t storage = 100)
{
    Volume made = make_volume(name, node, local_class);
    made.uid = "uid-" + name;
    made.access_modes = {"ReadWriteOnce"};
    made.storage = storage;
    return made;
}

VolumeFacts facts(const std::vector<Claim> &claims,
                  const std::vector<Volume> &volumes = {})
{
    VolumeFacts facts;
    for (const Claim &claim : claims)
        facts.claims[claim.name] = claim;
    for (const Volume &volume : volumes)
        facts.volumes[volume.name] = volume;
    facts.classes[local_class] = {local_class, no_provisioner, true, {}, false};
    facts.classes["made"] = {"made", "example.com/disk", true, {}, false};
    facts.classes["now"] = {"now", "example.com/disk", false, {}, false};
    return facts;
}

VolumeNeeds needs(const VolumeFacts &facts)
{
    std::vector<ClaimRef> refs;
    for (const auto &[name, claim] : facts.claims)
        refs.push_back({name, false});
    return volume_needs(refs, "uid-web", facts);
}

Node node(const std::string &name)
{
    Node node = make_node(name);
    node.labels["kubernetes.io/hostname"] = name;
    return node;
}

Result<std::vector<ClaimStep>> steps(const VolumeFacts &facts,
                                     const std::string &on_node)
{
    std::vector<ClaimRef> refs;
    for (const auto &[name, claim] : facts.claims)
        refs.push_back({name, false});
    return claim_steps(refs, facts, node(on_node));
}

} // namespace

TEST_CASE("the claims of a Pod, also those that are made for it")
{
    auto claims = claims_of(json_of(R"({"metadata": {"name": "web"},
        "spec": {"volumes": [
            {"name": "tmp", "emptyDir": {}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "d"}},
            {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}]}})"));

    REQUIRE(claims.size() == 2);
    CHECK(claims[0] == ClaimRef{"d", false});
    CHECK(claims[1] == ClaimRef{"web-scratch", true});
}

TEST_CASE("why a Pod waits for its claims")
{
    auto changed = [](auto change) {
        Claim made = claim("c");
        change(made);
        return facts({made});
    };
    CHECK(volume_needs({{"c", false}}, "", facts({})).reason ==
          "The volume claim c does not exist yet.");
    CHECK(needs(changed([](Claim &c) {
              c.deleting = true;
          })).reason.contains("is being deleted"));
    CHECK(needs(changed([](Claim &c) {
              c.phase = "Lost";
          })).reason.contains("has lost its volume"));
    CHECK(needs(changed([](Claim &c) {
              c.storage_class.reset();
          })).reason.contains("has no StorageClass"));
    CHECK(needs(changed([](Claim &c) {
              c.storage_class = "none";
          })).reason.contains("StorageClass none, which does not exist"));
    CHECK(needs(changed([](Claim &c) {
              c.storage_class = "";
          })).reason.contains("is not bound"));
    CHECK(needs(changed([](Claim &c) {
              c.storage_class = "now";
          })).reason.contains("is not bound"));
    CHECK(needs(facts({claim("c")})).reason.contains("finds no free volume"));
    CHECK(needs(facts({bound("c", "v")})).reason.contains("does not exist"));
    // Made for another Pod, or by hand under that name.
    CHECK(volume_needs({{"c", true}}, "uid-web", facts({bound("c", "v")}))
              .reason.contains("not made for this Pod"));
}

TEST_CASE("a bound claim says where the Pod can be")
{
    VolumeNeeds local = needs(facts({bound("c", "v")}, {volume("v", "kn1")}));
    CHECK(local.reason.empty());
    CHECK_FALSE(local.unbound);
    CHECK(local.selectors == std::vector<NodeSelector>{on_host("kn1")});

    VolumeNeeds network = needs(facts({bound("c", "v")}, {volume("v", "")}));
    CHECK(network.reason.empty());
    CHECK(network.selectors.empty());
}

TEST_CASE("an unbound claim of local volumes: where a free one fits")
{
    auto taken = volume("t", "kn9");
    taken.claimed_by = "other/claim";
    auto small = volume("s", "kn8", 99);
    auto block = volume("b", "kn7");
    block.volume_mode = "Block";
    auto other = volume("o", "kn6");
    other.storage_class = "fast";
    auto many = volume("m", "kn5");
    many.access_modes = {"ReadOnlyMany"};
    auto released = volume("r", "kn4");
    released.phase = "Released";
    VolumeFacts all =
        facts({claim("c")}, {volume("v1", "kn1"), volume("v2", "kn2"), taken,
                             small, block, other, many, released});

    VolumeNeeds found = needs(all);

    CHECK(found.reason.empty());
    CHECK(found.unbound);
    REQUIRE(found.selectors.size() == 1);
    auto where = *Predicate::make(found.selectors, {});
    CHECK(where->text() == "kubernetes.io/hostname in (kn1,kn2)");
    CHECK(steps(all, "kn1")->at(0).volume == "v1");
    CHECK(steps(all, "kn2")->at(0).volume == "v2");
    for (const char *nowhere :
         {"kn3", "kn4", "kn5", "kn6", "kn7", "kn8", "kn9"})
        CHECK(steps(all, nowhere).error().code == Code::conflict);
}

TEST_CASE("the smallest volume that fits is given, each once")
{
    VolumeFacts all =
        facts({claim("a"), claim("b")},
              {volume("big", "kn1", 900), volume("mid", "kn1", 500),
               volume("small", "kn1", 100)});

    auto both = steps(all, "kn1");

    REQUIRE(both.has_value());
    REQUIRE(both->size() == 2);
    CHECK(both->at(0).volume == "small");
    CHECK(both->at(1).volume == "mid");
    CHECK_FALSE(
        steps(facts({claim("a"), claim("b")}, {volume("v", "kn1")}), "kn1")
            .has_value());
}

TEST_CASE("a volume that was given already is not given again")
{
    Volume given = volume("v", "kn1");
    given.claimed_by = "default/c";
    given.claimed_uid = "uid-c";
    VolumeFacts all = facts({claim("c")}, {given, volume("u", "kn1", 100)});

    CHECK(steps(all, "kn1")->empty());
    given.claimed_uid = "uid-of-one-that-is-gone";
    all.volumes["v"] = given;
    CHECK(steps(all, "kn1")->at(0).volume == "u");
}

TEST_CASE("a selector of volumes counts")
{
    Claim picky = claim("c");
    picky.match_labels = {{"tier", "gold"}};
    Volume gold = volume("g", "kn2");
    gold.labels = {{"tier", "gold"}};
    VolumeFacts all = facts({picky}, {volume("v", "kn1"), gold});
    CHECK(steps(all, "kn2")->at(0).volume == "g");
    CHECK_FALSE(steps(all, "kn1").has_value());
    picky.odd_selector = true;
    CHECK(needs(facts({picky}, {gold})).reason.contains("no free volume"));
}

TEST_CASE("a claim with a provisioner is told its node, once")
{
    Claim made = claim("c");
    made.storage_class = "made";
    VolumeFacts all = facts({made});

    CHECK(needs(all).reason.empty());
    CHECK(needs(all).unbound);
    CHECK(needs(all).selectors.empty());
    CHECK(steps(all, "kn1")->at(0).volume.empty());
    made.selected_node = "kn1";
    CHECK(steps(facts({made}), "kn1")->empty());
    CHECK(steps(facts({made}), "kn2")->size() == 1); // its job went elsewhere
    all.classes["made"].has_topologies = true;
    all.classes["made"].topologies = on_host("kn1");
    CHECK(needs(all).selectors == std::vector<NodeSelector>{on_host("kn1")});
}

TEST_CASE("claims, volumes and classes as the API server has them")
{
    Claim claim = claim_from(json_of(R"({"metadata": {"name": "c",
        "namespace": "n", "uid": "u", "resourceVersion": "7",
        "annotations": {"volume.kubernetes.io/selected-node": "kn1"},
        "ownerReferences": [{"controller": true, "uid": "p"}]},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "s",
            "volumeName": "v", "selector": {"matchLabels": {"a": "b"}},
            "resources": {"requests": {"storage": "1Ki"}}},
        "status": {"phase": "Bound"}})"));
    CHECK(claim.bound);
    CHECK(claim.owner_uid == "p");
    CHECK(claim.selected_node == "kn1");
    CHECK(claim.storage == 1024);
    CHECK(claim.volume_mode == "Filesystem");
    CHECK(claim.match_labels.size() == 1);
    CHECK_FALSE(claim_from(json_of("{}")).bound);
    CHECK_FALSE(claim_from(json_of("{}")).storage_class.has_value());

    Volume volume = volume_from(json_of(R"({"metadata": {"name": "v"},
        "spec": {"capacity": {"storage": "2Ki"}, "accessModes":
            ["ReadWriteOnce"], "storageClassName": "s", "volumeMode": "Block",
            "claimRef": {"namespace": "n", "name": "c", "uid": "u"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname",
                    "operator": "In", "values": ["kn1"]}]}]}}},
        "status": {"phase": "Bound"}})"));
    CHECK(volume.claimed_by == "n/c");
    CHECK(volume.storage == 2048);
    CHECK(volume.volume_mode == "Block");
    CHECK(volume.affinity == on_host("kn1"));
    Volume odd = volume_from(json_of(R"({"spec": {"nodeAffinity": {"required":
        {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a",
            "operator": "?"}]}]}}}})"));
    REQUIRE(odd.affinity.has_value()); // what we cannot read is nowhere
    CHECK(odd.affinity->empty());

    StorageClass fast = storage_class_from(json_of(R"({"metadata": {"name":
        "fast"}, "provisioner": "p", "volumeBindingMode":
        "WaitForFirstConsumer", "allowedTopologies": [
            {"matchLabelExpressions": [{"key": "kubernetes.io/hostname",
                "values": ["kn1"]}]}]})"));
    CHECK(fast.waits_for_consumer);
    CHECK(fast.has_topologies);
    CHECK(fast.topologies == on_host("kn1"));
    CHECK_FALSE(storage_class_from(json_of("{}")).waits_for_consumer);
}
