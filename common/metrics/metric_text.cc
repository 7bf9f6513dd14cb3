// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/metrics/metric_text.h"

#include "common/base/utf8.h"

#include <cmath>
#include <cstddef>
#include <format>
#include <iterator>

namespace bridge {

namespace {

constexpr char open_metrics_type[] = "application/openmetrics-text";

// Adds value as both formats want it. quotes: whether quotes, too, would end
// the text.
void escape(std::string &text, std::string_view value, bool quotes)
{
    for (char c : value) {
        if (c == '\n') {
            text += "\\n";
            continue;
        }
        if (c == '\\' || (c == '"' && quotes))
            text += '\\';
        text += c;
    }
}

} // namespace

MetricFormat format_for(std::string_view accept)
{
    return accept.contains(open_metrics_type) ? MetricFormat::open_metrics
                                              : MetricFormat::prometheus;
}

const char *content_type(MetricFormat format)
{
    return format == MetricFormat::open_metrics
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

void MetricText::gauge(std::string_view name, std::string_view help)
{
    begin(name, help, "gauge", "");
}

void MetricText::counter(std::string_view name, std::string_view help)
{
    begin(name, help, "counter", "_total");
}

void MetricText::histogram(std::string_view name, std::string_view help)
{
    begin(name, help, "histogram", "");
}

void MetricText::begin(std::string_view name, std::string_view help,
                       const char *type, const char *suffix)
{
    family_ = name;
    suffix_ = suffix;
    std::string of_family = family_;
    if (format_ == MetricFormat::prometheus)
        of_family += suffix;
    text_ += std::format("# HELP {} ", of_family);
    // Prometheus' own format would show the backslash before a quote.
    escape(text_, help, format_ == MetricFormat::open_metrics);
    text_ += std::format("\n# TYPE {} {}\n", of_family, type);
}

void MetricText::name_sample(const char *suffix, Labels labels,
                             std::string_view bound)
{
    text_ += family_;
    text_ += suffix;
    char before = '{';
    auto label = [&](std::string_view name, std::string_view value) {
        text_ += before;
        text_ += name;
        text_ += "=\"";
        // slurmctld passes on any bytes, and one that is not UTF-8 would make
        // Prometheus refuse the whole page.
        escape(text_, as_utf8(value), true);
        text_ += '"';
        before = ',';
    };
    for (const auto &[name, value] : labels)
        label(name, value);
    if (!bound.empty())
        label("le", bound);
    text_ += before == ',' ? "} " : " ";
}

void MetricText::add(std::uint64_t value, Labels labels)
{
    name_sample(suffix_, labels);
    std::format_to(std::back_inserter(text_), "{}\n", value);
}

void MetricText::add(double value, Labels labels)
{
    name_sample(suffix_, labels);
    write(value);
}

void MetricText::write(double value)
{
    if (std::isfinite(value))
        std::format_to(std::back_inserter(text_), "{}\n", value);
    else
        text_ += std::isnan(value) ? "NaN\n" : value > 0 ? "+Inf\n" : "-Inf\n";
}

void MetricText::add(const Histogram &values, Labels labels)
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < values.counts().size(); i++) {
        sum += values.counts()[i];
        // OpenMetrics wants a bound to be a float.
        std::string bound = "+Inf";
        if (i < values.bounds().size()) {
            bound = std::format("{}", values.bounds()[i]);
            if (bound.find_first_of(".e") == bound.npos)
                bound += ".0";
        }
        name_sample("_bucket", labels, bound);
        std::format_to(std::back_inserter(text_), "{}\n", sum);
    }
    name_sample("_sum", labels);
    write(values.sum());
    name_sample("_count", labels);
    std::format_to(std::back_inserter(text_), "{}\n", sum);
}

std::string MetricText::finish() &&
{
    if (format_ == MetricFormat::open_metrics)
        text_ += "# EOF\n";
    return std::move(text_);
}

} // namespace bridge
