// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/metrics/sample_text.h"

#include "common/metrics/metric_text.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

constexpr std::array<double, 2> bounds{0.5, 10};

// The value of the only sample in a text.
double only(const std::string &text)
{
    auto samples = Samples::parse(text);
    REQUIRE(samples);
    REQUIRE(samples->size() == 1);
    return samples->named("a").front().value;
}

} // namespace

TEST_CASE("what MetricText writes is read back, in both of its formats")
{
    for (auto format : {MetricFormat::prometheus, MetricFormat::open_metrics}) {
        MetricText text(format);
        text.gauge("memory", "Bytes.", std::uint64_t{1} << 45);
        text.counter("ended", "Jobs.");
        text.add(std::uint64_t{3}, {{"state", "failed"}, {"partition", "a"}});
        text.add(std::uint64_t{4}, {{"state", "failed"}, {"partition", "b"}});
        text.add(0.25, {{"state", "x\"}\\n,\ny={"}});
        text.histogram("wait", "Seconds.");
        Histogram times(bounds);
        times.add(3);
        times.add(99);
        text.add(times, {});

        auto samples = Samples::parse(std::move(text).finish());

        REQUIRE(samples);
        CHECK(samples->value("memory") == 35184372088832.0);
        CHECK(samples->sum("ended_total") == 7.25);
        CHECK(samples->sum("ended_total", {{"state", "failed"}}) == 7);
        CHECK(samples->sum("ended_total",
                           {{"state", "failed"}, {"partition", "b"}}) == 4);
        CHECK(samples->named("ended_total")[2].label("state") ==
              "x\"}\\n,\ny={");
        CHECK(samples->named("ended_total")[2].label("partition").empty());
        auto buckets = samples->named("wait_bucket");
        REQUIRE(buckets.size() == 3);
        CHECK(buckets[1].label("le") == "10.0");
        CHECK(buckets[2].value == 2);
        CHECK(samples->named("none").empty());
        CHECK_FALSE(samples->value("none"));
        CHECK(samples->sum("none") == 0);
    }
}

TEST_CASE("samples are read in all forms of the format")
{
    CHECK(only("a 1\n") == 1);
    CHECK(only("a 1") == 1);
    CHECK(only("\n\r\n# HELP a b\n#\na\t1e3\r\n") == 1000);
    CHECK(only("a{} 1") == 1);
    CHECK(only("a { b = \"c\" , } -1.5 1700000000000") == -1.5);
    CHECK(only("a +Inf") == HUGE_VAL);
    CHECK(only("a -Inf") == -HUGE_VAL);
    CHECK(std::isnan(only("a NaN")));
    CHECK(Samples::parse("")->size() == 0);
}

TEST_CASE("what is not of the format is an error with its line, never a crash")
{
    for (const char *line : {"a",
                             "a ",
                             "a{",
                             "a{b",
                             "a{b=",
                             "a{b=\"",
                             "a{b=\"c",
                             "a{b=\"c\"",
                             "a{b=\"c\\",
                             "a{b=\"c\\\"",
                             "a{b=\"\\x\"} 1",
                             "a{b=\"c\"}",
                             "a{b=\"c\" d=\"e\"} 1",
                             "a{1=\"c\"} 1",
                             "a{,} 1",
                             "a{b:c=\"d\"} 1",
                             "1a 1",
                             "-a 1",
                             "a x",
                             "a nan(1)",
                             "a inf",
                             "a 0x1p",
                             "a 1 x",
                             "a1",
                             "a 1 1 1",
                             "{\"a\"} 1",
                             "<html>",
                             "a{b=\"c\"}} 1",
                             "\x1b[2J 1",
                             "a + 1",
                             "a - 1"}) {
        CAPTURE(line);
        auto samples = Samples::parse(std::string("ok 1\n\n") + line);
        REQUIRE_FALSE(samples);
        CHECK(samples.error().code == Code::rejected);
        CHECK(samples.error().message == "line 3 is not a metric");
    }
    CHECK_FALSE(Samples::parse(std::string("a\0 1", 4)));
}

TEST_CASE("a text may not have more labels or samples than memory bears")
{
    std::string labels = "a{";
    for (int i = 0; i < 65; i++)
        labels += "b=\"\",";
    CHECK_FALSE(Samples::parse(labels + "} 1"));

    std::string many;
    for (int i = 0; i < 1'000'001; i++)
        many += "a 1\n";
    CHECK_FALSE(Samples::parse(many));
    many.resize(many.size() - 4);
    CHECK(Samples::parse(many)->size() == 1'000'000);
}
