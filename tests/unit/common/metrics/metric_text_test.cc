// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/metrics/metric_text.h"

#include <array>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace bridge;

namespace {

constexpr std::array<double, 3> bounds{0.5, 1, 10};

MetricText written(MetricFormat format)
{
    MetricText text(format);
    text.gauge("a", "Things.", 7);
    text.counter("b", "Events.");
    text.add(std::uint64_t{1}, {{"x", "1"}, {"y", "2"}});
    return text;
}

} // namespace

TEST_CASE("a counter's family has its samples' name in Prometheus' format, and "
          "not in OpenMetrics, which also has an end")
{
    CHECK(written(MetricFormat::prometheus).finish() ==
          "# HELP a Things.\n# TYPE a gauge\na 7\n"
          "# HELP b_total Events.\n# TYPE b_total counter\n"
          "b_total{x=\"1\",y=\"2\"} 1\n");
    CHECK(written(MetricFormat::open_metrics).finish() ==
          "# HELP a Things.\n# TYPE a gauge\na 7\n"
          "# HELP b Events.\n# TYPE b counter\n"
          "b_total{x=\"1\",y=\"2\"} 1\n# EOF\n");
}

TEST_CASE("the format is the one that is asked for")
{
    CHECK(format_for("") == MetricFormat::prometheus);
    CHECK(format_for("*/*") == MetricFormat::prometheus);
    CHECK(format_for("text/plain;version=0.0.4;q=0.5") ==
          MetricFormat::prometheus);
    CHECK(format_for("application/openmetrics-text;version=1.0.0;q=0.5,"
                     "text/plain;version=0.0.4;q=0.2") ==
          MetricFormat::open_metrics);
    CHECK(std::string(content_type(MetricFormat::open_metrics))
              .starts_with("application/openmetrics-text; version=1.0.0"));
}

TEST_CASE("any text can be the value of a label")
{
    MetricText text(MetricFormat::open_metrics);
    text.gauge("a", "x");
    text.add(std::uint64_t{1}, {{"reason", "a\"b\\c\nd"}});
    CHECK(
        std::move(text).finish().contains("a{reason=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST_CASE("bytes that are no UTF-8 do not spoil a page")
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("a", "x");
    text.add(std::uint64_t{1}, {{"reason", "caf\xe9 \xc3\xa9 \xff"}});
    CHECK(
        std::move(text).finish().contains("a{reason=\"caf? \xc3\xa9 ?\"} 1\n"));
}

TEST_CASE("a quote in a help text is escaped as the format wants it")
{
    auto help = [](MetricFormat format) {
        MetricText text(format);
        text.gauge("a", "The \"x\".\nA \\.");
        return std::move(text).finish();
    };
    CHECK(help(MetricFormat::prometheus)
              .starts_with("# HELP a The \"x\".\\nA \\\\.\n"));
    CHECK(help(MetricFormat::open_metrics)
              .starts_with("# HELP a The \\\"x\\\".\\nA \\\\.\n"));
}

TEST_CASE("numbers keep all of their digits")
{
    MetricText text(MetricFormat::prometheus);
    text.gauge("a", "x");
    text.add(std::uint64_t{18446744073709551615U});
    text.add(0.1);
    text.add(std::numeric_limits<double>::infinity());
    text.add(-std::numeric_limits<double>::infinity());
    text.add(std::numeric_limits<double>::quiet_NaN());
    CHECK(std::move(text).finish() ==
          "# HELP a x\n# TYPE a gauge\na 18446744073709551615\na 0.1\n"
          "a +Inf\na -Inf\na NaN\n");
}

TEST_CASE("each bucket of a histogram counts what those before it count")
{
    Histogram values(bounds);
    for (double value : {0.5, 0.6, 1.0, 3.0, 11.0})
        values.add(value);
    MetricText text(MetricFormat::open_metrics);
    text.histogram("h", "x");
    MetricText::Label label{"p", "q"};
    text.add(values, {&label, 1});
    CHECK(std::move(text).finish() ==
          "# HELP h x\n# TYPE h histogram\n"
          "h_bucket{p=\"q\",le=\"0.5\"} 1\n"
          "h_bucket{p=\"q\",le=\"1.0\"} 3\n"
          "h_bucket{p=\"q\",le=\"10.0\"} 4\n"
          "h_bucket{p=\"q\",le=\"+Inf\"} 5\n"
          "h_sum{p=\"q\"} 16.1\nh_count{p=\"q\"} 5\n# EOF\n");
}

TEST_CASE("a histogram goes on from what an earlier one had counted")
{
    Histogram values(bounds);
    values.restore({1, 2, 3, 4}, 5);
    values.add(0.1);
    CHECK(values.counts() == std::vector<std::uint64_t>{2, 2, 3, 4});
    values.restore({1, 2}, 7); // of other bounds
    CHECK(values.sum() == doctest::Approx(5.1));
}
