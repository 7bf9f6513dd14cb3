// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/job_history.h"

#include "common/base/json.h"
#include "common/slurm/state_tests.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <format>
#include <iterator>

namespace bridge {

namespace {

// Seconds; a day is 86400.
constexpr std::array<double, 12> wait_bounds{
    1, 10, 60, 300, 900, 1800, 3600, 14400, 43200, 86400, 259200, 604800};
constexpr std::array<double, 12> run_bounds{
    1, 10, 60, 300, 900, 3600, 14400, 43200, 86400, 172800, 604800, 2592000};

// More partitions with QOS, and more with end states, than a site has; then all
// others are one.
constexpr std::size_t most_queues = 1000;
constexpr char others[] = "other";
constexpr char format[] = "slurmk8sd job history 1";

std::int64_t seconds_of(std::chrono::sys_seconds time)
{
    return time.time_since_epoch().count();
}

// One that never started may have several.
std::string first_of(std::string_view partitions)
{
    return std::string(partitions.substr(0, partitions.find(',')));
}

JsonValue encoded(const Histogram &values)
{
    JsonValue::Array counts;
    for (std::uint64_t count : values.counts())
        counts.emplace_back(static_cast<std::int64_t>(count));
    return JsonValue::object(
        {{"counts", JsonValue::array(std::move(counts))},
         {"sum", static_cast<std::int64_t>(values.sum())}});
}

std::uint64_t count_of(const Json &json)
{
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, json.integer().value_or(0)));
}

void restore_times(const Json &json, Histogram &values)
{
    std::vector<std::uint64_t> counts;
    for (const Json &count : json.items("counts"))
        counts.push_back(count_of(count));
    values.restore(counts, static_cast<double>(count_of(json.at("sum"))));
}

} // namespace

JobHistory::Times::Times() : wait(wait_bounds), run(run_bounds) {}

// Only for jobs that have ended.
std::uint64_t &JobHistory::ended(const CountedJob &job)
{
    Ended what{first_of(job.partition), end_state_name(job.state)};
    if (ended_.size() >= most_queues && !ended_.contains(what))
        what.partition = others;
    return ended_[what];
}

JobHistory::Times &JobHistory::times_of(const CountedJob &job)
{
    Queue queue{first_of(job.partition), std::string(job.qos)};
    if (times_.size() >= most_queues && !times_.contains(queue))
        queue = {others, others};
    return times_[queue];
}

void JobHistory::begin_list()
{
    list_++;
}

void JobHistory::see(const CountedJob &job)
{
    if (job.kind == JobKind::shadow)
        return;
    Seen &seen = seen_[job.id];
    seen.list = list_;
    std::int64_t start = seconds_of(job.start);
    std::int64_t end = seconds_of(job.end);
    // A job that was cancelled before it started has both at the same time, as
    // has one that ran for less than a second, which had nodes. The start of
    // one whose nodes boot moves on until they are ready.
    bool started = start != 0 && !is_starting(job.state) &&
                   (end == 0 || start < end || job.had_nodes);
    if (started && std::exchange(seen.start, start) != start && !first_)
        times_of(job).wait.add(static_cast<double>(
            std::max<std::int64_t>(0, start - seconds_of(job.eligible))));
    if (end == 0 || std::exchange(seen.end, end) == end || first_)
        return;
    ended(job) += job.tasks;
    if (started)
        times_of(job).run.add(static_cast<double>(job.ran.count()));
}

void JobHistory::end_list()
{
    std::erase_if(seen_,
                  [this](const auto &one) { return one.second.list != list_; });
    first_ = false;
    listed_ = true;
}

void JobHistory::write(MetricText &text) const
{
    if (!listed_)
        return;
    text.counter("slurm_jobs_ended", "Jobs that have ended, by state.");
    for (const auto &[what, count] : ended_)
        text.add(count, {{"partition", what.partition}, {"state", what.state}});
    auto histogram = [&](const char *name, const char *help,
                         Histogram Times::*values) {
        text.histogram(name, help);
        for (const auto &[queue, times] : times_) {
            std::array<MetricText::Label, 2> labels{
                MetricText::Label{"partition", queue.first},
                MetricText::Label{"qos", queue.second}};
            text.add(times.*values, labels);
        }
    };
    histogram("slurm_job_wait_seconds",
              "How long jobs that have started were eligible before.",
              &Times::wait);
    histogram("slurm_job_run_seconds", "How long jobs that have ended ran.",
              &Times::run);
}

std::optional<JobHistory::Kept> JobHistory::kept() const
{
    if (!listed_)
        return std::nullopt;
    Kept kept;
    kept.ended_ = ended_;
    kept.times_ = times_;
    kept.jobs_.reserve(seen_.size());
    for (const auto &[id, seen] : seen_)
        if (seen.start != 0 || seen.end != 0)
            kept.jobs_.push_back({id, seen.start, seen.end});
    return kept;
}

std::string JobHistory::Kept::encode() const
{
    JsonValue::Array ended;
    for (const auto &[what, count] : ended_)
        ended.push_back(
            JsonValue::object({{"partition", what.partition},
                               {"state", what.state},
                               {"count", static_cast<std::int64_t>(count)}}));
    JsonValue::Array queues;
    for (const auto &[queue, times] : times_)
        queues.push_back(JsonValue::object({{"partition", queue.first},
                                            {"qos", queue.second},
                                            {"wait", encoded(times.wait)},
                                            {"run", encoded(times.run)}}));
    std::string text =
        JsonValue::object({{"format", format},
                           {"ended", JsonValue::array(std::move(ended))},
                           {"queues", JsonValue::array(std::move(queues))}})
            .dump();
    text.pop_back(); // the brace, for one more member
    text += ",\"jobs\":[";
    const char *before = "";
    for (const Job &job : jobs_) {
        std::format_to(std::back_inserter(text), "{}[{},{},{}]", before, job.id,
                       job.start, job.end);
        before = ",";
    }
    return text + "]}";
}

Result<> JobHistory::restore(std::string_view text)
{
    auto json = Json::parse(text);
    if (!json)
        return std::unexpected(json.error());
    if (json->text("format") != format)
        return fail(Code::rejected, "it is no history of jobs");
    JobHistory history;
    for (const Json &one : json->items("ended"))
        history.ended_[{one.text("partition"), one.text("state")}] =
            count_of(one.at("count"));
    for (const Json &one : json->items("queues")) {
        Times &times = history.times_[{one.text("partition"), one.text("qos")}];
        restore_times(one.at("wait"), times.wait);
        restore_times(one.at("run"), times.run);
    }
    for (const Json &one : json->items("jobs"))
        history.seen_[static_cast<JobId>(one.integer("0").value_or(0))] = {
            one.integer("1").value_or(0), one.integer("2").value_or(0), 0};
    history.first_ = false;
    *this = std::move(history);
    return {};
}

} // namespace bridge
