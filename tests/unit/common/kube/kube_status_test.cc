// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/http.h"
#include "common/kube/status.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("every status means one next step")
{
    struct {
        long status;
        Code code;
    } const table[] = {
        {400, Code::rejected},  {401, Code::denied},   {403, Code::denied},
        {404, Code::not_found}, {408, Code::busy},     {409, Code::conflict},
        {410, Code::gone},      {413, Code::rejected}, {422, Code::rejected},
        {429, Code::busy},      {500, Code::busy},     {503, Code::busy},
        {504, Code::busy},      {302, Code::internal}, {0, Code::internal},
        {600, Code::internal},
    };
    for (auto [status, code] : table) {
        CAPTURE(status);
        auto said = check_status({status, "", {}});
        REQUIRE(!said.has_value());
        CHECK(said.error().code == code);
    }
    CHECK(check_status({200, "", {}}).has_value());
    CHECK(check_status({201, "", {}}).has_value());
}

TEST_CASE("the server's words are kept, but not without end")
{
    CHECK(
        status_error(403, R"({"kind":"Status","message":"no, you"})").message ==
        "HTTP 403: no, you");
    CHECK(status_error(503, "<html>").message == "HTTP 503");
    CHECK(status_error(500, R"({"message":7})").message == "HTTP 500");
    std::string body = R"({"message":")" + std::string(9000, 'x') + "\"}";
    CHECK(status_error(400, body).message.size() < 1100);
}

TEST_CASE("an ERROR event's Status has its own code")
{
    auto status =
        Json::parse(R"({"code":410,"message":"too old","reason":"E"})");

    CHECK(status_error(*status).code == Code::gone);
    CHECK(status_error(Json()).code == Code::internal);
}

TEST_CASE("a 422 about metadata.uid is told from any other")
{
    const char *uid = R"({"details":{"causes":[{"field":"metadata.uid"}]}})";
    const char *other = R"({"details":{"causes":[{"field":"spec"}]}})";

    CHECK(is_uid_mismatch(422, uid));
    CHECK(!is_uid_mismatch(422, other));
    CHECK(!is_uid_mismatch(422, "{}"));
    CHECK(!is_uid_mismatch(422, "no JSON"));
    CHECK(!is_uid_mismatch(409, uid));
}
