// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_lists.h"

#include "cli/top/duration_text.h"
#include "common/base/display_width.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <string_view>

namespace bridge {

namespace {

constexpr std::size_t narrow = 60; // columns; below that tables have fewer

// Returns the columns of the longest name, from the heading's on.
template <class Things, class Name>
std::size_t longest(const Things &things, Name name, std::size_t least,
                    std::size_t most)
{
    std::size_t columns = least;
    for (const auto &thing : things)
        columns = std::max(columns, display_width(name(thing)));
    return std::min(columns, std::max(least, most));
}

// Rounded down: 100% is all.
std::string percent(const TopBar &bar)
{
    if (bar.total <= 0)
        return "-";
    return std::format("{:.0f}%",
                       std::floor(std::min(1.0, bar.used / bar.total) * 100));
}

std::string amounts(const TopBar &bar)
{
    if (!bar.bytes)
        return std::format("{:.0f} of {:.0f}", bar.used, bar.total);
    constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double one = 1;
    std::size_t unit = 0;
    while (unit + 1 < units.size() && bar.total / one >= 1024) {
        one *= 1024;
        unit++;
    }
    return std::format("{:.1f} of {:.1f} {}", bar.used / one, bar.total / one,
                       units[unit]);
}

std::string drawn(const TopBar &bar, std::size_t columns)
{
    double part = bar.total > 0 ? std::min(1.0, bar.used / bar.total) : 0;
    auto full = static_cast<std::size_t>(part * static_cast<double>(columns));
    return "[" + std::string(full, '|') + std::string(columns - full, ' ') +
           "] ";
}

TopList bar_list(const TopView &view, std::size_t columns)
{
    constexpr std::size_t label = 10, frame = 3, percents = 5;
    constexpr std::size_t least = 4, most = 40;
    std::size_t names = longest(
        view.bars, [](const TopBar &b) { return b.name; }, label - 1,
        columns / 3);
    std::size_t values = longest(view.bars, amounts, 1, columns);
    std::size_t rest = names + 1 + frame + percents + values;
    std::size_t drawing =
        columns < rest + least ? 0 : std::min(most, columns - rest);
    return {"", "types of GRES", view.bars.size(), [=, &view](std::size_t i) {
                const TopBar &bar = view.bars[i];
                return padded_right(bar.name, names) + " " +
                       (drawing == 0 ? "" : drawn(bar, drawing)) +
                       padded_left(percent(bar), percents - 1) + " " +
                       amounts(bar);
            }};
}

TopList reason_list(const TopView &view)
{
    constexpr std::size_t number = 8;
    std::size_t names = longest(
        view.reasons, [](const TopReason &r) { return r.reason; }, 6, 26);
    return {padded_left("PENDING", number) + " " +
                padded_right("REASON", names) + " MEANING",
            "reasons", view.reasons.size(), [=, &view](std::size_t i) {
                const TopReason &reason = view.reasons[i];
                return std::format("{:>{}.0f} ", reason.jobs, number) +
                       padded_right(reason.reason, names) + " " +
                       reason.meaning;
            }};
}

TopList partition_list(const TopView &view, std::size_t columns)
{
    constexpr std::size_t number = 8, cpus = 19, few = 3 * 9;
    const bool all = columns >= narrow;
    std::size_t names = longest(
        view.partitions, [](const TopPartition &p) { return p.name; }, 9,
        all ? 24 : columns - std::min(columns, few));
    auto row = [=](std::string_view name, std::string_view nodes,
                   std::string_view used, std::string_view part,
                   std::string_view running, std::string_view pending) {
        std::string text = padded_right(name, names);
        if (all)
            text += padded_left(nodes, number) + padded_left(used, cpus);
        return text + padded_left(part, number) + " " +
               padded_left(running, number) + " " +
               padded_left(pending, number);
    };
    return {row("PARTITION", "NODES", "CPUS", "USED", "RUNNING", "PENDING"),
            "partitions", view.partitions.size(), [=, &view](std::size_t i) {
                const TopPartition &p = view.partitions[i];
                TopBar bar{"", p.cpus_used, p.cpus, false};
                auto text = [](double n) { return std::format("{:.0f}", n); };
                return row(p.name, text(p.nodes), amounts(bar), percent(bar),
                           text(p.running), text(p.pending));
            }};
}

TopList node_list(const TopView &view, std::size_t columns,
                  std::chrono::sys_seconds now)
{
    constexpr std::size_t since = 7;
    const bool all = columns >= narrow;
    std::size_t names = longest(
        view.out, [](const TopNode &n) { return n.name; }, 8, all ? 24 : 12);
    std::size_t users =
        longest(view.out, [](const TopNode &n) { return n.user; }, 4, 12);
    auto row = [=](std::string_view name, std::string_view time,
                   std::string_view user, std::string_view reason) {
        return padded_right(name, names) + " " + padded_left(time, since) +
               "  " + (all ? padded_right(user, users) + " " : "") +
               std::string(reason);
    };
    return {row("NODE OUT", "SINCE", "USER", "REASON"), "nodes",
            view.out.size(), [=, &view](std::size_t i) {
                const TopNode &node = view.out[i];
                return row(node.name,
                           node.since ? duration_text(now - *node.since) : "-",
                           node.user.empty() ? "-" : node.user,
                           node.reason.empty() ? "-" : node.reason);
            }};
}

} // namespace

std::vector<TopList> top_lists(const TopView &view, std::size_t columns,
                               std::chrono::sys_seconds now)
{
    return {bar_list(view, columns), reason_list(view),
            partition_list(view, columns), node_list(view, columns, now)};
}

void add_list(std::vector<ScreenLine> &lines, const TopList &list,
              std::size_t rows)
{
    if (rows == 0 || list.size == 0)
        return;
    if (!list.heading.empty() && rows > 1) {
        lines.push_back({list.heading, true, false});
        rows--;
    }
    std::size_t shown = rows >= list.size ? list.size : rows - 1;
    for (std::size_t i = 0; i < shown; i++)
        lines.push_back({list.line(i), false, false});
    if (shown < list.size)
        lines.push_back(
            {std::format("and {} more {}", list.size - shown, list.what), false,
             false});
}

} // namespace bridge
