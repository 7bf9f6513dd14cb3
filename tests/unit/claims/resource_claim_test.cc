// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claims/resource_claim.h"

#include "common/base/json.h"
#include "tests/unit/fakes/test_data.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

ResourceClaim claim_of(const std::string &text)
{
    return resource_claim_from(json_of(text), text);
}

std::string unfit_reason(const std::string &spec)
{
    return claim_of(R"({"metadata":{"name":"c"},"spec":{"devices":{)" + spec +
                    "}}}")
        .unfit_reason;
}

std::string unfit_request_reason(const std::string &exactly)
{
    return unfit_reason(R"("requests":[{"name":"r","exactly":{)" + exactly +
                        "}}]");
}

// So many of 10,000 bytes each, of one request.
std::string padded_selectors(int count)
{
    std::string list;
    for (int i = 0; i < count; i++)
        list += std::string(i ? "," : "") + R"({"cel":{"expression":"true)" +
                std::string(9996, ' ') + R"("}})";
    return R"("deviceClassName":"k","selectors":[)" + list + "]";
}

bool can_be_asked(const ResourceClaim &claim)
{
    return claim.requests.at(0)
        .choices.at(0)
        .selectors.at(0)
        .matches(Device{})
        .has_value();
}

} // namespace

TEST_CASE("a claim is read as the API server wrote it")
{
    Json written = json_file("claims.json").at("tmpl/allocated");
    ResourceClaim claim = claim_of(written.dump());

    CHECK(claim.unfit_reason == "");
    CHECK(claim.key.str() == "g/tmpl-gpu-ncrxp");
    CHECK(claim.uid == "3dfe0655-ec16-45db-9e12-a33b996be1fb");
    CHECK(claim.pod_claim_name == "gpu");
    CHECK(claim.owner_uid == "50d97394-9fc9-4539-a2c1-1a3314de596a");
    CHECK(claim.has_finalizer);
    CHECK_FALSE(claim.deleting);
    CHECK_FALSE(claim.for_extended_resources);
    REQUIRE(claim.requests.size() == 1);
    REQUIRE(claim.requests[0].choices.size() == 1);
    CHECK(claim.requests[0].choices[0].name == "gpu");
    CHECK(claim.requests[0].choices[0].class_name == "gpu.example.com");
    CHECK(claim.requests[0].choices[0].count == 2);
    REQUIRE(claim.config.size() == 1);
    CHECK(claim.config[0].requests == std::vector<std::string>{"gpu"});
    CHECK(claim.config[0].opaque.contains(R"("sharing":{"strategy":"MPS"})"));
    CHECK(claim.allocated);
    CHECK(claim.devices ==
          std::vector<DeviceId>{{"gpu.example.com", "n1", "gpu-0"},
                                {"gpu.example.com", "n1", "gpu-1"}});
    REQUIRE(claim.reserved_for.size() == 1);
    CHECK(claim.reserved_for[0].name == "tmpl");

    CHECK(claim_of(json_file("claims.json").at("extres/read").dump())
              .for_extended_resources);
}

TEST_CASE("choices have the names that results give them")
{
    ResourceClaim claim =
        claim_of(json_file("claims.json").at("first-available/read").dump());

    REQUIRE(claim.requests.size() == 1);
    REQUIRE(claim.requests[0].choices.size() == 2);
    CHECK(claim.requests[0].name == "gpu");
    CHECK(claim.requests[0].choices[0].name == "gpu/big");
    CHECK(claim.requests[0].choices[0].selectors.size() == 1);
    CHECK(claim.requests[0].choices[1].name == "gpu/small");
    CHECK_FALSE(claim.allocated);
}

TEST_CASE("a DeviceClass is read as the API server wrote it")
{
    std::string text = json_file("device-class.json").dump();
    DeviceClass made = device_class_from(json_of(text), text);

    CHECK(made.unfit_reason == "");
    CHECK(made.name == "gpu.example.com");
    CHECK(made.selectors.size() == 1);
    CHECK(made.extended_resource_name == "example.com/gpu");
    REQUIRE(made.config.size() == 1);
    CHECK(made.config[0].opaque ==
          R"({"driver":"gpu.example.com","parameters":)"
          R"({"apiVersion":"gpu.example.com/v1","kind":"GpuConfig"}})");
}

TEST_CASE("a device of adminAccess is nobody's")
{
    ResourceClaim claim = claim_of(R"({"status":{"allocation":{"devices":{
        "results":[{"driver":"d","pool":"p","device":"a","adminAccess":true},
                   {"driver":"d","pool":"p","device":"b"}]}}}})");

    CHECK(claim.devices == std::vector<DeviceId>{{"d", "p", "b"}});
}

TEST_CASE("what is not understood is refused, never guessed")
{
    CHECK(unfit_request_reason(R"("deviceClassName":"k")") == "");
    CHECK(unfit_request_reason("") ==
          "a request without deviceClassName is not supported");
    CHECK(unfit_request_reason(
              R"("deviceClassName":"k","allocationMode":"Some")") ==
          "an allocationMode is not supported");
    CHECK(unfit_request_reason(R"("deviceClassName":"k","count":0)") ==
          "a request's count is not a number of devices");
    CHECK(unfit_request_reason(R"("deviceClassName":"k","count":"2")") ==
          "a request's count is not a number of devices");
    CHECK(unfit_request_reason(
              R"("deviceClassName":"k","selectors":[{"future":{}}])") ==
          "a selector that is not CEL is not supported");
    CHECK(unfit_request_reason(R"("deviceClassName":"k","selectors":[
              {"cel":{"expression":"device.driver.trim() == ''"}}])") ==
          "CEL: trim() is not supported at byte 15");
    CHECK(unfit_request_reason(R"("deviceClassName":"k",
              "tolerations":[{"operator":"Like"}])") ==
          "a toleration's operator is not supported");
    CHECK(unfit_request_reason(R"("deviceClassName":"k",
              "capacity":{"requests":{"m":"lots"}})") ==
          "quantity \"lots\" is not valid");
    CHECK(unfit_request_reason(R"("deviceClassName":"k",
              "capacity":{"requests":{"m":"-1Gi"}})") ==
          "a request for a negative capacity is not supported");
    CHECK(unfit_request_reason(R"("deviceClassName":"k",
              "capacity":{"requests":{"m":"0"}})") == "");
    std::string neither = "a request that is neither exactly nor "
                          "firstAvailable is not supported";
    CHECK(unfit_reason(R"("requests":[{"name":"r"}])") == neither);
    CHECK(unfit_reason(R"("requests":[{"exactly":{"deviceClassName":"k"}}])") ==
          neither);
    CHECK(unfit_reason(R"("requests":[{"name":"r",
              "exactly":{"deviceClassName":"k"},
              "firstAvailable":[{"name":"x","deviceClassName":"k"}]}])") ==
          neither);
    CHECK(unfit_reason(R"("constraints":[{"matchAttribute":"a/b",
              "distinctAttribute":"a/b"}])") ==
          "a constraint of an unknown kind is not supported");
    CHECK(unfit_reason(R"("config":[{"future":{}}])") ==
          "a configuration that is not opaque is not supported");
}

TEST_CASE("a claim's selectors are bounded together")
{
    auto exactly = [](const char *name, int count) {
        return std::string(R"({"name":")") + name + R"(","exactly":{)" +
               padded_selectors(count) + "}}";
    };
    CHECK(unfit_request_reason(padded_selectors(6)) == "");
    CHECK(unfit_request_reason(padded_selectors(7)) ==
          "its selectors have 70000 bytes together, and at most 65536 are "
          "supported");
    CHECK(unfit_reason(R"("requests":[)" + exactly("a", 4) + "," +
                       exactly("b", 4) + "]")
              .starts_with("its selectors have 80000 bytes"));
    CHECK(unfit_reason(R"("requests":[{"name":"r","firstAvailable":[)"
                       R"({"name":"x",)" +
                       padded_selectors(4) + R"(},{"name":"y",)" +
                       padded_selectors(4) + "}]}]")
              .starts_with("its selectors have 80000 bytes"));

    ResourceClaim claim = claim_of(R"({"spec":{"devices":{"requests":[)" +
                                   exactly("a", 7) + "]}}}");
    REQUIRE(claim.requests.size() == 1);
    CHECK(claim.requests[0].choices.at(0).selectors.empty());
}

TEST_CASE("selectors of a claim that has its devices are no longer kept")
{
    auto with = [](const std::string &rest, const std::string &status) {
        return claim_of(R"({"spec":{"devices":{"requests":[{"name":"r",)"
                        R"("exactly":{"deviceClassName":"k","selectors":[)"
                        R"({"cel":{"expression":"true"}}])" +
                        rest + R"(}}]}},"status":)" + status + "}");
    };

    CHECK(can_be_asked(with("", "{}")));
    CHECK_FALSE(can_be_asked(with("", R"({"allocation":{}})")));
    CHECK_FALSE(can_be_asked(with(R"(,"count":0)", "{}")));
    // What they say is known all the same.
    CHECK(with("", R"({"allocation":{}})")
              .requests[0]
              .choices[0]
              .selectors[0]
              .text() == "true");
}
