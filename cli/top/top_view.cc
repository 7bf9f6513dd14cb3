// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_view.h"

#include "cli/top/count.h"
#include "cli/top/duration_text.h"
#include "common/base/printable.h"
#include "common/slurm/reasons.h"

#include <algorithm>
#include <format>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>

namespace bridge {

namespace {

struct Word {
    const char *metric;
    const char *word;
};

// Always shown, and where a state is rare only if there is a node in it.
constexpr Word usual_states[] = {
    {"slurm_nodes", "in all"},          {"slurm_nodes_alloc", "allocated"},
    {"slurm_nodes_mixed", "mixed"},     {"slurm_nodes_idle", "idle"},
    {"slurm_nodes_drained", "drained"}, {"slurm_nodes_down", "down"}};
constexpr Word rare_states[] = {{"slurm_nodes_draining", "draining"},
                                {"slurm_nodes_fail", "failing"},
                                {"slurm_nodes_noresp", "not responding"},
                                {"slurm_nodes_maint", "in maintenance"},
                                {"slurm_nodes_powering_up", "powering up"},
                                {"slurm_nodes_powering_down", "powering down"},
                                {"slurm_nodes_powered_down", "powered down"}};

// The values of the label kind of slurmk8s_jobs.
constexpr Word kind_words[] = {{"native", "jobs without Pods"},
                               {"pod", "Pods"},
                               {"batch", "batch jobs as Pods"},
                               {"shadow", "shadow jobs"}};

// A token of which less is left will not be renewed any more: the agent does so
// at half of its life, which is at least an hour, and a kubelet at four fifths.
constexpr std::chrono::minutes expires_soon{10};

double count(const Samples &samples, const char *name)
{
    return count_of(samples.value(name).value_or(0));
}

std::string text_of(const Sample &sample, const char *label)
{
    return printable(sample.label(label));
}

std::vector<std::pair<std::string, double>> node_states(const Samples &metrics)
{
    std::vector<std::pair<std::string, double>> states;
    for (auto [metric, word] : usual_states)
        states.emplace_back(word, count(metrics, metric));
    for (auto [metric, word] : rare_states)
        if (double nodes = count(metrics, metric); nodes > 0)
            states.emplace_back(word, nodes);
    return states;
}

std::vector<TopBar> bars_of(const Samples &metrics)
{
    std::vector<TopBar> bars{{"CPUs", count(metrics, "slurm_cpus_alloc"),
                              count(metrics, "slurm_cpus"), false},
                             {"memory",
                              count(metrics, "slurm_memory_alloc_bytes"),
                              count(metrics, "slurm_memory_bytes"), true}};
    std::map<std::string, TopBar> types;
    auto of_type = [&](const Sample &sample) -> TopBar & {
        std::string name = text_of(sample, "gres");
        if (std::string type = text_of(sample, "type"); !type.empty())
            name += ":" + type;
        return types[name];
    };
    for (const Sample &sample : metrics.named("slurm_gres"))
        of_type(sample).total += count_of(sample.value);
    for (const Sample &sample : metrics.named("slurm_gres_alloc"))
        of_type(sample).used += count_of(sample.value);
    for (auto &[name, bar] : types) {
        bar.name = name;
        bars.push_back(std::move(bar));
    }
    return bars;
}

std::vector<TopPartition> partitions_of(const Samples &metrics)
{
    std::map<std::string, TopPartition> found;
    auto read = [&](const char *metric, double TopPartition::*field) {
        for (const Sample &sample : metrics.named(metric))
            found[text_of(sample, "partition")].*field = count_of(sample.value);
    };
    read("slurm_partition_nodes", &TopPartition::nodes);
    read("slurm_partition_cpus", &TopPartition::cpus);
    read("slurm_partition_cpus_alloc", &TopPartition::cpus_used);
    read("slurm_partition_jobs_running", &TopPartition::running);
    read("slurm_partition_jobs_pending", &TopPartition::pending);
    std::vector<TopPartition> all;
    for (auto &[name, partition] : found) {
        partition.name = name;
        all.push_back(std::move(partition));
    }
    std::ranges::stable_sort(all, std::greater<>(), [](const TopPartition &p) {
        return std::tuple(p.pending, p.running, p.cpus_used);
    });
    return all;
}

std::vector<TopReason> reasons_of(const Samples &metrics)
{
    std::vector<TopReason> reasons;
    for (const Sample &sample : metrics.named("slurm_jobs_pending_reason"))
        if (double jobs = count_of(sample.value); jobs > 0)
            reasons.push_back({text_of(sample, "reason"),
                               explain_reason(sample.label("reason")).meaning,
                               jobs});
    std::ranges::stable_sort(reasons, std::greater<>(), &TopReason::jobs);
    return reasons;
}

std::vector<TopKind> kinds_of(const Samples &metrics)
{
    std::vector<TopKind> kinds;
    for (auto [kind, word] : kind_words) {
        TopKind one{
            word,
            count_of(metrics.sum("slurmk8s_jobs",
                                 {{"kind", kind}, {"state", "running"}})),
            count_of(metrics.sum("slurmk8s_jobs",
                                 {{"kind", kind}, {"state", "pending"}}))};
        if (one.running > 0 || one.pending > 0)
            kinds.push_back(std::move(one));
    }
    return kinds;
}

std::vector<TopNode> nodes_out(const Samples &detail)
{
    std::map<std::string_view, std::chrono::sys_seconds> since;
    for (const Sample &sample :
         detail.named("slurm_node_reason_since_timestamp_seconds"))
        since.emplace(sample.label("node"), time_of(sample.value));
    std::vector<TopNode> nodes;
    for (const Sample &sample : detail.named("slurm_node_reason_info")) {
        auto known = since.find(sample.label("node"));
        nodes.push_back({text_of(sample, "node"), text_of(sample, "reason"),
                         text_of(sample, "user"),
                         known == since.end() ? std::nullopt
                                              : std::optional(known->second)});
    }
    std::ranges::stable_sort(nodes, std::greater<>(), &TopNode::since);
    return nodes;
}

// "N things", or "one thing".
std::string number_of(double count, const char *one, const char *several)
{
    return count == 1 ? std::string("one ") + one
                      : std::format("{:.0f} {}", count, several);
}

std::vector<std::string> troubles_of(const Samples &metrics,
                                     std::chrono::sys_seconds now)
{
    std::vector<std::string> troubles;
    if (double problems = count(metrics, "slurmk8sd_problems"); problems > 0)
        troubles.push_back(number_of(problems, "problem", "problems") +
                           " of the agent: see slurmk8s status");
    if (double pods = count(metrics, "slurmk8sd_pods_outside_queue"); pods > 0)
        troubles.push_back(number_of(pods, "Pod", "Pods") +
                           " outside the queue: see slurmk8s check");
    if (double pods = count(metrics, "slurmk8sd_pods_vanished"); pods > 0)
        troubles.push_back(number_of(pods, "Pod", "Pods") +
                           " deleted by force before the containers had ended");
    auto expiry = metrics.value("slurmk8sd_token_expiry_timestamp_seconds");
    if (!expiry || time_of(*expiry) - now >= expires_soon)
        return troubles;
    troubles.push_back(
        time_of(*expiry) <= now
            ? "the agent's token for the API server has expired"
            : "the agent's token for the API server expires in " +
                  duration_text(time_of(*expiry) - now));
    return troubles;
}

} // namespace

TopView top_view(const TopPages &pages, const TopHistory &counts,
                 std::chrono::sys_seconds now)
{
    const Samples &metrics = pages.metrics;
    TopView view;
    if (auto problems = metrics.value("slurmk8sd_problems"))
        view.problems = count_of(*problems);
    view.troubles = troubles_of(metrics, now);
    auto up = metrics.value("slurm_up");
    if (!up || !(*up > 0)) {
        view.state = up ? TopState::slurm_away : TopState::no_numbers;
        view.said = printable(pages.no_numbers);
        return view;
    }
    view.state = TopState::counted;
    if (auto taken = metrics.value("slurm_census_timestamp_seconds"))
        view.taken = time_of(*taken);
    view.nodes = node_states(metrics);
    view.bars = bars_of(metrics);
    view.running = count(metrics, "slurm_jobs_running");
    view.pending = count(metrics, "slurm_jobs_pending");
    view.held = count(metrics, "slurm_jobs_hold");
    view.in_line =
        count_of(metrics.sum("slurmk8sd_pending_jobs", {{"where", "line"}}));
    view.kinds = kinds_of(metrics);
    view.reasons = reasons_of(metrics);
    view.flow = counts.flow();
    view.wait = counts.wait();
    view.partitions = partitions_of(metrics);
    view.out = nodes_out(pages.detail);
    return view;
}

TopView top_view_without(const std::string &error)
{
    TopView view;
    view.said = printable(error);
    return view;
}

} // namespace bridge
