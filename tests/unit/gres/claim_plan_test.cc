// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_plan.h"

#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>
#include <map>

using namespace bridge;

namespace {

// A Pod with claims on Node kn1, whose job has some of its GPUs.
struct Setting {
    DeviceClasses classes = {{"gpu.example.com", make_class()}};
    std::vector<DevicePool> pools;
    Node node = make_node("kn1");
    Pod pod = make_pod("web");
    DeviceNeeds needs;
    std::map<DeviceId, std::string> taken;
    bool may_exceed = false;
    std::vector<CapacityGres> counted;
    GresCounts amounts;
    std::map<DeviceId, std::optional<Capacities>> consumed;
    // By claim (uid): what an earlier write of it may have taken.
    std::map<std::string, std::map<DeviceId, Capacities>> held;

    Setting()
    {
        std::vector<ResourceSlicePtr> slices = {
            std::make_shared<const ResourceSlice>(make_slice("kn1"))};
        pools = device_pools(slices);
    }

    void add(const std::string &text)
    {
        auto claim = std::make_shared<const ResourceClaim>(make_claim(text));
        needs.claims.push_back(claim);
        needs.consumers.push_back(pod.uid);
        if (claim->allocated)
            return;
        for (const ClaimRequest &group : claim->requests)
            needs.wanted.push_back({needs.claims.size() - 1,
                                    &group.choices[0],
                                    {"gpu", "", false},
                                    group.choices[0].count});
    }

    ClaimsPlan plan(const std::vector<int> &given) const
    {
        std::vector<DevicePtr> devices;
        for (int i : given)
            devices.push_back(pools[0].devices[static_cast<std::size_t>(i)]);
        return plan_claims(
            {.needs = needs,
             .given = devices,
             .may_exceed = may_exceed,
             .classes = classes,
             .pools = pools,
             .node = node,
             .holder_of = [this](const DeviceId &device, const std::string &)
                 -> std::optional<std::string> {
                 auto found = taken.find(device);
                 return found == taken.end() ? std::nullopt
                                             : std::optional(found->second);
             },
             .taken_in =
                 [](const DevicePool &) { return std::set<std::string>{}; },
             .counted = counted,
             .amounts = amounts,
             .consumed_of = [this](const DeviceId &device,
                                   const std::set<std::string> &but_for)
                 -> std::optional<Capacities> {
                 auto found = consumed.find(device);
                 std::optional<Capacities> sum = Capacities{};
                 if (found != consumed.end())
                     sum = found->second;
                 for (const auto &[uid, its] : held)
                     if (sum && its.contains(device) && !but_for.contains(uid))
                         add_capacities(*sum, its.at(device));
                 return sum;
             },
             .new_share_id = [] { return std::string("share"); }});
    }

    // Two devices more, of 40Gi each, of which as much is given as is asked
    // for; the job has so much of GRES mem.
    void add_shared(std::uint64_t mem)
    {
        ResourceSlice slice = resource_slice_from(json_of(
            R"({"metadata":{"name":"t"},"spec":{"driver":"gpu.example.com",
            "nodeName":"kn1","pool":{"name":"shared","generation":1,
            "resourceSliceCount":1},"devices":[
            {"name":"s0","allowMultipleAllocations":true,
             "capacity":{"memory":{"value":"40Gi"}}},
            {"name":"s1","allowMultipleAllocations":true,
             "capacity":{"memory":{"value":"40Gi"}}}]}})"));
        std::vector<ResourceSlicePtr> slices = {
            std::make_shared<const ResourceSlice>(make_slice("kn1")),
            std::make_shared<const ResourceSlice>(std::move(slice))};
        pools = device_pools(slices);
        counted = {
            {"gpu.example.com", "memory", "mem", *Quantity::parse("1Gi")}};
        amounts = {{"mem", mem}};
    }
    // A claim for so many shares, of different devices.
    void add_share(const std::string &name, const std::string &memory,
                   int count = 1)
    {
        add(claim_text(name,
                       R"("requests":[)" +
                           exactly("part", count,
                                   R"(,"capacity":{"requests":{"memory":")" +
                                       memory + R"("}})") +
                           "]"));
        auto gib =
            Quantity::parse(memory)->nanos() / Quantity::parse("1Gi")->nanos();
        needs.wanted.back().wish = {
            {}, {}, true, {{"mem", static_cast<std::uint64_t>(gib)}}};
    }
    void hold(const std::string &claim, const std::string &device,
              const std::string &memory)
    {
        held["uid-of-" + claim][{"gpu.example.com", "shared", device}] = {
            {"memory", *Quantity::parse(memory)}};
    }
    void consume(const std::string &device, const std::string &memory)
    {
        consumed[{"gpu.example.com", "shared", device}] =
            Capacities{{"memory", *Quantity::parse(memory)}};
    }
};

// "request=device …"
std::string words(const ClaimPlan &plan)
{
    std::string text;
    for (const ChosenDevice &one : plan.chosen)
        text +=
            (text.empty() ? "" : " ") + one.request + "=" + one.device->name;
    return text;
}

std::string model(const char *name)
{
    return std::string(R"(,"selectors":[{"cel":{"expression":)"
                       R"("device.attributes['gpu.example.com'].model == ')") +
           name + R"('"}}])";
}

} // namespace

TEST_CASE("the devices of the job go to the requests, in order")
{
    Setting s;
    s.add(claim_text("c", R"("requests":[)" + exactly("a", 1) + "," +
                              exactly("b", 2) + "]"));
    s.add(claim_text("d", request_gpus(1)));

    ClaimsPlan plan = s.plan({0, 1, 2, 3});

    CHECK(plan.misfit == "");
    CHECK(plan.wait == "");
    REQUIRE(plan.claims.size() == 2);
    CHECK(words(plan.claims[0]) == "a=gpu-0 b=gpu-1 b=gpu-2");
    CHECK(words(plan.claims[1]) == "gpu=gpu-3");
    CHECK(plan.claims[1].classes.contains("gpu.example.com"));
    CHECK(plan.claims[1].uid == "uid-of-d");
}

TEST_CASE("selectors decide which request gets which device")
{
    Setting s;
    s.add(claim_text("c", R"("requests":[)" + exactly("any", 1) + "," +
                              exactly("a", 1, model("A")) + "]"));

    CHECK(words(s.plan({1, 3}).claims.at(0)) == "any=gpu-3 a=gpu-1");
    CHECK(words(s.plan({0, 1}).claims.at(0)) == "any=gpu-0 a=gpu-1");
    ClaimsPlan none = s.plan({2, 3});
    CHECK(none.misfit.contains("does not match the request's selectors"));
    CHECK(none.bad_node);
}

TEST_CASE("a constraint that the chosen devices do not hold is a misfit")
{
    Setting s;
    s.add(claim_text("c", request_gpus(2) +
                              R"(,"constraints":[{"matchAttribute":)"
                              R"("gpu.example.com/model"}])"));

    CHECK(s.plan({0, 1}).misfit == "");
    CHECK(s.plan({0, 2}).misfit.contains("model"));
}

TEST_CASE("too few devices, and devices that nobody needs")
{
    Setting s;
    s.add(claim_text("c", request_gpus(2)));

    CHECK(s.plan({0}).misfit.contains("gets 1 of 2 devices"));
    CHECK(s.plan({}).misfit.contains("gets 0 of 2 devices"));
    ClaimsPlan more = s.plan({0, 1, 2});
    CHECK(more.misfit.contains("no claim"));
    CHECK_FALSE(more.bad_node);
    s.may_exceed = true; // its owner has asked for GRES, too
    CHECK(s.plan({0, 1, 2}).misfit == "");
}

TEST_CASE("a device that is in another claim is waited for")
{
    Setting s;
    s.add(claim_text("c", request_gpus(1)));
    s.taken[{"gpu.example.com", "kn1", "gpu-1"}] = "other/x";

    CHECK(s.plan({0}).wait == "");
    ClaimsPlan plan = s.plan({1});
    CHECK(plan.misfit == "");
    CHECK(plan.wait == "device gpu.example.com/kn1/gpu-1 is still "
                       "taken by the ResourceClaim other/x");
}

TEST_CASE(
    "an allocated claim gets the Pod's reservation, where its devices are")
{
    auto at = [](const std::string &node, const std::string &reserved) {
        return claim_text("c", request_gpus(1), "",
                          R"({"allocation":{"devices":{"results":[{
            "request":"gpu","driver":"gpu.example.com","pool":"kn1",
            "device":"gpu-2"}]},"nodeSelector":{"nodeSelectorTerms":[{
            "matchFields":[{"key":"metadata.name","operator":"In",
            "values":[")" + node +
                              R"("]}]}]}},"reservedFor":[)" + reserved + "]}");
    };
    const std::string ours =
        R"({"resource":"pods","name":"web","uid":"uid-web"})";
    Setting shared;
    shared.add(at("kn1", ""));
    ClaimsPlan plan = shared.plan({});
    REQUIRE(plan.claims.size() == 1);
    CHECK(plan.claims[0].allocated);
    CHECK(shared.plan({0}).misfit.contains("no claim"));

    Setting elsewhere;
    elsewhere.add(at("kn2", ""));
    CHECK(elsewhere.plan({}).misfit.contains("on another node"));
    CHECK_FALSE(elsewhere.plan({}).bad_node);

    // The agent was killed before it had bound the Pod.
    Setting done;
    done.add(at("kn1", ours));
    CHECK(done.plan({2}).misfit == "");
    CHECK(done.plan({2}).claims.at(0).has ==
          std::vector<DeviceId>{{"gpu.example.com", "kn1", "gpu-2"}});
    CHECK(done.plan({1}).misfit.contains("no claim"));
}

TEST_CASE("what others have is given last: they may be Pods of the same gang")
{
    Setting s;
    s.may_exceed = true;
    s.add(claim_text("c", request_gpus(2)));
    s.taken[{"gpu.example.com", "kn1", "gpu-0"}] = "default/d";

    CHECK(words(s.plan({0, 1, 2}).claims.at(0)) == "gpu=gpu-1 gpu=gpu-2");
    CHECK(s.plan({0, 1}).wait.contains("default/d"));
}

TEST_CASE("claims of several Pods, each with devices that are alike")
{
    Setting s;
    for (const char *name : {"c", "d"}) {
        s.add(claim_text(name, request_gpus(2) +
                                   R"(,"constraints":[{"matchAttribute":)"
                                   R"("gpu.example.com/model"}])"));
        s.needs.consumers.back() = std::string("uid-") + name;
    }

    ClaimsPlan plan = s.plan({0, 2, 1, 3});

    CHECK(plan.misfit == "");
    REQUIRE(plan.claims.size() == 2);
    CHECK(words(plan.claims[0]) == "gpu=gpu-0 gpu=gpu-1");
    CHECK(words(plan.claims[1]) == "gpu=gpu-2 gpu=gpu-3");
    CHECK(plan.claims[0].pod == "uid-c");
    CHECK(plan.claims[1].pod == "uid-d");
}

TEST_CASE("adminAccess takes devices that others have, and none of the job's")
{
    Setting s;
    s.add(claim_text("c", R"("requests":[)" +
                              exactly("watch", 2, R"(,"adminAccess":true)") +
                              "," + exactly("use", 1) + "]"));
    s.taken[{"gpu.example.com", "kn1", "gpu-0"}] = "other/x";

    ClaimsPlan plan = s.plan({3});

    CHECK(plan.wait == "");
    CHECK(words(plan.claims.at(0)) == "watch=gpu-0 watch=gpu-1 use=gpu-3");
}

TEST_CASE("two requests with adminAccess of one claim get different devices")
{
    Setting s;
    s.add(claim_text("c", R"("requests":[)" +
                              exactly("a", 1, R"(,"adminAccess":true)") + "," +
                              exactly("b", 1, R"(,"adminAccess":true)") + "," +
                              exactly("use", 1) + "]"));

    ClaimsPlan plan = s.plan({0});

    CHECK(plan.misfit == "");
    CHECK(words(plan.claims.at(0)) == "a=gpu-1 b=gpu-2 use=gpu-0");
}

TEST_CASE("claims that are too intricate come to an end")
{
    Setting s;
    std::vector<ResourceSlicePtr> slices = {
        std::make_shared<const ResourceSlice>(make_slice("kn1", 32))};
    s.pools = device_pools(slices);
    std::vector<int> all;
    for (int i = 0; i < 32; i++)
        all.push_back(i);
    s.add(claim_text("c", R"("requests":[)" + exactly("a", 16) + "," +
                              exactly("b", 16) +
                              R"(],"constraints":[{"requests":["a"],)"
                              R"("matchAttribute":"gpu.example.com/model"}])"));

    CHECK(s.plan(all).misfit != "");
}

TEST_CASE("selectors that are too much to do for all ways come to an end")
{
    std::string cel = "[0";
    for (int i = 1; i < 160; i++)
        cel += ",0";
    cel += "].all(i, device.driver.matches(device.driver))";
    std::string costly =
        R"(,"selectors":[{"cel":{"expression":")" + cel + R"("}}])";
    auto plan_with = [](const std::string &selectors) {
        Setting s;
        s.add(claim_text("c", R"("requests":[)" + exactly("a", 1, selectors) +
                                  "," + exactly("b", 1, selectors) + "," +
                                  exactly("c", 1, selectors) +
                                  R"(],"constraints":[{"matchAttribute":)"
                                  R"("gpu.example.com/model"}])"));
        return s.plan({0, 1, 2, 3});
    };

    CHECK(plan_with("").misfit.contains("model"));
    ClaimsPlan plan = plan_with(costly);
    CHECK(plan.misfit.starts_with("ResourceClaim c: request "));
    CHECK(
        plan.misfit.ends_with("too expensive to evaluate for so many devices"));
    CHECK(plan.wait == "");
}

TEST_CASE("a share is of the first device that has room, and takes no index")
{
    Setting s;
    s.add_shared(35);
    s.add_share("c", "30Gi");

    ClaimsPlan plan = s.plan({});
    CHECK(plan.misfit == "");
    CHECK(plan.wait == "");
    CHECK(words(plan.claims.at(0)) == "part=s0");
    CHECK(plan.claims[0].chosen[0].share_id == "share");
    CHECK(plan.claims[0]
              .shares.at({"gpu.example.com", "shared", "s0"})
              .at("memory")
              .text() == "30Gi");

    s.consume("s0", "11Gi");
    s.taken[{"gpu.example.com", "shared", "s1"}] = "other/x"; // a share
    CHECK(words(s.plan({}).claims.at(0)) == "part=s1");
    CHECK(s.plan({}).wait == "");
    s.consumed[{"gpu.example.com", "shared", "s1"}] = std::nullopt; // all of it
    CHECK(s.plan({}).wait.contains("other claims use too much of its"));
}

TEST_CASE(
    "where no device has room although the sum has: for a while, then not")
{
    Setting s;
    s.add_shared(20);
    s.add_share("c", "20Gi");
    s.consume("s0", "30Gi");
    s.consume("s1", "25Gi");

    ClaimsPlan plan = s.plan({});
    CHECK(plan.misfit == "");
    CHECK(plan.wait == "device gpu.example.com/shared/s1 for request part: "
                       "other claims use too much of its memory");
    CHECK(plan.bad_node);
}

TEST_CASE("shares of several claims, and of one: what is left is reckoned on")
{
    Setting s;
    s.add_shared(90);
    s.add_share("c", "25Gi");
    s.add_share("d", "25Gi");
    s.add_share("e", "15Gi", 2);

    ClaimsPlan plan = s.plan({});
    REQUIRE(plan.claims.size() == 3);
    CHECK(words(plan.claims[0]) == "part=s0");
    CHECK(words(plan.claims[1]) == "part=s1");
    CHECK(words(plan.claims[2]) == "part=s0 part=s1");

    s.add_share("f", "1Gi");
    CHECK(s.plan({}).wait.contains("memory"));
}

TEST_CASE(
    "a device of which a share would be more than was asked for is left out")
{
    Setting s;
    s.add_shared(30);
    s.add_share("c", "30Gi");
    s.needs.wanted.back().wish.amounts = {{"mem", 29}};
    CHECK(s.plan({}).misfit.contains("more than was requested from Slurm"));
    s.needs.wanted.back().wish.amounts = {{"other", 30}};
    CHECK(s.plan({}).misfit.contains("more than was requested from Slurm"));
    s.needs.wanted.back().wish.amounts = {{"mem", 31}};
    CHECK(s.plan({}).misfit == "");
}

TEST_CASE("a device whose shares are CPUs, of which no CPU was asked for")
{
    Setting s;
    s.add_shared(0); // of no GRES of this node
    s.counted = {
        {"gpu.example.com", "memory", cpu_gres, *Quantity::parse("1Gi")}};
    s.amounts.clear();
    s.add_share("c", "3Gi"); // as one whose class has other devices, too
    CHECK(s.plan({}).misfit.contains("more than was requested from Slurm"));
    s.needs.wanted.back().wish.amounts = {{cpu_gres, 2}};
    CHECK(s.plan({}).misfit.contains("more than was requested from Slurm"));
    s.needs.wanted.back().wish.amounts = {{cpu_gres, 3}};
    CHECK(s.plan({}).misfit == "");
    CHECK(words(s.plan({}).claims.at(0)) == "part=s0");
}

TEST_CASE(
    "what an earlier write may have taken is there for its own claim alone")
{
    Setting s;
    s.add_shared(80);
    s.add_share("c", "30Gi");
    s.add_share("d", "20Gi");
    s.hold("c", "s1", "30Gi"); // s0 was full when that was planned

    ClaimsPlan plan = s.plan({});
    CHECK(plan.wait == "");
    CHECK(plan.misfit == "");
    REQUIRE(plan.claims.size() == 2);
    CHECK(words(plan.claims[0]) == "part=s1"); // else d had to go there
    CHECK(words(plan.claims[1]) == "part=s0");

    s.hold("c", "s0", "30Gi"); // in a third try: it may be on either
    CHECK(s.plan({}).wait.contains("other claims use too much of its memory"));
}

TEST_CASE("what is chosen where it is held anyway is counted once")
{
    Setting s;
    s.add_shared(80);
    s.add_share("c", "20Gi");
    s.add_share("d", "20Gi");
    s.hold("c", "s0", "20Gi");
    s.hold("d", "s0", "20Gi");

    ClaimsPlan plan = s.plan({});
    CHECK(plan.wait == "");
    CHECK(words(plan.claims.at(0)) == "part=s0");
    CHECK(words(plan.claims.at(1)) == "part=s0");
}

TEST_CASE("a share that Slurm has not counted is none for the job")
{
    Setting s;
    s.add_shared(29);
    s.add_share("c", "30Gi");
    CHECK(s.plan({}).misfit ==
          "it has 29 of GRES mem, but its devices need 30");
    CHECK(s.plan({}).bad_node);
    s.amounts.clear(); // this node has none of it, as before it was counted
    CHECK(s.plan({}).misfit == "");
    CHECK(s.plan({0}).misfit.contains("no claim of the Pod needs"));

    Setting by_index;
    by_index.add_shared(0);
    by_index.add(claim_text("c", request_gpus(1)));
    CHECK(words(by_index.plan({3}).claims.at(0)) == "gpu=gpu-3");
    CHECK(by_index.plan({}).misfit.contains("gets 0 of 1 devices"));
}
