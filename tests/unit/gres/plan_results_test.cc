// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/plan_results.h"

#include "tests/unit/gres/memo_bed.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

// What is known of the selectors of this request for this device, as
// plan_claims() looks it up: "yes", "no", "not known".
std::string result(GresMemo &memo, const DeviceCatalog &catalog,
                   const DeviceRequest &request, const DevicePtr &device)
{
    PlanResults results;
    results.add({{0, &request, {}}}, catalog.classes,
                [&](const DeviceRequest &one, const DeviceClass &of_it) {
                    return memo.results_for(one, of_it);
                });
    CelBudget budget(1000, &results);
    auto reason = unfit_device_reason(
        *device, request, catalog.classes.at(request.class_name), budget);
    CHECK(results.any_missing() == !reason.has_value());
    return !reason ? "not known" : reason->empty() ? "yes" : "no";
}

} // namespace

TEST_CASE("what selectors came to for single devices is remembered")
{
    MemoBed bed;
    DeviceRequest request = gpu_request("a", model_a);
    const DeviceClass &of_it = bed.catalog->classes.at(request.class_name);
    const auto devices = bed.catalog->pools.at(0).devices;
    auto result_for = [&](std::size_t i) {
        return result(bed.memo, *bed.catalog, request, devices[i]);
    };
    CHECK(result_for(0) == "not known");

    bed.memo.ask_results(request, of_it, {devices[0]}, {"a", "g", true});
    bed.memo.ask_results(request, of_it, {devices[1]}, {"a", "h", true});
    CHECK(bed.answer_all() == Gangs{"g", "h"});
    CHECK(bed.evaluated == 1);
    CHECK(result_for(0) == "yes");
    CHECK(result_for(1) != "not known");
    CHECK(result_for(2) == "not known");

    bed.memo.ask_results(request, of_it, {devices[2], devices[0]},
                         {"a", "g", true});
    bed.answer_all();
    for (std::size_t i = 0; i < 3; i++)
        CHECK(result_for(i) == (i < 2 ? "yes" : "no"));
}

TEST_CASE("devices that are asked for while others are compared come next")
{
    MemoBed bed;
    DeviceRequest request = gpu_request("a", model_a);
    const DeviceClass &of_it = bed.catalog->classes.at(request.class_name);
    const auto devices = bed.catalog->pools.at(0).devices;
    auto ask = [&](std::size_t i, const std::string &ns,
                   const std::string &gang) {
        bed.memo.ask_results(request, of_it, {devices[i]}, {ns, gang, true});
    };
    ask(0, "a", "g");
    auto question = bed.memo.next(bed.now);
    REQUIRE(question.has_value());
    ask(0, "a", "same");
    ask(1, "a", "g");
    ask(2, "a", "g");
    ask(3, "b", "h");
    DeviceAnswer answer = bed.evaluator.answer(bed.catalog, *question);
    CHECK(bed.memo.take(std::move(answer), bed.now) == Gangs{"same"});

    CHECK(bed.answer_all() == Gangs{"g", "h"});
    CHECK(bed.evaluated == 2);
    for (std::size_t i = 0; i < 4; i++)
        CHECK(result(bed.memo, *bed.catalog, request, devices[i]) !=
              "not known");
}

TEST_CASE("which GRES each device is, is found out once for a catalog")
{
    MemoBed bed;
    auto catalog = std::make_shared<DeviceCatalog>(make_catalog({{"kn1", 4}}));
    DeviceQuestion question;
    question.request = gpu_request("a");
    auto has_gres = [&] {
        return bed.evaluator.answer(catalog, question).wish.has_value();
    };
    REQUIRE(has_gres());

    catalog->nodes.clear(); // as no catalog ever does: it would be seen

    CHECK(has_gres());
    CelBudget budget(CelSelector::max_sum);
    CHECK(!gres_for(*catalog, kinds_of(*catalog), question.request, budget)
               .has_value());
}

TEST_CASE("a device that is too expensive alone holds up no other")
{
    // Each costs some hundred thousand steps.
    constexpr char dear[] =
        "[1,2,3,4,5,6,7,8,9,10,11,12].all(a,[1,2,3,4,5,6,7,8,9,10,11,12]"
        ".all(b,[1,2,3,4,5,6,7,8,9,10,11,12].all(c,"
        "[1,2,3,4,5,6,7,8,9,10,11,12].all(d,a+b+c+d>0))))";
    MemoBed bed;
    const auto devices = bed.catalog->pools.at(0).devices;
    DeviceQuestion question;
    question.kind = DeviceQuestion::Kind::results;
    question.request = gpu_request("a");
    for (int i = 0; i < 200; i++)
        question.class_selectors.push_back(*CelSelector::parse(dear));
    question.devices = {devices[0], devices[1]};

    for (std::size_t times = 1; times <= 2; times++) {
        DeviceAnswer answer = bed.evaluator.answer(bed.catalog, question);
        REQUIRE(answer.results->devices.size() == times);
        question.before = answer.results;
    }
    for (const auto &[id, of_it] : question.before->devices) {
        REQUIRE(!of_it.results.back());
        CHECK(of_it.results.back().error().message.contains("too expensive"));
    }
}

TEST_CASE("no answer keeps a device that has gone")
{
    MemoBed bed;
    DeviceRequest request = gpu_request("a", model_a);
    const DeviceClass of_it = bed.catalog->classes.at(request.class_name);
    bed.count(request);
    bed.memo.ask_results(request, of_it, {bed.catalog->pools[0].devices[0]},
                         {"a", "g"});
    bed.answer_all();
    const std::weak_ptr<const Device> device = bed.catalog->pools[0].devices[0];

    bed.turn_to(5);
    bed.wish(gpu_request("other"));
    bed.answer_all();

    CHECK(bed.memo.results_for(request, of_it)->devices.size() == 1);
    CHECK(device.expired());
}
