// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/needs.h"

#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace bridge;

namespace {

struct Facts {
    std::map<std::string, ResourceClaimPtr> claims;
    std::string none_for;  // no device will do for a request of that name
    std::string error_for; // it cannot be told for that one
    std::set<std::string> unanswered; // requests of which nothing is known yet
    bool outdated = false;         // what is known is of the devices of before
    std::set<std::string> deleted; // claims
    bool others_ask = false;
    bool admin = false;
    std::size_t cost = 0;   // of what a request asks for
    std::int64_t most = 32; // devices on any node of Slurm
    mutable int asked = 0;  // about requests

    void add(const std::string &name, const std::string &text)
    {
        claims[name] = std::make_shared<const ResourceClaim>(make_claim(text));
    }

    DeviceNeeds of(const std::vector<PodClaim> &entries,
                   const ExtendedNeeds &extended = {}) const
    {
        Pod pod = make_pod("web");
        pod.resource_claims = entries;
        return device_needs(
            pod,
            {.find_claim = [this](const ObjectKey &key) -> ResourceClaimPtr {
                 auto found = claims.find(key.name);
                 return found == claims.end() ? nullptr : found->second;
             },
             .gres_for = [this](const DeviceRequest &request,
                                ReadBudget &budget) -> Result<GresWish> {
                 asked++;
                 budget.spend(cost);
                 budget.outdated |= outdated;
                 if (unanswered.contains(request.name))
                     return fail(Code::busy, "Not yet.");
                 if (request.name == error_for)
                     return fail(Code::rejected, "no such key");
                 if (request.name == none_for)
                     return fail(Code::not_found, "no device");
                 if (request.name == "share")
                     return GresWish{{}, {}, true, {{"mem", 10}}};
                 if (request.name == "part")
                     return GresWish{"gpu", "p", true, {{"mem", 5}}};
                 return GresWish{"gpu", request.name == "b" ? "b100" : "",
                                 true};
             },
             .most_on_a_node = [](const DeviceRequest &, CelBudget &)
                 -> Result<std::int64_t> { return 4; },
             .asked_by_others =
                 [this](const ResourceClaim &) { return others_ask; },
             .admin_access = admin,
             .extended = extended,
             .was_deleted =
                 [this](const ObjectKey &key) {
                     return deleted.contains(key.name);
                 },
             .most_on_any_node = [this](const DeviceRequest &, CelBudget &)
                 -> Result<std::int64_t> { return most; }});
    }
};

PodClaim named(const std::string &claim)
{
    return {"e", claim, "", false, false};
}

} // namespace

TEST_CASE("a claim without devices asks Slurm for GRES")
{
    Facts facts;
    facts.add("c", claim_text("c", request_gpus(2)));

    DeviceNeeds needs = facts.of({named("c")});

    CHECK(needs.unfit_reason == "");
    CHECK(needs.reason == "");
    CHECK(task_gres(needs) == "gres/gpu:2");
    CHECK(needs.selectors.empty());
}

TEST_CASE("what is counted without indexes is asked for by its amount")
{
    Facts facts;
    facts.add("c", claim_text("c", R"("requests":[)" + exactly("share", 1) +
                                       "," + exactly("part", 2) + "]"));
    facts.add("d",
              claim_text("d", R"("requests":[)" + exactly("share", 3) + "]"));

    DeviceNeeds both = facts.of({named("c"), named("d")});

    CHECK(task_gres(both) == "gres/gpu:p:2,gres/mem:50");
    CHECK(task_gres(facts.of({named("d")})) == "gres/mem:30");
    std::vector<DeviceNeeds> pods{facts.of({named("c")}),
                                  facts.of({named("d")})};
    CHECK(task_gres(pods) ==
          "gres/gpu:p:2,gres/mem:30"); // in a gang, what suffices for each
}

TEST_CASE("requests of several claims add up")
{
    Facts facts;
    facts.add("c", claim_text("c", R"("requests":[)" + exactly("a", 2) + "," +
                                       exactly("b", 1) + "]"));
    facts.add("d", claim_text("d", request_gpus(3)));

    DeviceNeeds needs = facts.of({named("c"), named("d"), named("c")});

    CHECK(needs.claims.size() == 2); // c counts once
    // Slurm takes no GRES both with a type and without.
    CHECK(task_gres(needs) == "gres/gpu:6");
}

TEST_CASE(
    "resources of device plugins need GRES, Nodes that offer them, no claim")
{
    Facts facts;
    facts.add("c", claim_text("c", request_gpus(2)));
    ExtendedNeeds extended;
    extended.plugins = {{"nvidia.com/gpu", "gpu", "a100", 3},
                        {"example.com/nic", "nic", "fast", 1}};
    DeviceNeeds alone = facts.of({}, extended);

    CHECK(alone.claims.empty());
    CHECK(alone.extended.size() == 1); // which says on which Node they can be
    CHECK(task_gres(alone) == "gres/gpu:a100:3,gres/nic:fast:1");
    REQUIRE(alone.selectors.size() == 2);
    Node node = make_node("kn1");
    node.allocatable.others["nvidia.com/gpu"] = 1;
    CHECK(matches(alone.selectors[0], node));
    CHECK_FALSE(matches(alone.selectors[1], node));

    // Slurm takes no GRES both with a type and without.
    DeviceNeeds both = facts.of({named("c")}, extended);
    CHECK(task_gres(both) == "gres/gpu:5,gres/nic:fast:1");
    CHECK(task_gres(std::vector{alone, facts.of({named("c")})}) ==
          "gres/gpu:3,gres/nic:fast:1");
    add_needs(both, alone);
    CHECK(both.plugins.size() == 4);
}

TEST_CASE("an allocated claim needs its node and no GRES")
{
    Facts facts;
    facts.add("c", claim_text("c", request_gpus(1), "", R"({"allocation":{
        "nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{
        "key":"metadata.name","operator":"In","values":["kn2"]}]}]}}})"));

    DeviceNeeds needs = facts.of({named("c")});

    CHECK(task_gres(needs) == "");
    REQUIRE(needs.selectors.size() == 1);
    CHECK(matches(needs.selectors[0], make_node("kn2")));
    CHECK_FALSE(matches(needs.selectors[0], make_node("kn1")));
}

TEST_CASE("a Pod waits for claims that are not there to be used")
{
    Facts facts;
    facts.add("own", claim_text("own", request_gpus(1), "uid-web"));
    facts.add("other", claim_text("other", request_gpus(1), "uid-other"));
    std::string going = claim_text("going", request_gpus(1));
    going.replace(going.find("\"uid\""), 0,
                  "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",");
    facts.add("going", going);

    CHECK(facts.of({{"e", "own", "t", false, false}}).reason == "");
    CHECK(facts.of({{"e", "other", "t", false, false}}).reason ==
          "The ResourceClaim other was not made for this Pod.");
    CHECK(facts.of({{"e", "", "t", false, false}}).reason ==
          "The ResourceClaim e, from template t, has not been created yet.");
    CHECK(facts.of({named("none")}).reason ==
          "The ResourceClaim none does not exist yet.");
    CHECK(facts.of({named("going")}).reason ==
          "The ResourceClaim going is being deleted.");
    CHECK(facts.of({{"e", "", "t", true, false}}).claims.empty());
    facts.others_ask = true;
    CHECK(facts.of({named("own")}).reason.contains("for another Pod"));
}

TEST_CASE("what is not supported is an objection")
{
    Facts facts;
    facts.add("c", claim_text("c", R"("requests":[{"name":"x"}])"));
    facts.add("many", claim_text("many", R"("requests":[)" + exactly("a", 30) +
                                             "," + exactly("b", 3) + "]"));
    facts.add("admin",
              claim_text("admin",
                         R"("requests":[)" +
                             exactly("a", 1, R"(,"adminAccess":true)") + "]"));

    CHECK(facts.of({{"e", "", "", false, true}})
              .unfit_reason.contains("neither"));
    CHECK(facts.of({named("c")}).unfit_reason.contains("neither exactly nor"));
    CHECK(facts.of({named("many")}).unfit_reason.contains("more than 32"));
    CHECK(facts.of({named("admin")}).unfit_reason.contains("adminAccess"));
    facts.admin = true;
    CHECK(facts.of({named("admin")}).unfit_reason == "");
    CHECK(task_gres(facts.of({named("admin")})) == "");
}

TEST_CASE("of firstAvailable the first choice that can be had is asked for")
{
    Facts facts;
    std::string choices = R"("requests":[{"name":"r","firstAvailable":[
        {"name":"x","deviceClassName":"gpu.example.com","count":1},
        {"name":"y","deviceClassName":"gpu.example.com","count":2}]}])";
    facts.add("c", claim_text("c", choices));

    CHECK(task_gres(facts.of({named("c")})) == "gres/gpu:1");
    facts.none_for = "r/x";
    CHECK(task_gres(facts.of({named("c")})) == "gres/gpu:2");
    facts.error_for = "r/x"; // then nothing may be allocated
    CHECK(facts.of({named("c")}).reason.contains("no such key"));
    facts.error_for = "";
    facts.none_for = "r/y";
    CHECK(task_gres(facts.of({named("c")})) == "gres/gpu:1");
}

TEST_CASE("of allocationMode All as many are asked for as one node has")
{
    Facts facts;
    facts.add("c", claim_text("c", R"("requests":[{"name":"a","exactly":{
        "deviceClassName":"gpu.example.com","allocationMode":"All"}}])"));

    CHECK(task_gres(facts.of({named("c")})) == "gres/gpu:4");
}

TEST_CASE("what all claims of a Pod cost the owner thread is bounded")
{
    Facts facts;
    std::string requests = exactly("r0", 1);
    for (int i = 1; i < 10; i++)
        requests += "," + exactly(std::format("r{}", i), 1);
    facts.add("c", claim_text("c", R"("requests":[)" + requests + "]"));
    facts.add("d", claim_text("d", request_gpus(1)));

    facts.cost = 10'000; // Nodes
    CHECK(facts.of({named("c"), named("d")}).reason == "");

    facts.cost = 160'000;
    facts.asked = 0;
    CHECK(facts.of({named("c"), named("d")}).reason ==
          "The ResourceClaim c gets no devices: request r2: the claims of the "
          "Pod have too many requests for so many nodes.");
    CHECK(facts.asked == 3); // and not for d
}

TEST_CASE("a claim that was too much after another is read again")
{
    Facts facts;
    facts.add("c", claim_text("c", R"("requests":[)" + exactly("a", 1) + "," +
                                       exactly("b", 1) + "]"));
    facts.add("d", claim_text("d", request_gpus(1)));
    facts.cost = 180'000; // Nodes

    DeviceNeeds needs = facts.of({named("c"), named("d")});
    CHECK(needs.unanswered);
    CHECK(needs.reason.contains("too many requests"));
    CHECK(!facts.of({named("c")}).unanswered);
    CHECK(facts.of({named("c")}).reason == "");

    facts.cost = 240'000;
    needs = facts.of({named("c"), named("d")});
    CHECK(!needs.unanswered);
    CHECK(needs.reason.contains("too many requests"));
}

TEST_CASE("all that is not known yet is asked for at once")
{
    Facts facts;
    facts.add("c", claim_text("c", R"("requests":[)" + exactly("a", 1) + "," +
                                       exactly("b", 1) + "]"));
    facts.add("d", claim_text("d", request_gpus(1)));

    facts.unanswered = {"a", "gpu"};
    DeviceNeeds needs = facts.of({named("c"), named("d")});

    CHECK(needs.reason == "Not yet.");
    CHECK(needs.unanswered);
    CHECK(facts.asked == 3);

    facts.none_for = "b";
    facts.unanswered = {"gpu"};
    needs = facts.of({named("c"), named("d")});
    CHECK(needs.reason.contains("no device")); // whatever the answer will be
    CHECK(!needs.unanswered);
}

TEST_CASE("what was true of the devices of before refuses nothing for good")
{
    Facts facts;
    facts.add("c", claim_text("c", request_gpus(1)));
    facts.outdated = true;
    CHECK(facts.of({named("c")}).reason == "");
    CHECK(!facts.of({named("c")}).unanswered);

    facts.none_for = "gpu";
    DeviceNeeds needs = facts.of({named("c")});
    CHECK(needs.reason.contains("no device"));
    CHECK(needs.unanswered);
    facts.outdated = false;
    CHECK(!facts.of({named("c")}).unanswered);
}

TEST_CASE("more devices than any node has are told by their number")
{
    Facts facts;
    facts.most = 4;
    facts.add("c", claim_text("c", request_gpus(4)));
    facts.add("d", claim_text("d", request_gpus(5)));

    CHECK(facts.of({named("c")}).reason == "");
    CHECK(facts.of({named("d")}).reason ==
          "The ResourceClaim d gets no devices: request gpu asks for 5 devices "
          "of DeviceClass gpu.example.com, and the node that has most of them "
          "has 4.");
}

TEST_CASE("a claim that is missing was deleted, or has never been there")
{
    Facts facts;
    CHECK(facts.of({named("c")}).reason ==
          "The ResourceClaim c does not exist yet.");
    facts.deleted = {"c"};
    CHECK(facts.of({named("c")}).reason.contains("c was deleted"));
}

TEST_CASE("a claim that a PodGroup shares with its Pods is refused")
{
    Facts facts;
    std::string text = claim_text("c", request_gpus(1), "uid-web");
    text.replace(text.find(R"("kind":"Pod")"), 12, R"("kind":"PodGroup")");
    facts.add("c", text);

    CHECK(facts.of({{"gpu", "c", "one-gpu", false, false}})
              .unfit_reason.contains("all Pods of PodGroup p share"));
}
