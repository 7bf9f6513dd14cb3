// SPDX-License-Identifier: GPL-2.0-or-later
// Devices, and what users say about them.
#include "agent/cel.h"
#include "agent/device.h"
#include "agent/regex.h"
#include "agent/semver.h"
#include "tests/fuzz/targets.h"

#include <string>

namespace bridge {

namespace {

Device some_device()
{
    Device device;
    device.driver = "gpu.example.com";
    device.attributes = {{"index", std::int64_t{2}},
                         {"model", std::string("A100")},
                         {"healthy", true},
                         {"version", Semver{1, 10, 2, {}}},
                         {"other.example.com/node", std::int64_t{0}}};
    device.capacity = {{"memory", Quantity(40, Quantity::Format::binary)}};
    return device;
}

void cel(std::string_view input)
{
    auto selector = CelSelector::parse(input);
    if (!selector) {
        promise(selector.error().code == Code::rejected);
        return;
    }
    promise(selector->text() == input);
    auto matches = selector->matches(some_device());
    promise(matches || matches.error().code == Code::rejected);
    auto brackets = CelSelector::parse("(" + std::string(input) + "\n)");
    if (!brackets)
        return; // it was as long or deep as is allowed
    auto again = brackets->matches(some_device());
    promise(again.has_value() == matches.has_value());
    promise(!matches || *again == *matches);
}

// The pattern's line, then the text.
void regex(std::string_view input)
{
    std::size_t line = input.find('\n');
    std::string pattern(input.substr(0, line));
    std::string_view text =
        line == input.npos ? std::string_view{} : input.substr(line + 1);
    auto plain = Regex::compile(pattern);
    if (!plain) {
        promise(plain.error().code == Code::rejected);
        return;
    }
    bool matches = plain->matches(text);
    auto anywhere = Regex::compile("^(?s:.*)(?:" + pattern + ")(?s:.*)$");
    promise(!anywhere || anywhere->matches(text) == matches);
    auto twice = Regex::compile("(?:" + pattern + ")|(?:" + pattern + ")");
    promise(!twice || twice->matches(text) == matches);
}

void semver(std::string_view input)
{
    auto version = Semver::parse(input);
    if (!version)
        return;
    promise(*version == *version);
    Semver next = *version;
    next.prerelease.emplace_back("0");
    promise(version->prerelease.empty() ? next < *version : next > *version);
}

constexpr FuzzTarget targets[] = {
    {"cel", cel}, {"regex", regex}, {"semver", semver}};

} // namespace

std::span<const FuzzTarget> device_targets()
{
    return targets;
}

} // namespace bridge
