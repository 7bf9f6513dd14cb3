// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/web.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

WebPages some_pages()
{
    WebPages pages;
    pages.problems = [] { return std::string(); };
    pages.reader =
        [](const std::string &authorization) -> Result<MetricsReader> {
        if (authorization.empty())
            return MetricsReader::anyone;
        if (authorization == "Bearer right")
            return MetricsReader::trusted;
        return fail(Code::denied, "the token is another one");
    };
    pages.metrics = pages.detail = [](MetricFormat format, MetricsReader) {
        return MetricText(format);
    };
    pages.status = [] { return std::string(R"({"gangs":["secret"]})"); };
    pages.explain = [](const std::string &pod, const std::string &) {
        return WebReply{404, R"({"error":"no )" + pod + R"("})"};
    };
    return pages;
}

PageReply get(const std::string &path, bool here,
              const std::string &authorization = {})
{
    return page_table(some_pages())
        .at(path)({[](const std::string &name) {
                       return name == "pod" ? "secret" : std::string();
                   },
                   [authorization](const std::string &name) {
                       return name == "Authorization" ? authorization
                                                      : std::string();
                   },
                   [here] { return here; }});
}

} // namespace

TEST_CASE("from another host /status and /explain need the token")
{
    for (const char *path : {"/status", "/explain"}) {
        CAPTURE(path);
        PageReply refused = get(path, false);
        CHECK(refused.status == 403);
        CHECK(refused.type == "application/json");
        CHECK(refused.body.contains(R"({"error":")"));
        CHECK(refused.body.contains("MetricsTokenFile"));
        CHECK_FALSE(refused.body.contains("secret"));
        CHECK(get(path, false, "Bearer wrong").status == 403);
        CHECK(get(path, true, "Bearer wrong").status == 403);
        int good = std::string(path) == "/status" ? 200 : 404;
        for (PageReply told :
             {get(path, true), get(path, false, "Bearer right")}) {
            CHECK(told.status == good);
            CHECK(told.body.contains("secret"));
        }
    }
    for (const char *path : {"/healthz", "/metrics", "/metrics/detail"}) {
        CAPTURE(path);
        CHECK(get(path, false).status == 200);
    }
}

TEST_CASE("which addresses are of this host")
{
    for (const char *own :
         {"127.0.0.1", "127.3.0.1", "::1", "::ffff:127.0.0.1"})
        CHECK(is_of_this_host(own));
    for (const char *other :
         {"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "", "x", "127"})
        CHECK_FALSE(is_of_this_host(other));
}
