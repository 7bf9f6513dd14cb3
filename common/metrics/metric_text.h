// SPDX-License-Identifier: GPL-2.0-or-later
// Writes metrics as Prometheus reads them: in its own text format (version
// 0.0.4), or as OpenMetrics 1.0, which is stricter. The two differ in the names
// of counters' families, in the type of content and in the end of the text.
#pragma once

#include "common/metrics/histogram.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace bridge {

enum class MetricFormat { prometheus, open_metrics };

// Returns the one that a request with this header Accept wants.
MetricFormat format_for(std::string_view accept);
// Returns the header Content-Type of a text in that format.
const char *content_type(MetricFormat format);

class MetricText {
  public:
    using Label = std::pair<std::string_view, std::string_view>;
    using Labels = std::span<const Label>;

    explicit MetricText(MetricFormat format) : format_(format) {}

    // Begins a family, of which the samples follow. A name may be begun once.
    // help: a sentence. The samples of a counter get "_total" after the name.
    void gauge(std::string_view name, std::string_view help);
    void counter(std::string_view name, std::string_view help);
    void histogram(std::string_view name, std::string_view help);

    // A sample of that family. Values of labels may be any text; a byte that is
    // not UTF-8 becomes "?".
    void add(std::uint64_t value, Labels labels = {});
    void add(double value, Labels labels = {});
    void add(std::uint64_t value, std::initializer_list<Label> labels)
    {
        add(value, Labels(labels));
    }
    void add(double value, std::initializer_list<Label> labels)
    {
        add(value, Labels(labels));
    }
    void add(const Histogram &values, Labels labels);

    // A family with one sample and no labels. Value: any number.
    template <class Value>
    void gauge(std::string_view name, std::string_view help, Value value)
    {
        gauge(name, help);
        add_number(value);
    }
    template <class Value>
    void counter(std::string_view name, std::string_view help, Value value)
    {
        counter(name, help);
        add_number(value);
    }

    // Ends the text and returns it.
    std::string finish() &&;

  private:
    template <class Value> void add_number(Value value)
    {
        if constexpr (std::is_floating_point_v<Value>)
            add(double{value});
        else
            add(static_cast<std::uint64_t>(value));
    }
    void begin(std::string_view name, std::string_view help, const char *type,
               const char *suffix);
    void name_sample(const char *suffix, Labels labels,
                     std::string_view bound = {});
    void write(double value);

    MetricFormat format_;
    std::string text_;
    std::string family_;
    const char *suffix_ = "";
};

} // namespace bridge
