// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/fault_points.h"

#include "common/base/log.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace bridge {

namespace {

constexpr char variable[] = "SLURMK8SD_FAULT";

using Moment = WriteGate::Moment;

std::vector<std::string_view> words_of(std::string_view text)
{
    std::vector<std::string_view> words;
    for (;;) {
        std::size_t colon = text.find(':');
        words.push_back(text.substr(0, colon));
        if (colon == text.npos)
            return words;
        text.remove_prefix(colon + 1);
    }
}

std::string point_name(Write write, Moment moment)
{
    return std::string(write_name(write)) +
           (moment == Moment::before ? ":before" : ":after");
}

} // namespace

Result<FaultPoint> parse_fault_point(std::string_view text)
{
    auto words = words_of(text);
    words.resize(std::max<std::size_t>(words.size(), 2));
    FaultPoint point{.signal = SIGKILL};
    auto write = std::ranges::find(write_names, words[0], [](auto name) {
        return std::string_view(name);
    });
    bool good = write != write_names.end() && words.size() <= 4 &&
                (words[1] == "before" || words[1] == "after");
    if (good) {
        point.write = static_cast<Write>(write - write_names.begin());
        point.moment = words[1] == "before" ? Moment::before : Moment::after;
    }
    if (good && words.size() > 2) {
        const char *end = words[2].data() + words[2].size();
        auto [rest, error] = std::from_chars(words[2].data(), end, point.count);
        good = error == std::errc() && rest == end && point.count > 0;
    }
    if (good && words.size() > 3) {
        good = words[3] == "kill" || words[3] == "stop";
        point.signal = words[3] == "stop" ? SIGSTOP : SIGKILL;
    }
    if (!good)
        return fail(Code::rejected,
                    std::string(variable) + "=" + std::string(text) +
                        " is not WRITE:before|after[:N[:kill|stop]]");
    return point;
}

std::vector<std::string> all_fault_points()
{
    std::vector<std::string> names;
    for (std::size_t i = 0; i < write_names.size(); i++)
        for (Moment moment : {Moment::before, Moment::after})
            names.push_back(point_name(static_cast<Write>(i), moment));
    return names;
}

WriteGate::Observer fault_points()
{
    const char *value = std::getenv(variable);
    if (!value || !*value)
        return {};
    if (std::string_view(value) == "list") {
        for (const std::string &name : all_fault_points())
            std::puts(name.c_str());
        std::exit(0);
    }
    auto point = parse_fault_point(value);
    if (!point) {
        log_error("cannot start", {{"err", point.error().message}});
        std::exit(1);
    }
    log_warning("a fault point is set", {{"point", value}});
    auto visits = std::make_shared<std::atomic<unsigned>>(0);
    return [point = *point, visits](Write write, Moment moment) {
        if (write != point.write || moment != point.moment ||
            ++*visits != point.count)
            return;
        log_warning("at the fault point",
                    {{"point", point_name(write, moment)}});
        raise(point.signal);
    };
}

} // namespace bridge
