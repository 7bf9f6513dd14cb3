// SPDX-License-Identifier: GPL-2.0-or-later
// What claims ask of a node's devices, and which Nodes could satisfy it.
#include "agent/gres/device_fits.h"

#include "tests/unit/fakes/make.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

std::string selecting(const std::string &model)
{
    return R"(,"selectors":[{"cel":{"expression":)"
           R"("device.attributes['gpu.example.com'].model == ')" +
           model + R"('"}}])";
}

std::string requests(int count, const std::string &more = "")
{
    return R"("requests":[)" + exactly("gpu", count, more) + "]";
}

const std::string alike =
    R"(,"constraints":[{"matchAttribute":"gpu.example.com/model"}])";

DeviceNeeds needs_of(const DeviceCatalog &catalog, const std::string &spec,
                     const std::string &name = "c")
{
    auto claim = std::make_shared<const ResourceClaim>(
        make_claim(claim_text(name, spec)));
    REQUIRE(claim->unfit_reason == "");
    Pod pod = make_pod("web");
    pod.resource_claims = {{"gpu", name, "", false, false}};
    DeviceNeeds needs = device_needs(
        pod, {.find_claim = [claim](const ObjectKey &) { return claim; },
              .gres_for =
                  [&](const DeviceRequest &request, CelBudget &budget) {
                      return gres_for(catalog, kinds_of(catalog), request,
                                      budget);
                  },
              .most_on_a_node = [](const DeviceRequest &, CelBudget &)
                  -> Result<std::int64_t> { return 32; },
              .asked_by_others = [](const ResourceClaim &) { return false; },
              .admin_access = true});
    CHECK(needs.reason == "");
    CHECK(needs.unfit_reason == "");
    return needs;
}

DeviceCondition condition(const DeviceCatalog &catalog, const std::string &spec,
                          const std::string &name = "c")
{
    return device_condition({needs_of(catalog, spec, name)});
}

std::shared_ptr<const DeviceCatalog>
shared(const std::map<std::string, int> &nodes)
{
    return std::make_shared<const DeviceCatalog>(make_catalog(nodes));
}

// "yes", "no" or "unknown", for each of these Nodes.
std::string answers(DeviceFits &fits, const DeviceCondition &asked,
                    const std::vector<std::string> &nodes)
{
    std::string made;
    for (const std::string &name : nodes) {
        auto yes = fits.can_satisfy(asked, make_node(name));
        made += (made.empty() ? "" : " ") + std::string(!yes   ? "unknown"
                                                        : *yes ? "yes"
                                                               : "no");
    }
    return made;
}

} // namespace

TEST_CASE("claims that any device of their GRES satisfies ask nothing more")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 4}});
    CHECK(condition(catalog, request_gpus(2)).text == "");
    CHECK(!condition(catalog, request_gpus(2)).ask);

    catalog = make_catalog({{"kn1", 2}}); // all of model A
    CHECK(condition(catalog, requests(1, selecting("A"))).text == "");
}

TEST_CASE("a type that the job cannot request is a condition")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 4}});
    DeviceNeeds needs = needs_of(catalog, R"("requests":[)" + exactly("a", 1) +
                                              "," + exactly("b", 1) + "]");
    REQUIRE(device_condition({needs}).text == "");

    needs.wanted.at(0).wish.type.clear(); // Slurm takes no gpu and gpu:g
    CHECK(task_gres(needs) == "gres/gpu:2");
    CHECK(device_condition({needs}).text != "");
}

TEST_CASE("what GRES cannot say is a condition, the same for equal requests")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 4}});
    std::string model_b = requests(1, selecting("B"));
    DeviceCondition asked = condition(catalog, model_b);
    CHECK(asked.text != "");
    CHECK(condition(catalog, model_b, "d").text == asked.text);

    for (const std::string &other :
         {requests(1, selecting("A")), requests(2, selecting("B")),
          requests(2) + alike, requests(1, R"(,"adminAccess":true)")}) {
        CAPTURE(other);
        CHECK(condition(catalog, other).text != "");
        CHECK(condition(catalog, other).text != asked.text);
    }
}

TEST_CASE("a node of a gang has to satisfy one of its Pods")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 4}});
    DeviceNeeds a = needs_of(catalog, requests(1, selecting("A")));
    DeviceNeeds b = needs_of(catalog, requests(1, selecting("B")), "d");
    DeviceNeeds any = needs_of(catalog, request_gpus(1), "e");

    CHECK(device_condition({a, a}).text == device_condition({a}).text);
    CHECK(device_condition({a, b}).text == device_condition({b, a}).text);
    CHECK(device_condition({a, b}).ask->any_of.size() == 2);
    CHECK(device_condition({a, any}).text == "");
    CHECK(device_condition({}).text == "");
}

TEST_CASE("a message names the claims and what they ask for")
{
    DeviceCatalog catalog = make_catalog({{"kn1", 4}});
    CHECK(asked_words(needs_of(catalog, request_gpus(2))) ==
          "the ResourceClaim c (request gpu: 2 devices of DeviceClass "
          "gpu.example.com)");
}

TEST_CASE("Nodes satisfy what their devices could, with none of them taken")
{
    auto catalog = shared({{"kn1", 4}, {"kn2", 2}, {"kn3", 1}});
    DeviceFits fits;
    fits.turn_to(catalog);
    std::vector<std::string> nodes{"kn1", "kn2", "kn3"};
    struct {
        std::string spec, answers;
    } cases[] = {
        {requests(1, selecting("B")), "yes no no"},
        {requests(1, selecting("A")), "yes yes yes"},
        {requests(2, selecting("A")), "yes yes no"},
        {requests(1, selecting("B") + R"(,"adminAccess":true)"), "yes no no"},
        {requests(2) + alike, "yes yes no"},
        {requests(3) + alike, "no no no"}, // two of each model
        {R"("requests":[)" + exactly("a", 1, selecting("A")) + "," +
             exactly("b", 1, selecting("A")) + "]",
         "yes yes no"},
    };
    for (const auto &one : cases) {
        CAPTURE(one.spec);
        CHECK(answers(fits, condition(*catalog, one.spec), nodes) ==
              one.answers);
    }
}

TEST_CASE("answers follow the devices of their Node")
{
    auto before = shared({{"kn1", 4}, {"kn2", 2}});
    DeviceCondition asked = condition(*before, requests(1, selecting("B")));
    DeviceFits fits;
    CHECK(answers(fits, asked, {"kn1"}) == "unknown"); // nothing is known
    fits.turn_to(before);
    CHECK(answers(fits, asked, {"kn1", "kn2", "kn9"}) == "yes no unknown");

    fits.turn_to(shared({{"kn1", 2}, {"kn2", 4}}));
    CHECK(answers(fits, asked, {"kn1", "kn2"}) == "no yes");
    fits.turn_to(shared({{"kn1", 2}}));
    CHECK(answers(fits, asked, {"kn1", "kn2"}) == "no unknown");
}

TEST_CASE("of a pool that is being published again nothing is known")
{
    auto catalog = std::make_shared<DeviceCatalog>(make_catalog({{"kn1", 4}}));
    DeviceCondition asked = condition(*catalog, requests(1, selecting("B")));
    catalog->pools.front().complete = false;
    DeviceFits fits;
    fits.turn_to(catalog);

    CHECK(answers(fits, asked, {"kn1"}) == "unknown");
}

TEST_CASE("an answer is remembered for as long as the devices are the same")
{
    auto catalog = shared({{"kn1", 4}, {"kn2", 2}});
    DeviceCondition asked = condition(*catalog, requests(1, selecting("B")));
    DeviceFits fits;
    fits.turn_to(catalog);
    REQUIRE(answers(fits, asked, {"kn2"}) == "no");

    // Under the same name, something that would be answered otherwise.
    asked.ask = condition(*catalog, requests(1, selecting("A"))).ask;
    fits.turn_to(catalog);
    CHECK(answers(fits, asked, {"kn2"}) == "no");
    fits.turn_to(catalog); // it was asked for in between
    CHECK(answers(fits, asked, {"kn2"}) == "no");
    fits.turn_to(catalog);
    fits.turn_to(catalog); // nobody asked in between
    CHECK(answers(fits, asked, {"kn2"}) == "yes");
}
