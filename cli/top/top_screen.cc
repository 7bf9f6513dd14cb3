// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_screen.h"

#include "cli/top/duration_text.h"
#include "cli/top/row_shares.h"
#include "cli/top/top_lists.h"
#include "common/base/display_width.h"

#include <algorithm>
#include <cstdint>
#include <format>
#include <string_view>

namespace bridge {

namespace {

using Lines = std::vector<ScreenLine>;

constexpr std::size_t label_columns = 10;
constexpr std::size_t narrow = 30; // below that labels have their own lines

constexpr char no_label[] = " "; // as if there was one

// Adds the text in as many lines as it needs, broken at blanks, behind label in
// the first one. With an empty label it begins at the left edge.
void add_wrapped(Lines &lines, std::string_view label, std::string_view text,
                 std::size_t columns, bool alarm = false)
{
    std::size_t indent = label.empty() || columns < narrow ? 0 : label_columns;
    if (indent == 0 && !label.empty() && label != no_label)
        lines.push_back({std::string(label), true, false});
    std::string line = padded_right(label, indent);
    std::size_t used = indent;
    bool first = true;
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        std::size_t width = display_width(word);
        if (!first && used + 1 + width > columns) {
            lines.push_back({line, false, alarm});
            line = std::string(indent, ' ');
            used = indent;
            first = true;
        }
        line += (first ? "" : " ") + std::string(word);
        used += (first ? 0 : 1) + width;
        first = false;
    }
    lines.push_back({line, false, alarm});
}

std::string clock_text(std::chrono::sys_seconds time,
                       std::chrono::seconds utc_offset)
{
    return std::format("{:%H:%M:%S}", time + utc_offset);
}

std::string state_text(const TopView &view)
{
    switch (view.state) {
    case TopState::counted:
        return "slurmctld answers";
    case TopState::slurm_away:
        return "slurmctld does not answer slurmk8sd: no numbers of Slurm";
    case TopState::no_numbers:
    case TopState::no_agent:
        break;
    }
    return view.said.empty() ? "slurmk8sd has no numbers of Slurm" : view.said;
}

std::string agent_text(const TopView &view)
{
    if (view.state == TopState::no_agent)
        return {};
    if (!view.problems)
        return ", slurmk8sd says nothing of itself";
    return *view.problems > 0 ? ", slurmk8sd has problems"
                              : ", slurmk8sd has no problem";
}

void add_head(Lines &lines, const TopView &view, std::size_t columns,
              const ScreenTime &time)
{
    std::string text = clock_text(time.now, time.utc_offset) + "  ";
    if (view.taken)
        text += std::format("numbers of {} ago, ",
                            duration_text(time.now - *view.taken));
    text += state_text(view);
    bool counted = view.state == TopState::counted;
    if (!counted && time.without_since)
        text += std::format(" (for {})",
                            duration_text(time.now - *time.without_since));
    add_wrapped(lines, "", text + agent_text(view), columns, !counted);
    for (const std::string &trouble : view.troubles)
        add_wrapped(lines, "", trouble, columns, true);
}

void add_nodes(Lines &lines, const TopView &view, std::size_t columns)
{
    std::string text;
    for (const auto &[word, nodes] : view.nodes)
        text +=
            std::format("{}{:.0f} {}", text.empty() ? "" : ", ", nodes, word);
    add_wrapped(lines, "NODES", text, columns);
}

std::string rate(double per_minute)
{
    return per_minute < 10 ? std::format("{:.1f}", per_minute)
                           : std::format("{:.0f}", per_minute);
}

std::string wait_text(const TopWait &wait)
{
    auto median = std::chrono::seconds(static_cast<std::int64_t>(wait.median));
    std::string text =
        "median wait " + (wait.longer       ? "over " + duration_text(median)
                          : wait.median < 1 ? std::string("below 1 s")
                                            : duration_text(median));
    return text + (wait.span ? "" : " since the agent counts");
}

void add_queue(Lines &lines, const TopView &view, std::size_t columns)
{
    std::string text = std::format("{:.0f} running, {:.0f} pending",
                                   view.running, view.pending);
    if (view.held > 0)
        text += std::format(" ({:.0f} held)", view.held);
    if (view.in_line > 0)
        text +=
            std::format(", {:.0f} more wait for MaxPendingJobs", view.in_line);
    add_wrapped(lines, "QUEUE", text, columns);
    text.clear();
    for (const TopKind &kind : view.kinds)
        text += std::format("{}{}: {:.0f} running, {:.0f} pending",
                            text.empty() ? "" : "; ", kind.name, kind.running,
                            kind.pending);
    if (!text.empty())
        add_wrapped(lines, no_label, text, columns);
    text.clear();
    if (view.flow)
        text = std::format("{} started, {} ended a minute (in {})",
                           rate(view.flow->started), rate(view.flow->ended),
                           duration_text(view.flow->span));
    if (view.wait)
        text += (text.empty() ? "" : ", ") + wait_text(*view.wait);
    if (!text.empty())
        add_wrapped(lines, no_label, text, columns);
}

// Adds the lists, in so many rows; the queue comes behind the first of them.
void add_lists(Lines &lines, const Lines &queue,
               const std::vector<TopList> &lists, std::size_t rows)
{
    std::vector<std::size_t> wanted;
    for (const TopList &list : lists)
        wanted.push_back(list.wanted());
    // A blank line before each heading if there is room for all.
    std::size_t all = lists.size();
    for (std::size_t one : wanted)
        all += std::min(one, rows);
    std::vector<std::size_t> shares = row_shares(rows, wanted);
    for (std::size_t i = 0; i < lists.size(); i++) {
        if (i > 0 && shares[i] > 0 && all <= rows)
            lines.emplace_back();
        add_list(lines, lists[i], shares[i]);
        if (i == 0)
            lines.insert(lines.end(), queue.begin(), queue.end());
    }
}

} // namespace

std::vector<ScreenLine> top_screen(const TopView &view, ScreenSize size,
                                   const ScreenTime &time)
{
    constexpr std::size_t endless = 1'000'000;
    const std::size_t columns = size.columns == 0 ? endless : size.columns;
    const std::size_t rows = size.rows == 0 ? endless : size.rows;
    Lines lines;
    add_head(lines, view, columns, time);
    if (view.state == TopState::counted) {
        add_nodes(lines, view, columns);
        Lines queue;
        add_queue(queue, view, columns);
        std::size_t fixed = std::min(rows, lines.size() + queue.size());
        add_lists(lines, queue, top_lists(view, columns, time.now),
                  rows - fixed);
    }
    lines.resize(std::min(lines.size(), rows));
    for (ScreenLine &line : lines)
        line.text = cut_to_width(line.text, columns);
    return lines;
}

} // namespace bridge
